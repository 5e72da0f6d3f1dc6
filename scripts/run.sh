#!/usr/bin/env bash
# Builds the program and runs it in the caller's folder. Options are passed on to it (--help lists them). Without a
# card, or with --simulate, GPU variants run in the simulator: checked, but not timed. --cuda builds for a card if there
# is nvcc. --all-peers also builds with peers that it fetches: simdutf and, for a card, CUB and Thrust of the newest CCCL.
caller=$PWD
source "$(dirname "$0")/setup.sh"
choose_preset "$@"
target=stream_compaction_test
build "$preset" -DSTREAM_COMPACTION_TESTS=OFF -DSTREAM_COMPACTION_EXAMPLES=OFF
program=$PWD/build/$preset/bin/stream_compaction_test
cd "$caller"
exec "$program" "${options[@]}"
