#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "stream_compaction/common.cuh"
#include "stream_compaction/primitives/occupancy.cuh"
#include "stream_compaction/primitives/replicated_counters.cuh"
#include "stream_compaction/primitives/target.cuh"
#include "stream_compaction/primitives/tile.cuh"
#include "stream_compaction/runtime/launch.cuh"

/// Histograms: how many elements of an array are in each bin.
namespace StreamCompaction {

/// A bin that no histogram has. Elements in it are not counted.
inline constexpr std::uint32_t noBin = ~std::uint32_t{0};

/// The bin of an integer: the integer itself. Negative ones are in no bin.
struct OwnBin {
    /// The bin of x.
    template <std::integral T>
    [[nodiscard]] __host__ __device__ constexpr std::uint32_t operator()(T x) const {
        if constexpr (sizeof(T) <= sizeof(std::uint32_t)) {
            return static_cast<std::uint32_t>(x);
        } else {
            return static_cast<std::uint64_t>(x) < noBin ? static_cast<std::uint32_t>(x) : noBin;
        }
    }
};

/// The counters that a block has in shared memory. If those of all bins are too many for a block, `parts` blocks read
/// the same tiles, and each counts the elements of its part of the bins.
struct CounterTable {
    unsigned counters;  ///< of a part; behind them is one for the elements of other parts or of no bin
    unsigned replicas;  ///< of each counter
    unsigned parts;

    [[nodiscard]] constexpr std::size_t bytes() const {
        return sizeof(std::uint32_t) * (counters + std::size_t{1}) * replicas;
    }
};

/// The table for a card whose blocks can have `sharedBytes` of shared memory each. As many replicas as fit if a
/// multiprocessor holds two blocks. If not even one fits, a multiprocessor holds one block. If that is too small for
/// all bins, there are several parts.
[[nodiscard]] constexpr CounterTable counterTableFor(std::size_t bins, std::size_t sharedBytes) {
    constexpr std::size_t reserved = 1024;  // of each block, by the system
    const std::size_t mostOfOne = sharedBytes / sizeof(std::uint32_t);
    const std::size_t mostOfTwo = (sharedBytes - reserved) / 2 / sizeof(std::uint32_t);
    const std::size_t replicas = std::clamp<std::size_t>(std::bit_floor(mostOfTwo / (bins + 1)), 1, Warp::lanes);
    const std::size_t parts = Common::divideRoundUp(bins, mostOfOne - 1);
    return {static_cast<unsigned>(Common::divideRoundUp(bins, parts)), static_cast<unsigned>(replicas),
            static_cast<unsigned>(parts)};
}

/// Whether elements of type T are counted by their values, of which there are few, and each value gets its bin at the
/// end. That is less work per element.
template <typename T>
inline constexpr bool isCountedByValue = sizeof(T) == 1;

/// Counts the elements of each bin. A block counts in shared memory, and at the end adds its counts to those of the
/// others in global memory, which are zero at first.
///
/// Work O(n + blocks bins), steps O(n / threads + bins / threads of a block). Reads each element once from DRAM, and
/// once per part from the second-level cache. Bytes need an atomic addition in shared memory for each byte that is
/// read. Their limit is the integer pipe, close to the bandwidth of DRAM. Larger elements are limited by that
/// bandwidth, or by bank conflicts if there are too many bins for replicas.
template <typename Shape, typename T, typename Count, typename BinOf, typename Number>
__global__ void __launch_bounds__(Shape::threads, blocksThatFit(Shape::threads, 2))
    kernCountBins(Number number, Count* counts, const T* in, std::uint32_t bins, CounterTable table, BinOf binOf) {
    const std::size_t n = numberOf(number);
    const unsigned part = blockIdx.x % table.parts;
    const unsigned team = blockIdx.x / table.parts;
    const std::uint32_t firstBin = part * table.counters;
    const ReplicatedCounters<Shape::threads> counters(&dynamicShared<std::uint32_t>(), table.replicas);
    counters.clear(table.counters);
    __syncthreads();

    const auto count = [&](const T& element) {
        if constexpr (isCountedByValue<T>) {
            std::uint8_t value;
            memcpy(&value, &element, sizeof(T));
            counters.increment(value);
        } else {
            const std::uint32_t bin = binOf(element);
            counters.increment(min(bin - firstBin, table.counters));
        }
    };
    forEachElement<Shape>(in, n, count, team, gridDim.x / table.parts);
    __syncthreads();

    for (unsigned i = threadIdx.x; i < table.counters; i += Shape::threads) {
        const std::uint32_t sum = counters.sum(i);
        if (sum == 0) {
            continue;
        }
        std::uint32_t bin = firstBin + i;
        if constexpr (isCountedByValue<T>) {
            const auto value = static_cast<std::uint8_t>(i);
            T element;
            memcpy(&element, &value, sizeof(T));
            bin = binOf(element);
        }
        if (bin < bins) {
            using Word = std::conditional_t<sizeof(Count) == sizeof(unsigned), unsigned, unsigned long long>;
            atomicAdd(reinterpret_cast<Word*>(&counts[bin]), Word{sum});
        }
    }
}

/// Counts the elements of each bin: counts[b] is the number of elements x of `in` with binOf(x) == b.
///
/// Elements are trivially copyable. `binOf` is a function object that device code can call and whose result depends on
/// the element alone; it returns an integer that fits into 32 bits. Elements whose bin is not below `bins` are not
/// counted. Without `binOf`, elements are integers and their own bins.
///
/// Counts are integers of 4 or 8 bytes. Narrow ones take half of the memory; wide ones can count any array. More
/// elements than a count can hold throw std::invalid_argument. So do numbers of bins other than 1 to 2^16, and arrays
/// that overlap. Neither allocates nor synchronises, and takes no scratch.
struct Histogram {
    static constexpr bool mayRunInPlace = false;                       ///< whether the output may be the input
    static constexpr std::uint32_t mostBins = std::uint32_t{1} << 16;  ///< that a histogram can have

