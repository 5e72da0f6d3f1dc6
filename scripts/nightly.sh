#!/usr/bin/env bash
# Runs all that .ci/run samples, and what takes longer: both architectures, the newest CCCL, every test under nvcc, 60
# seeds, all planted and 100 random mutants, every operation of the program, the pages in a browser, and Debian's
# package in a new root. A step that passed with this commit is not run again. Prints a summary of one screen, and
# writes it to the file that is given. Logs are in build/nightly/COMMIT.
set -euo pipefail
source "$(dirname "$0")/steps.sh"
commit=$(git describe --always --dirty --abbrev=10)
logs=build/nightly/$commit
[[ $commit != *-dirty ]] || rm -rf "$logs"
mkdir -p "$logs"
export STREAM_COMPACTION_BROWSER=1 STREAM_COMPACTION_SEEDS=60

failed=0
# once NAME COMMAND...: a step whose output goes to a log, unless it has passed before.
once() {
    local record="$logs/${1//[^[:alnum:]]/_}"
    if [ -f "$record" ]; then
        steps+=$(<"$record")$'\n'
        return
    fi
    say "$1"
    local earlier=$steps status
    set +e
    step "$@" >"$record.log" 2>&1
    status=$?
    set -e
    if [ $status -eq 0 ]; then
        printf '%s' "${steps#"$earlier"}" >"$record"
    else
        failed=1
        tail -n 20 "$record.log" >&2
    fi
}

every_target_under_nvcc() {
    local cccl
    cccl=$(newest_cccl)
    STREAM_COMPACTION_CMAKE_OPTIONS+=" -DSTREAM_COMPACTION_LATEST_CCCL=$cccl -DCMAKE_CUDA_ARCHITECTURES=75;90 $for_no_card"
    scripts/test.sh --cuda -E '^scripts_'
    build/release/bin/stream_compaction_test --list --op scan | grep cub-latest
    cmake --build build/release --target tune
}

once "Formatting" check_formatting
once "All kernels in the simulator, on three cards; pages in a browser" scripts/test.sh --simulated
once "README.md and img/ against data/" check_figures
once "Every CUDA target, for 7.5 and 9.0, with the newest CCCL; the tuner" every_target_under_nvcc
once "What synchronises, watched for races" watched simulated-races 3
once "What synchronises, its addresses watched" watched simulated-addresses 3
once "All planted bugs" scripts/mutants.py
once "100 random mutants" scripts/mutants.py --random 100
once "CPU tests under AddressSanitizer and UndefinedBehaviorSanitizer" cpu_sanitizers
once "Every operation of the program in the simulator" scripts/run.sh --op all --trials 3
once "A project that uses an installed copy" use_installed
if command -v debootstrap >/dev/null && [ "$(id -u)" -eq 0 ]; then
    once "The Debian package in a new root" scripts/try_package.sh
else
    steps+="         NOT TRIED: the Debian package. This needs debootstrap and root"$'\n'
fi

{
    echo "scripts/nightly.sh, commit $commit, $(date +%F), $(nproc) cores"
    print_table
    echo
    grep -h 'tests passed\|tests failed\|^[0-9]* bugs: ' "$logs"/*.log || true
} | tee "${1:-$logs/summary.txt}"
exit $failed
