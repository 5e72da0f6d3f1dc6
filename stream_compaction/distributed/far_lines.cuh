#pragma once

#include <cstdint>

#include "stream_compaction/primitives/sort_tile.cuh"
#include "stream_compaction/primitives/warp.cuh"

/// Stores runs of a tile over a link, line by line.
///
/// A link takes about as long for a part of a line of 128 bytes as for all of it. Runs begin anywhere, so a row of
/// packed elements lies in several lines. So a warp stores 32 elements at once that begin at a multiple of 32 in the
/// target. If elements have 4 bytes, that is a line. In the card's own memory rows are faster, because they need no
/// list of lines.
namespace StreamCompaction::Distributed {

/// Marks a pointer to memory behind a link. No address has this bit: device memory and the windows of NCCL lie below
/// 2^57, and their addresses carry no tags of the host, such as those of Arm's top-byte-ignore.
inline constexpr std::uintptr_t farBit = std::uintptr_t{1} << 63;

template <typename T>
[[nodiscard]] __device__ T* markedFar(T* pointer) {
    return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(pointer) | farBit);
}
template <typename Bits, typename Value>
[[nodiscard]] __device__ Radix::Elements<Bits, Value> markedFar(const Radix::Elements<Bits, Value>& elements) {
    return {markedFar(elements.keys), markedFar(elements.values)};
}

/// The lines of a tile's runs that lie behind a link, in shared memory. For Radix::PassStorage.
template <typename Shape>
class FarLines {
  public:
    /// Called by all threads. Barriers have to come before and after.
    __device__ void clear() {
        if (threadIdx.x == 0) {
            count_ = 0;
        }
    }

    /// Whether a run is stored by lines.
    template <typename T>
    [[nodiscard]] static __device__ bool has(const T* run) {
        return (reinterpret_cast<std::uintptr_t>(run) & farBit) != 0;
    }

    /// Lists the lines of a run, the packed elements [begin, end), if it is stored by lines.
    template <typename T>
    __device__ void add(const T* run, int digit, int begin, int end) {
        if (!has(run) || begin >= end) {
            return;
        }
        const int ahead = static_cast<int>(reinterpret_cast<std::uintptr_t>(run) / sizeof(T) % Warp::lanes);
        const int first = (begin + ahead) / Warp::lanes;
        const int last = (end + ahead - 1) / Warp::lanes;
        int next = atomicAdd(&count_, last - first + 1);
        for (int line = first; line <= last; ++line) {
            const int from = max(line * Warp::lanes - ahead, begin);
            const int to = min((line + 1) * Warp::lanes - ahead, end);
            lines_[next++] = {static_cast<std::uint16_t>(from), static_cast<std::uint8_t>(digit),
                              static_cast<std::uint8_t>(to - from)};
        }
    }

    /// Stores the listed elements of a tile, each as `decode` returns it.
    template <typename T, typename Decode>
    __device__ void store(T* const* runs, const T* elements, Decode decode) const {
        for (int i = Warp::index(); i < count_; i += Shape::threads / Warp::lanes) {
            const Line line = lines_[i];
            if (Warp::lane() < line.size) {
                const int place = line.begin + Warp::lane();
                near(runs[line.digit])[place] = decode(elements[place]);
            }
        }
    }

  private:
    /// Packed elements that lie between multiples of 32 in the target.
    struct alignas(4) Line {
        std::uint16_t begin;
        std::uint8_t digit;
        std::uint8_t size;
    };

    template <typename T>
    [[nodiscard]] static __device__ T* near(T* pointer) {
        return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(pointer) & ~farBit);
    }

    int count_;
    Line lines_[Shape::elements / Warp::lanes + 2 * digitValues];  // a run of n elements lies in n / 32 + 2 at most
};

}  // namespace StreamCompaction::Distributed
