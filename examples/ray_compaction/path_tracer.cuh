#pragma once

// The steps of a path tracer that handles all rays of a frame at once (a wavefront): each step is a kernel or an
// operation of the library.
//
// A pixel has one path per frame. Paths stay where they are; what is compacted and sorted is a queue of their indices.
// So the operations move four bytes per ray.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "scene.cuh"
#include "stream_compaction/common.cuh"
#include "stream_compaction/device_buffer.h"
#include "stream_compaction/multi_partition.cuh"
#include "stream_compaction/runtime/early_launch.cuh"
#include "stream_compaction/runtime/launch.cuh"
#include "stream_compaction/single_pass.cuh"

namespace RayCompaction {

using StreamCompaction::Begin;
using StreamCompaction::DeviceBuffer;
using StreamCompaction::ElementCount;
using StreamCompaction::waitForEarlierKernels;
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
struct alignas(16) Path {
    Ray ray;
    Vec3 throughput;  ///< the share of the light at the path's end that reaches the camera
    Hit hit;          ///< where the ray ends
    std::uint32_t sample;
    std::uint32_t bounce;
};

/// What all steps work on, in device memory.
struct Image {
    Path* paths;          ///< per pixel
    Vec3* film;           ///< per pixel, the sum of the light of all samples
    Material* materials;  ///< per pixel, of the surface where the path is; Emitter if the path has ended
};

/// The chance that a path goes on from the surface where it is. After some bounces it is that of the color, and the
/// light of the paths that go on is divided by it, so that the image stays as bright (Russian roulette).
__device__ inline float chanceOf(const Path& path) {
    constexpr std::uint32_t certain = 2;
    const Vec3 color = path.hit.surface.color;
    return path.bounce <= certain ? 1 : max(color.x, max(color.y, color.z));
}

/// Follows the ray to the nearest surface. The path ends there if it has found light or has been absorbed. Returns
/// whether it goes on.
///
/// Only this path adds to its pixel, and only once. So the sum does not depend on the order of the queue.
__device__ inline bool trace(const Scene& scene, const Image& image, std::uint32_t pixel, Path& path) {
    path.hit = scene.nearest(path.ray);
    path.bounce += 1;
    const bool leaves = path.hit.distance == nowhere;
    Material material = path.hit.surface.material;
    if (leaves || material == Material::Emitter) {
        const Vec3 light = leaves ? sky(path.ray.direction) : path.hit.surface.color;
        image.film[pixel] = image.film[pixel] + path.throughput * light;
        material = Material::Emitter;
    } else if (path.bounce == mostBounces || randomOf(pixel, path.sample, path.bounce).x >= chanceOf(path)) {
        material = Material::Emitter;
    }
    image.materials[pixel] = material;
    return material != Material::Emitter;
}

/// Begins a sample: the first ray of each path, from the camera to the first surface.
__global__ void kernGenerate(Scene scene, Camera camera, Image image, std::uint32_t* queue, std::size_t* alive,
                             std::uint32_t pixels) {
    const auto i = static_cast<std::uint32_t>(globalThreadIndex());
    if (i == 0) {
        *alive = pixels;
    }
    if (i < pixels) {
        const std::uint32_t sample = image.paths[i].sample + 1;
        Path path{camera.rayThrough(i, randomOf(i, sample, 0)), {1, 1, 1}, {}, sample, 0};
        (void)trace(scene, image, i, path);
        image.paths[i] = path;
        queue[i] = i;
    }
}

/// Sends each path on from the surface where it is, to the next one. The queue is sorted by material, so the threads of
/// a warp do the same. Calls `tell` with the number of rays, and whether some may be left.
template <typename Tell>
__global__ void kernBounce(Scene scene, Image image, const std::uint32_t* queue, const std::size_t* alive, Tell tell) {
    waitForEarlierKernels();
    const std::size_t rays = *alive;
    const std::size_t first = globalThreadIndex();
    if (first == 0) {
        // All paths of the queue have the same number of bounces.
        tell(rays, rays > 0 && image.paths[queue[0]].bounce + 1 < mostBounces);
    }
    if (first < rays) {
        const std::uint32_t pixel = queue[first];
        Path path = image.paths[pixel];
        const Vec3 direction = scattered(path.ray.direction, path.hit, randomOf(pixel, path.sample, path.bounce));
        path.throughput = 1 / chanceOf(path) * (path.throughput * path.hit.surface.color);
        path.ray = {path.ray.at(path.hit.distance), direction};
        if (trace(scene, image, pixel, path)) {
            image.paths[pixel] = path;
        }
    }
}

struct IsAlive {
    const Material* materials;
    __device__ bool operator()(std::uint32_t pixel) const { return materials[pixel] != Material::Emitter; }
};
struct MaterialOf {
    const Material* materials;
    __device__ std::uint32_t operator()(std::uint32_t pixel) const {
        return static_cast<std::uint32_t>(materials[pixel]);
    }
};

/// The paths of an image and the steps of a bounce. Each step enqueues work and does not synchronise.
///
/// Steps take the number of rays as a number that the host knows, or as a count in device memory.
class PathTracer {
  public:
    /// Allocates.
    explicit PathTracer(Camera camera)
        : camera_(camera),
          paths_(pixels()),
          film_(pixels()),
          materials_(pixels()),
          queue_(pixels()),
          survivors_(pixels()),
          left_(1),
          begins_(scatteringMaterials + 1),
          scratch_(scratchBytes()) {}

