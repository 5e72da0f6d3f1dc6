#pragma once

#include "stream_compaction/common.cuh"
#include "stream_compaction/device_buffer.h"
#include "stream_compaction/runtime/arguments.h"
#include "stream_compaction/timer.h"

/// The course layer, once for every variant: check, allocate, copy in, time the device layer, copy out.
namespace StreamCompaction::Course {

/// Sets the threads per block of later calls. Throws std::invalid_argument unless `blockSize` is allowed.
template <typename Operation>
void setBlockSize(Operation& operation, int blockSize) {
    requireBlockSize(blockSize);
    operation.blockSize = blockSize;
}

/// Allocates the scratch, then times `operation(arguments..., scratch, stream)` on the default stream. The arguments
/// are in device memory.
template <typename Operation, typename... Arguments>
void run(Common::PerformanceTimer& timer, const Operation& operation, Arguments... arguments) {
    DeviceBuffer<std::byte> scratch(operation.scratchBytes(arguments...));
    timer.timeGpu([&] { operation(arguments..., scratch.bytes(), cudaStreamLegacy); });
}

/// The only element of a buffer.
template <typename T>
[[nodiscard]] T fetch(const DeviceBuffer<T>& from) {
    T value{};
    from.copyTo({&value, 1});
    return value;
}

/// `operation` is a scan or a sort: n elements in, n elements out.
template <typename Operation>
void transform(Common::PerformanceTimer& timer, const Operation& operation, int n, int* odata, const int* idata) {
    Arguments::requireHostArrays(n, odata, idata);
    if (n == 0) {
        return;
    }
    const std::size_t size = static_cast<std::size_t>(n);
    const DeviceBuffer<int> in(std::span(idata, size));
    DeviceBuffer<int> out(size);
    run(timer, operation, in.data(), out.data(), size);
    out.copyTo({odata, size});
}

/// Returns the number of elements that the compaction keeps.
template <CompactOperation Operation>
int compact(Common::PerformanceTimer& timer, const Operation& operation, int n, int* odata, const int* idata) {
    Arguments::requireHostArrays(n, odata, idata);
    if (n == 0) {
        return 0;
    }
    const std::size_t size = static_cast<std::size_t>(n);
    const DeviceBuffer<int> in(std::span(idata, size));
    DeviceBuffer<int> out(size);
    DeviceBuffer<std::size_t> count(1);
    run(timer, operation, in.data(), out.data(), count.data(), size);
    const std::size_t kept = fetch(count);
    out.copyTo({odata, kept});
    return static_cast<int>(kept);
}

}  // namespace StreamCompaction::Course
