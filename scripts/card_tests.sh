#!/usr/bin/env bash
# Runs the tests and the program on this machine's card in another build:
#   scripts/card_tests.sh debug [LOG]          kernels compiled for a debugger (nvcc -G), which finds what only the
#                                              optimiser keeps right
#   scripts/card_tests.sh general-ways [LOG]   kernels of compute capability 7.5, which the driver compiles when they
#                                              first run: without bulk copies, clusters and early launches
# LOG, by default build/PRESET.tests.log, gets the card, the commit and the result of each test.
source "$(dirname "$0")/setup.sh"
preset=${1:?expected a preset: debug or general-ways}
log=${2:-build/$preset.tests.log}
install_packages libgtest-dev libgmock-dev
find_nccl
STREAM_COMPACTION_CMAKE_OPTIONS+=" -DSTREAM_COMPACTION_CUDA=ON"
build "$preset" -DSTREAM_COMPACTION_TESTS=ON -DSTREAM_COMPACTION_EXAMPLES=OFF
export CUDA_CACHE_MAXSIZE=$((4 << 30))  # holds all kernels of the tests
export STREAM_COMPACTION_QUICK_TESTS=1
{
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
    nvcc --version | tail -n 1
    git describe --always --dirty
    ctest --preset "$preset" -L gpu -V
    "build/$preset/bin/stream_compaction_test" --no-color
} | tee "$log"
