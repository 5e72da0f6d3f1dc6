#pragma once

#include "stream_compaction/primitives/previous.cuh"
#include "stream_compaction/single_pass.cuh"

namespace StreamCompaction::Runs {

/// The default equality.
struct IsEqual {
    /// Whether a == b.
    template <typename T>
    [[nodiscard]] __host__ __device__ constexpr bool operator()(const T& a, const T& b) const {
        return a == b;
    }
};

/// Whether an element differs from the one before it.
template <typename Equal>
struct BeginsRun {
    Equal equal;

    template <typename T>
    [[nodiscard]] __device__ bool operator()(const T& previous, const T& x) const {
        return !equal(previous, x);
    }
};

/// The first element of each run of equal neighbours: `unique(in, out, count, n, [equal,] scratch, stream)`. Writes
/// them to `out`, in order, and their number to `count`, both in device memory. Writes nothing past them. `equal(a, b)`
/// compares an element to the one before it; by default it is ==. May not run in place. Neither allocates nor
/// synchronises. Throws what common.cuh says.
///
/// `in` is an array of n elements in device memory, or a function of such elements or of the index
/// (primitives/source.cuh). Elements are trivially copyable, have 1 to 64 bytes, and lie at any address that their type
/// allows. The scratch may hold anything and keeps nothing from call to call.
///
/// Reads 4 bytes per int and writes 4 bytes per run.
struct Unique {
    static constexpr bool mayRunInPlace = false;  ///< whether the output may be the input

    /// How the blocks of large arrays get their tiles.
    TileOrder order = TileOrder::BlockIndex;
    /// The most runs (common.cuh).
    std::size_t maxOut = noLimit;

    /// The bytes of scratch that a call with these arguments needs.
    template <typename In, typename T, ElementCount N, typename... Functions>
    [[nodiscard]] std::size_t scratchBytes(const In& in, T* out, CountPointer count, N n,
                                           const Functions&... /*functions*/) const {
        return SinglePass::Compact{order}.scratchBytes(in, out, count, n);
    }

    /// Compares by ==.
    template <typename In, typename T, ElementCount N>
    void operator()(const In& in, T* out, CountPointer count, N n, Scratch scratch, cudaStream_t stream) const {
        (*this)(in, out, count, n, IsEqual{}, scratch, stream);
    }

    /// Compares by `equal`.
    template <typename In, typename T, ElementCount N, typename Equal>
    void operator()(const In& in, T* out, CountPointer count, N n, Equal equal, Scratch scratch,
                    cudaStream_t stream) const {
        if constexpr (isFunctionOf<Equal, T, T>()) {
            SinglePass::Compact{order, maxOut}(in, out, count, n, WithPrevious{BeginsRun<Equal>{equal}}, scratch,
                                               stream);
        }
    }
};

}  // namespace StreamCompaction::Runs
