#pragma once

#include "stream_compaction/common.cuh"
#include "stream_compaction/primitives/block.cuh"
#include "stream_compaction/primitives/chain.cuh"
#include "stream_compaction/primitives/occupancy.cuh"
#include "stream_compaction/primitives/open_run.cuh"
#include "stream_compaction/primitives/operators.cuh"
#include "stream_compaction/primitives/previous.cuh"
#include "stream_compaction/primitives/run_copy.cuh"
#include "stream_compaction/primitives/source.cuh"
#include "stream_compaction/primitives/tile.cuh"
#include "stream_compaction/primitives/tile_order.cuh"
#include "stream_compaction/runs/unique.cuh"
#include "stream_compaction/runtime/clear_words.cuh"
#include "stream_compaction/runtime/launch.cuh"

namespace StreamCompaction::Runs {

/// Bytes of shared memory per element. The results later take the place of the elements. If the values come from no
/// array, the sums take the place of the keys, as soon as the keys of the runs have been stored.
template <typename Keys, typename Values, typename K, typename T>
struct BytesPerElement {
    /// Of the values, or of their sums.
    static constexpr std::size_t ofValues = readsArray<Values> ? std::max(sizeof(Stored<Values>), sizeof(T)) : 0;
    /// Of the keys, or of the sums in their place.
    static constexpr std::size_t ofKeys =
        std::max({sizeof(Stored<Keys>), sizeof(K), readsArray<Values> ? std::size_t{0} : sizeof(T)});
};

/// The tile of a block: at most 32 elements per thread. Wide elements take fewer threads that have more bytes each,
/// because short parts would make the scan of the parts the larger share of the work.
template <typename Keys, typename Values, typename K, typename T>
struct TileFor {
    using Bytes = BytesPerElement<Keys, Values, K, T>;
    static constexpr int length = vectorLength<Stored<Keys>, Stored<Values>, K, T>;
    static constexpr int threads = length < 4 ? 128 : 256;
    static constexpr int bytesPerThread = length < 4 ? 360 : 176;
    static constexpr int mostVectors = std::min<int>(32, bytesPerThread / (Bytes::ofKeys + Bytes::ofValues)) / length;
    static constexpr int vectors = std::max(1, mostVectors - (mostVectors + 1) % 2);

    using Shape = ThreadwiseShape<threads, vectors, length>;

    /// The tile of a block that meets all others: small, so that few elements occupy many multiprocessors.
    using SmallShape = ThreadwiseShape<threads, std::min(vectors, 5), length>;
};

/// Registers per thread for its keys and values. Bytes are processed one per register. Values that come from no array
/// take none.
template <typename Shape, typename Values, typename K, typename T>
inline constexpr std::size_t registersToReduce =
    20 + Shape::elementsPerThread*(Common::divideRoundUp(sizeof(K), 4) +
                                   (readsArray<Values> ? Common::divideRoundUp(sizeof(T), 4) : 0));

/// The blocks of such tiles that are to fit on a multiprocessor.
template <typename Shape, typename Keys, typename Values, typename K, typename T>
[[nodiscard]] constexpr int blocksToReduce() {
    using Bytes = BytesPerElement<Keys, Values, K, T>;
    return blocksPerMultiprocessor(Shape::threads, Shape::elements * (Bytes::ofKeys + Bytes::ofValues),
                                   registersToReduce<Shape, Values, K, T>);
}

/// The elements of a thread, from the vectors `row(r)`.
template <typename T, typename Shape, typename Row>
__device__ void gather(T (&elements)[Shape::elementsPerThread], Row row) {
#pragma unroll
    for (int r = 0; r < Shape::rows; ++r) {
        const auto vector = row(r);
#pragma unroll
        for (int i = 0; i < Shape::vectorLength; ++i) {
            elements[r * Shape::vectorLength + i] = static_cast<T>(vector.items[i]);
        }
    }
}

/// A loader of keys and one of values, for the same tile.
template <typename KeyLoader, typename ValueLoader>
struct PairLoader {
    KeyLoader& keys;
    ValueLoader& values;

