#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>

#include "stream_compaction/common.cuh"
#include "stream_compaction/primitives/source.cuh"
#include "stream_compaction/primitives/warp.cuh"

/// The element before each element of a tile. Most are in the registers of the same thread or of its neighbour. Only
/// the one before a warp's part of the tile is read from global memory.
namespace StreamCompaction {

/// The elements before those that the lanes of a warp hold.
template <typename T>
class Previous {
  public:
    /// `first` is the index of the warp's first element in the source of n elements. Called early, because it reads
    /// global memory.
    template <typename Source>
    __device__ Previous(const Source& source, std::size_t first, std::size_t n)
        : carried_(valueAt(source, min(max(first, std::size_t{1}), n) - 1)) {}

    /// The element before this lane's elements, of which `last` is the last one. Called by all lanes for one row after
    /// the other. Before the first element of the source there is none; it gets itself.
    [[nodiscard]] __device__ T before(const T& last) {
        const T rotated = Warp::rotateUp(last);
        const T result = Warp::lane() == 0 ? carried_ : rotated;
        carried_ = rotated;
        return result;
    }

  private:
    T carried_;  ///< what lane 0 gets next
};

/// A predicate of an element and the one before it: `keep(previous, x)`. The first element is kept. For the operations
/// of single_pass.cuh. Those that compact parts of an array apart refuse it, because each part would keep its first
/// element.
template <typename Predicate>
struct WithPrevious {
    Predicate keep;  ///< called with the element before and the element
};

/// Whether a predicate asks for the element before.
template <typename Predicate>
inline constexpr bool asksForPrevious = false;
/// WithPrevious does.
template <typename Predicate>
inline constexpr bool asksForPrevious<WithPrevious<Predicate>> = true;

/// Refuses predicates that a compaction of elements of type T cannot call.
template <typename T, typename Predicate>
[[nodiscard]] consteval bool isPredicateFor() {
    if constexpr (asksForPrevious<Predicate>) {
        return isFunctionOf<decltype(Predicate::keep), T, T>();
    } else if constexpr (asksForIndex<Predicate>) {
        return isFunctionOf<decltype(Predicate::keep), T, std::size_t>();
    } else {
        return isFunctionOf<Predicate, T>();
    }
}

/// Stands for Previous if the predicate does not ask for it.
template <typename T>
struct NoPrevious {
    template <typename Source>
    __device__ NoPrevious(const Source& /*source*/, std::size_t /*first*/, std::size_t /*n*/) {}

    [[nodiscard]] __device__ const T& before(const T& last) const { return last; }
};

template <typename Predicate, typename T>
struct PreviousFor {
    using Type = std::conditional_t<asksForPrevious<Predicate>, Previous<T>, NoPrevious<T>>;
};

/// Whether a compaction keeps element i, which comes after `previous`.
template <typename Predicate, typename T>
[[nodiscard]] __device__ bool isKept(const Predicate& keep, const T& /*previous*/, const T& x, std::size_t i) {
    return isKept(keep, x, i);
}
template <typename Predicate, typename T>
[[nodiscard]] __device__ bool isKept(const WithPrevious<Predicate>& neighbours, const T& previous, const T& x,
                                     std::size_t i) {
    return i == 0 || neighbours.keep(previous, x);
}

}  // namespace StreamCompaction
