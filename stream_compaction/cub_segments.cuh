#pragma once

#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_sort.cuh>

#include "stream_compaction/cub.cuh"
#include "stream_compaction/segments.cuh"

namespace StreamCompaction::Cub {

/// cub::DeviceScan::ExclusiveSumByKey. Equal neighbours among the keys are in one segment. `out` may be `in`.
struct SegmentedScan {
    static constexpr bool mayRunInPlace = true;
    template <typename In>
    static constexpr std::size_t mostElements = mostInAnInt;

    template <typename In, typename K, typename T>
    [[nodiscard]] std::size_t scratchBytes(const In* in, const K* keys, T* out, std::size_t n) const {
        Arguments::requireSize<T, In, K>(n);
        return queryScratchBytes(call(in, keys, out, n, nullptr));
    }

    template <typename In, typename K, typename T>
    void operator()(const In* in, const K* keys, T* out, std::size_t n, Scratch scratch, cudaStream_t stream) const {
        requireSameOrDisjointArrays(in, out, n);
        Arguments::requireArray("keys", keys, n);
        Arguments::requireDisjoint(keys, n * sizeof(K), out, n * sizeof(T));
        runOnScratch("cub::DeviceScan::ExclusiveSumByKey", scratch, scratchBytes(in, keys, out, n),
                     call(in, keys, out, n, stream));
    }

  private:
    template <typename In, typename K, typename T>
    [[nodiscard]] static auto call(const In* in, const K* keys, T* out, std::size_t n, cudaStream_t stream) {
        return [=](void* storage, std::size_t& bytes) {
            return withSize<mostElements<In>>(n, [&](auto size) {
                return cub::DeviceScan::ExclusiveSumByKey(storage, bytes, keys, in, out, size, cuda::std::equal_to<>{},
                                                          stream);
            });
        };
    }
};

/// cub::DeviceSegmentedSort::SortKeys. Unlike for the library's sort, the offsets must be those of all segments, from 0
/// to n. May not run in place.
struct SegmentedSort {
    static constexpr bool mayRunInPlace = false;

    template <typename K, typename Offset>
    [[nodiscard]] std::size_t scratchBytes(const K* in, const SegmentsAt<Offset>& segments, K* out,
                                           std::size_t n) const {
        Arguments::requireSize<K, Offset>(n);
        return queryScratchBytes(call(in, segments, out, n, nullptr));
    }

    template <typename K, typename Offset>
    void operator()(const K* in, const SegmentsAt<Offset>& segments, K* out, std::size_t n, Scratch scratch,
                    cudaStream_t stream) const {
        requireDisjointArrays(in, out, n);
        Arguments::requireArray("begins", segments.begins, segments.count);
        runOnScratch("cub::DeviceSegmentedSort", scratch, scratchBytes(in, segments, out, n),
                     call(in, segments, out, n, stream));
    }

  private:
    template <typename K, typename Offset>
    [[nodiscard]] static auto call(const K* in, const SegmentsAt<Offset>& segments, K* out, std::size_t n,
                                   cudaStream_t stream) {
        return [=](void* storage, std::size_t& bytes) {
            return cub::DeviceSegmentedSort::SortKeys(storage, bytes, in, out, static_cast<std::int64_t>(n),
                                                      static_cast<std::int64_t>(segments.count) - 1, segments.begins,
                                                      segments.begins + 1, stream);
        };
    }
};

}  // namespace StreamCompaction::Cub
