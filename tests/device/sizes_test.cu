// Sizes for which no memory or grid has room are refused before anything is enqueued, so no device is needed.
#include <gtest/gtest.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "stream_compaction/efficient.cuh"
#include "stream_compaction/histogram.cuh"
#include "stream_compaction/map_scan_scatter.cuh"
#include "stream_compaction/multi_partition.cuh"
#include "stream_compaction/naive.cuh"
#include "stream_compaction/radix_sort.cuh"
#include "stream_compaction/row_sum.cuh"
#include "stream_compaction/runs.cuh"
#include "stream_compaction/segments.cuh"
#include "stream_compaction/shared_mem.cuh"
#include "stream_compaction/single_pass.cuh"
#include "stream_compaction/split_sort.cuh"
#include "stream_compaction/thrust.cuh"
#include "stream_compaction/thrust_row_sum.cuh"
#include "stream_compaction/top_k.cuh"
#include "stream_compaction/utf8.cuh"
#include "stream_compaction/utf8/textbook.cuh"
#if !defined(STREAM_COMPACTION_SIMULATED)
#include "stream_compaction/cub.cuh"
#include "stream_compaction/cub_row_sum.cuh"
#include "stream_compaction/cub_runs.cuh"
#include "stream_compaction/cub_segments.cuh"
#endif

namespace StreamCompaction::Testing {
namespace {

template <typename Op>
concept SaysWhatMayBeInPlace = requires {
    { Op::mayRunInPlace } -> std::convertible_to<bool>;
};

static_assert(ScanOperation<Naive::Scan> && ScanOperation<Efficient::Scan> && ScanOperation<SharedMem::Scan> &&
              ScanOperation<SinglePass::Scan> && ScanOperation<Thrust::Scan>);
static_assert(CompactOperation<MapScanScatter<Naive::Scan>> && CompactOperation<SinglePass::Compact> &&
              CompactOperation<SinglePass::Partition> && CompactOperation<Runs::Unique> &&
              CompactOperation<Thrust::Compact>);
static_assert(SortOperation<SplitSort<Naive::Scan>> && SortOperation<Radix::Sort> && SortOperation<Thrust::Sort>);
static_assert(SaysWhatMayBeInPlace<Radix::ArgSort> && SaysWhatMayBeInPlace<Runs::Encode> &&
              SaysWhatMayBeInPlace<SinglePass::CompactFlagged> && SaysWhatMayBeInPlace<Runs::ReduceByKey> &&
              SaysWhatMayBeInPlace<SegmentedScan> && SaysWhatMayBeInPlace<SegmentedSort> &&
              SaysWhatMayBeInPlace<Histogram> && SaysWhatMayBeInPlace<Radix::MultiPartition> &&
              SaysWhatMayBeInPlace<Radix::TopK> && SaysWhatMayBeInPlace<Thrust::Partition> &&
              SaysWhatMayBeInPlace<Thrust::SortPairs> && SaysWhatMayBeInPlace<RowSum::Adaptive> &&
              SaysWhatMayBeInPlace<RowSum::OneAccumulator> && SaysWhatMayBeInPlace<Thrust::RowSum> &&
              SaysWhatMayBeInPlace<Utf8::Decode> && SaysWhatMayBeInPlace<Utf8::Encode> &&
              SaysWhatMayBeInPlace<Utf8::Validate> && SaysWhatMayBeInPlace<Utf8::TextbookDecode<SharedMem::Scan>>);
#if !defined(STREAM_COMPACTION_SIMULATED)
static_assert(ScanOperation<Cub::Scan> && CompactOperation<Cub::Compact> && CompactOperation<Cub::Partition> &&
              SortOperation<Cub::Sort> && SaysWhatMayBeInPlace<Cub::SortPairs> && SaysWhatMayBeInPlace<Cub::RowSum> &&
              CompactOperation<Cub::Unique> && SaysWhatMayBeInPlace<Cub::Encode> &&
              SaysWhatMayBeInPlace<Cub::ReduceByKey> && SaysWhatMayBeInPlace<Cub::SegmentedScan> &&
              SaysWhatMayBeInPlace<Cub::SegmentedSort>);
#endif

/// 16 bytes.
struct alignas(16) Pair {
    double first;
    double second;

