#!/usr/bin/env bash
# Measures kernels with many shapes on the card, prints the fastest for each size and writes all to a CSV.
#   scripts/tune.sh [FILE.csv [scan|compact|sort|row-sum]]
source "$(dirname "$0")/setup.sh"
target=stream_compaction_test
build release -DSTREAM_COMPACTION_TESTS=OFF -DSTREAM_COMPACTION_EXAMPLES=OFF
cmake --build --preset release --target tune >>build/release.log 2>&1 || die "the build failed; see build/release.log"
exec build/release/bin/tune "${@:-build/tune.csv}"
