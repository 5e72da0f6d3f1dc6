#pragma once

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_select.cuh>

#include "stream_compaction/cub.cuh"

namespace StreamCompaction::Cub {

/// cub::DeviceSelect::Unique. May not run in place.
struct Unique {
    static constexpr bool mayRunInPlace = false;

    template <typename T>
    [[nodiscard]] std::size_t scratchBytes(const T* in, T* out, std::size_t* count, std::size_t n) const {
        Arguments::requireSize<T>(n);
        return queryScratchBytes(call(in, out, count, n, nullptr));
    }

    template <typename T>
    void operator()(const T* in, T* out, std::size_t* count, std::size_t n, Scratch scratch,
                    cudaStream_t stream) const {
        requireCompactArrays(in, out, count, n);
        runOnScratch("cub::DeviceSelect::Unique", scratch, scratchBytes(in, out, count, n),
                     call(in, out, count, n, stream));
    }

  private:
    template <typename T>
    [[nodiscard]] static auto call(const T* in, T* out, std::size_t* count, std::size_t n, cudaStream_t stream) {
        return [=](void* storage, std::size_t& bytes) {
            return cub::DeviceSelect::Unique(storage, bytes, in, out, count, static_cast<std::int64_t>(n), stream);
        };
    }
};

/// cub::DeviceRunLengthEncode::Encode. May not run in place.
struct Encode {
    static constexpr bool mayRunInPlace = false;
    template <typename T>
    static constexpr std::size_t mostElements = mostInAnInt;  // CUB has no others

    template <typename T, typename Length>
    [[nodiscard]] std::size_t scratchBytes(const T* in, T* unique, Length* lengths, std::size_t* count,
                                           std::size_t n) const {
        Arguments::requireSize<T, Length>(n);
        return queryScratchBytes(call(in, unique, lengths, count, n, nullptr));
    }

    template <typename T, typename Length>
    void operator()(const T* in, T* unique, Length* lengths, std::size_t* count, std::size_t n, Scratch scratch,
                    cudaStream_t stream) const {
        Arguments::requireApart({Arguments::array("in", in, n)},
                                {Arguments::array("unique", unique, n), Arguments::array("lengths", lengths, n),
                                 Arguments::array("count", count, 1)});
        runOnScratch("cub::DeviceRunLengthEncode", scratch, scratchBytes(in, unique, lengths, count, n),
                     call(in, unique, lengths, count, n, stream));
    }

  private:
    template <typename T, typename Length>
    [[nodiscard]] static auto call(const T* in, T* unique, Length* lengths, std::size_t* count, std::size_t n,
                                   cudaStream_t stream) {
        return [=](void* storage, std::size_t& bytes) {
            return withSize<mostElements<T>>(n, [&](int size) {
                return cub::DeviceRunLengthEncode::Encode(storage, bytes, in, unique, lengths, count, size, stream);
            });
        };
    }
};

/// cub::DeviceReduce::ReduceByKey by addition. May not run in place.
struct ReduceByKey {
    static constexpr bool mayRunInPlace = false;
    template <typename K>
    static constexpr std::size_t mostElements = mostInAnInt;

    template <typename K, typename V, typename T>
    [[nodiscard]] std::size_t scratchBytes(const K* keys, const V* values, K* uniqueKeys, T* sums, std::size_t* count,
                                           std::size_t n) const {
        Arguments::requireSize<K, V, T>(n);
        return queryScratchBytes(call(keys, values, uniqueKeys, sums, count, n, nullptr));
    }

    template <typename K, typename V, typename T>
    void operator()(const K* keys, const V* values, K* uniqueKeys, T* sums, std::size_t* count, std::size_t n,
                    Scratch scratch, cudaStream_t stream) const {
        Arguments::requireApart({Arguments::array("keys", keys, n), Arguments::array("values", values, n)},
                                {Arguments::array("uniqueKeys", uniqueKeys, n), Arguments::array("sums", sums, n),
                                 Arguments::array("count", count, 1)});
        runOnScratch("cub::DeviceReduce::ReduceByKey", scratch, scratchBytes(keys, values, uniqueKeys, sums, count, n),
                     call(keys, values, uniqueKeys, sums, count, n, stream));
    }

  private:
    template <typename K, typename V, typename T>
    [[nodiscard]] static auto call(const K* keys, const V* values, K* uniqueKeys, T* sums, std::size_t* count,
                                   std::size_t n, cudaStream_t stream) {
        return [=](void* storage, std::size_t& bytes) {
            return withSize<mostElements<K>>(n, [&](auto size) {
                return cub::DeviceReduce::ReduceByKey(storage, bytes, keys, uniqueKeys, values, sums, count,
                                                      cuda::std::plus<>{}, size, stream);
            });
        };
    }
};

}  // namespace StreamCompaction::Cub
