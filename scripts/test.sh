#!/usr/bin/env bash
# Builds everything and runs the tests; options are passed on to ctest (-L cpu or -L gpu picks a part). Where there is no
# card, or with --simulated, the GPU tests run in the simulator; with --cuda everything is built by nvcc, card or not.
# Set STREAM_COMPACTION_QUICK_TESTS for a short GPU run.
source "$(dirname "$0")/setup.sh"
choose_preset "$@"
install_packages libgtest-dev libgmock-dev python3-matplotlib
build "$preset" -DSTREAM_COMPACTION_TESTS=ON -DSTREAM_COMPACTION_EXAMPLES=ON
# Tests on a card have it to themselves.
jobs=1
[ "$preset" = release ] || jobs=$(nproc)
status=0
ctest --preset "$preset" -j "$jobs" "${options[@]}" || status=$?
if reason=$(grep -h -m 1 '^no GPU: ' "build/$preset/Testing/Temporary/LastTest.log" 2>/dev/null); then
    echo "GPU tests were skipped, ${reason}"
fi
exit $status
