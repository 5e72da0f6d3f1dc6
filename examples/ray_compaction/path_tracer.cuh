#pragma once

// The steps of a path tracer that handles all rays of a frame at once (a wavefront): each step is a kernel or an
// operation of the library.
//
// A pixel has one path per frame. Paths stay where they are; what is compacted and sorted is a queue of their indices.
// So the operations move four bytes per ray.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "scene.cuh"
#include "stream_compaction/common.cuh"
#include "stream_compaction/device_buffer.h"
#include "stream_compaction/multi_partition.cuh"
#include "stream_compaction/single_pass.cuh"

namespace RayCompaction {

using StreamCompaction::DeviceBuffer;
using StreamCompaction::ElementCount;
using StreamCompaction::Common::blocksFor;
using StreamCompaction::Common::checkCUDAError;
using StreamCompaction::Common::globalThreadIndex;

inline constexpr std::uint32_t mostBounces = 12;
inline constexpr int threads = 128;

/// The size of the image, in pixels. The camera looks along -z.
struct Camera {
    std::uint32_t width;
    std::uint32_t height;

    [[nodiscard]] std::size_t pixels() const { return std::size_t{width} * height; }

    /// A ray through a random point of the pixel.
    [[nodiscard]] __device__ Ray rayThrough(std::uint32_t pixel, const Random& random) const {
        const float toTheRight = static_cast<float>(pixel % width) + random.u - 0.5f * static_cast<float>(width);
        const float down = static_cast<float>(pixel / width) + random.v - 0.5f * static_cast<float>(height);
        const float size = 0.6f / static_cast<float>(height);  // of a pixel, at distance 1
        return {{0, 1.2f, 6.5f}, normalized({size * toTheRight, -size * down, -1})};
    }
};

/// The path of a pixel. Zeroed memory is a path before its first sample.
struct Path {
    Ray ray;
    Vec3 throughput;  ///< the share of the light at the path's end that reaches the camera
    Hit hit;          ///< where the ray ends
    std::uint32_t sample;
    std::uint32_t bounce;
    bool isAlive;
};

/// Begins a sample: all paths are alive, at the camera.
__global__ void kernGenerate(Camera camera, Path* paths, std::uint32_t* queue, std::size_t* alive,
                             std::uint32_t pixels) {
    const auto i = static_cast<std::uint32_t>(globalThreadIndex());
    if (i == 0) {
        *alive = pixels;
    }
    if (i < pixels) {
        const std::uint32_t sample = paths[i].sample + 1;
        paths[i] = {camera.rayThrough(i, randomOf(i, sample, 0)), {1, 1, 1}, {}, sample, 0, true};
        queue[i] = i;
    }
}

/// The chance that a path goes on from the surface where it is. After some bounces it is that of the color, and the
/// light of the paths that go on is divided by it, so that the image stays as bright (Russian roulette).
__device__ inline float chanceOf(const Path& path) {
    constexpr std::uint32_t certain = 2;
    const Vec3 color = path.hit.surface.color;
    return path.bounce <= certain ? 1 : std::max(color.x, std::max(color.y, color.z));
}

/// Follows each ray to the nearest surface. Paths end there if they have found light or have been absorbed.
///
/// Only this path adds to its pixel, and only once. So the sum does not depend on the order of the queue.
__global__ void kernTrace(Scene scene, Path* paths, Vec3* film, const std::uint32_t* queue, const std::size_t* alive) {
    const std::size_t i = globalThreadIndex();
    if (i >= *alive) {
        return;
    }
    const std::uint32_t pixel = queue[i];
    Path& path = paths[pixel];
    const Ray ray = path.ray;
    path.hit = scene.nearest(ray);
    path.bounce += 1;
    const bool leaves = path.hit.distance == nowhere;
    if (leaves || path.hit.surface.material == Material::Emitter) {
        const Vec3 light = leaves ? sky(ray.direction) : path.hit.surface.color;
        film[pixel] = film[pixel] + path.throughput * light;
        path.isAlive = false;
    } else {
        path.isAlive = path.bounce < mostBounces && randomOf(pixel, path.sample, path.bounce).x < chanceOf(path);
    }
}

/// Sends each path on from the surface where it is. The queue is sorted by material, so the threads of a warp do the
/// same.
__global__ void kernScatter(Path* paths, const std::uint32_t* queue, const std::size_t* alive) {
    const std::size_t i = globalThreadIndex();
    if (i >= *alive) {
        return;
    }
    const std::uint32_t pixel = queue[i];
    Path& path = paths[pixel];
    const Vec3 direction = scattered(path.ray.direction, path.hit, randomOf(pixel, path.sample, path.bounce));
    path.ray = {path.ray.at(path.hit.distance), direction};
    path.throughput = 1 / chanceOf(path) * (path.throughput * path.hit.surface.color);
}

struct IsAlive {
    const Path* paths;
    __device__ bool operator()(std::uint32_t pixel) const { return paths[pixel].isAlive; }
};
struct MaterialOf {
    const Path* paths;
    __device__ std::uint32_t operator()(std::uint32_t pixel) const {
        return static_cast<std::uint32_t>(paths[pixel].hit.surface.material);
    }
};

/// The paths of an image and the steps of a bounce. Each step enqueues work and does not synchronise.
///
/// Steps take the number of rays as a number that the host knows, or as a count in device memory. It shapes the
/// launches. The kernels above read the number in device memory in both cases.
class PathTracer {
  public:
    /// Allocates.
    explicit PathTracer(Camera camera)
        : camera_(camera),
          paths_(pixels()),
          film_(pixels()),
          queue_(pixels()),
          survivors_(pixels()),
          left_(1),
          begins_(scatteringMaterials + 1),
          scratch_(scratchBytes()) {}

