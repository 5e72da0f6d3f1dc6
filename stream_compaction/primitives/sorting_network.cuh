#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "stream_compaction/primitives/warp.cuh"

/// Sorts by a network of comparators, which are the same for all inputs.
namespace StreamCompaction {

/// Sorts the entries of a warp or of a block, `rows` per thread, by a bitonic network (Batcher, "Sorting Networks and
/// Their Applications", 1968). The entries may come in any order. Then each thread has neighbouring ones.
///
/// Distances between entries decide how these meet: in the registers of a thread, by shuffles, or in the shared memory
/// `exchanged`, which has room for all entries twice and which only blocks need. Called by all threads.
///
/// Work O(n log^2 n), steps O(log^2 n).
template <int threads = Warp::lanes, int rows, typename T>
__device__ void sortByNetwork(T (&entries)[rows], [[maybe_unused]] T* exchanged = nullptr) {
    const auto select = [](bool less, const T& a, const T& b) {
        if constexpr (std::is_same_v<T, std::uint32_t>) {
            return less ? min(a, b) : max(a, b);  // one instruction
        } else {
            return (b < a) == less ? b : a;
        }
    };
    const int thread = threads == Warp::lanes ? Warp::lane() : static_cast<int>(threadIdx.x);
    int half = 0;  // of `exchanged`: while some threads read one, others may write the other
#pragma unroll
    for (int sorted = 2; sorted <= threads * rows; sorted *= 2) {
#pragma unroll
        for (int distance = sorted / 2; distance > 0; distance /= 2) {
            const bool threadAscends = (thread & (sorted / rows)) == 0;
            const int away = distance / rows;  // the thread of the other entry
            const bool isLess = threadAscends == ((thread & away) == 0);
            if (away >= Warp::lanes) {
                T* const slots = exchanged + half * threads * rows;
                half = 1 - half;
#pragma unroll
                for (int row = 0; row < rows; ++row) {
                    slots[row * threads + thread] = entries[row];
                }
                __syncthreads();
#pragma unroll
                for (int row = 0; row < rows; ++row) {
                    entries[row] = select(isLess, entries[row], slots[row * threads + (thread ^ away)]);
                }
                continue;
            }
#pragma unroll
            for (int row = 0; row < rows; ++row) {
                if (away > 0) {
                    const T other = Warp::mapWords(
                        entries[row], [=](std::uint32_t word) { return __shfl_xor_sync(Warp::allLanes, word, away); });
                    entries[row] = select(isLess, entries[row], other);
                } else if ((row & distance) == 0) {
                    const bool ascends = sorted < rows ? (row & sorted) == 0 : threadAscends;
                    T& other = entries[row | distance];
                    const T first = select(ascends, entries[row], other);
                    other = select(!ascends, entries[row], other);
                    entries[row] = first;
                }
            }
        }
    }
}

/// Merges neighbouring runs of `run` sorted entries of this thread, two by two (Batcher's odd-even merge, 1968).
template <int run, int distance = run, int entryCount, typename T>
__device__ void mergeRuns(T (&entries)[entryCount]) {
#pragma unroll
    for (int i = 0; i < entryCount - distance; ++i) {
        const int at = i % (2 * run);
        if (distance == run ? at < run : at / distance % 2 == 1 && at + distance < 2 * run) {
            const T first = entries[i];
            const T second = entries[i + distance];
            const bool isSwapped = second < first;
            entries[i] = isSwapped ? second : first;
            entries[i + distance] = isSwapped ? first : second;
        }
    }
    if constexpr (distance > 1) {
        mergeRuns<run, distance / 2>(entries);
    }
}

/// Sorts the entries of this thread.
template <int run = 1, int entryCount, typename T>
__device__ void sortEntries(T (&entries)[entryCount]) {
    if constexpr (run < entryCount) {
        mergeRuns<run>(entries);
        sortEntries<2 * run>(entries);
    }
}

}  // namespace StreamCompaction
