#pragma once

#include "stream_compaction/distributed/call.cuh"
#include "stream_compaction/primitives/key_coding.cuh"
#include "stream_compaction/radix_sort.cuh"

/// Gathers few elements, so that every rank sorts them all and keeps its share. That takes one exchange.
namespace StreamCompaction::Distributed {

/// What a rank tells the others. Its keys follow, and then its values.
struct ToldElements {
    Header header;
    std::uint64_t n;     ///< the rank's number of keys
    std::uint64_t nOut;  ///< and that of its sorted keys
};

/// Where the elements lie in what a rank tells: room for `most` keys and `most` values.
template <typename Bits, typename Value>
struct ElementSlot {
    std::size_t most;

    [[nodiscard]] __host__ __device__ std::size_t bytes() const {
        return valuesBegin() + (Radix::hasValues<Value> ? padded(most * sizeof(Value)) : 0);
    }
    /// The elements that are told in `slot`.
    [[nodiscard]] __device__ Radix::Elements<Bits, Value> in(ToldElements& slot) const {
        auto* const begin = reinterpret_cast<std::byte*>(&slot);
        return {reinterpret_cast<Bits*>(begin + sizeof(ToldElements)), reinterpret_cast<Value*>(begin + valuesBegin())};
    }
    [[nodiscard]] __device__ Radix::Elements<const Bits, const Value> in(const ToldElements& slot) const {
        return in(const_cast<ToldElements&>(slot)).readOnly();
    }

  private:
    [[nodiscard]] static __host__ __device__ std::size_t padded(std::size_t bytes) {
        return Common::divideRoundUp(bytes, alignof(Header)) * alignof(Header);
    }
    [[nodiscard]] __host__ __device__ std::size_t valuesBegin() const {
        return sizeof(ToldElements) + padded(most * sizeof(Bits));
    }
};

/// Tells the rank's elements. Reads and writes each once.
template <typename Bits, typename Value>
__global__ void kernTellElements(std::size_t n, std::size_t nOut, ToldElements* mine, ElementSlot<Bits, Value> slot,
                                 Radix::Elements<const Bits, const Value> in) {
    const std::size_t i = Common::globalThreadIndex();
    const auto told = slot.in(*mine);
    if (i == 0) {
        mine->n = n;
        mine->nOut = nOut;
    }
    if (i < n) {
        told.keys[i] = in.keys[i];
        if constexpr (Radix::hasValues<Value>) {
            told.values[i] = in.values[i];
        }
    }
}

/// Puts the elements of all ranks one behind the other. Behind them come the greatest keys, up to `ranks * slot.most`.
/// If the numbers of keys do not fit, rank `me` has failed. Reads and writes each element once.
template <typename Bits, typename Value>
__global__ void kernGatherElements(Radix::Elements<Bits, Value> gathered, ToldBy<ToldElements> all,
                                   ElementSlot<Bits, Value> slot, KeyCoding<Bits> coding, int me,
                                   std::uint32_t* failure) {
    std::size_t i = Common::globalThreadIndex();
    if (i == 0) {
        noteFailure(all, me, failure);
    }
    if (i >= all.ranks * slot.most) {
        return;
    }
    Bits key = coding.decode(static_cast<Bits>(~Bits{0}));
    [[maybe_unused]] Value value{};
    std::size_t begin = 0;
    for (int rank = 0; rank < all.ranks; ++rank) {
        const std::size_t end = begin + all.of(rank).n;
        if (begin <= i && i < end) {
            const auto told = slot.in(all.of(rank));
            key = told.keys[i - begin];
            if constexpr (Radix::hasValues<Value>) {
                value = told.values[i - begin];
            }
        }
        begin = end;
    }
    gathered.keys[i] = key;
    if constexpr (Radix::hasValues<Value>) {
        gathered.values[i] = value;
    }
}

/// Keeps the share of rank `me` of the sorted elements, unless the numbers of keys do not fit. Reads and writes each
/// element of it once.
template <typename Bits, typename Value>
__global__ void kernKeepShare(std::size_t nOut, Radix::Elements<Bits, Value> out,
                              Radix::Elements<const Bits, const Value> sorted, ToldBy<ToldElements> all, int me) {
    const std::size_t i = Common::globalThreadIndex();
    if (i >= nOut || !all.areConsistent()) {
        return;
    }
    const std::size_t from = all.shareBegin(me) + i;
    out.keys[i] = sorted.keys[from];
    if constexpr (Radix::hasValues<Value>) {
        out.values[i] = sorted.values[from];
    }
}

}  // namespace StreamCompaction::Distributed
