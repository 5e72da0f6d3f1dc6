#pragma once

#include "stream_compaction/distributed/call.cuh"
#include "stream_compaction/distributed/total.cuh"
#include "stream_compaction/single_pass.cuh"

namespace StreamCompaction::Distributed {

/// One rank's share of a scan.
template <typename In, typename T>
struct ScanPart {
    In in;                ///< the rank's elements: an array in device memory, or a function (primitives/source.cuh)
    T* out;               ///< their prefix sums, in device memory; may be the same array
    std::size_t n;        ///< the rank's number of elements, 0 included
    Scratch scratch;      ///< on the rank's device
    const Rank* rank;     ///< of this process
    cudaStream_t stream;  ///< of the rank's device
};

/// Writes the sum of `initial` and of the totals of all ranks before this one, and remembers a rank that failed. Work
/// and steps O(ranks).
template <typename T, typename Op>
struct AddUpRanksBefore {
    T* sum;                  ///< receives the sum
    const Told<T>* totals;   ///< of all ranks
    int rank;                ///< this one
    int ranks;               ///< how many there are
    T initial;               ///< comes before the first rank
    Op op;                   ///< the operator of the scan
    std::uint32_t* failure;  ///< receives the rank that failed, plus 1

    /// Called by one thread.
    __device__ void operator()() const {
        T before = initial;
        for (int i = 0; i < rank; ++i) {
            before = op(before, totals[i].value);
        }
        *sum = before;
        noteFailure(totals, ranks, failure);
    }
};

/// Prefix sums of an array that is spread over the ranks, in the order of the ranks: `scan(in, out, n, op, initial,
/// scratch, rank, stream)`. Each rank has any number of elements. `op` is any associative operator; it need not
/// commute. `initial` comes before the first element of the first rank and is the same on all ranks. Elements, sums and
/// arrays are as for SinglePass::Scan.
///
/// Each rank adds up its elements, the ranks exchange their totals, and each scans its elements from the total of the
/// ranks before. A rank cannot know what comes before its first element until the others have read theirs, so each
/// element is read twice: 12 bytes per int. Small arrays stay in the second-level cache between the two. The totals are
/// added up in the same order in every run. With `reproducible`, floating-point sums are bitwise the same for the same
/// numbers of elements per rank.
///
/// All ranks call, in the same order and with the same options. A call enqueues its work on the stream; it neither
/// allocates device memory nor waits. It can be captured in a CUDA graph, but not as the first call, in which NCCL
/// connects the ranks. A call with invalid arguments throws std::invalid_argument on its rank, which takes part with no
/// elements, and `Rank::synchronize` throws on the others. NcclError is thrown if NCCL has noticed a failure. If a call
/// fails for another reason, with CudaError or std::bad_alloc, the other ranks may wait for ever.
struct Scan {
    SinglePass::ScanKind kind = SinglePass::ScanKind::Exclusive;  ///< what an element of the result sums up

    bool reproducible = false;  ///< whether floating-point sums are bitwise the same in every run

    /// How the blocks of large scans get their tiles.
    TileOrder order = TileOrder::BlockIndex;

    /// The bytes of scratch that a rank needs. Needs no device.
    template <typename In, typename T, OperatorOn<T> Op = Sum>
    [[nodiscard]] std::size_t scratchBytes(const In& in, T* out, std::size_t n, Op = {},
                                           std::type_identity_t<T> = {}) const {
        return std::max(local().scratchBytes(in, out, n), Total<SourceOf<In>, T, Op>::scratchBytes(n));
    }

    /// For one rank of this process.
    template <typename In, typename T, OperatorOn<T> Op>
    void operator()(const In& in, T* out, std::size_t n, Op op, std::type_identity_t<T> initial, Scratch scratch,
                    const Rank& rank, cudaStream_t stream) const {
        (*this)(std::vector<ScanPart<In, T>>{{in, out, n, scratch, &rank, stream}}, op, initial);
    }

    /// For several ranks of this process, by one thread.
    template <typename In, typename T, OperatorOn<T> Op>
    void operator()(const std::vector<ScanPart<In, T>>& parts, Op op, std::type_identity_t<T> initial) const {
        using Part = ScanPart<In, T>;
        using Source = SourceOf<In>;
        static_assert(areElements<Stored<Source>, T>());
        const Call<Part> call(parts, [&](const Part& part) {
            requireSource<SinglePass::Scan::mayRunInPlace>(sourceOf(part.in), part.out, part.n);
            (void)ScratchArena(part.scratch, scratchBytes(part.in, part.out, part.n, op));
        });
        call.forEach([&](const Part& part) {
            Total<Source, T, Op>::enqueue(sourceOf(part.in), &part.rank->template mine<Told<T>>()->value, part.n, op,
                                          part.rank->finishedBlocks(), ScratchArena(part.scratch, 0), part.stream);
        });
        call.exchange(sizeof(Told<T>));
        call.forEachValid([&](const Part& part) {
            const Rank& rank = *part.rank;
            T* const before = rank.template state<T>();
            const AddUpRanksBefore<T, Op> first{
                before, rank.template all<Told<T>>(), rank.index(), rank.count(), initial, op, rank.failure()};
            local().scanSource(sourceOf(part.in), part.out, part.n, op, InDeviceMemory<T>{before}, part.scratch,
                               part.stream, first);
        });
        call.finish();
    }

  private:
    [[nodiscard]] SinglePass::Scan local() const {
        return {.kind = kind, .reproducible = reproducible, .order = order};
    }
};

}  // namespace StreamCompaction::Distributed
