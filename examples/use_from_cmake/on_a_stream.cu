// The device layer: device memory, your own stream, any predicate. Calls neither allocate nor synchronise.
#include <stream_compaction/device_buffer.h>

#include <cstdio>
#include <stream_compaction/map_scan_scatter.cuh>
#include <stream_compaction/shared_mem.cuh>
#include <vector>

struct IsNegative {
    __host__ __device__ bool operator()(float x) const { return x < 0; }
};

int main() {
    using namespace StreamCompaction;
    if (const auto reason = Common::cudaUnavailableReason()) {
        std::printf("skipped: %s\n", reason->c_str());
        return 0;
    }
    std::vector<float> values(1 << 20);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = i % 3 == 0 ? -1.0f : 1.0f;
    }

    const MapScanScatter<SharedMem::Scan> compact;
    const DeviceBuffer<float> in{std::span<const float>(values)};
    DeviceBuffer<float> out(in.size());
    DeviceBuffer<std::size_t> count(1);
    DeviceBuffer<std::byte> scratch(compact.scratchBytes(in.data(), out.data(), count.data(), in.size()));

    cudaStream_t stream = nullptr;
    Common::checkCUDAError(cudaStreamCreate(&stream), "cudaStreamCreate");
    compact(in.data(), out.data(), count.data(), in.size(), IsNegative{}, scratch.bytes(), stream);
    Common::checkCUDAError(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    Common::checkCUDAError(cudaStreamDestroy(stream), "cudaStreamDestroy");

    std::size_t kept = 0;
    count.copyTo({&kept, 1});
    std::printf("%zu of %zu are negative\n", kept, in.size());
}
