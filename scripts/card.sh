#!/usr/bin/env bash
# What is proven on this machine's card beyond scripts/test.sh. Without a mode, all of it:
#   scripts/card.sh debug                   the tests and the program in a build for a debugger (nvcc -G), which finds
#                                           what only the optimiser keeps right
#   scripts/card.sh general-ways            kernels of compute capability 7.5, which the driver compiles when they
#                                           first run: without bulk copies, clusters and early launches
#   scripts/card.sh sanitize [PROGRAM...]   the tests of the build `release`, or these, at small sizes under the four
#                                           tools of compute-sanitizer, or those in TOOLS. Each runs PROCESSES
#                                           processes [4] with a part of the tests, as one keeps one core busy
# The logs are in build/card, or in LOGS: the card, the commit and the result of each test. Exit status 0 if all passed.
source "$(dirname "$0")/setup.sh"
logs=${LOGS:-$PWD/build/card}
mkdir -p "$logs"
export STREAM_COMPACTION_QUICK_TESTS=1

about() {
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
    nvcc --version | tail -n 1
    git describe --always --dirty
}

# in_build PRESET
in_build() {
    install_packages libgtest-dev libgmock-dev
    find_nccl
    STREAM_COMPACTION_CMAKE_OPTIONS+=" -DSTREAM_COMPACTION_CUDA=ON"
    build "$1" -DSTREAM_COMPACTION_TESTS=ON -DSTREAM_COMPACTION_EXAMPLES=OFF
    export CUDA_CACHE_MAXSIZE=$((4 << 30))  # holds all kernels of the tests
    {
        about
        ctest --preset "$1" -L gpu -V
        "build/$1/bin/stream_compaction_test" --no-color
    } | tee "$logs/$1.log"
}

# All scans and compactions at small sizes and alignments. All operations above the textbook's also at larger sizes.
# The split sort with one scan only, because its passes are the same with every scan and slow here. Kernels of Thrust
# and CUB are left out.
filter='*EverySmallSize*:*UnalignedPointers*:*InPlace*:*SharedMemScanTest*:*SplitSortTest*:*BytesInWider*'
filter+=':SinglePass*:LookBackTest*:TileTest*:WarpTest*:PackedRegisters*:*RadixSort*Test*:DigitRank*:*RowSumTest*'
filter+=':*Utf8*Test*:Runs*:TopK*:Histogram*:MultiPartition*:Segmented*:DeviceCount*'
filter+='-*thrust*:*Thrust*:*cub*:*Cub*:*_sort_*:*Recursively*'

# under TOOL PROCESS PROGRAM...
under() {
    local tool=$1 process=$2 program result status=0
    shift 2
    for program in "$@"; do
        GTEST_TOTAL_SHARDS=$processes GTEST_SHARD_INDEX=$process \
            compute-sanitizer --tool "$tool" --error-exitcode 99 --kernel-regex-exclude kns=cub \
            --check-api-memory-access no "$program" --gtest_brief=1 --gtest_filter="$filter" && result=0 || result=$?
        echo "exit status $result"
        [ $result -eq 0 ] || status=$result
    done
    return $status
}

sanitize() {
    local tool process check checks=() tools status=0 processes=${PROCESSES:-4}
    read -ra tools <<<"${TOOLS:-memcheck racecheck initcheck synccheck}"
    [ $# -gt 0 ] || set -- $(for file in tests/{device,primitives}/*_test.cu; do
        find build/release/tests -name "$(basename "$file" .cu)s"
    done)
    for tool in "${tools[@]}"; do
        for ((process = 0; process < processes; ++process)); do
            under "$tool" "$process" "$@" >"$logs/$tool.$process.part" 2>&1 &
            checks+=($!)
        done
    done
    for check in "${checks[@]}"; do
        wait "$check" || status=1
    done
    for tool in "${tools[@]}"; do
        { about; cat "$logs/$tool".*.part; } >"$logs/$tool.log"
        rm "$logs/$tool".*.part
        echo "$tool: $(grep -E '^exit status|ERROR SUMMARY|RACECHECK SUMMARY' "$logs/$tool.log" |
            sort | uniq -c | sort -n | tr -s ' \n' ' ')"
    done
    return $status
}

case ${1:-} in
    debug | general-ways) in_build "$1" ;;
    sanitize) sanitize "${@:2}" ;;
    "")
        status=0
        for mode in debug general-ways sanitize; do
            scripts/card.sh $mode || status=1
        done
        exit $status ;;
    *) die "unknown mode $1; the first lines of scripts/card.sh say which there are" ;;
esac
