#!/usr/bin/env bash
# Builds everything and runs the tests; options are passed on to ctest (-L cpu or -L gpu picks a part).
# Set STREAM_COMPACTION_QUICK_TESTS for a short GPU run.
source "$(dirname "$0")/setup.sh"
install_packages libgtest-dev libgmock-dev python3-matplotlib
build release -DSTREAM_COMPACTION_TESTS=ON -DSTREAM_COMPACTION_EXAMPLES=ON
status=0
ctest --preset release "$@" || status=$?
if reason=$(grep -h -m 1 '^no GPU: ' build/release/Testing/Temporary/LastTest.log 2>/dev/null); then
    echo "GPU tests were skipped, ${reason}"
fi
exit $status
