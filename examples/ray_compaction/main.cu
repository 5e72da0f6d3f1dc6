// The inner loop of a path tracer without its physics. Rays bounce, some are absorbed, and the array is compacted after
// every bounce so that the threads of a warp stay busy. The loop never waits for the host: only the device knows the
// number of rays, and the next bounce and the next compaction read it there.
//
// The price: every launch has threads for the initial number of rays. Threads beyond the last ray return at once. The
// compaction reads the elements behind the last ray and drops them.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

#include "stream_compaction/common.cuh"
#include "stream_compaction/device_buffer.h"
#include "stream_compaction/single_pass.cuh"

namespace {

using StreamCompaction::DeviceBuffer;
using StreamCompaction::Common::checkCUDAError;

constexpr std::size_t rayCount = std::size_t{1} << 20;
constexpr int bounces = 8;
constexpr int threads = 256;

struct Ray {
    float origin[3];
    float direction[3];
    float throughput[3];
    std::uint32_t pixel;
    std::uint32_t depth;
    std::uint32_t isAlive;
};

/// Whether a ray survives a bounce. A real path tracer would intersect the scene.
__host__ __device__ bool survives(std::uint32_t pixel, std::uint32_t depth) {
    std::uint32_t hash = (pixel * 0x9E3779B9u) ^ (depth * 0x85EBCA6Bu);
    hash = (hash ^ (hash >> 16)) * 0x7FEB352Du;
    hash = (hash ^ (hash >> 15)) * 0x846CA68Bu;
    return (hash >> 16) % 10 < 7;
}

__global__ void kernGenerate(Ray* rays, std::size_t* count) {
    const std::size_t i = StreamCompaction::Common::globalThreadIndex();
    if (i == 0) {
        *count = rayCount;
    }
    if (i < rayCount) {
        rays[i] = {{0, 0, 0}, {0, 0, 1}, {1, 1, 1}, static_cast<std::uint32_t>(i), 0, 1};
    }
}

__global__ void kernBounce(Ray* rays, const std::size_t* count) {
    const std::size_t i = StreamCompaction::Common::globalThreadIndex();
    if (i < *count) {
        Ray& ray = rays[i];
        ray.isAlive = survives(ray.pixel, ray.depth) ? 1 : 0;
        ray.depth += 1;
        for (float& channel : ray.throughput) {
            channel *= 0.8f;
        }
    }
}

/// Keeps the elements that hold a ray which survives.
struct IsAlive {
    const std::size_t* count;
    __device__ bool operator()(const Ray& ray, std::size_t i) const { return i < *count && ray.isAlive != 0; }
};

/// Traces all bounces. counts[b] is the number of rays after b bounces. Returns the buffer with the remaining rays.
[[nodiscard]] const DeviceBuffer<Ray>& trace(DeviceBuffer<Ray> (&rays)[2], std::size_t* counts,
                                             StreamCompaction::Scratch scratch, cudaStream_t stream) {
    const StreamCompaction::SinglePass::Compact compact;
    const unsigned blocks = StreamCompaction::Common::blocksFor(rayCount, threads);
    kernGenerate<<<blocks, threads, 0, stream>>>(rays[0].data(), counts);
    checkCUDAError("kernGenerate");
    for (int bounce = 0; bounce < bounces; ++bounce) {
        DeviceBuffer<Ray>& from = rays[bounce % 2];
        DeviceBuffer<Ray>& to = rays[1 - bounce % 2];
        kernBounce<<<blocks, threads, 0, stream>>>(from.data(), counts + bounce);
        checkCUDAError("kernBounce");
        compact(from.data(), to.data(), counts + bounce + 1, rayCount,
                StreamCompaction::WithIndex{IsAlive{counts + bounce}}, scratch, stream);
    }
    return rays[bounces % 2];
}

/// The pixels whose rays survive `afterBounces` bounces, in order.
[[nodiscard]] std::vector<std::uint32_t> survivors(int afterBounces) {
    std::vector<std::uint32_t> pixels;
    for (std::uint32_t pixel = 0; pixel < rayCount; ++pixel) {
        bool isAlive = true;
        for (int depth = 0; depth < afterBounces && isAlive; ++depth) {
            isAlive = survives(pixel, depth);
        }
        if (isAlive) {
            pixels.push_back(pixel);
        }
    }
    return pixels;
}

[[nodiscard]] bool run() {
    DeviceBuffer<Ray> rays[2] = {DeviceBuffer<Ray>(rayCount), DeviceBuffer<Ray>(rayCount)};
    DeviceBuffer<std::size_t> counts(bounces + 1);
    DeviceBuffer<std::byte> scratch(StreamCompaction::SinglePass::Compact{}.scratchBytes(
        StreamCompaction::noArray<Ray>, StreamCompaction::noArray<Ray>, StreamCompaction::noArray<std::size_t>,
        rayCount));
    const DeviceBuffer<Ray>& left = trace(rays, counts.data(), scratch.bytes(), cudaStreamLegacy);

    // The first synchronisation with the host.
    std::vector<std::size_t> raysAfter(bounces + 1);
    counts.copyTo(raysAfter);
    std::vector<Ray> lastRays(raysAfter.back());
    left.copyTo(lastRays);

    for (int bounce = 0; bounce <= bounces; ++bounce) {
        std::printf("after %d bounces: %zu rays\n", bounce, raysAfter[bounce]);
        if (raysAfter[bounce] != survivors(bounce).size()) {
            std::printf("expected %zu\n", survivors(bounce).size());
            return false;
        }
    }
    const std::vector<std::uint32_t> expected = survivors(bounces);
    for (std::size_t i = 0; i < lastRays.size(); ++i) {
        if (lastRays[i].pixel != expected[i] || lastRays[i].depth != bounces) {
            std::printf("ray %zu: pixel %u, expected %u\n", i, lastRays[i].pixel, expected[i]);
            return false;
        }
    }
    return true;
}

}  // namespace

int main() {
    if (const auto reason = StreamCompaction::Common::cudaUnavailableReason()) {
        std::printf("skipped: %s\n", reason->c_str());
        return 0;
    }
    try {
        return run() ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "error: %s\n", error.what());
        return 1;
    }
}
