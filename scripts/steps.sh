# Sourced by .ci/run and scripts/nightly.sh: what both can run.

source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
export STREAM_COMPACTION_CMAKE_OPTIONS="-DSTREAM_COMPACTION_WARNINGS_AS_ERRORS=ON"
commits=$(git rev-list --count HEAD)  # says what is sampled
before=$(git rev-parse --quiet --verify HEAD~1 || true)  # empty in a clone without history

steps=
# step NAME COMMAND...: runs the command and notes its seconds. A condition around it (`if step`, `step ||`) would turn off
# `set -e` in the command, too.
step() {
    local began=$SECONDS status=0 failed=
    printf '\n== %s (%d s)\n' "$1" $SECONDS
    (
        set -e
        "${@:2}"
    ) &
    wait $! || status=$?
    [ $status -eq 0 ] || failed=", FAILED"
    steps+=$(printf '%7d  %s%s' $((SECONDS - began)) "$1" "$failed")$'\n'
    return $status
}

print_table() {
    printf '\nseconds  step\n%s' "$steps"
    printf '\nseconds  the ten slowest test processes\n'
    cat build/*/Testing/Temporary/CTestCostData.txt 2>/dev/null | sort -k 3 -rn | awk 'NR <= 10 { printf "%7.0f  %s\n", $3, $1 }'
}

# sampled PARTS: of the lines of stdin, one in PARTS, which the number of commits chooses, and those with a file that the
# last commit touches.
sampled() {
    local lines
    lines=$(cat)
    {
        awk -v parts="$1" -v turn="$commits" 'NR % parts == turn % parts' <<<"$lines"
        # The last pattern is in no line.
        grep -F "$([ -z "$before" ] || git diff --name-only "$before" | sed 's,^tests/,,'; echo //)" <<<"$lines" || true
    } | sort -u
}

check_formatting() {
    git ls-files '*.h' '*.cpp' '*.cu' '*.cuh' 'simulator/include/*' | grep -v CMakeLists | xargs clang-format --dry-run -Werror
}

check_figures() {
    scripts/update_figures.py --check
    scripts/plot.py --check
}

# No card runs these kernels, so they need not be fast.
for_no_card=-DCMAKE_CUDA_FLAGS=--Ofast-compile=max

# under_nvcc ARCHITECTURE PARTS: the library, the program, and one in PARTS of the files of tests.
under_nvcc() {
    find_nccl
    target=installed build release "$for_no_card" -DCMAKE_CUDA_ARCHITECTURES="$1" \
        -DSTREAM_COMPACTION_TESTS=ON -DSTREAM_COMPACTION_EXAMPLES=OFF
    ninja -C build/release -t targets all | sed -n 's/^\(tests\/.*\.cu\.o\): .*/\1/p' | sampled "$2" |
        tee /dev/stderr | xargs ninja -C build/release -k 0 >build/release.tests.log || {
        cat build/release.tests.log
        return 1
    }
}

# watched PRESET SEEDS: what synchronises, and the simulated card, under a sanitizer.
watched() {
    target="simulator_tests synchronising_tests" build "$1" -DSTREAM_COMPACTION_PROGRAM=OFF -DSTREAM_COMPACTION_EXAMPLES=OFF
    STREAM_COMPACTION_SEEDS=$2 ctest --preset "$1" -j "$(nproc)" -R '^(simulator|synchronising)_tests'
}

cpu_sanitizers() {
    build sanitizers -DSTREAM_COMPACTION_EXAMPLES=OFF
    ctest --preset sanitizers -j "$(nproc)" -L cpu -E '^scripts_'
}

# A project that uses an installed copy.
use_installed() {
    [ -d build/release ] || target=installed build release
    cmake --install build/release --prefix build/installed >build/install.log
    cmake -S examples/use_from_cmake -B build/example -G Ninja -DCMAKE_PREFIX_PATH="$PWD/build/installed" >build/example.log
    cmake --build build/example >>build/example.log
    build/example/keep_nonzero
    # Says so if there is no card.
    [ ! -x build/example/on_a_stream ] || build/example/on_a_stream
}
