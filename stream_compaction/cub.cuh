#pragma once

#include <algorithm>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_partition.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <cuda/std/functional>
#include <limits>
#include <type_traits>

#include "stream_compaction/common.cuh"
#include "stream_compaction/cub.h"

/// CUB's device-wide algorithms with their temporary storage as scratch: the strongest peer, measured under the same
/// conditions as the library's own.
namespace StreamCompaction::Cub {

/// CUB answers a call without storage with the number of bytes it needs. Its storage is aligned like other arrays.
template <typename Call>
[[nodiscard]] std::size_t queryScratchBytes(Call&& call) {
    std::size_t bytes = 0;
    Common::checkCUDAError(call(nullptr, bytes), "CUB's query for temporary storage");
    return scratchBytesFor<std::byte>(std::max<std::size_t>(bytes, 1));  // not 0, because null storage asks again
}

/// The most elements of an operation with kernels for 32-bit offsets alone, which are the faster ones.
inline constexpr std::size_t mostInAnInt = std::numeric_limits<int>::max();

/// The same where arrays of ints may be larger. Kernels for 64-bit offsets double what there is to compile.
template <typename T>
inline constexpr std::size_t mostUnlessInts = std::is_same_v<T, int> ? std::numeric_limits<std::size_t>::max()
                                                                     : mostInAnInt;

/// Calls with n as an int if it fits. Throws std::invalid_argument if there are more than `most` elements.
template <std::size_t most, typename Call>
[[nodiscard]] cudaError_t withSize(std::size_t n, Call&& call) {
    Arguments::requireAtMost("n", n, most);
    if constexpr (most > mostInAnInt) {
        if (n > mostInAnInt) {
            return call(static_cast<std::int64_t>(n));
        }
    }
    return call(static_cast<int>(n));
}

/// Runs the call on the scratch, of which it needs `neededBytes`.
template <typename Call>
void runOnScratch(const char* name, Scratch scratch, std::size_t neededBytes, Call&& call) {
    ScratchArena arena(scratch, neededBytes);
    std::size_t bytes = neededBytes - (scratchAlignment - 1);
    Common::checkCUDAError(call(arena.take<std::byte>(bytes), bytes), name);
}

/// cub::DeviceScan::ExclusiveScan; `out` may be `in`.
struct Scan {
    static constexpr bool mayRunInPlace = true;
    template <typename In>
    static constexpr std::size_t mostElements = mostUnlessInts<In>;

    template <typename In, typename T>
    [[nodiscard]] std::size_t scratchBytes(const In* in, T* out, std::size_t n) const {
        Arguments::requireSize<T, In>(n);
        return queryScratchBytes(call(in, out, n, nullptr));
    }

    template <typename In, typename T>
    void operator()(const In* in, T* out, std::size_t n, Scratch scratch, cudaStream_t stream) const {
        requireSameOrDisjointArrays(in, out, n);
        runOnScratch("cub::DeviceScan", scratch, scratchBytes(in, out, n), call(in, out, n, stream));
    }

  private:
    template <typename In, typename T>
    [[nodiscard]] static auto call(const In* in, T* out, std::size_t n, cudaStream_t stream) {
        return [=](void* storage, std::size_t& bytes) {
            return withSize<mostElements<In>>(n, [&](auto size) {
                return cub::DeviceScan::ExclusiveScan(storage, bytes, in, out, cuda::std::plus<>{}, T{}, size, stream);
            });
        };
    }
};

/// The `If` of DeviceSelect or DevicePartition, which are called alike. May not run in place.
template <typename Algorithm>
struct SelectBy {
    static constexpr bool mayRunInPlace = false;

    template <typename T, typename Predicate = IsNonzero>
    [[nodiscard]] std::size_t scratchBytes(const T* in, T* out, std::size_t* count, std::size_t n,
                                           Predicate keep = {}) const {
        Arguments::requireSize<T>(n);
        return queryScratchBytes(call(in, out, count, n, keep, nullptr));
    }

