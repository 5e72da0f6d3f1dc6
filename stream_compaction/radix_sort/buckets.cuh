#pragma once

#include "stream_compaction/radix_sort/onesweep.cuh"
#include "stream_compaction/radix_sort/resident.cuh"
#include "stream_compaction/radix_sort/span_sort.cuh"

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

/// A bucket is sorted as a span is, for keys alone, because equal ones may come in any order. It may have one more
/// element per thread than a part.
template <typename Part>
struct InGroups {
    using Shape = SortShape<Part::threads, Part::items + 1>;
    static constexpr bool needsAllBits = true;

    template <typename Bits, typename Value>
    static constexpr bool serves = !hasValues<Value>;
    template <typename Bits, typename Value>
    using Storage = SpanStorage<Shape, Bits, Value>;

    template <typename Bits, typename Value>
    static __device__ void sort(Storage<Bits, Value>& storage, int size, const Elements<Bits, Value>& out,
                                const Elements<const Bits, const Value>& in, DigitRange range,
                                const KeyCoding<Bits>& coding) {
        SpanSort<Shape, Bits, Value>::template sort<true>(storage, size, out, in, 0,
                                                          8 * static_cast<int>(sizeof(Bits)) - range.end, coding);
    }
};

/// The same with room for eight parts. With few keys a bucket that many of them share takes less time than digits.
template <typename Part>
using InLargeGroups = InGroups<SortShape<Part::threads, 8 * Part::items - 1>>;

/// The shared memory of a block that has `tiles` tiles of the keys first, and as many buckets afterwards.
template <typename Shape, typename Bucket, int tiles, typename Bits, typename Value>
struct BucketStorage {
    union {
        ResidentStorage<Shape, Bits, Value> part;
        typename Bucket::template Storage<Bits, Value> bucket;
    };
    std::uint32_t begins[tiles];  ///< of the buckets
    std::uint32_t sizes[tiles];   ///< of the buckets
    int slots[Shape::threads / Warp::lanes];
};

/// What the blocks find out about the highest bits.
struct Buckets {
    static constexpr int mostCounts = 2;  ///< how often the blocks count

    bool areSorted;
    int counts;        ///< how often the blocks have counted
    DigitRange range;  ///< if the buckets are not sorted: the keys do not differ in other bits of the range
};

/// The block's part of n keys. There are a power of two of blocks.
template <typename Count>
[[nodiscard]] __device__ ResidentTile bucketPart(std::size_t n) {
    return residentTile<Count>(n, (n + gridDim.x - 1) >> (31 - __clz(static_cast<int>(gridDim.x))));
}

/// Sorts keys in two steps: moves them to buckets by their highest bits, and sorts each bucket in the shared memory of
/// a block. A block has `tiles` tiles of the keys and as many buckets. There are a power of two. If a bucket is too
/// large, the blocks try again with the highest bits in which keys differ. If it still is, they leave the keys where
/// they are.
template <typename Shape, int tiles, typename Bucket, typename Group, typename Bits, typename Value>
class BucketSort {
  public:
    using Storage = BucketStorage<Shape, Bucket, tiles, Bits, Value>;

    __device__ BucketSort(const Group& blocks, Storage& storage, const ResidentArrays<Bits, Value>& arrays,
                          ResidentTile part, const KeyCoding<Bits>& coding)
        : blocks_(blocks), storage_(storage), arrays_(arrays), part_(part), coding_(coding) {}

    /// `widths` has room for a number per block.
    [[nodiscard]] __device__ Buckets operator()(DigitRange range, int* widths) {
        const int bucketBits = 31 - __clz(static_cast<int>(gridDim.x) * tiles);
        int counts = 0;
        while (counts < Buckets::mostCounts && range.end - range.begin > digitBits) {
            const Digit digit = range.highest(bucketBits);
            const Later later = countLaterTiles(digit);
            const ResidentTile first = load(0);
            if (counts == 0) {
                const int widest = widestOf(32 - __clz(static_cast<int>(later.differing | differing())));
                if (threadIdx.x == 0) {
                    widths[blockIdx.x] = widest;
                }
            }
            const DigitCount count = packResident<Shape>(blocks_, storage_.part, keys_, arrays_.in.values, first, true,
                                                         digit, bucketBits, keys_.countedPastTheEnd(digit, threadIdx.x),
                                                         later.keys, arrays_.rows(counts), arrays_.spare);
            ++counts;
            if (__syncthreads_or(count.equal > Bucket::Shape::elements) == 0) {
                noteOwnBuckets(count);
                storeTiles(first, digit, count.next);
                blocks_.sync();
                sortOwnBuckets({range.begin, digit.shift});
                return {true, counts, range};
            }

            const int widest = widestOf(threadIdx.x < gridDim.x ? __ldcg(&widths[threadIdx.x]) : 0);
            if (widest >= range.end) {
                break;
            }
            range.end = max(widest, range.begin + 1);
        }
        return {false, counts, range};
    }

  private:
    using Ranks = DigitRank<Shape::threads, std::uint16_t>;

    /// The keys of the block's tiles behind the first.
    struct Later {
        std::uint32_t keys;  ///< with the digit threadIdx.x
        Bits differing;      ///< the bits in which any key of this thread is not as the first of all keys
    };

