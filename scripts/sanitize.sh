#!/usr/bin/env bash
# Runs the GPU tests, at small sizes, under the four tools of compute-sanitizer; exit status 0 when none finds anything.
#   scripts/sanitize.sh [PROGRAM [LOG_FOLDER]]
set -uo pipefail
cd "$(dirname "$0")/.."
program=${1:-build/release/tests/device_layer_tests}
logs=${2:-build/sanitizers-gpu}
mkdir -p "$logs"

# Every scan and compaction at small sizes and alignments, the single-pass kernels, the radix sort, the row sums and the
# conversions of UTF-8 also at larger ones; the split sort over one scan, since its passes are the same over any and slow
# here. The kernels of Thrust and CUB are theirs to check.
export STREAM_COMPACTION_QUICK_TESTS=1
filter='*EverySmallSize*:*UnalignedPointers*:*InPlace*:*SharedMemScanTest*:*SplitSortTest*:*BytesInWider*'
filter+=':SinglePass*:LookBackTest*:TileTest*:WarpTest*:ElementCopy*:RadixSortTest*:DigitRank*:*RowSumTest*:Utf8Test*'
filter+='-*thrust*:*Thrust*:*cub*:*Cub*:*_sort_*:*Recursively*'

status=0
for tool in memcheck racecheck initcheck synccheck; do
    log=$logs/$tool.log
    compute-sanitizer --tool "$tool" --error-exitcode 99 --kernel-regex-exclude kns=cub --check-api-memory-access no \
        "$program" --gtest_brief=1 --gtest_filter="$filter" >"$log" 2>&1
    result=$?
    echo "$tool: exit status $result, $(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$log" | tail -n 1)"
    [ $result -eq 0 ] || status=1
done
exit $status
