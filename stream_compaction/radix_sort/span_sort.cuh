#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "stream_compaction/primitives/block.cuh"
#include "stream_compaction/primitives/sort_tile.cuh"
#include "stream_compaction/primitives/sorting_network.cuh"
#include "stream_compaction/radix_sort/resident.cuh"

/// The sort of a span, keys with the same highest bits, by one block.
namespace StreamCompaction::Radix {

/// The highest bits of a sort that ends in spans.
struct SpanBits {
    int bits;        ///< that the keys of a span share
    int firstDigit;  ///< the lowest digit that a pass sorts by
    int digits;      ///< of a key

    [[nodiscard]] __host__ __device__ int passes() const { return digits - firstDigit; }
    [[nodiscard]] __host__ __device__ std::size_t spans() const { return std::size_t{1} << bits; }

    /// A code shifted by so many bits is the index of its span.
    template <typename Bits>
    [[nodiscard]] __device__ int shift() const {
        return static_cast<int>(8 * sizeof(Bits)) - bits;
    }
};

/// The memory of a block that sorts a span.
template <typename Shape, typename Bits, typename Value>
struct SpanStorage {
    /// A group has two to three entries on average, if the block has as many as it can hold.
    static constexpr int groups = static_cast<int>(std::bit_ceil(Shape::elements * 2u / 5));
    static constexpr int groupBits = std::countr_zero(static_cast<unsigned>(groups));
    static constexpr int window = 16;  ///< entries that a thread sorts
    static constexpr int windows = (Shape::elements + window - 1) / window;

    struct Groups {
        alignas(16) std::uint32_t counters[groups];
        Bits entries[Shape::elements + windows + 2 * (window + 1)];
        Value values[hasValues<Value> ? Shape::elements : 1];
    };
    union {
        Groups byGroup;
        TileStorage<Shape, Bits, OriginInBlock<Value>, std::uint16_t> byDigit;
    };
    std::uint32_t slots[Shape::threads / Warp::lanes];

    /// Where entry i lies. There is an unused place behind each window, so that threads which each go through one use
    /// different banks.
    [[nodiscard]] static __device__ int placeOf(unsigned i) { return static_cast<int>(i + i / window); }
};

/// Sorts a span in shared memory.
///
/// An entry is the code of an element and, if there are values, the element's place in the span behind it. The bits
/// that the span shares make room for the place. So no two entries are equal, and the sort is stable.
///
/// The entries are put in groups by the next bits. Atomic additions give them their places, so those of a group come in
/// any order. Then each thread sorts a window of 16 neighbours in registers. A group of up to nine entries lies within
/// a window, or within one that begins half a window later. Larger groups take more rounds. If a group is much larger,
/// because many keys are equal, the block sorts by digits instead.
template <typename Shape, typename Bits, typename Value>
class SpanSort {
  public:
    using Code = Bits;
    using Array = Elements<Bits, Value>;
    using ConstArray = Elements<const Bits, const Value>;
    using Storage = SpanStorage<Shape, Bits, Value>;
    static constexpr int threads = Shape::threads;
    static constexpr int blocks =  ///< per multiprocessor, for which the registers suffice
        std::max(1, (sizeof(Bits) > 4 ? 960 : 1280) / Shape::threads);
    static constexpr int mostElements = Shape::elements;
    /// If the keys are distributed evenly, a span has at most so many of them, on average.
    static constexpr std::size_t mostEven = mostElements * 6 / 7;
    /// How many bits of an entry are the element's place.
    static constexpr int placeBits = hasValues<Value> ? static_cast<int>(std::bit_width(mostElements - 1u)) : 0;

    /// The spans of n elements. There are at least two.
    [[nodiscard]] static __host__ __device__ SpanBits bitsFor(std::size_t n) {
        constexpr int digits = codeBits / digitBits;
        int bits = placeBits > 0 ? placeBits : 1;
        while (mostEven << bits < n) {
            ++bits;
        }
        return {bits, digits - (bits + digitBits - 1) / digitBits, digits};
    }