    template <typename T>
    void operator()(const T* in, T* out, std::size_t* count, std::size_t n, Scratch scratch,
                    cudaStream_t stream) const {
        (*this)(in, out, count, n, IsNonzero{}, scratch, stream);
    }
    template <typename T, typename Predicate>
    void operator()(const T* in, T* out, std::size_t* count, std::size_t n, Predicate keep, Scratch scratch,
                    cudaStream_t stream) const {
        requireCompactArrays(in, out, count, n);
        runOnScratch("CUB's If", scratch, scratchBytes(in, out, count, n, keep), call(in, out, count, n, keep, stream));
    }

  private:
    template <typename T, typename Predicate>
    [[nodiscard]] static auto call(const T* in, T* out, std::size_t* count, std::size_t n, Predicate keep,
                                   cudaStream_t stream) {
        return [=](void* storage, std::size_t& bytes) {
            // DeviceSelect takes no other type of n. DevicePartition would take an int, but was slower with it for
            // large n.
            return Algorithm::If(storage, bytes, in, out, count, static_cast<std::int64_t>(n), keep, stream);
        };
    }
};

/// cub::DeviceSelect::If.
struct Compact : SelectBy<cub::DeviceSelect> {};

/// cub::DeviceSelect::Flagged. May not run in place.
struct CompactFlagged {
    static constexpr bool mayRunInPlace = false;

    template <typename T, typename Flag>
    [[nodiscard]] std::size_t scratchBytes(const T* in, const Flag* flags, T* out, std::size_t* count,
                                           std::size_t n) const {
        Arguments::requireSize<T>(n);
        return queryScratchBytes(call(in, flags, out, count, n, nullptr));
    }

    template <typename T, typename Flag>
    void operator()(const T* in, const Flag* flags, T* out, std::size_t* count, std::size_t n, Scratch scratch,
                    cudaStream_t stream) const {
        requireCompactArrays(in, out, count, n, keepFlagged(flags));
        runOnScratch("cub::DeviceSelect::Flagged", scratch, scratchBytes(in, flags, out, count, n),
                     call(in, flags, out, count, n, stream));
    }

  private:
    template <typename T, typename Flag>
    [[nodiscard]] static auto call(const T* in, const Flag* flags, T* out, std::size_t* count, std::size_t n,
                                   cudaStream_t stream) {
        return [=](void* storage, std::size_t& bytes) {
            return cub::DeviceSelect::Flagged(storage, bytes, in, flags, out, count, static_cast<std::int64_t>(n),
                                              stream);
        };
    }
};

/// cub::DevicePartition::If. It keeps the order of the kept elements and puts the others behind them in reverse.
struct Partition : SelectBy<cub::DevicePartition> {};

/// cub::DeviceRadixSort::SortKeys; `out` may not be `in`.
struct Sort {
    static constexpr bool mayRunInPlace = false;
    template <typename T>
    static constexpr std::size_t mostElements = mostUnlessInts<T>;

    int endBit = allBits;  ///< after the last bit to sort by

    template <typename T>
    [[nodiscard]] std::size_t scratchBytes(const T* in, T* out, std::size_t n) const {
        Arguments::requireSize<T>(n);
        return queryScratchBytes(call(in, out, n, nullptr));
    }

    template <typename T>
    void operator()(const T* in, T* out, std::size_t n, Scratch scratch, cudaStream_t stream) const {
        requireDisjointArrays(in, out, n);
        if (n == 0) {
            return;
        }
        runOnScratch("cub::DeviceRadixSort", scratch, scratchBytes(in, out, n), call(in, out, n, stream));
    }

