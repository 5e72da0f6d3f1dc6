#!/usr/bin/env bash
# Runs the GPU tests, at small sizes, under all or some of the four tools of compute-sanitizer. Exit status 0 if none
# finds an error. Without PROGRAM all programs of such tests run, one after the other. Each tool runs several processes
# at once with a part of the tests each, because a process keeps one CPU core busy.
#   scripts/sanitize.sh [PROGRAM [LOG_FOLDER [PROCESSES_PER_TOOL [TOOL...]]]]
set -uo pipefail
cd "$(dirname "$0")/.."
programs=("${1:-}")
[ -n "${1:-}" ] || programs=(build/release/tests/{device_layer,device_count,runs,segments,top_k}_tests)
logs=${2:-build/sanitizers-gpu}
processes=${3:-4}
tools=("${@:4}")
[ ${#tools[@]} -gt 0 ] || tools=(memcheck racecheck initcheck synccheck)
mkdir -p "$logs"
rm -f "$logs"/*.[0-9]*.log  # of an interrupted run

# All scans and compactions at small sizes and alignments. All operations above the textbook's also at larger sizes. The
# split sort with one scan only, because its passes are the same with every scan and slow here. Kernels of Thrust and CUB
# are left out.
export STREAM_COMPACTION_QUICK_TESTS=1
filter='*EverySmallSize*:*UnalignedPointers*:*InPlace*:*SharedMemScanTest*:*SplitSortTest*:*BytesInWider*'
filter+=':SinglePass*:LookBackTest*:TileTest*:WarpTest*:PackedRegisters*:*RadixSort*Test*:DigitRank*:*RowSumTest*:*Utf8*Test*'
filter+=':Runs*:TopK*:Histogram*:MultiPartition*:Segmented*:DeviceCount*'
filter+='-*thrust*:*Thrust*:*cub*:*Cub*:*_sort_*:*Recursively*'

# check TOOL PROCESS
check() {
    local program result status=0
    for program in "${programs[@]}"; do
        GTEST_TOTAL_SHARDS=$processes GTEST_SHARD_INDEX=$2 \
            compute-sanitizer --tool "$1" --error-exitcode 99 --kernel-regex-exclude kns=cub \
            --check-api-memory-access no "$program" --gtest_brief=1 --gtest_filter="$filter" >>"$logs/$1.$2.log" 2>&1
        result=$?
        echo "exit status $result" >>"$logs/$1.$2.log"
        [ $result -eq 0 ] || status=$result
    done
    return $status
}

checks=()
for tool in "${tools[@]}"; do
    for ((process = 0; process < processes; ++process)); do
        check $tool $process &
        checks+=($!)
    done
done
status=0
for process in "${checks[@]}"; do
    wait "$process" || status=1
done
for tool in "${tools[@]}"; do
    cat "$logs/$tool".*.log >"$logs/$tool.log"
    rm "$logs/$tool".*.log
    echo "$tool: $(grep -E '^exit status|ERROR SUMMARY|RACECHECK SUMMARY' "$logs/$tool.log" | sort | uniq -c | sort -n | tr -s ' \n' ' ')"
done
exit $status