    [[nodiscard]] std::size_t pixels() const { return camera_.pixels(); }
    /// The number of rays in the queue, in device memory: where its last material ends.
    [[nodiscard]] std::size_t* alive() { return begins_.data() + scatteringMaterials; }
    /// The number of rays that have survived the last bounce, in device memory.
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
        StreamCompaction::launch<kernGenerate>(StreamCompaction::plainShape(blocksFor(pixels(), threads), threads),
                                               stream, Scene{}, camera_, image(), queue_.data(), alive(),
                                               static_cast<std::uint32_t>(pixels()));
    }

    /// Drops the paths that have ended from the n rays in the queue. `left()` of them survive.
    template <ElementCount Count>
    void compact(Count n, cudaStream_t stream) {
        compact_(queue_.data(), survivors_.data(), left_.data(), n, IsAlive{materials_.data()}, scratch_.bytes(),
                 stream);
    }

    /// Sorts the n survivors by material. They are in the queue again, and `alive()` is n.
    template <ElementCount Count>
    void sort(Count n, cudaStream_t stream) {
        partition_(survivors_.data(), queue_.data(), begins_.data(), n, scatteringMaterials,
                   MaterialOf{materials_.data()}, scratch_.bytes(), stream);
    }

    /// Sends the n rays of the queue on. `alive()` is n, and not more than its capacity.
    template <ElementCount Count, typename Tell>
    void bounce(Count n, Tell tell, cudaStream_t stream) {
        StreamCompaction::launch<kernBounce<Tell>>(
            {blocksFor(StreamCompaction::capacityOf(n), threads), threads, 0, Begin::Programmatic}, stream, Scene{},
            image(), std::as_const(queue_).data(), static_cast<const std::size_t*>(alive()), tell);
    }

  private:
    [[nodiscard]] Image image() { return {paths_.data(), film_.data(), materials_.data()}; }

    [[nodiscard]] std::size_t scratchBytes() {
        const Material* const materials = materials_.data();
        return std::max(
            compact_.scratchBytes(queue_.data(), survivors_.data(), left_.data(), pixels(), IsAlive{materials}),
            partition_.scratchBytes(survivors_.data(), queue_.data(), begins_.data(), pixels(), scatteringMaterials,
                                    MaterialOf{materials}));
    }

    StreamCompaction::SinglePass::Compact compact_;
    StreamCompaction::Radix::MultiPartition partition_;
    Camera camera_;
    DeviceBuffer<Path> paths_;
    DeviceBuffer<Vec3> film_;
    DeviceBuffer<Material> materials_;
    DeviceBuffer<std::uint32_t> queue_;
    DeviceBuffer<std::uint32_t> survivors_;  ///< not sorted yet
    DeviceBuffer<std::size_t> left_;
    DeviceBuffer<std::size_t> begins_;  ///< of each material in the sorted queue
    DeviceBuffer<std::byte> scratch_;
};

}  // namespace RayCompaction