    [[nodiscard]] std::size_t pixels() const { return camera_.pixels(); }
    /// The number of rays, in device memory: where the last material ends in the sorted queue.
    [[nodiscard]] std::size_t* alive() { return begins_.data() + scatteringMaterials; }
    /// The number of rays between the two steps of a bounce.
    [[nodiscard]] const std::size_t* left() const { return left_.data(); }
    /// The sum of the light of all samples, per pixel.
    [[nodiscard]] const DeviceBuffer<Vec3>& film() const { return film_; }

    /// Forgets all samples.
    void clear(cudaStream_t stream) {
        checkCUDAError(cudaMemsetAsync(film_.data(), 0, film_.byteCount(), stream), "cudaMemsetAsync");
        checkCUDAError(cudaMemsetAsync(paths_.data(), 0, paths_.byteCount(), stream), "cudaMemsetAsync");
    }

    /// Begins a sample.
    void generate(cudaStream_t stream) {
        kernGenerate<<<blocksFor(pixels(), threads), threads, 0, stream>>>(
            camera_, paths_.data(), queue_.data(), alive(), static_cast<std::uint32_t>(pixels()));
        checkCUDAError("kernGenerate");
    }

    /// The first half of a bounce, with n rays in the queue. `left()` of them survive.
    template <ElementCount Count>
    void traceAndCompact(Count n, cudaStream_t stream) {
        kernTrace<<<blocksFor(StreamCompaction::capacityOf(n), threads), threads, 0, stream>>>(
            Scene{}, paths_.data(), film_.data(), queue_.data(), alive());
        checkCUDAError("kernTrace");
        compact_(queue_.data(), survivors_.data(), left_.data(), n, IsAlive{paths_.data()}, scratch_.bytes(), stream);
    }

    /// The second half, with the n rays that have survived. They are in the queue again, and `alive()` is n.
    template <ElementCount Count>
    void sortAndScatter(Count n, cudaStream_t stream) {
        partition_(survivors_.data(), queue_.data(), begins_.data(), n, scatteringMaterials, MaterialOf{paths_.data()},
                   scratch_.bytes(), stream);
        kernScatter<<<blocksFor(StreamCompaction::capacityOf(n), threads), threads, 0, stream>>>(
            paths_.data(), queue_.data(), alive());
        checkCUDAError("kernScatter");
    }

  private:
    [[nodiscard]] std::size_t scratchBytes() {
        return std::max(
            compact_.scratchBytes(queue_.data(), survivors_.data(), left_.data(), pixels(), IsAlive{paths_.data()}),
            partition_.scratchBytes(survivors_.data(), queue_.data(), begins_.data(), pixels(), scatteringMaterials,
                                    MaterialOf{paths_.data()}));
    }

    StreamCompaction::SinglePass::Compact compact_;
    StreamCompaction::Radix::MultiPartition partition_;
    Camera camera_;
    DeviceBuffer<Path> paths_;
    DeviceBuffer<Vec3> film_;
    DeviceBuffer<std::uint32_t> queue_;
    DeviceBuffer<std::uint32_t> survivors_;  ///< not sorted yet
    DeviceBuffer<std::size_t> left_;
    DeviceBuffer<std::size_t> begins_;  ///< of each material in the sorted queue
    DeviceBuffer<std::byte> scratch_;
};

}  // namespace RayCompaction