    __device__ ResidentTile load(int i) {
        const ResidentTile tile = part_.part(i, Shape::elements);
        keys_.loadAndEncode(arrays_.in.keys + tile.begin, tile.size, coding_);
        return tile;
    }

    [[nodiscard]] __device__ Bits differing() const { return keys_.differingFrom(coding_.encode(arrays_.in.keys[0])); }

    [[nodiscard]] __device__ int widestOf(int width) {
        return Block::reduce<Shape::threads / Warp::lanes>(width, storage_.slots, Max{});
    }

    [[nodiscard]] __device__ Later countLaterTiles(Digit digit) {
        Later later{};
        for (int i = 1; i < tiles; ++i) {
            (void)load(i);
            later.differing |= differing();
            Ranks ranks(storage_.part.tile.ranks, storage_.part.tile.counts);
            keys_.count(ranks, digit);
            later.keys += ranks.total() - keys_.countedPastTheEnd(digit, threadIdx.x);
            __syncthreads();
        }
        return later;
    }

    __device__ void noteOwnBuckets(DigitCount count) {
        if (threadIdx.x < gridDim.x * tiles && threadIdx.x % gridDim.x == blockIdx.x) {
            storage_.begins[threadIdx.x / gridDim.x] = count.smaller;
            storage_.sizes[threadIdx.x / gridDim.x] = count.equal;
        }
    }

    /// Stores the first tile, which is packed, and packs and stores the others. `next` is the place of the next key
    /// with the digit threadIdx.x.
    __device__ void storeTiles(ResidentTile tile, Digit digit, std::uint32_t next) {
        const auto store = [&] { storePacked(storage_.part.tile, tile.size, digit, [](Bits key) { return key; }); };
        store();
        for (int i = 1; i < tiles; ++i) {
            __syncthreads();
            tile = load(i);
            Ranks ranks(storage_.part.tile.ranks, storage_.part.tile.counts);
            keys_.count(ranks, digit);
            const std::uint32_t total = ranks.total();
            const std::uint32_t firstRank = ranks.begin(total);
            keys_.pack(ranks, digit, storage_.part.tile);
            if (threadIdx.x < digitValues) {
                storage_.part.tile.setRun(static_cast<int>(threadIdx.x), arrays_.spare,
                                          std::int64_t{next} - std::int64_t{firstRank});
            }
            next += total;
            __syncthreads();
            store();
        }
    }

    __device__ void sortOwnBuckets(DigitRange range) {
        for (int i = 0; i < tiles; ++i) {
            const std::uint32_t begin = storage_.begins[i];
            if (storage_.sizes[i] > 0) {
                Bucket::template sort<Bits, Value>(storage_.bucket, static_cast<int>(storage_.sizes[i]),
                                                   arrays_.out.behind(begin), arrays_.spare.behind(begin).readOnly(),
                                                   range, coding_);
            }
            if (tiles > 1) {
                __syncthreads();
            }
        }
    }

    static_assert(sizeof(Bits) == 4);
    static_assert(tiles == 1 || !hasValues<Value>);

    const Group& blocks_;
    Storage& storage_;
    const ResidentArrays<Bits, Value>& arrays_;
    ResidentTile part_;
    const KeyCoding<Bits>& coding_;
    TileKeys<Shape, Bits> keys_;
};

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
    using Sort = BucketSort<Shape, 1, Bucket, decltype(blocks), Bits, Value>;
    auto& storage = dynamicShared<typename Sort::Storage>();
    const std::size_t n = numberOf(count);
    if (isOnDevice<Count> && n == 0) {
        return;
    }
    const ResidentTile tile = bucketPart<Count>(n);
    const Buckets buckets = Sort(blocks, storage, arrays, tile, coding)(range, widths);
    if (!buckets.areSorted) {
        sortByDigits<Shape, false>(blocks, storage.part, arrays, n, tile, buckets.range, coding, buckets.counts);
    }
}

/// Sorts by buckets, with `tiles` tiles and buckets per block, if the blocks hold the keys and no bucket is too large.
/// Then no pass of `plan` is needed. `counters` are zero before.
///
/// Work, steps and limit are those of kernSortByBuckets. Keys are read twice more, from the second-level cache.
template <typename Blocks, typename Shape, int tiles, typename Bucket, typename Bits, typename Count>
__global__ void __launch_bounds__(Shape::threads)
    kernTryBuckets(Count count, ResidentArrays<Bits, NoValue> arrays, int* widths, DigitRange range,
                   KeyCoding<Bits> coding, Counters* counters, Plan* plan) {
    const auto blocks = Blocks::group();
    const std::size_t n = numberOf(count);
    if (isOnDevice<Count> && (n == 0 || n > std::size_t{gridDim.x} * tiles * Shape::elements)) {
        return;
    }
    using Sort = BucketSort<Shape, tiles, Bucket, decltype(blocks), Bits, NoValue>;
    const Buckets buckets =
        Sort(blocks, dynamicShared<typename Sort::Storage>(), arrays, bucketPart<Count>(n), coding)(range, widths);
    if (blockIdx.x == 0 && threadIdx.x == 0 && buckets.areSorted) {
        counters->areSorted = true;
        for (int i = 0; i < range.count(); ++i) {
            plan->passes[i].isNeeded = false;
        }
    }
}

}  // namespace StreamCompaction::Radix