    /// Called by all threads of a block. A block that sorts several spans says so. Then rows that a span lacks begin as
    /// zeros. Otherwise the compiler would keep those of the span before.
    template <bool isOneOfSeveral>
    static __device__ void sort(Storage& storage, int size, const Array& out, const ConstArray& in, std::size_t span,
                                int spanBits, const KeyCoding<Bits>& coding) {
        auto& memory = storage.byGroup;
        const int shift = max(codeBits - spanBits - Storage::groupBits, 0);
        const auto counterOf = [&](Bits code) -> std::uint32_t& {
            return memory.counters[static_cast<std::uint32_t>(code >> shift) % Storage::groups];
        };
        const int thread = static_cast<int>(threadIdx.x);
        const int rows = size > thread ? (size - thread + Shape::threads - 1) / Shape::threads : 0;
        const auto forEachRow = [&](auto work) {
#pragma unroll
            for (int row = 0; row < Shape::items; ++row) {
                if (row < rows) {
                    work(row, row * Shape::threads + thread);
                }
            }
        };

        // Count the groups.
        Bits codes[Shape::items];
        if constexpr (isOneOfSeveral) {
#pragma unroll
            for (Bits& code : codes) {
                code = 0;
            }
        }
        forEachRow([&](int row, int i) { codes[row] = in.keys[i]; });
        if constexpr (hasValues<Value>) {
            forEachRow([&](int /*row*/, int i) { memory.values[i] = in.values[i]; });
        }
        for (int i = thread; i < Storage::groups; i += Shape::threads) {
            memory.counters[i] = 0;
        }
        __syncthreads();
        forEachRow([&](int row, int /*i*/) { atomicAdd(&counterOf(codes[row]), 1u); });
        __syncthreads();
        const int rounds = beginGroups(storage);
        if (rounds > mostRounds) {
            sortManyEqual(storage, size, out, in, spanBits, coding);
            return;
        }

        // Put the entries in groups. Those behind the end come last.
        forEachRow([&](int row, int i) {
            const auto place = static_cast<int>(atomicAdd(&counterOf(codes[row]), 1u));
            memory.entries[Storage::placeOf(place)] = entryOf(codes[row], i);
        });
        if (thread < 2 * window) {
            memory.entries[Storage::placeOf(size + thread)] = static_cast<Bits>(~Bits{0});
        }
        __syncthreads();

        // Sort the windows.
        for (int round = 0; round < rounds; ++round) {
#pragma unroll 1
            for (int first = 0; first < Storage::windows; first += Shape::threads) {
                if (const int index = first + thread; index * window < size) {
                    if (round == 0) {
                        sortWindow(memory.entries, index);
                    } else {
                        mergeHalves(memory.entries, index, round % 2 == 1);
                    }
                }
            }
            __syncthreads();
        }

        // Store.
        const auto highest = static_cast<Bits>(static_cast<Bits>(span) << (codeBits - spanBits));
        forEachRow([&](int /*row*/, int i) {
            const Bits entry = memory.entries[Storage::placeOf(i)];
            if constexpr (hasValues<Value>) {
                const auto code =
                    static_cast<Bits>((entry >> placeBits & (static_cast<Bits>(~Bits{0}) >> spanBits)) | highest);
                out.keys[i] = coding.decode(code);
                out.values[i] = memory.values[static_cast<int>(entry) & ((1 << placeBits) - 1)];
            } else {
                out.keys[i] = coding.decode(entry);
            }
        });
    }

  private:
    static constexpr int codeBits = 8 * sizeof(Bits);
    static constexpr int window = Storage::window;
    static constexpr int mostRounds = 10;
    // The threads that scan the counts of the groups, and the counts of each.
    static constexpr int perThread =
        std::max(8, Storage::groups / static_cast<int>(std::bit_floor(0u + Shape::threads)));
    static constexpr int scanning = Storage::groups / perThread;
    static_assert(scanning <= Shape::threads);

    [[nodiscard]] static __device__ Bits entryOf(Bits code, [[maybe_unused]] int place) {
        if constexpr (hasValues<Value>) {
            return static_cast<Bits>(code << placeBits | static_cast<Bits>(place));
        } else {
            return code;
        }
    }

    /// Sorts by digits. Not inline, so that the compiler keeps registers for the other way. The attribute is for nvcc's
    /// device code, whatever the host's compiler is.
    [[gnu::noinline]] static __device__ void sortManyEqual(Storage& storage, int size, const Array& out,
                                                           const ConstArray& in, int spanBits,
                                                           const KeyCoding<Bits>& coding) {
        sortInBlock<Shape>(storage.byDigit, size, out, in, DigitRange{0, codeBits - spanBits}, NoCoding{}, coding);
    }

    /// Turns the counts of the groups into their beginnings, and returns how many rounds the windows take.
    [[nodiscard]] static __device__ int beginGroups(Storage& storage) {
        constexpr int perVector = 4;
        using Counters = Vector<std::uint32_t, perVector>;
        auto* const vectors = reinterpret_cast<Counters*>(storage.byGroup.counters + perThread * threadIdx.x);
        const bool isScanning = threadIdx.x < scanning;
        Counters counts[perThread / perVector]{};
        std::uint32_t sum = 0;
        std::uint32_t most = 0;
        if (isScanning) {
#pragma unroll
            for (int i = 0; i < perThread / perVector; ++i) {
                copyVector(&counts[i], vectors + i);
#pragma unroll
                for (std::uint32_t& count : counts[i].items) {
                    most = max(most, count);
                    sum += count;
                    count = sum - count;
                }
            }
        }
        const std::uint32_t before = Block::exclusiveScan<Shape::threads / Warp::lanes>(sum, storage.slots, Sum{});
        int rounds = 2;
        while (__syncthreads_or(most > static_cast<std::uint32_t>((rounds - 1) * window / 2 + 1)) != 0 &&
               rounds <= mostRounds) {
            ++rounds;
        }
        if (isScanning) {
#pragma unroll
            for (int i = 0; i < perThread / perVector; ++i) {
#pragma unroll
                for (std::uint32_t& count : counts[i].items) {
                    count += before;
                }
                copyVector(vectors + i, &counts[i]);
            }
        }
        __syncthreads();
        return rounds;
    }

    static __device__ void sortWindow(Bits* entries, int index) {
        Bits* const at = entries + Storage::placeOf(index * window);
        Bits mine[window];
#pragma unroll
        for (int i = 0; i < window; ++i) {
            mine[i] = at[i];
        }
        sortEntries(mine);
#pragma unroll
        for (int i = 0; i < window; ++i) {
            at[i] = mine[i];
        }
    }

    /// Merges the sorted halves of a window, or of the one that begins half a window later.
    static __device__ void mergeHalves(Bits* entries, int index, bool isLater) {
        constexpr int half = window / 2;
        Bits* const lower = entries + Storage::placeOf(index * window) + (isLater ? half : 0);
        Bits* const upper = lower + half + (isLater ? 1 : 0);
        Bits mine[window];
#pragma unroll
        for (int i = 0; i < half; ++i) {
            mine[i] = lower[i];
            mine[i + half] = upper[i];
        }
        mergeRuns<half>(mine);
#pragma unroll
        for (int i = 0; i < half; ++i) {
            lower[i] = mine[i];
            upper[i] = mine[i + half];
        }
    }
};

}  // namespace StreamCompaction::Radix
