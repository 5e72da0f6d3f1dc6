#!/usr/bin/env bash
# Tries the single-pass kernels and the mappings of the row sum in many shapes on the card, prints the fastest for each size
# and writes all to a CSV.
#   scripts/tune.sh [FILE.csv [scans|compactions|row-sums]]
source "$(dirname "$0")/setup.sh"
build release -DSTREAM_COMPACTION_TESTS=OFF -DSTREAM_COMPACTION_EXAMPLES=OFF
cmake --build --preset release --target tune >>build/release.log 2>&1 || die "the build failed; see build/release.log"
exec build/release/bin/tune "${1:-build/tune.csv}" "${@:2}"
