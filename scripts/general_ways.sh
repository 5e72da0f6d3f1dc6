#!/usr/bin/env bash
# Runs the tests and the program on this machine's card as on one of compute capability 7.5. They are built for
# 75-virtual, which the driver compiles when a kernel first runs. So real hardware runs the general code, without bulk
# copies, clusters and early launches. Options are passed on to the program: --csv FILE writes its times.
source "$(dirname "$0")/setup.sh"
install_packages libgtest-dev libgmock-dev
find_nccl
STREAM_COMPACTION_CMAKE_OPTIONS+=" -DSTREAM_COMPACTION_CUDA=ON"
build general-ways -DSTREAM_COMPACTION_TESTS=ON -DSTREAM_COMPACTION_EXAMPLES=OFF
export CUDA_CACHE_MAXSIZE=$((4 << 30))  # holds all kernels of the tests
STREAM_COMPACTION_QUICK_TESTS=1 ctest --preset general-ways -L gpu
build/general-ways/bin/stream_compaction_test "$@"
