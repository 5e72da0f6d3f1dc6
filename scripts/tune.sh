#!/usr/bin/env bash
# Measures kernels with many shapes on the card. Prints the fastest for each size, and how much slower the shape is that
# the library chooses. Writes all times to a CSV. With --check the exit status is 1 if a choice is slower by more than
# 3 %.
#   scripts/tune.sh [--check] [FILE.csv [scan|compact|sort|row-sum|counts|exchange]]
source "$(dirname "$0")/setup.sh"
target=stream_compaction_test
build release -DSTREAM_COMPACTION_TESTS=OFF -DSTREAM_COMPACTION_EXAMPLES=OFF
cmake --build --preset release --target tune >>build/release.log 2>&1 || die "the build failed; see build/release.log"
options=()
if [ "${1:-}" = --check ]; then
    options=(--check)
    shift
fi
exec build/release/bin/tune "${options[@]}" "${@:-build/tune.csv}"
