#pragma once

#include "stream_compaction/distributed/call.cuh"
#include "stream_compaction/single_pass.cuh"

namespace StreamCompaction::Distributed {

/// One rank's share of a compaction.
template <typename In, typename T>
struct CompactPart {
    In in;                ///< the rank's elements: an array in device memory, or a function (primitives/source.cuh)
    T* out;               ///< those that are kept, in device memory
    std::size_t* counts;  ///< how many each rank keeps, in device memory; one per rank of the communicator
    std::size_t n;        ///< the rank's number of elements, 0 included
    Scratch scratch;      ///< on the rank's device
    const Rank* rank;     ///< of this process
    cudaStream_t stream;  ///< of the rank's device
};

/// Copies the value that each rank has told. One thread per rank.
template <typename T>
__global__ void kernCopyTold(T* values, const Told<T>* told, int ranks, std::uint32_t* failure) {
    const auto rank = static_cast<int>(threadIdx.x);
    if (rank < ranks) {
        values[rank] = told[rank].value;
    }
    if (rank == 0) {
        noteFailure(told, ranks, failure);
    }
}

/// One rank's share of a partition.
template <typename In, typename T>
struct PartitionPart : CompactPart<In, T> {
    T* rejected;  ///< the elements that are not kept, in device memory
};

/// What compaction and partition share. `keepLocally(part, count)` enqueues the work on the rank's own elements.
template <typename Part, typename KeepLocally>
void keepOnRanks(const Call<Part>& call, const KeepLocally& keepLocally) {
    using Count = Told<std::size_t>;
    call.forEach([&](const Part& part) { keepLocally(part, &part.rank->template mine<Count>()->value); });
    call.exchange(sizeof(Count));
    call.forEachValid([&](const Part& part) {
        const Rank& rank = *part.rank;
        launch<kernCopyTold<std::size_t>>({1, mostRanks}, part.stream, part.counts, rank.template all<Count>(),
                                          rank.count(), rank.failure());
    });
    call.finish();
}

/// Stable compaction of an array that is spread over the ranks. The kept elements stay on their rank, and all ranks
/// learn how many each has: `compact(in, out, counts, n, keep, scratch, rank, stream)`. `Balance` spreads them evenly.
/// Elements, arrays and predicates are as for SinglePass::Compact, but a predicate of the previous element
/// (WithPrevious) does not compile. The index that a predicate gets (WithIndex) is that within the rank's elements.
///
/// Each rank compacts its elements; one exchange of their number follows. Bytes moved per element are those of
/// SinglePass::Compact.
///
/// How a call enqueues and fails is as for Distributed::Scan.
struct Compact {
    /// How the blocks of large compactions get their tiles.
    TileOrder order = TileOrder::BlockIndex;

    /// The bytes of scratch that a rank needs. Needs no device.
    template <typename In, typename T, typename... Functions>
    [[nodiscard]] std::size_t scratchBytes(const In& in, T* out, std::size_t* counts, std::size_t n,
                                           const Functions&... functions) const {
        return SinglePass::Compact{}.scratchBytes(in, out, counts, n, functions...);
    }

    /// For one rank of this process.
    template <typename In, typename T, typename Predicate>
    void operator()(const In& in, T* out, std::size_t* counts, std::size_t n, Predicate keep, Scratch scratch,
                    const Rank& rank, cudaStream_t stream) const {
        (*this)(std::vector<CompactPart<In, T>>{{in, out, counts, n, scratch, &rank, stream}}, keep);
    }

    /// For several ranks of this process, by one thread.
    template <typename In, typename T, typename Predicate>
    void operator()(const std::vector<CompactPart<In, T>>& parts, Predicate keep) const {
        using Part = CompactPart<In, T>;
        static_assert(!asksForPrevious<Predicate>, "ranks compact apart, so no element knows the one before it");
        const Call<Part> call(parts, [&](const Part& part) {
            Arguments::requireApart({arrayOf("in", sourceOf(part.in), part.n), arrayReadBy(keep, part.n)},
                                    {Arguments::array("out", part.out, part.n),
                                     Arguments::array("counts", part.counts, part.rank->count())});
            (void)ScratchArena(part.scratch, scratchBytes(part.in, part.out, part.counts, part.n));
        });
        keepOnRanks(call, [&](const Part& part, std::size_t* count) {
            SinglePass::Compact{order}(part.in, part.out, count, part.n, keep, part.scratch, part.stream);
        });
    }
};

/// Stable partition of an array that is spread over the ranks into the elements that `Compact` keeps and the others, in
/// two arrays on each rank: `partition(in, kept, rejected, counts, n, keep, scratch, rank, stream)`. `counts` are those
/// of the kept elements. Everything else is as for `Compact`, and each array has room for all elements of its rank.
struct Partition {
    /// How the blocks of large partitions get their tiles.
    TileOrder order = TileOrder::BlockIndex;

    /// The bytes of scratch that a rank needs. Needs no device.
    template <typename In, typename T, typename... Functions>
    [[nodiscard]] std::size_t scratchBytes(const In& in, T* kept, T* rejected, std::size_t* counts, std::size_t n,
                                           const Functions&... functions) const {
        return SinglePass::Partition{}.scratchBytes(in, kept, rejected, counts, n, functions...);
    }

    /// For one rank of this process.
    template <typename In, typename T, typename Predicate>
    void operator()(const In& in, T* kept, T* rejected, std::size_t* counts, std::size_t n, Predicate keep,
                    Scratch scratch, const Rank& rank, cudaStream_t stream) const {
        (*this)(std::vector<PartitionPart<In, T>>{{{in, kept, counts, n, scratch, &rank, stream}, rejected}}, keep);
    }

    /// For several ranks of this process, by one thread.
    template <typename In, typename T, typename Predicate>
    void operator()(const std::vector<PartitionPart<In, T>>& parts, Predicate keep) const {
        using Part = PartitionPart<In, T>;
        static_assert(!asksForPrevious<Predicate>, "ranks compact apart, so no element knows the one before it");
        const Call<Part> call(parts, [&](const Part& part) {
            Arguments::requireApart(
                {arrayOf("in", sourceOf(part.in), part.n), arrayReadBy(keep, part.n)},
                {Arguments::array("kept", part.out, part.n), Arguments::array("rejected", part.rejected, part.n),
                 Arguments::array("counts", part.counts, part.rank->count())});
            (void)ScratchArena(part.scratch, scratchBytes(part.in, part.out, part.rejected, part.counts, part.n));
        });
        keepOnRanks(call, [&](const Part& part, std::size_t* count) {
            SinglePass::Partition{order}(part.in, part.out, part.rejected, count, part.n, keep, part.scratch,
                                         part.stream);
        });
    }
};

}  // namespace StreamCompaction::Distributed
