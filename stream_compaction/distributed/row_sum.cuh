#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "stream_compaction/distributed/call.cuh"
#include "stream_compaction/row_sum.cuh"

namespace StreamCompaction::Distributed {

/// NCCL's name of a type.
template <typename T>
[[nodiscard]] constexpr ncclDataType_t ncclTypeOf() {
    if constexpr (std::is_same_v<T, float>) {
        return ncclFloat32;
    } else if constexpr (std::is_same_v<T, double>) {
        return ncclFloat64;
    } else {
        static_assert(std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8), "NCCL does not add up this type");
        return sizeof(T) == 8 ? (std::is_signed_v<T> ? ncclInt64 : ncclUint64)
                              : (std::is_signed_v<T> ? ncclInt32 : ncclUint32);
    }
}

/// One rank's share of row sums.
template <typename In, typename Acc>
struct RowSumPart {
    const In* in;         ///< the rank's columns, in device memory: `rows` rows of `n` elements
    Acc* out;             ///< the sums of all columns, in device memory; one per row, on each rank
    std::size_t rows;     ///< the same on all ranks
    std::size_t n;        ///< the rank's number of columns, 0 included
    std::size_t pitch;    ///< elements from row to row
    Scratch scratch;      ///< on the rank's device
    const Rank* rank;     ///< of this process
    cudaStream_t stream;  ///< of the rank's device
};

/// Tells the rank's number of rows. Called by one thread.
template <typename = void>
__global__ void kernTellRows(std::uint64_t* mine, std::uint64_t rows) {
    *mine = rows;
}

/// Remembers a rank that failed, or one with another number of rows than the first rank. Called by one thread.
template <typename = void>
__global__ void kernCheckRows(const Told<std::uint64_t>* told, int ranks, std::uint32_t* failure) {
    for (int rank = 1; rank < ranks; ++rank) {
        if (told[rank].value != told[0].value) {
            *failure = static_cast<std::uint32_t>(rank) + 1;
        }
    }
    noteFailure(told, ranks, failure);
}

/// Sums of the rows of a matrix whose columns are spread over the ranks: `rowSum(in, out, rows, cols, pitch, scratch,
/// rank, stream)`. All ranks get all sums. If rows are spread instead, each rank has whole rows, and
/// RowSum::Adaptive is all that it needs.
///
/// Each rank adds up its columns, then NCCL adds up the ranks' sums, which are float, double or integers of 4 or 8
/// bytes. Its order of additions depends on the machine. A rank reads each of its elements once. 2 (ranks - 1) / ranks
/// sums per row cross each link.
///
/// How a call enqueues and fails is as for Distributed::Scan. A failing call waits for its stream, because it learns
/// from the others how many rows they have, and allocates memory for that many sums to take part. Different numbers of
/// rows are undefined for NCCL, and ranks may wait for ever. If they do not, `Rank::synchronize` throws
/// std::invalid_argument on all of them.
struct RowSum {
    /// The bytes of scratch that a rank needs. Needs no device.
    template <typename In, typename Acc>
    [[nodiscard]] std::size_t scratchBytes(const In* in, Acc* out, std::size_t rows, std::size_t cols,
                                           std::size_t pitch) const {
        return StreamCompaction::RowSum::Adaptive{}.scratchBytes(in, out, rows, cols, pitch);
    }

    /// For one rank of this process.
    template <typename In, typename Acc>
    void operator()(const In* in, Acc* out, std::size_t rows, std::size_t cols, std::size_t pitch, Scratch scratch,
                    const Rank& rank, cudaStream_t stream) const {
        (*this)(std::vector<RowSumPart<In, Acc>>{{in, out, rows, cols, pitch, scratch, &rank, stream}});
    }

    /// For several ranks of this process, by one thread.
    template <typename In, typename Acc>
    void operator()(const std::vector<RowSumPart<In, Acc>>& parts) const {
        using Part = RowSumPart<In, Acc>;
        const StreamCompaction::RowSum::Adaptive local;
        const Call<Part> call(parts, [&](const Part& part) {
            requireMatrix(StreamCompaction::RowSum::Matrix<In>{part.in, part.rows, part.n, part.pitch}, part.out);
            (void)ScratchArena(part.scratch, local.scratchBytes(part.in, part.out, part.rows, part.n, part.pitch));
        });
        call.forEachValid([&](const Part& part) {
            launch<kernTellRows<>>({1, 1}, part.stream, &part.rank->template mine<Rows>()->value, part.rows);
            local(part.in, part.out, part.rows, part.n, part.pitch, part.scratch, part.stream);
        });
        call.exchange(sizeof(Rows));
        call.forEachValid([](const Part& part) {
            launch<kernCheckRows<>>({1, 1}, part.stream, part.rank->template all<Rows>(), part.rank->count(),
                                    part.rank->failure());
        });
        std::vector<DeviceBuffer<Acc>> ofFailing;
        call.forEachInvalid([&](const Part& part) {
            DeviceBuffer<Acc>& zeros = ofFailing.emplace_back(rowsOfOthers(*part.rank, part.stream));
            Common::checkCUDAError(cudaMemsetAsync(zeros.data(), 0, zeros.byteCount(), part.stream), "cudaMemsetAsync");
        });
        inGroup([&] {
            call.forEachValid([](const Part& part) { addUpRanks(part, part.out, part.rows); });
            auto zeros = ofFailing.begin();
            call.forEachInvalid([&](const Part& part) {
                addUpRanks(part, zeros->data(), zeros->size());
                ++zeros;
            });
        });
        call.forEachInvalid([](const Part& part) { part.rank->waitFor(part.stream); });
        call.finish();
    }

  private:
    using Rows = Told<std::uint64_t>;

    /// Waits for the exchange. Returns the number of rows of the first rank that has not failed; 0 if all have.
    [[nodiscard]] static std::size_t rowsOfOthers(const Rank& rank, cudaStream_t stream) {
        rank.waitFor(stream);
        std::vector<Rows> told(rank.count());
        Common::checkCUDAError(
            cudaMemcpyAsync(told.data(), rank.all<Rows>(), told.size() * sizeof(Rows), cudaMemcpyDeviceToHost, stream),
            "cudaMemcpyAsync");
        Common::checkCUDAError(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
        const auto valid = std::ranges::find(told, 0U, [](const Rows& of) { return of.header.failed; });
        return valid == told.end() ? 0 : valid->value;
    }

    template <typename In, typename Acc>
    static void addUpRanks(const RowSumPart<In, Acc>& part, Acc* sums, std::size_t rows) {
        checkNccl(ncclAllReduce(sums, sums, rows, ncclTypeOf<Acc>(), ncclSum, part.rank->comm(), part.stream),
                  "ncclAllReduce", part.rank->comm());
    }
};

}  // namespace StreamCompaction::Distributed
