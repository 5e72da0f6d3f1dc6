// Particles around a viewer at the origin, with the device API: inputs that are functions of the elements, an initial
// value, a compaction whose result is sorted, and an argsort. Every result is compared with the standard library's.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "stream_compaction/device_buffer.h"
#include "stream_compaction/radix_sort.cuh"
#include "stream_compaction/single_pass.cuh"

using namespace StreamCompaction;

namespace {

struct Particle {
    float x;
    float y;
    int charge;
};

/// The squared distance from the viewer, who is at the origin.
struct SquaredDistance {
    __host__ __device__ float operator()(const Particle& particle) const {
        return particle.x * particle.x + particle.y * particle.y;
    }
};

struct Charge {
    __host__ __device__ int operator()(const Particle& particle) const { return particle.charge; }
};

struct IsWithin {
    float squaredRadius;
    __host__ __device__ bool operator()(float squaredDistance) const { return squaredDistance < squaredRadius; }
};

[[nodiscard]] std::vector<Particle> someParticles(std::size_t n) {
    std::mt19937 random(1);
    std::uniform_int_distribution<int> place(-1000, 1000);  // whole numbers, whose squares are exact on every machine
    std::vector<Particle> particles(n);
    for (Particle& particle : particles) {
        particle = {static_cast<float>(place(random)), static_cast<float>(place(random)), place(random) % 3};
    }
    return particles;
}

template <typename T>
[[nodiscard]] std::vector<T> fetched(const DeviceBuffer<T>& from, std::size_t n) {
    std::vector<T> to(n);
    from.copyTo(to);
    return to;
}

[[nodiscard]] bool report(const char* what, bool isRight) {
    std::printf("%-44s %s\n", what, isRight ? "right" : "WRONG");
    return isRight;
}

/// The sum of the charges before each particle, starting at 100. It scans a field of the particles without copying it
/// first.
[[nodiscard]] bool scanCharges(const std::vector<Particle>& particles, const DeviceBuffer<Particle>& in) {
    const std::size_t n = particles.size();
    const SinglePass::Scan scan;
    const auto charges = transformed(in.data(), Charge{});
    DeviceBuffer<int> sums(n);
    DeviceBuffer<std::byte> scratch(scan.scratchBytes(charges, sums.data(), n, Sum{}, 100));
    scan(charges, sums.data(), n, Sum{}, 100, scratch.bytes(), cudaStreamLegacy);

    std::vector<int> expected(n);
    std::transform_exclusive_scan(particles.begin(), particles.end(), expected.begin(), 100, std::plus<int>{},
                                  Charge{});
    return report("scan of a function of the elements", fetched(sums, n) == expected);
}

/// The distances of nearby particles, in ascending order.
[[nodiscard]] bool sortNearby(const std::vector<Particle>& particles, const DeviceBuffer<Particle>& in) {
    const std::size_t n = particles.size();
    const IsWithin isNear{250000};
    const auto distances = transformed(in.data(), SquaredDistance{});
    const SinglePass::Compact compact;
    DeviceBuffer<float> nearby(n);
    DeviceBuffer<std::size_t> count(1);
    DeviceBuffer<std::byte> scratch(compact.scratchBytes(distances, nearby.data(), count.data(), n, isNear));
    compact(distances, nearby.data(), count.data(), n, isNear, scratch.bytes(), cudaStreamLegacy);
    const std::size_t kept = fetched(count, 1).front();

    const Radix::Sort sort;
    DeviceBuffer<float> sorted(kept);
    DeviceBuffer<std::byte> sortScratch(sort.scratchBytes(nearby.data(), sorted.data(), kept));
    sort(nearby.data(), sorted.data(), kept, sortScratch.bytes(), cudaStreamLegacy);

    std::vector<float> expected;
    for (const Particle& particle : particles) {
        if (isNear(SquaredDistance{}(particle))) {
            expected.push_back(SquaredDistance{}(particle));
        }
    }
    std::ranges::sort(expected);
    return report("compaction that feeds a sort", fetched(sorted, kept) == expected);
}

/// The indices of the particles by distance. The argsort makes the indices itself.
[[nodiscard]] bool orderByDistance(const std::vector<Particle>& particles) {
    const std::size_t n = particles.size();
    std::vector<float> distances(n);
    std::ranges::transform(particles, distances.begin(), SquaredDistance{});
    const DeviceBuffer<float> keys{std::span<const float>(distances)};
    DeviceBuffer<float> sorted(n);
    DeviceBuffer<unsigned> order(n);
    const Radix::ArgSort sort;
    DeviceBuffer<std::byte> scratch(sort.scratchBytes(keys.data(), sorted.data(), order.data(), n));
    sort(keys.data(), sorted.data(), order.data(), n, scratch.bytes(), cudaStreamLegacy);

    std::vector<unsigned> expected(n);
    std::iota(expected.begin(), expected.end(), 0U);
    std::ranges::stable_sort(expected, {}, [&](unsigned i) { return distances[i]; });
    return report("argsort by distance", fetched(order, n) == expected);
}

}  // namespace

int main() {
    if (const auto reason = Common::cudaUnavailableReason()) {
        std::printf("skipped: %s\n", reason->c_str());
        return 0;
    }
    const std::vector<Particle> particles = someParticles(20000);
    const DeviceBuffer<Particle> in{std::span<const Particle>(particles)};
    const bool areRight[] = {scanCharges(particles, in), sortNearby(particles, in), orderByDistance(particles)};
    return std::ranges::all_of(areRight, std::identity{}) ? 0 : 1;
}
