// The naive scan of 128 elements with 64 threads per block. docs/simulator.md steps through it in a debugger.

#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "stream_compaction/device_buffer.h"
#include "stream_compaction/naive.cuh"

using namespace StreamCompaction;

int main() {
    constexpr std::size_t n = 128;
    std::vector<int> numbers(n);
    std::iota(numbers.begin(), numbers.end(), 1);
    const DeviceBuffer<int> in(std::span<const int>{numbers});
    DeviceBuffer<int> out(n);
    const Naive::Scan scan{.blockSize = 64};
    DeviceBuffer<std::byte> scratch(scan.scratchBytes(in.data(), out.data(), n));
    scan(in.data(), out.data(), n, scratch.bytes(), nullptr);
    out.copyTo(numbers);
    return numbers.back() == 127 * 128 / 2 ? 0 : 1;
}
