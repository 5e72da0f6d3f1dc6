#pragma once

#include <cstring>

#include "stream_compaction/common.cuh"
#include "stream_compaction/radix_sort/onesweep.cuh"
#include "stream_compaction/radix_sort/resident.cuh"
#include "stream_compaction/radix_sort/ways.cuh"
#include "stream_compaction/runtime/launch.cuh"

/// A stable partition into up to 256 parts: one pass of a radix sort, whose digit is the part.
namespace StreamCompaction::Radix {

/// The part by a function of the caller, as the digit of a key that is moved as `Bits`, and as its bin. Parts behind
/// the last one count as the last.
template <typename Bits, typename K, typename PartOf>
struct PartDigit {
    PartOf partOf;
    std::uint32_t last;

    [[nodiscard]] __device__ std::uint32_t of(const Bits& bits) const {
        if constexpr (std::is_same_v<Bits, K>) {
            return min(static_cast<std::uint32_t>(partOf(bits)), last);
        } else {
            K key;
            memcpy(&key, &bits, sizeof(K));
            return min(static_cast<std::uint32_t>(partOf(key)), last);
        }
    }
    [[nodiscard]] __device__ std::uint32_t operator()(const Bits& bits) const { return of(bits); }
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

/// A partition of n elements, with room for at least one.
template <typename Bits, typename Value, typename DigitOf, typename Count = std::size_t>
struct PartitionCall {
    Elements<const Bits, const Value> in;
    Elements<Bits, Value> out;
    std::size_t* begins;
    Count n;
    std::uint32_t parts;
    DigitOf digit;
    TileOrder order;
    ScratchArena arena;
    cudaStream_t stream;
};

/// A stable partition by blocks that are resident together, with one tile per block: a pass of kernSortResident. Writes
/// where each part begins, and n behind that.
///
/// Work O(n + blocks^2), steps O(log n). 8 bytes per 4-byte key. Latency is the limit: a launch, a load, the ranks of a
/// tile, the barrier, a store.
template <typename Blocks, typename Shape, typename Bits, typename Value, typename Count, typename DigitOf>
__global__ void __launch_bounds__(Shape::threads)
    kernPartitionResident(Count count, Elements<Bits, Value> out, std::size_t* begins, std::uint16_t* counts,
                          Elements<const Bits, const Value> in, std::uint32_t parts, DigitOf digit) {
    const auto blocks = Blocks::group();
    auto& storage = dynamicShared<ResidentStorage<Shape, Bits, Value>>();
    const std::size_t n = numberOf(count);
    const ResidentTile tile = residentTile<Count>(n, Shape::elements);
    TileKeys<Shape, Bits> keys;
    keys.load(in.keys + tile.begin, tile.size);
    const DigitCount keysOfAll =
        packResident<Shape>(blocks, storage, keys, in.values, tile, true, digit, digitBits, 0, 0, counts, out);
    if (blockIdx.x == 0 && threadIdx.x < parts) {
        begins[threadIdx.x] = keysOfAll.smaller;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        begins[parts] = n;
    }
    __syncthreads();
    storePacked(storage.tile, tile.size, digit, [](const Bits& element) { return element; });
}

/// Partitions in one launch of at most `mostBlocks` blocks that are resident together, one tile per block. `Blocks` is
/// Cluster or Grid. A way of a WayTable.
template <typename Blocks, typename Shape, std::size_t mostBlocks>
struct InOneLaunch {
    static constexpr std::size_t mostElements = mostBlocks * Shape::elements;

    /// 16-bit counts: one per block and part.
    template <typename Bits, typename Value>
    [[nodiscard]] static std::size_t scratchBytes(std::size_t n, bool /*consumesInput*/) {
        return scratchBytesFor<std::uint16_t>(blocksOf(n) * digitValues);
    }

    template <typename Bits, typename Value, typename DigitOf, typename Count>
    [[nodiscard]] static bool fits(const PartitionCall<Bits, Value, DigitOf, Count>& call) {
        return fitTogether<Blocks, kernel<Bits, Value, DigitOf, Count>>(blocksOf(capacityOf(call.n)), Shape::threads,
                                                                        sharedBytes<Bits, Value>);
    }

    template <typename Bits, typename Value, typename DigitOf, typename Count>
    [[nodiscard]] static bool launch(const PartitionCall<Bits, Value, DigitOf, Count>& call) {
        const std::size_t blocks = blocksOf(capacityOf(call.n));
        ScratchArena rest = call.arena;
        auto* const counts = rest.take<std::uint16_t>(blocks * digitValues);
        return tryLaunch<kernel<Bits, Value, DigitOf, Count>>(
            {blocks, Shape::threads, sharedBytes<Bits, Value>, beginTogether<Blocks>}, call.stream, call.n, call.out,
            call.begins, counts, call.in, call.parts, call.digit);
    }

  private:
    template <typename Bits, typename Value, typename DigitOf, typename Count>
    static constexpr auto kernel = kernPartitionResident<Blocks, Shape, Bits, Value, Count, DigitOf>;
    template <typename Bits, typename Value>
    static constexpr std::size_t sharedBytes = sizeof(ResidentStorage<Shape, Bits, Value>);

    [[nodiscard]] static std::size_t blocksOf(std::size_t n) { return Common::divideRoundUp(n, Shape::elements); }
};

}  // namespace StreamCompaction::Radix
