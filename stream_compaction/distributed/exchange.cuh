#pragma once

#include <nccl_device.h>

#include "stream_compaction/distributed/call.cuh"

/// Moves elements to the ranks that they belong to.
namespace StreamCompaction::Distributed {

/// What goes where: rank r sends its elements from of[r][d] to of[r][d + 1] to rank d, for all ranks. A rank receives
/// in the order of the ranks.
struct Cuts {
    std::uint64_t of[mostRanks][mostRanks + 1];

    /// Where the elements from rank `from` begin among those that rank `to` receives.
    [[nodiscard]] __host__ __device__ std::uint64_t placeOf(int from, int to) const {
        std::uint64_t place = 0;
        for (int rank = 0; rank < from; ++rank) {
            place += of[rank][to + 1] - of[rank][to];
        }
        return place;
    }
};

/// Enqueues the exchange of one array by NCCL's host interface, in a group of all ranks. `send` and `received` are in
/// device memory, `cuts` is in host memory.
template <typename T>
void sendAndReceive(const Rank& rank, const Cuts& cuts, const T* send, T* received, cudaStream_t stream) {
    const int me = rank.index();
    for (int other = 0; other < rank.count(); ++other) {
        const std::uint64_t begin = cuts.of[me][other];
        if (const std::uint64_t count = cuts.of[me][other + 1] - begin; count > 0) {
            checkNccl(ncclSend(send + begin, count * sizeof(T), ncclUint8, other, rank.comm(), stream), "ncclSend",
                      rank.comm());
        }
        if (const std::uint64_t count = cuts.of[other][me + 1] - cuts.of[other][me]; count > 0) {
            checkNccl(
                ncclRecv(received + cuts.placeOf(other, me), count * sizeof(T), ncclUint8, other, rank.comm(), stream),
                "ncclRecv", rank.comm());
        }
    }
}

/// Ends the exchange of arrays. If kernels reach all ranks, they have written to their memory; then no rank goes on
/// before all have. Otherwise the elements are sent by NCCL: `send(part, cuts)` enqueues that for one rank, given the
/// cuts that `planned(part)` points to in device memory. This waits for the streams.
template <typename Part, typename Planned, typename Send>
void completeExchange(const Call<Part>& call, const Planned& planned, const Send& send) {
    if (call.reachesAllRanks()) {
        call.exchange(sizeof(Header));
        return;
    }
    Cuts cuts;  // the same on all ranks
    call.forEachValid([&](const Part& part) {
        part.rank->waitFor(part.stream);
        const std::size_t ranks = part.rank->count();
        for (std::size_t rank = 0; rank < ranks; ++rank) {  // only these have been written
            Common::checkCUDAError(
                cudaMemcpyAsync(cuts.of[rank], planned(part)->of[rank], (ranks + 1) * sizeof(cuts.of[rank][0]),
                                cudaMemcpyDeviceToHost, part.stream),
                "cudaMemcpyAsync");
        }
        Common::checkCUDAError(cudaStreamSynchronize(part.stream), "cudaStreamSynchronize");
    });
    inGroup([&] { call.forEachValid([&](const Part& part) { send(part, cuts); }); });
}

/// Throws unless kernels of all ranks can write to the scratch, where they do.
inline void requireWindow(const SharedScratch& scratch, const Rank& rank) {
    if (rank.reachesAllRanks() && scratch.window == nullptr) {
        throw std::invalid_argument("scratch: expected that of a SharedBuffer, got memory without a window");
    }
    if (reinterpret_cast<std::uintptr_t>(scratch.memory.data()) % scratchAlignment != 0) {
        // A rank computes where the arrays of the others begin.
        throw std::invalid_argument("scratch: expected the memory of a SharedBuffer from its beginning on");
    }
}

/// The address of rank `to`'s part of a window.
[[nodiscard]] __device__ inline std::uint64_t windowOf(ncclWindow_t window, int to) {
    return reinterpret_cast<std::uint64_t>(ncclGetLsaPointer(window, 0, to));
}

}  // namespace StreamCompaction::Distributed
