#!/usr/bin/env bash
# Builds the program and runs it in the caller's folder; every option is passed on to it (--help lists them).
caller=$PWD
source "$(dirname "$0")/setup.sh"
build release -DSTREAM_COMPACTION_TESTS=OFF -DSTREAM_COMPACTION_EXAMPLES=OFF
program=$PWD/build/release/bin/stream_compaction_test
cd "$caller"
exec "$program" "$@"