    __device__ void start(int tile) {
        keys.start(tile);
        values.start(tile);
    }
    __device__ void finish(int tile) {
        keys.finish(tile);
        values.finish(tile);
    }
};

/// Marks the end of the array as a head, and none behind it. Bit i of `heads` is the thread's element i, and the array
/// ends `toEnd` elements behind the thread's first.
template <int length>
[[nodiscard]] __device__ std::uint32_t withEnd(std::uint32_t heads, int toEnd) {
    if (toEnd >= length) {
        return heads;
    }
    const std::uint32_t end = toEnd < 0 ? 0 : 1u << toEnd;
    return toEnd < 0 ? 0 : (heads & (end - 1)) | end;
}

/// Adds up the values of each run of equal keys, fused with the chained scan of the numbers of runs and of the sums of
/// the runs that tiles leave open (see kernScanLookBack).
///
/// A thread walks through consecutive elements. It marks the keys at which runs begin, the heads, and adds up the
/// values behind the last of them. A scan of these pairs over the block tells each thread how many heads the tile has
/// before it, and the sum of the run that is open where it begins. The thread then walks through its elements again. It
/// packs its heads in shared memory, where the keys were, and the sums of the runs that end at them, where the values
/// were. The end of the array counts as a head, so every run ends at one:
///
///     keys       5 5 | 5 7 7 | 7 7 7 | 2 3 3 |      four tiles; a fifth has only the end
///     heads      ^   |   ^   |       | ^ ^   | ^
///     it stores  5   |   7   |       | 2 3   |      the heads
///                    | 5     |       | 7 2   | 3    the sums of the runs of these keys
///
/// One warp looks back for the number of heads in earlier tiles and the sum of the open run, or adds them up where few
/// blocks meet. Of the sums of a tile only the first needs that, so all others are packed before the look-back ends. If
/// the values come from no array, there is no place for the sums until the heads are stored. They are packed then,
/// where the heads were.
///
/// Work O(n), steps O(n / resident elements). Reads 8 bytes per int key and int value and writes 8 bytes per run. If
/// the values are a function of the index, it reads 4 bytes. DRAM bandwidth is the limit.
template <typename Shape, typename Chain, typename Keys, typename Values, typename K, typename T, typename Equal,
          typename Op, typename Count>
__global__ void __launch_bounds__(Shape::threads, (blocksToReduce<Shape, Keys, Values, K, T>()))
    kernReduceByKey(Count number, K* uniqueKeys, T* sums, std::size_t* count, Chain chain, Keys keys, Values values,
                    TileOrder order, Equal equal, Op op) {
    using Part = typename Chain::Value;
    using Bytes = BytesPerElement<Keys, Values, K, T>;
    constexpr bool sharesMemory = Bytes::ofValues == 0;
    using KeyLoader = SourceLoader<Keys, Shape, Shape::elements * Bytes::ofKeys>;
    using ValueLoader = SourceLoader<Values, Shape, sharesMemory ? 1 : Shape::elements * Bytes::ofValues>;
    using PartOfTile = OpenRun<T, std::uint32_t>;
    constexpr int length = Shape::elementsPerThread;
    static_assert(length <= 32, "a word has a bit for each element");
    __shared__ typename KeyLoader::Storage keyStorage;
    __shared__ typename ValueLoader::Storage valueStorage;
    __shared__ SharedArray<PartOfTile, Shape::warps> warpParts;
    __shared__ SharedArray<Part, 1> partBefore;
    __shared__ int sharedTile;
    const std::size_t n = numberOf(number);
    // The end of the array is in one of the tiles. They are counted here, because a division at the end of a tile would
    // take time.
    const auto tiles = [all = n == 0 ? 0 : static_cast<int>(n / Shape::elements) + 1] { return all; };
    if constexpr (isOnDevice<Count>) {
        SinglePass::countNothing(n, count);
    }
    KeyLoader keyLoader(keyStorage, keys, n);
    ValueLoader valueLoader(valueStorage, values, n);
    PairLoader<KeyLoader, ValueLoader> loader{keyLoader, valueLoader};
    const JoinParts<Op> join{op};

    forEachTile<Count>(chain, order, sharedTile, loader, tiles, [&](int tile) {
        Previous<K> previous(keys, Shape::beginOfWarp(tile), n);
        loader.finish(tile);

        // Mark the heads, and add up the values behind the last of them.
        K mine[length];
        T addends[length];
        gather<K, Shape>(mine, [&](int row) { return keyLoader.row(row); });
        gather<T, Shape>(addends, [&](int row) { return valueLoader.row(row); });
        const K before = previous.before(mine[length - 1]);
        const bool isFirst = tile == 0 && threadIdx.x == 0;
        std::uint32_t heads = isFirst || !equal(before, mine[0]) ? 1 : 0;
        T sum = addends[0];
#pragma unroll
        for (int i = 1; i < length; ++i) {
            const bool isHead = !equal(mine[i - 1], mine[i]);
            heads |= static_cast<std::uint32_t>(isHead) << i;
            sum = isHead ? addends[i] : op(sum, addends[i]);
        }
        heads = withEnd<length>(heads, Shape::sizeOf(tile, n) - Shape::offset(0));

        // Scan over the block, and publish what the tile leaves open.
        const PartOfTile upTo = Warp::inclusiveScan(PartOfTile{static_cast<std::uint32_t>(__popc(heads)), sum}, join);
        const auto place =
            Block::scanWarps<Shape::warps>(Warp::broadcast(upTo, Warp::lanes - 1), warpParts.data(), join);
        const PartOfTile beforeInWarp = Warp::shiftUp(upTo, 1);
        const PartOfTile beforeThread = Warp::lane() == 0 ? place.before : join(place.before, beforeInWarp);
        const Part partOfTile{place.all.heads, place.all.sum};
        if (Warp::index() == 0) {
            chain.publish(tile, partOfTile);
        }

        // Pack the heads, and the sums of the runs that end at them. The barrier of the scan has let all threads read.
        K* const packedKeys = reinterpret_cast<K*>(keyLoader.memory());
        T* const packedSums = reinterpret_cast<T*>(sharesMemory ? keyLoader.memory() : valueLoader.memory());
        const auto packKeys = [&] {
            K* next = packedKeys + beforeThread.heads;
#pragma unroll
            for (int i = 0; i < length; ++i) {
                if ((heads >> i & 1) != 0) {
                    *next++ = mine[i];
                }
            }
        };
        const auto packSums = [&] {
            T* next = packedSums + beforeThread.heads;
            T sum = beforeThread.sum;
#pragma unroll
            for (int i = 0; i < length; ++i) {
                const bool isHead = (heads >> i & 1) != 0;
                if (isHead) {
                    *next++ = sum;
                }
                sum = isHead ? addends[i] : op(sum, addends[i]);
            }
        };
        if (heads != 0) {
            packKeys();
            if constexpr (!sharesMemory) {
                packSums();
            }
        }

        // Learn what earlier tiles leave open.
        const bool isLast = tile == tiles() - 1;
        const std::uint32_t ends = place.all.heads;
        const std::uint32_t begins = ends - (isLast ? 1 : 0);
        chain.meet();
        if (Warp::index() == 0) {
            const Part part = chain.before(tile, partOfTile, join);
            if (threadIdx.x == 0) {
                *partBefore.data() = part;
                if (isLast) {
                    *count = std::size_t{part.heads} + begins;
                }
            }
        }
        __syncthreads();

        // Store. The first of the packed sums is the end of a run of an earlier tile, unless this is the first tile.
        const std::size_t headsBefore = partBefore.data()->heads;
        copyRun(uniqueKeys + headsBefore, keyLoader.memory(), 0, begins);
        if (ends > 0) {
            if constexpr (sharesMemory) {
                __syncthreads();
                if (heads != 0) {
                    packSums();
                }
                __syncthreads();
            }
            copyRun(sums + headsBefore, reinterpret_cast<const std::byte*>(packedSums), 1, ends - 1);
            if (tile > 0 && threadIdx.x == 0) {
                sums[headsBefore - 1] = op(partBefore.data()->sum, packedSums[0]);
            }
        }
    });
}

/// Reduction by key: `reduce(keys, values, uniqueKeys, sums, count, n, [op, [equal,]] scratch, stream)`. For each run
/// of equal neighbours among the keys, writes the first key to `uniqueKeys` and the sum of the values that belong to
/// the run to `sums`. Writes the number of runs to `count`. All three are in device memory, and nothing is written past
/// the last run. Keys that are equal but not neighbours are in different runs.
///
/// `op` is any associative operator with an identity (primitives/operators.cuh), by default Sum. Sums are accumulated
/// in the type of `sums`, which may be wider than that of `values`. The last places of floating-point sums over several
/// thousand elements may differ from call to call. `equal(a, b)` compares a key to the one before it; by default it is
/// ==.
///
/// `keys` and `values` are arrays of n elements in device memory, or functions of such elements or of the index
/// (primitives/source.cuh). Functions may be called twice per element. Keys and sums are trivially copyable, have 1 to
/// 16 bytes, and lie at any address that their type allows. The scratch may hold anything and keeps nothing from call
/// to call. Neither allocates nor synchronises. Throws what common.cuh says.
struct ReduceByKey {
    static constexpr bool mayRunInPlace = false;  ///< whether the output may be the input

