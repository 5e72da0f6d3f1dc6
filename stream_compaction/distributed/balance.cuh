#pragma once

#include "stream_compaction/distributed/exchange.cuh"

namespace StreamCompaction::Distributed {

/// One rank's share of a balancing.
template <typename T>
struct BalancePart {
    const T* in;                ///< the rank's elements, in device memory
    const std::size_t* counts;  ///< how many each rank has, in device memory: what Compact and Partition write. Only
                                ///< the rank's own count is read
    SharedScratch scratch;      ///< receives the rank's even share, from its beginning on; of one size on all ranks
    std::size_t* count;         ///< how many that are, in device memory
    std::size_t n;              ///< an upper bound of the rank's number of elements
    const Rank* rank;           ///< of this process
    cudaStream_t stream;        ///< of the rank's device
};

/// What a rank tells the others.
struct Share {
    std::uint64_t count;  ///< of its elements
    std::uint64_t room;   ///< for elements in its scratch
};

/// Tells how many elements the rank has. With more than `n` of them it tells that it has no room, and nothing moves.
/// One thread.
template <typename = void>
__global__ void kernTellShare(Told<Share>* mine, const std::size_t* counts, int me, std::size_t n, std::size_t room) {
    const bool isValid = counts[me] <= n;
    mine->value = {isValid ? counts[me] : 1, isValid ? room : 0};
}

/// Cuts ragged parts into even shares: rank d gets the elements from total * d / ranks on, rounded down. Nothing moves
/// if a rank has failed, or if a share is larger than the room of a rank. One block, one thread per rank. Work
/// O(ranks^2).
template <typename = void>
__global__ void kernCutEvenly(Cuts* cuts, std::size_t* count, const Told<Share>* told, int me, int ranks,
                              std::uint32_t* failure) {
    const auto rank = static_cast<int>(threadIdx.x);
    if (rank >= ranks) {
        return;
    }
    std::uint64_t before = 0;
    std::uint64_t total = 0;
    bool isPossible = true;
    for (int r = 0; r < ranks; ++r) {
        before += r < rank ? told[r].value.count : 0;
        total += told[r].value.count;
        isPossible &= told[r].header.failed == 0;
    }
    for (int r = 0; r < ranks; ++r) {
        isPossible &= Common::divideRoundUp(total, static_cast<std::uint64_t>(ranks)) <= told[r].value.room;
    }
    if (!isPossible) {
        total = 0;
    }
    // Divided before multiplied, because the product might not fit.
    const auto shareBegin = [=](std::uint64_t to) { return total / ranks * to + total % ranks * to / ranks; };
    for (int to = 0; to <= ranks; ++to) {
        const std::uint64_t begin = shareBegin(to);
        cuts->of[rank][to] = begin < before || total == 0 ? 0 : min(begin - before, told[rank].value.count);
    }
    if (rank == me) {
        *count = shareBegin(me + 1) - shareBegin(me);
        noteFailure(told, ranks, failure);
        if (!isPossible && *failure == 0) {
            *failure = static_cast<std::uint32_t>(me) + 1;
        }
    }
}

/// Writes each element to the window of the rank that it belongs to. Reads and writes each element once. The link is
/// the limit for those that go to another rank.
template <typename T>
__global__ void kernWriteToShares(const T* in, const Cuts* cuts, int me, int ranks, ncclWindow_t window) {
    __shared__ std::uint64_t ends[mostRanks];
    __shared__ std::uint64_t addresses[mostRanks];
    if (const auto to = static_cast<int>(threadIdx.x); to < ranks) {
        ends[to] = cuts->of[me][to + 1];
        addresses[to] = windowOf(window, to) + (cuts->placeOf(me, to) - cuts->of[me][to]) * sizeof(T);
    }
    __syncthreads();
    const std::uint64_t count = ends[ranks - 1];
    int to = 0;
    for (std::uint64_t i = Common::globalThreadIndex(); i < count; i += std::uint64_t{gridDim.x} * blockDim.x) {
        while (i >= ends[to]) {
            ++to;
        }
        reinterpret_cast<T*>(addresses[to])[i] = in[i];
    }
}

/// Enqueues that for a rank of at most n elements.
template <typename T>
void writeToShares(const T* in, const Cuts* cuts, std::size_t n, const Rank& rank, ncclWindow_t window,
                   cudaStream_t stream) {
    constexpr int threads = 256;
    constexpr unsigned mostBlocks = 2048;  // only the device knows how many elements there are
    launch<kernWriteToShares<T>>({std::max(1U, Common::blocksFor(n, threads, mostBlocks)), threads}, stream, in, cuts,
                                 rank.index(), rank.count(), window);
}

/// Spreads elements evenly over the ranks, in their order: `balance(in, counts, out, count, n, rank, stream)`. The
/// input is ragged, as Compact and Partition leave it. Numbers of elements differ by at most 1 afterwards. `out` is a
/// SharedBuffer with room for the greatest share. It may not overlap the input.
///
/// Each element is read and written once, straight into the memory of its rank, if kernels reach it. Otherwise NCCL
/// sends it; then the call waits for the stream once, and cannot be captured.
///
/// How a call enqueues and fails is as for Distributed::Scan.
struct Balance {
    /// For one rank of this process.
    template <typename T>
    void operator()(const T* in, const std::size_t* counts, const SharedScratch& out, std::size_t* count, std::size_t n,
                    const Rank& rank, cudaStream_t stream) const {
        (*this)(std::vector<BalancePart<T>>{{in, counts, out, count, n, &rank, stream}});
    }

    /// For several ranks of this process, by one thread.
    template <typename T>
    void operator()(const std::vector<BalancePart<T>>& parts) const {
        static_assert(std::is_trivially_copyable_v<T>);
        using Part = BalancePart<T>;
        const Call<Part> call(parts, [](const Part& part) {
            Arguments::requireArray("in", part.in, part.n);
            Arguments::requireArray("counts", part.counts, part.rank->count());
            Arguments::requireArray("count", part.count, 1);
            Arguments::requireDisjoint(part.in, part.n * sizeof(T), part.scratch.memory.data(),
                                       part.scratch.memory.size());
            requireWindow(part.scratch, *part.rank);
        });
        call.forEachValid([](const Part& part) {
            const Rank& rank = *part.rank;
            launch<kernTellShare<>>({1, 1}, part.stream, rank.template mine<Told<Share>>(), part.counts, rank.index(),
                                    part.n, part.scratch.memory.size() / sizeof(T));
        });
        call.exchange(sizeof(Told<Share>));
        call.forEachValid([](const Part& part) {
            const Rank& rank = *part.rank;
            auto* const cuts = rank.template state<Cuts>();
            launch<kernCutEvenly<>>({1, mostRanks}, part.stream, cuts, part.count, rank.template all<Told<Share>>(),
                                    rank.index(), rank.count(), rank.failure());
            if (rank.reachesAllRanks()) {
                writeToShares(part.in, cuts, part.n, rank, part.scratch.window, part.stream);
            }
        });
        completeExchange(
            call, [](const Part& part) { return part.rank->template state<Cuts>(); },
            [](const Part& part, const Cuts& cuts) {
                sendAndReceive(*part.rank, cuts, part.in, reinterpret_cast<T*>(part.scratch.memory.data()),
                               part.stream);
            });
        call.finish();
    }
};

}  // namespace StreamCompaction::Distributed
