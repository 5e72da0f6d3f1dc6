#pragma once

#include "stream_compaction/common.cuh"
#include "stream_compaction/out_of_core/arrays.h"
#include "stream_compaction/out_of_core/pipeline.h"
#include "stream_compaction/primitives/previous.cuh"
#include "stream_compaction/single_pass.cuh"

namespace StreamCompaction::OutOfCore {

/// A predicate of the element and its index in the whole array, for the chunk that begins at `begin`.
template <typename Predicate>
struct InChunk {
    Predicate keep;
    std::size_t begin;

    template <typename T>
    __device__ bool operator()(const T& x, std::size_t i) const {
        return keep(x, begin + i);
    }
};

template <typename Predicate>
[[nodiscard]] const Predicate& predicateFor(const Chunk& /*chunk*/, const Predicate& keep) {
    return keep;
}
template <typename Predicate>
[[nodiscard]] WithIndex<InChunk<Predicate>> predicateFor(const Chunk& chunk, const WithIndex<Predicate>& indexed) {
    return {{indexed.keep, chunk.begin}};
}

/// Compacts each chunk, and copies what it keeps behind what earlier chunks keep.
template <typename T, typename Predicate>
class CompactJob final : public Job {
    static_assert(!asksForPrevious<Predicate>, "chunks are compacted apart, so no element knows the one before it");

  public:
    /// `counts` is page-locked memory with an element for each slot.
    CompactJob(const SinglePass::Compact& compact, const T* in, std::span<T> out, Predicate keep,
               std::span<std::size_t> counts)
        : compact_(compact), in_(in), out_(out), keep_(keep), counts_(counts) {}

    /// The number of elements that the finished chunks keep.
    [[nodiscard]] std::size_t kept() const { return kept_; }

    [[nodiscard]] Footprint footprint(std::size_t elements) const override {
        return {2 * scratchBytesFor<T>(elements),
                compact_.scratchBytes(noArray<T>, noArray<T>, noArray<std::size_t>, elements)};
    }

    [[nodiscard]] std::vector<Copy> up(const Chunk& chunk, const Place& place) override {
        return {{arrays(chunk, place).in, in_ + chunk.begin, chunk.size * sizeof(T)}};
    }

    void work(const Chunk& chunk, const Place& place, Scratch scratch, cudaStream_t stream) override {
        const Arrays on = arrays(chunk, place);
        compact_(static_cast<const T*>(on.in), on.out, &counts_[place.slot], chunk.size, predicateFor(chunk, keep_),
                 scratch, stream);
    }

    /// Throws std::invalid_argument if the output has no room for the kept elements.
    [[nodiscard]] std::vector<Copy> down(const Chunk& chunk, const Place& place) override {
        const std::size_t count = counts_[place.slot];
        if (count > out_.size() - kept_) {
            throw std::invalid_argument("out: expected room for at least " + std::to_string(kept_ + count) +
                                        " elements, got " + std::to_string(out_.size()));
        }
        T* const to = out_.data() + kept_;
        kept_ += count;
        return {{to, arrays(chunk, place).out, count * sizeof(T)}};
    }

  private:
    struct Arrays {
        T* in;
        T* out;
    };
    [[nodiscard]] static Arrays arrays(const Chunk& chunk, const Place& place) {
        ScratchArena arena(place.memory, 0);
        T* const in = arena.take<T>(chunk.size);
        return {in, arena.take<T>(chunk.size)};
    }

    SinglePass::Compact compact_;
    const T* in_;
    std::span<T> out_;
    Predicate keep_;
    std::span<std::size_t> counts_;
    std::size_t kept_ = 0;
};

}  // namespace StreamCompaction::OutOfCore