    /// How the blocks of large arrays get their tiles.
    TileOrder order = TileOrder::BlockIndex;
    /// The most runs (common.cuh).
    std::size_t maxOut = noLimit;

    /// The bytes of scratch that a call with these arguments needs.
    template <typename Keys, typename Values, typename K, typename T, ElementCount N, typename... Functions>
    [[nodiscard]] std::size_t scratchBytes(const Keys& /*keys*/, const Values& /*values*/, K* /*uniqueKeys*/,
                                           T* /*sums*/, CountPointer /*count*/, N n,
                                           const Functions&... /*functions*/) const {
        const std::size_t most = capacityOf(n);
        Arguments::requireSize<Stored<SourceOf<Keys>>, Stored<SourceOf<Values>>, K, T>(most);
        using Tiles = TileFor<SourceOf<Keys>, SourceOf<Values>, K, T>;
        using WidestChain = LookBackChain<OpenRun<T, std::uint64_t>>;
        const std::size_t tiles = tilesOf<typename Tiles::Shape>(most);
        const std::size_t tilesTogether = std::min(tilesOf<typename Tiles::SmallShape>(most), mostMeetingBlocks);
        Arguments::requireAtMost("tiles", tiles, Common::mostBlocks);
        return most == 0 ? 0
                         : std::max(scratchBytesFor<OpenRun<T, std::uint32_t>>(tilesTogether),
                                    scratchBytesFor<std::uint64_t>(WidestChain::wordsFor(tiles)));
    }

