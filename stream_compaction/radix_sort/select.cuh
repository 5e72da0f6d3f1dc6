#pragma once

#include <cmath>

#include "stream_compaction/common.cuh"
#include "stream_compaction/primitives/block.cuh"
#include "stream_compaction/primitives/chain.cuh"
#include "stream_compaction/primitives/key_coding.cuh"
#include "stream_compaction/primitives/occupancy.cuh"
#include "stream_compaction/primitives/operators.cuh"
#include "stream_compaction/primitives/sort_tile.cuh"
#include "stream_compaction/primitives/source.cuh"
#include "stream_compaction/primitives/tile.cuh"
#include "stream_compaction/runtime/element_count.cuh"

/// Radix select: the first k of n keys (Alabi, Blanchard, Gordon and Steinbach, "Fast k-Selection Algorithms for
/// Graphics Processing Units", 2012), and a bound of the first k that a sample of the keys yields.
namespace StreamCompaction::Radix {

/// Digits of a selection, from the highest bits of the key on. The last may be narrower.
inline constexpr int selectBits = 11;
inline constexpr int selectValues = 1 << selectBits;

/// The counts of the digits over all blocks, one row per digit of the key.
template <typename Bits>
using SelectCounts = std::uint64_t[Common::divideRoundUp(8 * sizeof(Bits), selectBits)][selectValues];

/// The numbers of keys below and at a threshold.
struct Sides {
    std::uint64_t below;
    std::uint64_t at;
};

struct AddSides {
    static constexpr bool isCommutative = true;

    template <typename T>
    [[nodiscard]] __device__ constexpr T identity() const {
        return {0, 0};
    }
    __device__ constexpr Sides operator()(const Sides& a, const Sides& b) const {
        return {a.below + b.below, a.at + b.at};
    }
};

/// The code without its last `shift` bits.
template <typename Bits>
[[nodiscard]] __device__ constexpr Bits withoutLast(Bits code, int shift) {
    return shift < static_cast<int>(8 * sizeof(Bits)) ? static_cast<Bits>(code >> shift) : Bits{0};
}

/// The leading bits of the k-th code. All codes with smaller leading bits are among the first k, and so are `wanted` of
/// the `all` codes with these.
template <typename Bits>
struct Threshold {
    Bits prefix;
    int shift;  ///< bits behind the prefix
    std::uint64_t wanted;
    std::uint64_t all;
    Sides mine;  ///< the codes of this block