    friend __host__ __device__ Pair operator+(Pair a, Pair b) { return {a.first + b.first, a.second + b.second}; }
    friend __host__ __device__ bool operator!=(Pair a, Pair b) { return a.first != b.first || a.second != b.second; }
};

/// Memory of a few elements. No test may access it.
template <typename T, int number = 0>
[[nodiscard]] T* memory() {
    alignas(scratchAlignment) static std::byte bytes[1024];
    return reinterpret_cast<T*>(bytes);
}

[[nodiscard]] Scratch scratch() { return {memory<std::byte, 1>(), 1024}; }

/// Expects that the size is refused, and not the scratch, which is too small as well.
template <typename Call>
void expectSizeRefused(const std::string& what, Call&& call) {
    try {
        call();
        ADD_FAILURE() << what << ": accepted";
    } catch (const std::invalid_argument& error) {
        EXPECT_NE(std::string(error.what()).find(": expected at most "), std::string::npos)
            << what << ": " << error.what();
    } catch (const CudaError& error) {
        ADD_FAILURE() << what << ": " << error.what();
    }
}

/// An operation on n elements.
struct Operation {
    std::string name;
    std::function<void(std::size_t n)> scratchBytes;
    std::function<void(std::size_t n)> call;
};

/// `arguments(n, with)` calls with(arguments), those that `op` and its scratchBytes have in common.
template <typename Op, typename Arguments>
[[nodiscard]] Operation operation(const std::string& name, const Op& op, Arguments arguments) {
    return {name, [=](std::size_t n) { arguments(n, [&](auto... args) { (void)op.scratchBytes(args...); }); },
            [=](std::size_t n) { arguments(n, [&](auto... args) { op(args..., scratch(), nullptr); }); }};
}

/// A scan, or a sort of keys.
template <typename T, typename In = T, typename Op>
[[nodiscard]] Operation scan(const std::string& name, const Op& op) {
    return operation(name, op, [](std::size_t n, auto with) { with(memory<In, 2>(), memory<T, 3>(), n); });
}

template <typename T, typename Op>
[[nodiscard]] Operation compact(const std::string& name, const Op& op) {
    return operation(
        name, op, [](std::size_t n, auto with) { with(memory<T, 2>(), memory<T, 3>(), memory<std::size_t, 4>(), n); });
}

template <typename T, typename Op>
[[nodiscard]] Operation partition(const std::string& name, const Op& op) {
    return operation(name, op, [](std::size_t n, auto with) {
        with(memory<T, 2>(), memory<T, 3>(), memory<T, 5>(), memory<std::size_t, 4>(), n);
    });
}

template <typename T>
[[nodiscard]] Operation segmentedScan(const std::string& name) {
    return operation(name, SegmentedScan{}, [](std::size_t n, auto with) {
        with(memory<T, 2>(), memory<std::uint8_t, 3>(), memory<T, 4>(), n);
    });
}

template <typename K>
[[nodiscard]] Operation segmentedSort(const std::string& name) {
    return operation(name, SegmentedSort{}, [](std::size_t n, auto with) {
        with(memory<K, 2>(), segmentsAt(memory<int, 3>(), 2), memory<K, 4>(), n);
    });
}

template <typename T, typename Flag, typename Op>
[[nodiscard]] Operation compactFlagged(const std::string& name, const Op& op) {
    return operation(name, op, [](std::size_t n, auto with) {
        const Flag* const flags = memory<Flag, 6>();
        with(memory<T, 2>(), flags, memory<T, 3>(), memory<std::size_t, 4>(), n);
    });
}

template <typename K, typename V, typename Op>
[[nodiscard]] Operation reduceByKey(const std::string& name, const Op& op) {
    return operation(name, op, [](std::size_t n, auto with) {
        with(memory<K, 2>(), memory<V, 3>(), memory<K, 5>(), memory<V, 6>(), memory<std::size_t, 4>(), n);
    });
}

template <typename K, typename Length, typename Op>
[[nodiscard]] Operation encode(const std::string& name, const Op& op) {
    return operation(name, op, [](std::size_t n, auto with) {
        with(memory<K, 2>(), memory<K, 3>(), memory<Length, 5>(), memory<std::size_t, 4>(), n);
    });
}

template <typename K, typename V, typename Op>
[[nodiscard]] Operation sortPairs(const std::string& name, const Op& op) {
    return operation(name, op, [](std::size_t n, auto with) {
        with(memory<K, 2>(), memory<K, 3>(), memory<V, 4>(), memory<V, 5>(), n);
    });
}

/// A sort that may write to its input.
[[nodiscard]] Operation consumingSort(const std::string& name) {
    return operation(name, Radix::Sort{}, [](std::size_t n, auto with) {
        with(Radix::Consumed{memory<std::uint64_t, 2>()}, memory<std::uint64_t, 3>(), n);
    });
}

template <typename Index>
[[nodiscard]] Operation argSort(const std::string& name) {
    return operation(name, Radix::ArgSort{}, [](std::size_t n, auto with) {
        with(memory<float, 2>(), memory<float, 3>(), memory<Index, 4>(), n);
    });
}

template <typename T, typename Count>
[[nodiscard]] Operation histogram(const std::string& name) {
    return operation(name, Histogram{},
                     [](std::size_t n, auto with) { with(memory<T, 2>(), memory<Count, 3>(), n, 10); });
}

template <typename K>
[[nodiscard]] Operation multiPartition(const std::string& name) {
    return operation(name, Radix::MultiPartition{}, [](std::size_t n, auto with) {
        with(memory<K, 2>(), memory<K, 3>(), memory<std::size_t, 4>(), n, 10, OwnBin{});
    });
}

template <typename K, typename V>
[[nodiscard]] Operation topK(const std::string& name) {
    return operation(name, Radix::TopK{}, [](std::size_t n, auto with) {
        const V* const values = memory<V, 5>();
        with(memory<K, 2>(), memory<K, 3>(), values, memory<V, 4>(), n, 5);
    });
}

template <typename From, typename To, typename Op>
[[nodiscard]] Operation conversion(const std::string& name, const Op& op) {
    return operation(name, op, [](std::size_t n, auto with) {
        with(memory<From, 2>(), memory<To, 3>(), memory<Utf8::Result, 4>(), n);
    });
}

[[nodiscard]] std::vector<Operation> operations() {
    return {
        scan<std::uint8_t>("naive scan of bytes", Naive::Scan{}), scan<Pair>("naive scan of pairs", Naive::Scan{}),
            scan<std::uint8_t>("textbook scan of bytes", Efficient::TextbookScan{}),
            scan<Pair>("textbook scan of pairs", Efficient::TextbookScan{}),
            scan<int>("optimised scan of ints", Efficient::OptimizedScan{}),
            scan<std::uint8_t>("shared-memory scan of bytes", SharedMem::Scan{}),
            scan<std::uint64_t, std::uint8_t>("shared-memory scan of bytes to words", SharedMem::Scan{}),
            scan<std::uint8_t>("single-pass scan of bytes", SinglePass::Scan{}),
            scan<Pair>("single-pass scan of pairs", SinglePass::Scan{}),
            scan<std::int64_t, std::int16_t>("single-pass scan of shorts to words", SinglePass::Scan{}),
            compact<std::uint8_t>("map-scan-scatter of bytes", MapScanScatter<SharedMem::Scan>{}),
            compact<Pair>("map-scan-scatter of pairs", MapScanScatter<Naive::Scan>{}),
            compact<std::uint8_t>("single-pass compaction of bytes", SinglePass::Compact{}),
            compact<Pair>("single-pass compaction of pairs", SinglePass::Compact{}),
            compact<int>("single-pass partition of ints", SinglePass::Partition{}),
            partition<int>("single-pass partition of ints into two arrays", SinglePass::Partition{}),
            compactFlagged<std::uint8_t, std::uint8_t>("compaction of bytes by flags", SinglePass::CompactFlagged{}),
            compactFlagged<Pair, std::int64_t>("compaction of pairs by words", SinglePass::CompactFlagged{}),
            compact<std::uint8_t>("unique bytes", Runs::Unique{}),
            encode<std::uint8_t, std::uint64_t>("run-length encoding of bytes", Runs::Encode{}),
            reduceByKey<std::uint8_t, std::uint8_t>("reduction of bytes by bytes", Runs::ReduceByKey{}),
            reduceByKey<int, double>("reduction of doubles by ints", Runs::ReduceByKey{}),
            segmentedScan<std::uint8_t>("segmented scan of bytes"), segmentedScan<Pair>("segmented scan of pairs"),
            segmentedSort<std::uint8_t>("segmented sort of bytes"), segmentedSort<double>("segmented sort of doubles"),
            scan<std::uint8_t>("split sort of bytes", SplitSort<SharedMem::Scan>{}),
            scan<double>("split sort of doubles", SplitSort<SharedMem::Scan>{}),
            scan<std::uint8_t>("radix sort of bytes", Radix::Sort{}), consumingSort("radix sort that consumes words"),
            argSort<std::uint32_t>("argsort with indices of 32 bits"),
            argSort<std::int64_t>("argsort with indices of 64 bits"),
            sortPairs<std::uint8_t, Pair>("radix sort of bytes and pairs", Radix::Sort{}),
            topK<std::uint8_t, Pair>("first k of bytes and pairs"), topK<double, std::uint8_t>("first k of doubles"),
            histogram<std::uint8_t, std::uint64_t>("histogram of bytes"),
            histogram<std::int64_t, std::uint32_t>("histogram of words in narrow counts"),
            multiPartition<std::uint8_t>("partition of bytes into parts"),
            multiPartition<std::uint64_t>("partition of words into parts"),
            conversion<std::uint8_t, char32_t>("decoding to UTF-32", Utf8::Decode{}),
            conversion<std::uint8_t, char16_t>("decoding to UTF-16", Utf8::Decode{}),
            conversion<std::uint8_t, char32_t>("textbook decoding", Utf8::TextbookDecode<SharedMem::Scan>{}),
            conversion<char32_t, std::uint8_t>("encoding of UTF-32", Utf8::Encode{}),
            conversion<char16_t, std::uint8_t>("encoding of UTF-16", Utf8::Encode{}),
            operation("validation", Utf8::Validate{},
                      [](std::size_t n, auto with) { with(memory<std::uint8_t, 2>(), memory<Utf8::Result, 4>(), n); }),
#if !defined(STREAM_COMPACTION_SIMULATED)
            scan<int>("CUB's scan of ints", Cub::Scan{}), compact<int>("CUB's compaction of ints", Cub::Compact{}),
            compactFlagged<int, std::uint8_t>("CUB's compaction of ints by flags", Cub::CompactFlagged{}),
            compact<int>("CUB's unique ints", Cub::Unique{}),
            encode<int, int>("CUB's run-length encoding of ints", Cub::Encode{}),
            reduceByKey<int, int>("CUB's reduction of ints by ints", Cub::ReduceByKey{}),
            compact<int>("CUB's partition of ints", Cub::Partition{}), scan<int>("CUB's sort of ints", Cub::Sort{}),
            sortPairs<int, std::uint64_t>("CUB's sort of ints and words", Cub::SortPairs{}),
#endif
            scan<int>("Thrust's scan of ints", Thrust::Scan{}),
            compact<int>("Thrust's compaction of ints", Thrust::Compact{}),
            partition<int>("Thrust's partition of ints", Thrust::Partition{}),
            scan<int>("Thrust's sort of ints", Thrust::Sort{}),
            sortPairs<int, std::uint64_t>("Thrust's sort of ints and words", Thrust::SortPairs{}),
    };
}

TEST(Sizes, MoreElementsThanMemoryHoldsAreRefused) {
    std::vector<std::size_t> sizes{static_cast<std::size_t>(-1), static_cast<std::size_t>(-1) - 254};
    for (int power = 57; power < 64; ++power) {
        sizes.insert(sizes.end(), {std::size_t{1} << power, (std::size_t{1} << power) + 1});
    }
    for (const Operation& operation : operations()) {
        for (const std::size_t n : sizes) {
            const std::string what = operation.name + ", n = " + std::to_string(n);
            expectSizeRefused("scratch of " + what, [&] { operation.scratchBytes(n); });
            expectSizeRefused(what, [&] { operation.call(n); });
        }
    }
}

TEST(Sizes, MoreElementsThanAGridHasThreadsForAreRefused) {
    const int blockSize = 32;
    const std::size_t most = std::size_t{32} * 0x7fffffff;
    const Naive::Scan naive{blockSize};
    const SharedMem::Scan sharedMem{blockSize};
    const MapScanScatter<Naive::Scan> mapScanScatter{naive};
    const SplitSort<Naive::Scan> splitSort{naive};
    EXPECT_NO_THROW((void)naive.scratchBytes(noArray<int>, noArray<int>, most));
    EXPECT_NO_THROW((void)mapScanScatter.scratchBytes(noArray<int>, noArray<int>, noArray<std::size_t>, most));
    for (const std::size_t n : {most + 1, (std::size_t{1} << 37) + 5}) {
        expectSizeRefused("naive", [&] { (void)naive.scratchBytes(noArray<int>, noArray<int>, n); });
        expectSizeRefused("shared", [&] { (void)sharedMem.scratchBytes(noArray<int>, noArray<int>, 8 * n); });
        expectSizeRefused(
            "efficient", [&] { (void)Efficient::TextbookScan{blockSize}.scratchBytes(noArray<int>, noArray<int>, n); });
        expectSizeRefused("map-scan-scatter", [&] {
            (void)mapScanScatter.scratchBytes(noArray<int>, noArray<int>, noArray<std::size_t>, n);
        });
        expectSizeRefused("split sort", [&] { (void)splitSort.scratchBytes(noArray<int>, noArray<int>, n); });
    }
    const std::size_t tooManyTiles = std::size_t{1} << 50;
    expectSizeRefused("scan", [&] {
        (void)SinglePass::Scan{}.scratchBytes(noArray<std::uint8_t>, noArray<std::uint8_t>, tooManyTiles);
    });
    expectSizeRefused("compaction", [&] {
        (void)SinglePass::Compact{}.scratchBytes(noArray<std::uint8_t>, noArray<std::uint8_t>, noArray<std::size_t>,
                                                 tooManyTiles);
    });
    expectSizeRefused("compaction by flags", [&] {
        (void)SinglePass::CompactFlagged{}.scratchBytes(noArray<std::uint8_t>, noArray<bool>, noArray<std::uint8_t>,
                                                        noArray<std::size_t>, tooManyTiles);
    });
    expectSizeRefused("reduction by key", [&] {
        (void)Runs::ReduceByKey{}.scratchBytes(noArray<std::uint8_t>, noArray<std::uint8_t>, noArray<std::uint8_t>,
                                               noArray<std::uint8_t>, noArray<std::size_t>, tooManyTiles);
    });
    expectSizeRefused("segmented scan", [&] {
        (void)SegmentedScan{}.scratchBytes(noArray<std::uint8_t>, noArray<bool>, noArray<std::uint8_t>, tooManyTiles);
    });
    expectSizeRefused("segmented sort", [&] {
        (void)SegmentedSort{}.scratchBytes(noArray<int>, segmentsAt(noArray<std::uint8_t>, tooManyTiles), noArray<int>,
                                           5);
    });
    expectSizeRefused("radix sort", [&] {
        (void)Radix::Sort{}.scratchBytes(noArray<std::uint8_t>, noArray<std::uint8_t>, std::size_t{1} << 40);
    });
    expectSizeRefused("run-length encoding", [&] {
        (void)Runs::Encode{}.scratchBytes(noArray<int>, noArray<int>, noArray<std::uint8_t>, noArray<std::size_t>, 256);
    });
    const std::size_t mostIndices = 0xffffffff;
    EXPECT_NO_THROW((void)Radix::ArgSort{}.scratchBytes(noArray<int>, noArray<int>, noArray<unsigned>, mostIndices));
    expectSizeRefused("argsort", [&] {
        (void)Radix::ArgSort{}.scratchBytes(noArray<int>, noArray<int>, noArray<unsigned>, mostIndices + 1);
    });
    expectSizeRefused("decoding", [&] {
        (void)Utf8::Decode{}.scratchBytes(noArray<std::uint8_t>, noArray<char32_t>, noArray<Utf8::Result>,
                                          tooManyTiles);
    });
    expectSizeRefused("encoding", [&] {
        (void)Utf8::Encode{}.scratchBytes(noArray<char16_t>, noArray<std::uint8_t>, noArray<Utf8::Result>,
                                          std::size_t{1} << 44);
    });
}

#if !defined(STREAM_COMPACTION_SIMULATED)
TEST(Sizes, CubTakesMoreThanAnIntCountsOfIntsAlone) {
    const std::size_t n = std::size_t{1} << 31;
    expectSizeRefused("scan", [&] { (void)Cub::Scan{}.scratchBytes(noArray<float>, noArray<float>, n); });
    expectSizeRefused("sort", [&] { (void)Cub::Sort{}.scratchBytes(noArray<float>, noArray<float>, n); });
    expectSizeRefused("histogram",
                      [&] { (void)Cub::Histogram{}.scratchBytes(noArray<int>, noArray<std::uint32_t>, n, 256, 0); });
    expectSizeRefused("row sum", [&] { (void)Cub::RowSum{}.scratchBytes(noArray<int>, noArray<int>, 2, 5, n); });
    static_assert(Cub::Scan::mostElements<int> > n && Cub::Sort::mostElements<int> > n &&
                  Cub::SortPairs::mostElements<int> > n);
}
#endif

TEST(Sizes, ScratchGrowsPastTwoToThe32Elements) {
    for (const std::size_t n : {(std::size_t{1} << 31) + 1, (std::size_t{1} << 32) + 1, std::size_t{1} << 35}) {
        EXPECT_GE(Naive::Scan{}.scratchBytes(noArray<int>, noArray<int>, n), 2 * n * sizeof(int));
        EXPECT_GE(Efficient::OptimizedScan{}.scratchBytes(noArray<int>, noArray<int>, n), n * sizeof(int));
        EXPECT_GE(SharedMem::Scan{}.scratchBytes(noArray<int>, noArray<int>, n),
                  n / (SharedMem::defaultBlockSize * 8) * sizeof(int));
        EXPECT_GE(SinglePass::Scan{}.scratchBytes(noArray<Pair>, noArray<Pair>, n), n / 2048 * sizeof(Pair));
        EXPECT_GE(MapScanScatter<Naive::Scan>{}.scratchBytes(noArray<int>, noArray<int>, noArray<std::size_t>, n),
                  n + 3 * n * sizeof(int));
        EXPECT_GE(SplitSort<Naive::Scan>{}.scratchBytes(noArray<double>, noArray<double>, n),
                  n + 3 * n * sizeof(int) + n * sizeof(double));
        EXPECT_GE(Radix::Sort{}.scratchBytes(noArray<double>, noArray<double>, n), n * sizeof(double));
        EXPECT_GE(
            Runs::Encode{}.scratchBytes(noArray<int>, noArray<int>, noArray<std::int64_t>, noArray<std::size_t>, n),
            n / 5120 * 2 * sizeof(std::uint64_t));
        EXPECT_GE(Utf8::Decode{}.scratchBytes(noArray<std::uint8_t>, noArray<char32_t>, noArray<Utf8::Result>, n),
                  n / (1 << 15) * sizeof(std::uint64_t));
    }
}

template <typename Op>
class RowSumSizesTest : public testing::Test {};

#if defined(STREAM_COMPACTION_SIMULATED)
using RowSumOperations = testing::Types<RowSum::Adaptive, RowSum::OneAccumulator, Thrust::RowSum>;
#else
using RowSumOperations = testing::Types<RowSum::Adaptive, RowSum::OneAccumulator, Cub::RowSum, Thrust::RowSum>;
#endif
TYPED_TEST_SUITE(RowSumSizesTest, RowSumOperations);

TYPED_TEST(RowSumSizesTest, LargerMatricesThanMemoryHoldsAreRefused) {
    constexpr auto most = static_cast<std::size_t>(-1);
    constexpr std::size_t half = std::size_t{1} << 32;
    const TypeParam sum;
    const auto call = [&](std::size_t rows, std::size_t cols, std::size_t pitch) {
        sum(memory<int, 2>(), memory<int, 3>(), rows, cols, pitch, scratch(), nullptr);
    };
    const auto bytes = [&](std::size_t rows, std::size_t cols, std::size_t pitch) {
        (void)sum.scratchBytes(memory<int, 2>(), memory<int, 3>(), rows, cols, pitch);
    };
    struct Size {
        std::size_t rows;
        std::size_t cols;
    };
    for (const Size size : {Size{3, most},
                            {most, 3},
                            {most, most},
                            {half, half},
                            {half + 1, half - 1},
                            {1, most},
                            {most, 1},
                            {1, std::size_t{1} << 62},
                            {std::size_t{1} << 62, 1},
                            {most / 2 + 2, 2}}) {
        const std::string what = std::to_string(size.rows) + " x " + std::to_string(size.cols);
        expectSizeRefused("scratch of " + what, [&] { bytes(size.rows, size.cols, size.cols); });
        expectSizeRefused(what, [&] { call(size.rows, size.cols, size.cols); });
    }
    for (const std::size_t pitch : {most, most / 2 + 2, std::size_t{1} << 62}) {
        expectSizeRefused("scratch of 3 x 5, pitch " + std::to_string(pitch), [&] { bytes(3, 5, pitch); });
        expectSizeRefused("3 x 5, pitch " + std::to_string(pitch), [&] { call(3, 5, pitch); });
    }
    expectSizeRefused("sums", [&] { call(std::size_t{1} << 62, 0, 0); });
    expectSizeRefused("scratch of sums", [&] { bytes(std::size_t{1} << 62, 0, 0); });
}

}  // namespace
}  // namespace StreamCompaction::Testing
