#!/usr/bin/env bash
# Builds everything and runs the tests. Options are passed on to ctest (-L cpu or -L gpu picks a part). Without a card,
# or with --simulated, the GPU tests run in the simulator. With --cuda everything is built by nvcc, with or without a
# card. `scripts/test.sh scan`, with the name or part of the name of any operation, builds and runs only its tests. Set
# STREAM_COMPACTION_QUICK_TESTS for a short GPU run. Set STREAM_COMPACTION_BROWSER to install, on Debian, the browser in
# which the pages are tested; otherwise those tests are skipped if there is none.
source "$(dirname "$0")/setup.sh"
operation=
case ${1:-} in
    '' | -*) ;;
    *)
        operation=$1
        shift
        ;;
esac
choose_preset "$@"
install_packages libgtest-dev libgmock-dev libboost-dev
if [ -n "$operation" ]; then
    options+=(-L gpu)
    target=version_info build "$preset" -DSTREAM_COMPACTION_TESTS=ON
    # Its own programs, and two in which only some tests are its.
    own=$(ninja -C "build/$preset" -t targets all | sed -n "s,^tests/\([a-z0-9_]*${operation}[a-z0-9_]*_tests\): .*,\1,p")
    [ -n "$own" ] || die "there are no tests of $operation"
    shared=operation_tests
    [ "$preset" = release ] || shared+=" synchronising_tests"
    target="$own $shared"
    options+=(-R "^($(paste -sd '|' <<<"$own"))")
else
    install_packages libpng-dev doxygen gdb \
        ${STREAM_COMPACTION_BROWSER:+chromium chromium-driver python3-selenium}
fi
find_python
build "$preset" -DPython3_EXECUTABLE="$python" \
    -DSTREAM_COMPACTION_TESTS=ON -DSTREAM_COMPACTION_EXAMPLES=ON
# Tests on a card run one at a time.
jobs=1
[ "$preset" = release ] || jobs=$(nproc)
status=0
ctest --preset "$preset" -j "$jobs" "${options[@]}" || status=$?
if [ -n "$operation" ]; then
    name=$(sed -E 's/(^|_)(.)/\U\2/g' <<<"$operation")
    for program in $shared; do
        "build/$preset/tests/$program" --gtest_brief=1 --gtest_filter="*$operation*:*$name*" || status=$?
    done
fi
if reason=$(grep -h -m 1 '^no GPU: ' "build/$preset/Testing/Temporary/LastTest.log" 2>/dev/null); then
    echo "GPU tests were skipped, ${reason}"
fi
exit $status
