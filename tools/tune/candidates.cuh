#pragma once

#include <stream_compaction/device_buffer.h>
#include <thrust/device_ptr.h>
#include <thrust/equal.h>
#include <thrust/tabulate.h>

#include <stream_compaction/single_pass.cuh>
#include <vector>

#include "problems/inputs.h"
#include "tune/tuner.h"

/// What the sweeps of scans and compactions share.
namespace Bench::Tune {

using namespace StreamCompaction;
using SinglePass::BlockShape;

template <typename... Shapes>
struct ShapeList {};

/// Shapes whose tiles stay in registers, and shapes whose tiles wait in shared memory, 48 KiB per block.
using ResidentShapes = ShapeList<BlockShape<256, 1>, BlockShape<256, 2>, BlockShape<256, 4>, BlockShape<256, 8>,
                                 BlockShape<512, 4>, BlockShape<512, 8>>;
using LookBackShapes = ShapeList<BlockShape<128, 8>, BlockShape<128, 12>, BlockShape<128, 16>, BlockShape<256, 4>,
                                 BlockShape<256, 8>, BlockShape<512, 2>, BlockShape<512, 4>>;

/// Calls `visit(shape)` for each shape.
template <typename... Shapes, typename Visit>
void forEach(ShapeList<Shapes...>, [[maybe_unused]] Visit visit) {
    (visit(Shapes{}), ...);
}

inline constexpr cudaStream_t defaultStream = nullptr;

inline constexpr std::size_t smallestLookBack = std::size_t{1} << 18;
inline constexpr std::size_t largestResident = std::size_t{1} << 22;

/// The smallest tiles need at most this many times the scratch of the library's own tiles.
inline constexpr std::size_t scratchOfSmallestTiles = 8;

/// Numbers from 0 to 3, equally likely. Three of four are kept. Their sums are exact in the wider types.
template <typename T>
struct SmallNumber {
    __host__ __device__ T operator()(std::size_t i) const { return static_cast<T>(randomAt(42, i) >> 62); }
};

template <typename T>
struct RandomBits {
    __host__ __device__ T operator()(std::size_t i) const { return static_cast<T>(randomAt(42, i)); }
};

template <typename T, typename ValueAt>
void fill(DeviceBuffer<T>& buffer, ValueAt valueAt) {
    const auto begin = thrust::device_pointer_cast(buffer.data());
    thrust::tabulate(begin, begin + buffer.size(), valueAt);
}

template <typename T>
[[nodiscard]] bool areEqual(const DeviceBuffer<T>& a, const DeviceBuffer<T>& b, std::size_t n) {
    const auto begin = thrust::device_pointer_cast(a.data());
    return thrust::equal(begin, begin + n, thrust::device_pointer_cast(b.data()));
}

template <typename T>
void poison(DeviceBuffer<T>& buffer) {
    Common::checkCUDAError(cudaMemset(buffer.data(), 0xCD, buffer.byteCount()), "cudaMemset");
}

template <typename T>
void copy(DeviceBuffer<T>& to, const DeviceBuffer<T>& from, std::size_t n) {
    Common::checkCUDAError(cudaMemcpy(to.data(), from.data(), n * sizeof(T), cudaMemcpyDeviceToDevice), "cudaMemcpy");
}

/// Bytes of scratch that suffice for the library with tiles of any size.
[[nodiscard]] inline std::size_t scratchFor(std::size_t libraryBytes) { return scratchOfSmallestTiles * libraryBytes; }

/// Every shape that suits n elements, of `Shapes` those that look back. `resident(shape)` and `lookBack(shape, order)`
/// launch them.
template <typename Shapes = LookBackShapes, typename Resident, typename LookBack>
[[nodiscard]] std::vector<Candidate> candidatesFor(std::size_t n, Resident resident, LookBack lookBack) {
    std::vector<Candidate> candidates;
    if (n <= largestResident) {
        forEach(ResidentShapes{}, [&](auto shape) {
            candidates.push_back({"resident", shape.threads, shape.rows, "", [=] { return resident(shape); }});
        });
    }
    if (n >= smallestLookBack) {
        for (const TileOrder order : {TileOrder::BlockIndex, TileOrder::Ticket}) {
            forEach(Shapes{}, [&](auto shape) {
                const char* name = order == TileOrder::Ticket ? "ticket" : "index";
                candidates.push_back({"look-back", shape.threads, shape.rows, name, [=] {
                                          lookBack(shape, order);
                                          return true;
                                      }});
            });
        }
    }
    return candidates;
}

/// Calls `visit(n)` for each size up to the largest.
template <typename Visit>
void forEachSize(std::size_t largest, Visit visit) {
    for (const int exponent : {12, 14, 16, 17, 18, 19, 20, 21, 22, 23, 24, 26, 28}) {
        if (const std::size_t n = std::size_t{1} << exponent; n <= largest) {
            visit(n);
        }
    }
}

}  // namespace Bench::Tune
