#pragma once

#include "stream_compaction/radix_sort/network.cuh"
#include "stream_compaction/radix_sort/resident.cuh"

/// A sort of evenly distributed keys in one launch: buckets by the highest bits, each sorted by one block.
namespace StreamCompaction::Radix {

/// A bucket is sorted digit by digit. It may have one more element per thread than a part.
template <typename Part>
struct InDigits {
    using Shape = SortShape<Part::threads, Part::items + 1>;
    static constexpr bool needsAllBits = false;  ///< whether equal keys have to be alike

    template <typename Bits, typename Value>
    static constexpr bool serves = true;
    template <typename Bits, typename Value>
    using Storage = TileStorage<Shape, Bits, OriginInBlock<Value>, std::uint16_t>;

    /// Sorts codes by the bits of `range`, and writes keys.
    template <typename Bits, typename Value>
    static __device__ void sort(Storage<Bits, Value>& storage, int size, const Elements<Bits, Value>& out,
                                const Elements<const Bits, const Value>& in, DigitRange range,
                                const KeyCoding<Bits>& coding) {
        sortInBlock<Shape>(storage, size, out, in, range, NoCoding{}, coding);
    }
};

/// A bucket is sorted by a network. It may have twice as many elements as a part.
template <typename Part>
struct InNetwork {
    using Shape = SortShape<Part::threads, 2 * Part::items>;
    static constexpr bool needsAllBits = true;

    template <typename Bits, typename Value>
    static constexpr bool serves = suitsNetwork<Bits, Value>;
    template <typename Bits, typename Value>
    using Storage = NetworkStorage<Shape::threads, Shape::elements, Bits, Value>;

    template <typename Bits, typename Value>
    static __device__ void sort(Storage<Bits, Value>& storage, int size, const Elements<Bits, Value>& out,
                                const Elements<const Bits, const Value>& in, DigitRange /*range*/,
                                const KeyCoding<Bits>& coding) {
        sortInNetwork<Shape::threads, Shape::items>(storage, 0, size, out, in, NoCoding{}, coding);
    }
};

/// The shared memory of a block that has a part of the keys first, and a bucket afterwards.
template <typename Shape, typename Bucket, typename Bits, typename Value>
struct BucketStorage {
    union {
        ResidentStorage<Shape, Bits, Value> part;
        typename Bucket::template Storage<Bits, Value> bucket;
    };
    std::uint32_t begin;  ///< of the bucket
    std::uint32_t size;   ///< of the bucket
    int slots[Shape::threads / Warp::lanes];
};

/// There are as many buckets as blocks, a power of two.
[[nodiscard]] __device__ inline int bucketBits() { return 31 - __clz(static_cast<int>(gridDim.x)); }

/// What the blocks find out about the highest bits.
struct Buckets {
    static constexpr int mostCounts = 2;  ///< how often the blocks count

    bool areSorted;
    int counts;        ///< how often the blocks have counted
    DigitRange range;  ///< if the buckets are not sorted: the keys do not differ in other bits of the range
};

/// Sorts keys in two steps: moves them to buckets by their highest bits, one per block, and sorts each bucket in the
/// shared memory of its block. If a bucket is too large, the blocks try again with the highest bits in which keys
/// differ. If it still is, they leave the keys where they are.
template <typename Shape, typename Bucket, typename Group, typename Bits, typename Value>
[[nodiscard]] __device__ Buckets sortByBuckets(const Group& blocks, BucketStorage<Shape, Bucket, Bits, Value>& storage,
                                               const ResidentArrays<Bits, Value>& arrays, int* widths,
                                               ResidentTile tile, DigitRange range, const KeyCoding<Bits>& coding) {
    static_assert(sizeof(Bits) == 4);
    constexpr int warps = Shape::threads / Warp::lanes;
    int counts = 0;
    while (counts < Buckets::mostCounts && range.end - range.begin > digitBits) {
        const Digit digit = range.highest(bucketBits());
        TileKeys<Shape, Bits> keys;
        keys.loadAndEncode(arrays.in.keys + tile.begin, tile.size, coding);
        if (counts == 0) {
            const Bits differing = keys.differingFrom(coding.encode(arrays.in.keys[0]));
            const int widest = Block::reduce<warps>(32 - __clz(static_cast<int>(differing)), storage.slots, Max{});
            if (threadIdx.x == 0) {
                widths[blockIdx.x] = widest;
            }
        }
        const DigitCount count =
            packResident<Shape>(blocks, storage.part, keys, arrays.in.values, tile, true, digit, bucketBits(),
                                keys.countedPastTheEnd(digit, threadIdx.x), arrays.rows(counts), arrays.spare);
        ++counts;
        if (__syncthreads_or(count.equal > Bucket::Shape::elements) == 0) {
            if (threadIdx.x == blockIdx.x) {
                storage.begin = count.smaller;
                storage.size = count.equal;
            }
            storePacked(storage.part.tile, tile.size, digit, [](Bits key) { return key; });
            blocks.sync();
            if (storage.size > 0) {
                Bucket::template sort<Bits, Value>(
                    storage.bucket, static_cast<int>(storage.size), arrays.out.behind(storage.begin),
                    arrays.spare.behind(storage.begin).readOnly(), DigitRange{range.begin, digit.shift}, coding);
            }
            return {true, counts, range};
        }

        const int width = threadIdx.x < gridDim.x ? __ldcg(&widths[threadIdx.x]) : 0;
        const int widest = Block::reduce<warps>(width, storage.slots, Max{});
        if (widest >= range.end) {
            break;
        }
        range.end = max(widest, range.begin + 1);
    }
    return {false, counts, range};
}

/// Sorts by buckets, or by digits if a bucket is too large.
///
/// Work O(n + blocks^2), or that for each digit if it sorts by digits; steps O(log n). By buckets keys are read and
/// written twice, 16 bytes per 4-byte key, in the second-level cache. The latency of two barriers, of ranking a tile
/// and of the bucket's sort is the limit.
template <typename Blocks, typename Shape, typename Bucket, typename Bits, typename Value, typename Count>
__global__ void __launch_bounds__(Shape::threads)
    kernSortByBuckets(Count count, ResidentArrays<Bits, Value> arrays, int* widths, DigitRange range,
                      KeyCoding<Bits> coding) {
    const auto blocks = Blocks::group();
    auto& storage = dynamicShared<BucketStorage<Shape, Bucket, Bits, Value>>();
    const std::size_t n = numberOf(count);
    if (isOnDevice<Count> && n == 0) {
        return;
    }
    const ResidentTile tile = residentTile<Count>(n, (n + gridDim.x - 1) >> bucketBits());
    const Buckets buckets = sortByBuckets<Shape>(blocks, storage, arrays, widths, tile, range, coding);
    if (!buckets.areSorted) {
        sortByDigits<Shape, false>(blocks, storage.part, arrays, n, tile, buckets.range, coding, buckets.counts);
    }
}

}  // namespace StreamCompaction::Radix
