#pragma once

#include "stream_compaction/common.cuh"
#include "stream_compaction/device_buffer.h"
#include "stream_compaction/runtime/arguments.h"
#include "stream_compaction/timer.h"

/// The course layer, once for every variant: check, allocate, copy in, time the device layer, copy out.
namespace StreamCompaction::Course {

[[nodiscard]] inline DeviceBuffer<int> upload(int n, const int* idata) {
    return DeviceBuffer<int>(std::span(idata, static_cast<std::size_t>(n)));
}

/// `operation` is a scan or a sort: n elements in, n out.
template <typename Operation>
void transform(Common::PerformanceTimer& timer, const Operation& operation, int n, int* odata, const int* idata) {
    Arguments::requireHostArrays(n, odata, idata);
    if (n == 0) {
        return;
    }
    const DeviceBuffer<int> in = upload(n, idata);
    DeviceBuffer<int> out(n);
    DeviceBuffer<std::byte> scratch(operation.scratchBytes(in.data(), out.data(), n));
    timer.timeGpu([&] { operation(in.data(), out.data(), n, scratch.bytes(), cudaStreamLegacy); });
    out.copyTo({odata, out.size()});
}

template <CompactOperation Operation>
int compact(Common::PerformanceTimer& timer, const Operation& operation, int n, int* odata, const int* idata) {
    Arguments::requireHostArrays(n, odata, idata);
    if (n == 0) {
        return 0;
    }
    const DeviceBuffer<int> in = upload(n, idata);
    DeviceBuffer<int> out(n);
    DeviceBuffer<std::size_t> count(1);
    DeviceBuffer<std::byte> scratch(operation.scratchBytes(in.data(), out.data(), count.data(), n));
    timer.timeGpu([&] { operation(in.data(), out.data(), count.data(), n, scratch.bytes(), cudaStreamLegacy); });
    std::size_t kept = 0;
    count.copyTo({&kept, 1});
    out.copyTo({odata, kept});
    return static_cast<int>(kept);
}

}  // namespace StreamCompaction::Course
