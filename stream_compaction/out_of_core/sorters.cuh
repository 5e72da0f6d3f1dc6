#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "stream_compaction/common.cuh"
#include "stream_compaction/radix_sort.cuh"

/// Sorts of one chunk on the card: keys, keys and values, records. They differ in the arrays that move together, which
/// are called columns. The keys are the first column, or the beginning of each element of it.
namespace StreamCompaction::OutOfCore {

template <std::size_t count>
using Columns = std::array<std::byte*, count>;
template <std::size_t count>
using ConstColumns = std::array<const std::byte*, count>;

template <typename K>
struct KeySorter {
    using Key = K;
    static constexpr std::size_t columns = 1;

    Radix::Sort sort;

    [[nodiscard]] std::array<std::size_t, 1> elementBytes() const { return {sizeof(K)}; }

    [[nodiscard]] std::size_t scratchBytes(std::size_t n) const {
        return sort.scratchBytes(Radix::Consumed{noArray<K>}, noArray<K>, n);
    }

    /// Sorts `in` into `out`. May write to `in`.
    void operator()(const Columns<1>& in, const Columns<1>& out, std::size_t n, Scratch scratch,
                    cudaStream_t stream) const {
        sort(Radix::Consumed{reinterpret_cast<K*>(in[0])}, reinterpret_cast<K*>(out[0]), n, scratch, stream);
    }
};

template <typename K, typename V>
struct PairSorter {
    using Key = K;
    static constexpr std::size_t columns = 2;

    Radix::Sort sort;

    [[nodiscard]] std::array<std::size_t, 2> elementBytes() const { return {sizeof(K), sizeof(V)}; }

    [[nodiscard]] std::size_t scratchBytes(std::size_t n) const {
        return sort.scratchBytes(Radix::Consumed{noArray<K>}, noArray<K>, Radix::Consumed{noArray<V>}, noArray<V>, n);
    }

    /// Sorts `in` into `out`. May write to `in`.
    void operator()(const Columns<2>& in, const Columns<2>& out, std::size_t n, Scratch scratch,
                    cudaStream_t stream) const {
        sort(Radix::Consumed{reinterpret_cast<K*>(in[0])}, reinterpret_cast<K*>(out[0]),
             Radix::Consumed{reinterpret_cast<V*>(in[1])}, reinterpret_cast<V*>(out[1]), n, scratch, stream);
    }
};

/// Calls `work` with a word of a type that divides elements of that many bytes.
template <typename Work>
void withWordOf(std::size_t elementBytes, const Work& work) {
    if (elementBytes % sizeof(std::uint32_t) == 0) {
        work(std::uint32_t{});
    } else {
        work(std::uint8_t{});
    }
}

/// keys[i] is the key at the beginning of record i. Work O(n), steps O(1). Reads sectors with keys and writes the keys.
template <typename K>
__global__ void kernTakeKeys(std::size_t n, const std::byte* records, std::size_t recordBytes, K* keys) {
    const std::size_t i = Common::globalThreadIndex();
    if (i < n) {
        memcpy(&keys[i], records + i * recordBytes, sizeof(K));
    }
}

/// Record i of `out` is record indices[i] of `in`. A record has `recordWords` words, and a thread moves one of them.
/// Work O(words), steps O(1). Reads and writes each record once.
template <typename Word>
__global__ void kernGatherRecords(std::size_t n, const Word* in, Word* out, const std::uint32_t* indices,
                                  std::size_t recordWords) {
    const std::size_t i = Common::globalThreadIndex();
    if (i < n * recordWords) {
        out[i] = in[indices[i / recordWords] * recordWords + i % recordWords];
    }
}

/// Records of any size: the keys are sorted with their indices, and the records are gathered.
template <typename K>
struct RecordSorter {
    using Key = K;
    static constexpr std::size_t columns = 1;

    Radix::Sort sort;
    std::size_t recordBytes;

    [[nodiscard]] std::array<std::size_t, 1> elementBytes() const { return {recordBytes}; }

    /// More than memory has for more elements than the indices can count.
    [[nodiscard]] std::size_t scratchBytes(std::size_t n) const {
        if (n > std::numeric_limits<std::uint32_t>::max()) {
            return Arguments::mostBytes;
        }
        return 2 * scratchBytesFor<K>(n) + scratchBytesFor<std::uint32_t>(n) +
               argSort().scratchBytes(noArray<K>, noArray<K>, noArray<std::uint32_t>, n);
    }

    /// Sorts `in` into `out`.
    void operator()(const Columns<1>& in, const Columns<1>& out, std::size_t n, Scratch scratch,
                    cudaStream_t stream) const {
        ScratchArena arena(scratch, scratchBytes(n));
        K* const keys = arena.take<K>(n);
        K* const sortedKeys = arena.take<K>(n);
        auto* const indices = arena.take<std::uint32_t>(n);
        constexpr int threads = 256;
        launch<kernTakeKeys<K>>(plainShape(Common::blocksFor(n, threads), threads), stream, n,
                                static_cast<const std::byte*>(in[0]), recordBytes, keys);
        argSort()(keys, sortedKeys, indices, n, arena.rest(), stream);
        withWordOf(recordBytes, [&](auto word) { gather<decltype(word)>(in[0], out[0], indices, n, stream); });
    }

  private:
    [[nodiscard]] Radix::ArgSort argSort() const { return {sort.descending, sort.beginBit, sort.endBit, sort.order}; }

    template <typename Word>
    void gather(const std::byte* in, std::byte* out, const std::uint32_t* indices, std::size_t n,
                cudaStream_t stream) const {
        constexpr int threads = 256;
        const std::size_t words = recordBytes / sizeof(Word);
        launch<kernGatherRecords<Word>>(plainShape(Common::blocksFor(n * words, threads), threads), stream, n,
                                        reinterpret_cast<const Word*>(in), reinterpret_cast<Word*>(out), indices,
                                        words);
    }
};

}  // namespace StreamCompaction::OutOfCore