    [[nodiscard]] __device__ bool isBelow(Bits code) const { return withoutLast(code, shift) < prefix; }
    [[nodiscard]] __device__ bool isAt(Bits code) const { return withoutLast(code, shift) == prefix; }
    /// The greatest code with the prefix.
    [[nodiscard]] __device__ Bits greatest() const {
        return static_cast<Bits>(prefix << shift | ((Bits{1} << shift) - 1));
    }
};

/// A key and the value that goes with it.
template <typename Bits, typename Value>
struct KeyAndValue {
    Bits key;
    Value value;
};

template <typename Bits>
[[nodiscard]] __device__ Bits keyOf(const Bits& key) {
    return key;
}
template <typename Bits, typename Value>
[[nodiscard]] __device__ Bits keyOf(const KeyAndValue<Bits, Value>& pair) {
    return pair.key;
}

/// The most blocks of a selection, and the most threads of a block.
inline constexpr std::size_t mostSelectBlocks = 1024;
inline constexpr int mostSelectThreads = 1024;

template <int threads>
struct SelectStorage {
    union {
        std::uint32_t counts[selectValues];  ///< of this block
        std::uint64_t keptUpTo[threads];     ///< candidates of the parts up to the last that this thread counts
    };
    std::uint64_t slots[threads / Warp::lanes];
    struct {
        int digit;
        std::uint64_t before;
        std::uint64_t count;
    } found;
};

/// Finds the threshold of the first k of the elements that all blocks of a cooperative grid have, or of those of this
/// block alone if `counts` is null. This block has `size` of them. No code exceeds `greatest`. The blocks count one
/// digit after the other, of the elements that share all digits before, until at most `spare` more share them than are
/// wanted. k is not 0. `counts` is zero at first.
template <typename Shape, typename Bits, typename T>
[[nodiscard]] __device__ Threshold<Bits> findThreshold(const T* elements, std::size_t size, std::uint64_t k,
                                                       std::uint64_t spare, Bits greatest,
                                                       const KeyCoding<Bits>& coding, SelectCounts<Bits>* counts,
                                                       SelectStorage<Shape::threads>& storage) {
    constexpr int perThread = selectValues / Shape::threads;
    static_assert(perThread % 2 == 0, "counts are read in pairs");
    Threshold<Bits> threshold{
        0, 64 - __clzll(static_cast<long long>(std::uint64_t{greatest})), k, ~std::uint64_t{0}, {0, size}};
    for (int round = 0; threshold.shift > 0 && threshold.all - threshold.wanted > spare; ++round) {
        const int shift = max(threshold.shift - selectBits, 0);
        const std::uint32_t mask = (1u << (threshold.shift - shift)) - 1;

        // Count the digits.
        for (int i = static_cast<int>(threadIdx.x); i < selectValues; i += Shape::threads) {
            storage.counts[i] = 0;
        }
        __syncthreads();
        const auto count = [&](const T& element) {
            const Bits code = coding.encode(keyOf(element));
            if (threshold.isAt(code)) {
                atomicAdd(&storage.counts[static_cast<std::uint32_t>(code >> shift) & mask], 1u);
            }
        };
        forEachElement<Shape>(elements, size, count, 0, 1);
        __syncthreads();
        std::uint64_t ofAll[perThread];
        const int first = static_cast<int>(threadIdx.x) * perThread;
        if (counts != nullptr) {
            std::uint64_t* const sums = (*counts)[round];
            for (int i = static_cast<int>(threadIdx.x); i < selectValues; i += Shape::threads) {
                if (storage.counts[i] > 0) {
                    atomicAdd(reinterpret_cast<unsigned long long*>(&sums[i]), std::uint64_t{storage.counts[i]});
                }
            }
            meetInGrid();
            Vector<std::uint64_t, 2> pairs[perThread / 2];
            for (int j = 0; j < perThread / 2; ++j) {
                copyVector(&pairs[j], reinterpret_cast<const Vector<std::uint64_t, 2>*>(sums + first) + j);
                ofAll[2 * j] = pairs[j].items[0];
                ofAll[2 * j + 1] = pairs[j].items[1];
            }
        } else {
            for (int j = 0; j < perThread; ++j) {
                ofAll[j] = storage.counts[first + j];
            }
        }

        // Find the digit of the k-th code.
        std::uint64_t sum = 0;
        for (int j = 0; j < perThread; ++j) {
            sum += ofAll[j];
        }
        std::uint64_t before = Block::exclusiveScan<Shape::warps>(sum, storage.slots, Sum{});
        for (int j = 0; j < perThread; ++j) {
            if (before < threshold.wanted && threshold.wanted <= before + ofAll[j]) {
                storage.found = {first + j, before, ofAll[j]};
            }
            before += ofAll[j];
        }
        __syncthreads();
        const auto found = storage.found;
        std::uint64_t mineBelow = 0;
        for (int j = 0; j < perThread; ++j) {
            mineBelow += first + j < found.digit ? storage.counts[first + j] : 0;
        }
        threshold.mine.at = storage.counts[found.digit];
        threshold.mine.below += Block::reduce<Shape::warps>(mineBelow, storage.slots, Sum{});
        threshold.prefix = static_cast<Bits>(threshold.prefix << (threshold.shift - shift) | found.digit);
        threshold.shift = shift;
        threshold.wanted -= found.before;
        threshold.all = found.count;
    }
    return threshold;
}

/// The consecutive elements of an array that this block has.
struct Part {
    std::size_t begin;
    std::size_t size;
};

/// The length of each of `parts` parts of n elements, whole rows of a warp.
template <int vectorLength>
[[nodiscard]] __device__ std::size_t partLength(std::size_t n, std::size_t parts) {
    constexpr std::size_t row = Warp::lanes * vectorLength;
    return (n + parts * row - 1) / (parts * row) * row;
}

template <int vectorLength>
[[nodiscard]] __device__ Part partOf(std::size_t n, std::size_t part, std::size_t parts) {
    const std::size_t length = partLength<vectorLength>(n, parts);
    const std::size_t begin = min(part * length, n);
    return {begin, min(length, n - begin)};
}

/// Clears the counts, by all blocks.
template <typename Bits>
__device__ void clearCounts(SelectCounts<Bits>* counts) {
    std::uint64_t* const all = &(*counts)[0][0];
    for (std::size_t i = Common::globalThreadIndex(); i < sizeof(*counts) / sizeof(*all);
         i += std::size_t{gridDim.x} * blockDim.x) {
        all[i] = 0;
    }
}

/// Finds the first k of n elements by all blocks of a cooperative grid, or by one block if `counts` is null. No code
/// exceeds `greatest`. Calls `store(place, element, index)` for each of the first k. Places are in the order of the
/// elements. Each block has a part of the elements.
template <typename Shape, typename Bits, typename T, typename Store>
__device__ void selectFirst(const T* elements, std::size_t n, std::uint64_t k, Bits greatest,
                            const KeyCoding<Bits>& coding, SelectCounts<Bits>* counts, GridChain<Sides> chain,
                            SelectStorage<Shape::threads>& storage, Store store) {
    using Row = TileShape<Shape::threads, 1, Shape::vectorLength>;
    const auto [begin, size] = partOf<Shape::vectorLength>(n, blockIdx.x, gridDim.x);
    const Threshold<Bits> threshold =
        findThreshold<Shape>(elements + begin, size, k, 0, greatest, coding, counts, storage);

    // What earlier blocks store. Of the codes at the threshold only the first are wanted.
    Sides before{0, 0};
    if (counts != nullptr) {
        chain.publish(threshold.mine);
        before = chain.beforeAndAll(AddSides{}).before;
    }

    // Store, a vector per thread at a time. A word has the numbers of codes below and at the threshold.
    auto* const slots = reinterpret_cast<std::uint32_t*>(storage.slots);
    for (std::size_t done = 0; done < size; done += Row::elements) {
        __syncthreads();  // nobody reads the slots any more
        const TileOf<const T> tile = Row::tileOf(elements + begin + done, 0, size - done);
        Vector<T, Shape::vectorLength> row[1];
        loadRows<Row>(row, tile);
        std::uint32_t mine = 0;
#pragma unroll
        for (int i = 0; i < Shape::vectorLength; ++i) {
            if (Row::offset(0) + i < tile.size) {
                const Bits code = coding.encode(keyOf(row[0].items[i]));
                mine += (threshold.isBelow(code) ? 1u : 0u) + (threshold.isAt(code) ? 1u << 16 : 0u);
            }
        }
        const std::uint32_t upTo = Warp::inclusiveScan(mine, Sum{});
        const auto place = Block::scanWarps<Shape::warps>(Warp::broadcast(upTo, Warp::lanes - 1), slots, Sum{});
        const std::uint32_t mineFrom = place.before + upTo - mine;
        Sides here{before.below + (mineFrom & 0xFFFF), before.at + (mineFrom >> 16)};
#pragma unroll
        for (int i = 0; i < Shape::vectorLength; ++i) {
            if (Row::offset(0) + i < tile.size) {
                const Bits code = coding.encode(keyOf(row[0].items[i]));
                const bool isAt = threshold.isAt(code);
                const bool isBelow = threshold.isBelow(code);
                if (isBelow || (isAt && here.at < threshold.wanted)) {
                    store(here.below + min(here.at, threshold.wanted), row[0].items[i],
                          begin + done + Row::offset(0) + i);
                }
                here.below += isBelow ? 1 : 0;
                here.at += isAt ? 1 : 0;
            }
        }
        before.below += place.all & 0xFFFF;
        before.at += place.all >> 16;
    }
}

/// The input of a selection. `Values` is the source of the values, or NoValue.
template <typename Bits, typename Values>
struct SelectionInput {
    const Bits* keys;
    Values values;
};

template <typename Values>
struct ValueIn {
    using Type = typename Values::Value;
};
template <>
struct ValueIn<NoValue> {
    using Type = NoValue;
};
template <typename Values>
using ValueOfSource = typename ValueIn<Values>::Type;

/// An element that may be among the first k: its key, or its key and its value.
template <typename Bits, typename Values>
using Candidate = std::conditional_t<hasValues<Values>, KeyAndValue<Bits, ValueOfSource<Values>>, Bits>;

/// Elements of a sample, and the largest part of it that a filter may let through.
inline constexpr std::size_t sampleSize = 1 << 13;
inline constexpr std::size_t mostOfSample = sampleSize / 4;

/// The most candidates of n elements. If there are more, a filter does not pay.
[[nodiscard]] __host__ __device__ constexpr std::size_t mostCandidates(std::size_t n) { return n / 2; }

/// The rank in a sample of the key that is to bound the first k of n keys, or 0 if there is to be no filter.
///
/// If the order of the keys has nothing to do with the places of the sample, the number of keys in the sample that are
/// among the first k is about binomial. Its mean plus six standard deviations and twelve is exceeded for fewer than one
/// array in 10^8.
struct RankOfBound {
    std::uint64_t k;
    std::size_t mostUnfiltered;  ///< the most elements that need no filter, no less than a sample has