    /// The bytes of scratch that a call with these arguments needs: none.
    template <typename T, std::integral Count, ElementCount N, typename BinOf = OwnBin>
    [[nodiscard]] std::size_t scratchBytes(const T* /*in*/, Count* /*counts*/, N n, std::uint32_t bins,
                                           BinOf /*binOf*/ = {}) const {
        static_assert(sizeof(Count) == 4 || sizeof(Count) == 8, "counts of 4 or 8 bytes");
        Arguments::requireAtMost("n", capacityOf(n), std::numeric_limits<Count>::max());
        Arguments::requireAtMost("n", capacityOf(n),
                                 std::min(Arguments::mostElements<T>, mostTiles * Shape<T>::elements));
        if (bins < 1 || bins > mostBins) {
            throw std::invalid_argument("bins: expected 1 to " + std::to_string(mostBins) + ", got " +
                                        std::to_string(bins));
        }
        return 0;
    }

    /// Counts integers, each in its own bin.
    template <std::integral T, std::integral Count, ElementCount N>
    void operator()(const T* in, Count* counts, N n, std::uint32_t bins, Scratch scratch, cudaStream_t stream) const {
        (*this)(in, counts, n, bins, OwnBin{}, scratch, stream);
    }
    /// Counts elements in the bins that `binOf` gives them.
    template <typename T, std::integral Count, ElementCount N, typename BinOf>
    void operator()(const T* in, Count* counts, N n, std::uint32_t bins, BinOf binOf, Scratch /*scratch*/,
                    cudaStream_t stream) const {
        (void)scratchBytes(in, counts, n, bins, binOf);
        const CountFor<N> number = countOf(n);
        const std::size_t most = capacityOf(number);
        requireApart(number, {Arguments::array("in", in, most)}, {Arguments::array("counts", counts, bins)});
        Common::checkCUDAError(cudaMemsetAsync(counts, 0, bins * sizeof(Count), stream), "cudaMemsetAsync");
        if (most == 0) {
            tellExceeded(number, stream);
        } else if constexpr (areElements<T>() && isFunctionOf<BinOf, T>()) {
            countBins(in, counts, number, bins, binOf, stream);
        }
    }

  private:
    template <typename T>
    using Shape = TileShape<1024, 4, vectorLength<T>>;

    static constexpr std::size_t mostTiles = Common::mostBlocks;

    template <typename T, typename Count, typename Number, typename BinOf>
    static void countBins(const T* in, Count* counts, Number n, std::uint32_t bins, BinOf binOf, cudaStream_t stream) {
        constexpr auto kernel = kernCountBins<Shape<T>, T, Count, BinOf, Number>;
        constexpr std::size_t values = 256;  // of a byte
        const CounterTable table =
            counterTableFor(isCountedByValue<T> ? values : bins, currentDevice().sharedBytesPerBlock);
        const std::size_t resident = onCurrentDevice<kernel>(Shape<T>::threads, table.bytes()).residentBlocks;
        if (resident == 0) {
            Common::throwTooLittleSharedMemory("histogram");
        }
        // There are as many teams as the card holds, but no more than tiles, and enough that no counter overflows.
        constexpr std::size_t mostPerTeam = std::size_t{1} << 31;
        const std::size_t tiles = Common::divideRoundUp(capacityOf(n), Shape<T>::elements);
        const std::size_t teams = std::max(std::min(std::max<std::size_t>(resident / table.parts, 1), tiles),
                                           Common::divideRoundUp(capacityOf(n), mostPerTeam));
        launch<kernel>({teams * table.parts, Shape<T>::threads, table.bytes()}, stream, n, counts, in, bins, table,
                       binOf);
    }
};

}  // namespace StreamCompaction
