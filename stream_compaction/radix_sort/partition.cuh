#pragma once

#include <cstring>
#include <limits>

#include "stream_compaction/common.cuh"
#include "stream_compaction/radix_sort/onesweep.cuh"
#include "stream_compaction/radix_sort/ways.cuh"
#include "stream_compaction/runtime/launch.cuh"

/// A stable partition into up to 256 parts: one pass of a radix sort, whose digit is the part.
namespace StreamCompaction::Radix {

/// The part of a key by a function of the caller. Parts behind the last one count as the last.
template <typename K, typename PartOf>
struct PartOfKey {
    PartOf partOf;
    std::uint32_t last;

    [[nodiscard]] __device__ std::uint32_t operator()(const K& key) const {
        return min(static_cast<std::uint32_t>(partOf(key)), last);
    }
};

/// The part as the digit of a key that is moved as `Bits`.
template <typename Bits, typename K, typename PartOf>
struct PartDigit {
    PartOfKey<K, PartOf> partOf;

    [[nodiscard]] __device__ std::uint32_t of(const Bits& bits) const {
        if constexpr (std::is_same_v<Bits, K>) {
            return partOf(bits);
        } else {
            K key;
            memcpy(&key, &bits, sizeof(K));
            return partOf(key);
        }
    }
};

template <typename Bits, typename K, typename PartOf>
inline constexpr bool greatestKeyIsLast<PartDigit<Bits, K, PartOf>> = false;

/// Plans the pass from the counts of the parts. Writes where each part begins, and n behind that. One block with one
/// thread per digit value.
template <typename Count>
__global__ void __launch_bounds__(digitValues)
    kernPlanPartition(Count number, Plan* plan, std::size_t* begins, const Counters* counters, std::uint32_t parts) {
    const std::size_t n = numberOf(number);
    makePlan<digitValues>(*counters, n, 1, false, *plan);
    if (threadIdx.x < parts) {
        begins[threadIdx.x] = plan->starts[0][threadIdx.x];
    }
    if (threadIdx.x == 0) {
        begins[parts] = n;
    }
}

/// A partition of n elements, with room for at least one, whose pass is planned.
template <typename Bits, typename Value, typename DigitOf, typename Count = std::size_t>
struct PartitionCall {
    Elements<const Bits, const Value> in;
    Elements<Bits, Value> out;
    Count n;
    Plan* plan;
    DigitOf digit;
    TileOrder order;
    ScratchArena arena;
    cudaStream_t stream;
};

/// By one launch of the pass, on cards whose multiprocessors hold at least `blocksPerMultiprocessor` blocks each. A way
/// of a WayTable.
template <typename Shape, int blocksPerMultiprocessor = 1,
          std::size_t mostElements = std::numeric_limits<std::size_t>::max()>
struct InOnePass {
    template <typename Bits, typename Value>
    [[nodiscard]] static std::size_t scratchBytes(std::size_t n, bool /*consumesInput*/) {
        return n > mostElements ? 0
                                : scratchBytesFor<std::uint64_t>(2 * DigitStatuses::wordsPerSet(passTiles<Shape>(n)));
    }

    template <typename Bits, typename Value, typename DigitOf, typename Count>
    [[nodiscard]] static bool fits(const PartitionCall<Bits, Value, DigitOf, Count>& call) {
        return capacityOf(call.n) <= mostElements &&
               onCurrentDevice<kernel<Bits, Value, DigitOf, Count>>(Shape::threads, sharedBytes<Bits, Value>)
                       .blocksPerMultiprocessor >= blocksPerMultiprocessor;
    }

    template <typename Bits, typename Value, typename DigitOf, typename Count>
    static void launch(const PartitionCall<Bits, Value, DigitOf, Count>& call) {
        const std::size_t tiles = passTiles<Shape>(capacityOf(call.n));
        ScratchArena rest = call.arena;
        const DigitStatuses statuses{rest.take<std::uint64_t>(2 * DigitStatuses::wordsPerSet(tiles)), tiles};
        clearStatuses<Shape>(call.n, statuses, statuses.words, call.stream);
        const std::size_t blocks =
            blocksForTiles<kernel<Bits, Value, DigitOf, Count>, Count>(tiles, Shape::threads, sharedBytes<Bits, Value>);
        const SortArrays<Bits, Value> arrays{call.in, call.out, {}};
        StreamCompaction::launch<kernel<Bits, Value, DigitOf, Count>>(
            {blocks, Shape::threads, sharedBytes<Bits, Value>, Begin::Programmatic}, call.stream, call.n, arrays,
            statuses, call.plan, orderFor<Count>(call.order), 0, call.digit, NoCoding{}, prefetchesValues());
    }

  private:
    template <typename Bits, typename Value, typename DigitOf, typename Count>
    static constexpr auto kernel = kernSortByDigit<Shape, Bits, Value, Count, DigitOf, NoCoding>;
    template <typename Bits, typename Value>
    static constexpr std::size_t sharedBytes = sizeof(TileStorage<Shape, Bits, Value>);
};

}  // namespace StreamCompaction::Radix