    [[nodiscard]] __host__ __device__ std::uint64_t operator()(std::size_t n) const {
        const double mean = static_cast<double>(k) / static_cast<double>(n) * sampleSize;
        const double rank = mean + 6 * std::sqrt(mean) + 12;
        return n > mostUnfiltered && rank <= mostOfSample ? static_cast<std::uint64_t>(rank) : 0;
    }
};

/// How a kernel gets the rank with an `n` of type Count: as a number if the host knows n.
template <typename Count>
using RankFor = std::conditional_t<isOnDevice<Count>, RankOfBound, std::uint64_t>;

/// The rank for n keys.
[[nodiscard]] __host__ __device__ inline std::uint64_t rankFor(std::size_t /*n*/, std::uint64_t rank) { return rank; }
[[nodiscard]] __host__ __device__ inline std::uint64_t rankFor(std::size_t n, const RankOfBound& rank) {
    return rank(n);
}

/// What a filter hands to the selection. Each warp of the filter has kept the candidates of its part of the keys.
template <typename Bits, typename Values>
struct FilterMemory {
    Bits* sample;
    Bits* greatest;                       ///< code that the filter lets through
    std::uint64_t* counts;                ///< of the parts
    Candidate<Bits, Values>* kept;        ///< of each part, where the part is in the input
    Candidate<Bits, Values>* candidates;  ///< of all parts, without gaps
    unsigned parts;
};

/// The memory of a selection without a filter.
struct NoFilter {};

/// A random number made of the bits of i (the finalizer of MurmurHash3, Appleby, 2011).
[[nodiscard]] __device__ constexpr std::uint32_t mixed(std::uint32_t i) {
    i = (i ^ i >> 16) * 0x85EBCA6Bu;
    i = (i ^ i >> 13) * 0xC2B2AE35u;
    return i ^ i >> 16;
}

/// Reads a sample, one key from each of as many intervals, at places that depend only on n. By all blocks.
template <typename Bits>
__device__ void drawSample(Bits* sample, const Bits* keys, std::size_t n) {
    const std::uint64_t interval = n / sampleSize;
    for (std::size_t i = Common::globalThreadIndex(); i < sampleSize; i += std::size_t{gridDim.x} * blockDim.x) {
        sample[i] = keys[i * interval + (mixed(static_cast<std::uint32_t>(i)) * interval >> 32)];
    }
}

/// Keeps the candidates of a warp's part of the keys: writes those whose code is at most `greatest` to `kept`, in
/// order. Returns their number.
template <typename Shape, typename Bits, typename Values>
[[nodiscard]] __device__ std::uint64_t keepWithin(Bits greatest, Candidate<Bits, Values>* kept,
                                                  const SelectionInput<Bits, Values>& in, Part part,
                                                  const KeyCoding<Bits>& coding) {
    constexpr int length = Shape::vectorLength;
    const std::uint32_t lanesBefore = (1u << Warp::lane()) - 1;
    auto* next = kept;
    for (std::size_t done = 0; done < part.size; done += Shape::elements) {
        const std::size_t begin = part.begin + done;
        const TileOf<const Bits> tile = Shape::tileOf(in.keys + begin, 0, part.size - done);
        Vector<Bits, length> rows[Shape::rows];
        loadRows<Shape>(rows, tile);
#pragma unroll
        for (int row = 0; row < Shape::rows; ++row) {
            bool isKept[length];
            std::uint32_t before = 0;
            std::uint32_t all = 0;
#pragma unroll
            for (int i = 0; i < length; ++i) {
                isKept[i] = Shape::offset(row) + i < tile.size && coding.encode(rows[row].items[i]) <= greatest;
                const std::uint32_t lanes = __ballot_sync(Warp::allLanes, isKept[i]);
                before += __popc(lanes & lanesBefore);
                all += __popc(lanes);
            }
            if (all == 0) {
                continue;
            }
#pragma unroll
            for (int i = 0; i < length; ++i) {
                if (isKept[i]) {
                    if constexpr (hasValues<Values>) {
                        next[before++] = {rows[row].items[i], valueAt(in.values, begin + Shape::offset(row) + i)};
                    } else {
                        next[before++] = rows[row].items[i];
                    }
                }
            }
            next += all;
        }
    }
    return next - kept;
}

/// Finds the candidates: draws a sample, finds the key of a rank in it, which is a bound of the first k, and keeps the
/// keys within the bound. Its blocks meet. If there is to be no filter, or if so many keys are equal that it would
/// let most through, it keeps none. It also clears the counts of the selection.
///
/// The blocks draw the sample together. Behind a barrier each block finds the bound by itself. Each warp has a part of
/// the keys, so it needs no other one to know where to write.
///
/// Work O(n), steps O(n / threads). Reads the keys once. DRAM bandwidth is the limit, or latency if they are few.
template <typename Shape, typename Bits, typename Values, typename Count>
__global__ void __launch_bounds__(Shape::threads, blocksThatFit(Shape::threads, mostSelectThreads / Shape::threads))
    kernFilter(Count number, RankFor<Count> rankOfBound, SelectionInput<Bits, Values> in,
               FilterMemory<Bits, Values> memory, KeyCoding<Bits> coding, SelectCounts<Bits>* counts) {
    __shared__ SelectStorage<Shape::threads> storage;
    clearCounts<Bits>(counts);
    const std::size_t n = numberOf(number);
    const std::uint64_t rank = rankFor(n, rankOfBound);
    if (rank > 0) {
        drawSample(memory.sample, in.keys, n);
    }
    meetInGrid();
    std::uint64_t kept = 0;
    const unsigned warp = blockIdx.x * Shape::warps + Warp::index();
    if (rank > 0) {
        // Twice as many as have a digit in common on average, so that random keys need one digit.
        const std::uint64_t spare = max(rank / 8, std::uint64_t{2 * sampleSize / selectValues});
        const Threshold<Bits> bound =
            findThreshold<Shape>(static_cast<const Bits*>(memory.sample), sampleSize, rank, spare,
                                 static_cast<Bits>(~Bits{0}), coding, nullptr, storage);
        if (rank - bound.wanted + bound.all <= mostOfSample) {
            const Part part = partOf<Shape::vectorLength>(n, warp, memory.parts);
            kept = keepWithin<WarpShape<Shape::rows, Shape::vectorLength>>(bound.greatest(), memory.kept + part.begin,
                                                                           in, part, coding);
        }
        if (Common::globalThreadIndex() == 0) {
            *memory.greatest = bound.greatest();
        }
    }
    if (Warp::lane() == 0) {
        memory.counts[warp] = kept;
    }
}

/// Collects the candidates, in order and without gaps, if there are at least k and not too many. Returns their number,
/// or 0. Each block copies the part of the candidates that it will have in the selection, so the work is balanced
/// wherever they come from.
template <typename Shape, typename Bits, typename Values>
[[nodiscard]] __device__ std::size_t collect(const FilterMemory<Bits, Values>& memory, std::size_t n, std::uint64_t k,
                                             SelectStorage<Shape::threads>& storage) {
    const unsigned perThread = (memory.parts + Shape::threads - 1) / Shape::threads;
    const unsigned end = min((threadIdx.x + 1) * perThread, memory.parts);
    std::uint64_t mine = 0;
    for (unsigned part = threadIdx.x * perThread; part < end; ++part) {
        mine += memory.counts[part];
    }
    storage.keptUpTo[threadIdx.x] = mine + Block::exclusiveScan<Shape::warps>(mine, storage.slots, Sum{});
    __syncthreads();
    const std::size_t all = storage.keptUpTo[Shape::threads - 1];
    const bool isUseful = k <= all && all <= mostCandidates(n);
    if (isUseful) {
        const std::size_t partOfKeys = partLength<Shape::vectorLength>(n, memory.parts);
        const auto [begin, size] = partOf<vectorLength<Candidate<Bits, Values>>>(all, blockIdx.x, gridDim.x);
        for (std::size_t i = begin + threadIdx.x; i < begin + size; i += Shape::threads) {
            // The first thread that has counted up to more than i, then the part.
            unsigned thread = 0;
            for (unsigned last = Shape::threads - 1; thread < last;) {
                const unsigned middle = (thread + last) / 2;
                if (i < storage.keptUpTo[middle]) {
                    last = middle;
                } else {
                    thread = middle + 1;
                }
            }
            std::size_t place = i - (thread == 0 ? 0 : storage.keptUpTo[thread - 1]);
            unsigned part = thread * perThread;
            while (place >= memory.counts[part]) {
                place -= memory.counts[part++];
            }
            memory.candidates[i] = memory.kept[part * partOfKeys + place];
        }
    }
    __syncthreads();
    return isUseful ? all : 0;
}

/// Writes the first k elements, in the order of the input, or all if there are fewer. They are sought among the
/// candidates if a filter has kept at least k, which it nearly always has. Otherwise they are sought in the whole
/// input. A cooperative launch, unless `counts` is null and there is one block.
///
/// The blocks count one digit after the other, highest first, of the keys that share all digits before. Each block then
/// knows how many of its keys are below the threshold, and how many are at it. It learns the numbers of the blocks
/// before it around a barrier, and writes its part of the result.
///
/// Work O(n) per digit and one pass more, steps O(n / threads) and a barrier of the grid per digit. Reads the keys once
/// per digit that is needed, and once more. With few candidates latency is the limit.
template <typename Shape, typename Bits, typename Values, typename Filter, typename Count>
__global__ void __launch_bounds__(Shape::threads, blocksThatFit(Shape::threads, mostSelectThreads / Shape::threads))
    kernSelect(Count number, std::uint64_t k, Elements<Bits, ValueOfSource<Values>> out,
               SelectionInput<Bits, Values> in, Filter filter, KeyCoding<Bits> coding, SelectCounts<Bits>* counts,
               GridChain<Sides> chain) {
    __shared__ SelectStorage<Shape::threads> storage;
    const std::size_t n = numberOf(number);
    if constexpr (isOnDevice<Count>) {
        k = min(k, std::uint64_t{n});
        if (k == 0) {
            return;
        }
    }
    if constexpr (std::is_same_v<Filter, NoFilter>) {
        if (counts != nullptr) {
            clearCounts<Bits>(counts);
            meetInGrid();
        }
    } else {
        using CandidateShape = TileShape<Shape::threads, Shape::rows, vectorLength<Candidate<Bits, Values>>>;
        if (const std::size_t candidates = collect<Shape>(filter, n, k, storage); candidates > 0) {
            const auto store = [&](std::uint64_t place, const Candidate<Bits, Values>& candidate, std::size_t) {
                out.keys[place] = keyOf(candidate);
                if constexpr (hasValues<Values>) {
                    out.values[place] = candidate.value;
                }
            };
            selectFirst<CandidateShape>(static_cast<const Candidate<Bits, Values>*>(filter.candidates), candidates, k,
                                        *filter.greatest, coding, counts, chain, storage, store);
            return;
        }
    }
    const auto store = [&](std::uint64_t place, Bits key, std::size_t index) {
        out.keys[place] = key;
        if constexpr (hasValues<Values>) {
            out.values[place] = valueAt(in.values, index);
        }
    };
    selectFirst<Shape>(in.keys, n, k, static_cast<Bits>(~Bits{0}), coding, counts, chain, storage, store);
}

}  // namespace StreamCompaction::Radix