  private:
    template <typename T>
    [[nodiscard]] auto call(const T* in, T* out, std::size_t n, cudaStream_t stream) const {
        constexpr int width = 8 * sizeof(T);
        Arguments::requireAtMost("endBit", endBit == allBits ? 0 : static_cast<std::size_t>(endBit), width);
        return [=, end = endBit == allBits ? width : endBit](void* storage, std::size_t& bytes) {
            return withSize<mostElements<T>>(n, [&](auto size) {
                return cub::DeviceRadixSort::SortKeys(storage, bytes, in, out, size, 0, end, stream);
            });
        };
    }
};

/// cub::DeviceRadixSort::SortPairs, which is stable; no output may be an input.
struct SortPairs {
    static constexpr bool mayRunInPlace = false;
    template <typename K>
    static constexpr std::size_t mostElements = mostUnlessInts<K>;

    template <typename K, typename V>
    [[nodiscard]] std::size_t scratchBytes(const K* keysIn, K* keysOut, const V* valuesIn, V* valuesOut,
                                           std::size_t n) const {
        Arguments::requireSize<K, V>(n);
        return queryScratchBytes(call(keysIn, keysOut, valuesIn, valuesOut, n, nullptr));
    }

    template <typename K, typename V>
    void operator()(const K* keysIn, K* keysOut, const V* valuesIn, V* valuesOut, std::size_t n, Scratch scratch,
                    cudaStream_t stream) const {
        requireDisjointArrays(keysIn, keysOut, n);
        requireDisjointArrays(valuesIn, valuesOut, n);
        if (n == 0) {
            return;
        }
        runOnScratch("cub::DeviceRadixSort", scratch, scratchBytes(keysIn, keysOut, valuesIn, valuesOut, n),
                     call(keysIn, keysOut, valuesIn, valuesOut, n, stream));
    }

  private:
    template <typename K, typename V>
    [[nodiscard]] static auto call(const K* keysIn, K* keysOut, const V* valuesIn, V* valuesOut, std::size_t n,
                                   cudaStream_t stream) {
        return [=](void* storage, std::size_t& bytes) {
            return withSize<mostElements<K>>(n, [&](auto size) {
                return cub::DeviceRadixSort::SortPairs(storage, bytes, keysIn, keysOut, valuesIn, valuesOut, size, 0,
                                                       static_cast<int>(8 * sizeof(K)), stream);
            });
        };
    }
};

/// cub::DeviceHistogram::HistogramEven with bins of one number each, from `first` on. Elements in no bin are not
/// counted. Not for signed bytes, because CUB counts negative ones wrongly.
struct Histogram {
    static constexpr bool mayRunInPlace = false;
    template <typename T>
    static constexpr std::size_t mostElements = mostInAnInt;

    template <typename T, typename Count>
    [[nodiscard]] std::size_t scratchBytes(const T* in, Count* counts, std::size_t n, std::uint32_t bins,
                                           std::int32_t first) const {
        Arguments::requireSize<T>(n);
        return queryScratchBytes(call(in, counts, n, bins, first, nullptr));
    }

    template <typename T, typename Count>
    void operator()(const T* in, Count* counts, std::size_t n, std::uint32_t bins, std::int32_t first, Scratch scratch,
                    cudaStream_t stream) const {
        Arguments::requireArray("in", in, n);
        Arguments::requireArray("counts", counts, bins);
        Arguments::requireDisjoint(in, n * sizeof(T), counts, bins * sizeof(Count));
        runOnScratch("cub::DeviceHistogram", scratch, scratchBytes(in, counts, n, bins, first),
                     call(in, counts, n, bins, first, stream));
    }

  private:
    template <typename T, typename Count>
    [[nodiscard]] static auto call(const T* in, Count* counts, std::size_t n, std::uint32_t bins, std::int32_t first,
                                   cudaStream_t stream) {
        return [=](void* storage, std::size_t& bytes) {
            return withSize<mostElements<T>>(n, [&](auto size) {
                const auto levels = static_cast<int>(bins) + 1;
                const std::int32_t end = first + static_cast<std::int32_t>(bins);
                return cub::DeviceHistogram::HistogramEven(storage, bytes, in, counts, levels, first, end, size,
                                                           stream);
            });
        };
    }
};

}  // namespace StreamCompaction::Cub