    /// Adds up, and compares by ==.
    template <typename Keys, typename Values, typename K, typename T, ElementCount N>
    void operator()(const Keys& keys, const Values& values, K* uniqueKeys, T* sums, CountPointer count, N n,
                    Scratch scratch, cudaStream_t stream) const {
        (*this)(keys, values, uniqueKeys, sums, count, n, Sum{}, scratch, stream);
    }

    /// Combines by `op`, and compares by ==.
    template <typename Keys, typename Values, typename K, typename T, ElementCount N, typename Op>
    void operator()(const Keys& keys, const Values& values, K* uniqueKeys, T* sums, CountPointer count, N n, Op op,
                    Scratch scratch, cudaStream_t stream) const {
        (*this)(keys, values, uniqueKeys, sums, count, n, op, IsEqual{}, scratch, stream);
    }

    /// Combines by `op`, and compares by `equal`.
    template <typename Keys, typename Values, typename K, typename T, ElementCount N, typename Op, typename Equal>
    void operator()(const Keys& keys, const Values& values, K* uniqueKeys, T* sums, CountPointer count, N n, Op op,
                    Equal equal, Scratch scratch, cudaStream_t stream) const {
        using KeySource = SourceOf<Keys>;
        using ValueSource = SourceOf<Values>;
        static_assert(std::is_same_v<typename KeySource::Value, K>, "keys come out as they go in");
        static_assert(std::max({sizeof(Stored<KeySource>), sizeof(Stored<ValueSource>), sizeof(K), sizeof(T)}) <= 16,
                      "keys, values and sums of up to 16 bytes");
        const KeySource keySource = sourceOf(keys);
        const ValueSource valueSource = sourceOf(values);
        const CountFor<N> number = countOf(n);
        const std::size_t most = capacityOf(number);
        requireApart(number, {arrayOf("keys", keySource, most), arrayOf("values", valueSource, most)},
                     {Arguments::array("uniqueKeys", uniqueKeys, std::min(most, maxOut)),
                      Arguments::array("sums", sums, std::min(most, maxOut)), Arguments::array("count", count, 1)});
        ScratchArena arena(scratch, scratchBytes(keys, values, uniqueKeys, sums, count, n));
        if (most == 0) {
            SinglePass::countNothing(number, count, stream);
            return;
        }
        if constexpr (areElements<Stored<KeySource>, Stored<ValueSource>, K, T>() && isOperatorFor<T, Op>() &&
                      isFunctionOf<Equal, K, K>()) {
            using Tiles = TileFor<KeySource, ValueSource, K, T>;
            if (areFew(tilesOf<typename Tiles::SmallShape>(most)) &&
                reduceTogether<typename Tiles::SmallShape>(keySource, valueSource, uniqueKeys, sums, count, number, op,
                                                           equal, arena, stream)) {
                return;
            }
            const auto enqueueWith = [&]<typename Heads>(Heads) {
                reduceByLookBack<typename Tiles::Shape, Heads>(keySource, valueSource, uniqueKeys, sums, count, number,
                                                               op, equal, arena, stream);
            };
            // Wide numbers of heads would take a second word only beside sums that take one.
            if constexpr (LookBack::Coding<T>::words == 1) {
                if (most <= mostNarrowHeads) {
                    enqueueWith(std::uint32_t{});
                    return;
                }
            }
            enqueueWith(std::uint64_t{});
        }
    }

