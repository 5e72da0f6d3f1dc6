#!/usr/bin/env bash
# Builds everything and runs the tests. Options are passed on to ctest (-L cpu or -L gpu picks a part). Without a card,
# or with --simulated, the GPU tests run in the simulator. With --cuda everything is built by nvcc, with or without a
# card. Set STREAM_COMPACTION_QUICK_TESTS for a short GPU run. Set STREAM_COMPACTION_BROWSER to install, on Debian, the
# browser in which the pages are tested; otherwise those tests are skipped if there is none.
source "$(dirname "$0")/setup.sh"
choose_preset "$@"
install_packages libgtest-dev libgmock-dev libboost-dev libpng-dev doxygen gdb zsh fish man-db mandoc \
    ${STREAM_COMPACTION_BROWSER:+chromium chromium-driver python3-selenium}
find_python
build "$preset" -DPython3_EXECUTABLE="$python" \
    -DSTREAM_COMPACTION_TESTS=ON -DSTREAM_COMPACTION_EXAMPLES=ON
# Tests on a card run one at a time.
jobs=1
[ "$preset" = release ] || jobs=$(nproc)
status=0
ctest --preset "$preset" -j "$jobs" "${options[@]}" || status=$?
if reason=$(grep -h -m 1 '^no GPU: ' "build/$preset/Testing/Temporary/LastTest.log" 2>/dev/null); then
    echo "GPU tests were skipped, ${reason}"
fi
exit $status
