#!/usr/bin/env bash
# Builds the program and runs it; every option is passed on to it (--help lists them).
source "$(dirname "$0")/setup.sh"
build release -DSTREAM_COMPACTION_TESTS=OFF -DSTREAM_COMPACTION_EXAMPLES=OFF
exec build/release/bin/stream_compaction_test "$@"