    /// Over tiles of the given shape, by blocks that are all resident. Returns false if there are too many of them.
    template <typename Shape, typename Keys, typename Values, typename K, typename T, typename Count, typename Op,
              typename Equal>
    [[nodiscard]] bool reduceTogether(const Keys& keys, const Values& values, K* uniqueKeys, T* sums,
                                      std::size_t* count, Count n, Op op, Equal equal, ScratchArena arena,
                                      cudaStream_t stream) const {
        using Chain = GridChain<OpenRun<T, std::uint32_t>>;
        constexpr auto kernel = kernReduceByKey<Shape, Chain, Keys, Values, K, T, Equal, Op, Count>;
        const std::size_t tiles = tilesOf<Shape>(capacityOf(n));
        return tiles <= mostMeetingBlocks &&
               launchTogether<kernel>({tiles, Shape::threads}, stream, n, uniqueKeys, sums, count,
                                      Chain{arena.take<typename Chain::Value>(tiles)}, keys, values,
                                      TileOrder::BlockIndex, equal, op);
    }

    /// Over tiles of the given shape, by look-back. `Heads` is the type of the number of runs.
    template <typename Shape, typename Heads, typename Keys, typename Values, typename K, typename T, typename Count,
              typename Op, typename Equal>
    void reduceByLookBack(const Keys& keys, const Values& values, K* uniqueKeys, T* sums, std::size_t* count, Count n,
                          Op op, Equal equal, ScratchArena arena, cudaStream_t stream) const {
        using Chain = LookBackChain<OpenRun<T, Heads>>;
        constexpr auto kernel = kernReduceByKey<Shape, Chain, Keys, Values, K, T, Equal, Op, Count>;
        const std::size_t tiles = tilesOf<Shape>(capacityOf(n));
        const Chain chain{arena.take<std::uint64_t>(Chain::wordsFor(tiles)), tiles};
        clearWords(chain.words, Chain::wordsFor(tiles), stream);
        const std::size_t blocks = blocksForTiles<kernel, Count>(tiles, Shape::threads);
        launch<kernel>({blocks, Shape::threads, 0, Begin::Programmatic}, stream, n, uniqueKeys, sums, count, chain,
                       keys, values, orderFor(order, blocks, tiles), equal, op);
    }

  private:
    /// The tiles of n elements. The end of the array is in one of them.
    template <typename Shape>
    [[nodiscard]] static std::size_t tilesOf(std::size_t n) {
        return n / Shape::elements + 1;
    }
};

/// What an element adds to the length of its run.
template <typename T>
struct One {
    __host__ __device__ constexpr T operator()(std::size_t /*i*/) const { return 1; }
};

/// Run-length encoding: `encode(in, unique, lengths, count, n, [equal,] scratch, stream)`. For each run of equal
/// neighbours, writes the first element to `unique` and the number of elements to `lengths`. These are integers; more
/// elements than they can count throw std::invalid_argument. Reads 4 bytes per int, and writes 8 bytes per run if the
/// lengths are ints. Everything else is as for ReduceByKey.
struct Encode {
    static constexpr bool mayRunInPlace = false;  ///< whether the output may be the input

    /// How the blocks of large arrays get their tiles.
    TileOrder order = TileOrder::BlockIndex;
    /// The most runs (common.cuh).
    std::size_t maxOut = noLimit;

    /// The bytes of scratch that a call with these arguments needs.
    template <typename In, typename K, std::integral Length, ElementCount N, typename... Functions>
    [[nodiscard]] std::size_t scratchBytes(const In& in, K* unique, Length* lengths, CountPointer count, N n,
                                           const Functions&... /*functions*/) const {
        Arguments::requireAtMost("n", capacityOf(n), std::numeric_limits<Length>::max());
        return ReduceByKey{order}.scratchBytes(in, generated(One<Length>{}), unique, lengths, count, n);
    }

    /// Compares by ==.
    template <typename In, typename K, std::integral Length, ElementCount N>
    void operator()(const In& in, K* unique, Length* lengths, CountPointer count, N n, Scratch scratch,
                    cudaStream_t stream) const {
        (*this)(in, unique, lengths, count, n, IsEqual{}, scratch, stream);
    }

    /// Compares by `equal`.
    template <typename In, typename K, std::integral Length, ElementCount N, typename Equal>
    void operator()(const In& in, K* unique, Length* lengths, CountPointer count, N n, Equal equal, Scratch scratch,
                    cudaStream_t stream) const {
        (void)scratchBytes(in, unique, lengths, count, n, equal);
        ReduceByKey{order, maxOut}(in, generated(One<Length>{}), unique, lengths, count, n, Sum{}, equal, scratch,
                                   stream);
    }
};

}  // namespace StreamCompaction::Runs
