#include <stream_compaction/cpu.h>
#include <stream_compaction/cpu/row_sum.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>

#include "variants/implementation.h"

namespace Bench {
namespace {

using StreamCompaction::CPU::timer;

/// Calls `work` with each array of a result.
template <typename T, typename Work>
void forEachArray(Array<T>& array, const Work& work) {
    work(array);
}
template <typename T, typename Work>
void forEachArray(Parts<T>& parts, const Work& work) {
    work(parts.kept);
    work(parts.rejected);
}
template <typename K, typename Work>
void forEachArray(Pairs<K>& pairs, const Work& work) {
    work(pairs.keys);
    work(pairs.values);
}

/// `call(input, output)` gets an output of the problem's resultSize(). It resizes the output to the length of the
/// result, and times itself by the library's timer.
template <typename SomeProblem, typename Call>
class CpuRun final : public PreparedRun {
  public:
    CpuRun(SomeProblem& problem, Call call) : problem_(problem), call_(std::move(call)) {}

    void poisonOutput() override {
        makeRoom();
        forEachArray(problem_.result(),
                     [](auto& array) { std::memset(array.data(), 0xCD, array.size() * sizeof(array[0])); });
    }
    void launch() override {
        makeRoom();
        call_(problem_.input(), problem_.result());
    }
    void fetchResult() override {}

  private:
    void makeRoom() {
        forEachArray(problem_.result(), [n = problem_.resultSize()](auto& array) { array.resize(n); });
    }

    SomeProblem& problem_;
    Call call_;
};

template <typename SomeProblem, typename Call>
[[nodiscard]] Implementation implement(Operation operation, ElementType type, std::string_view variant, Call call) {
    return {
        operation, type, variant, {.prepare = [call](Problem& problem, const Setting&) -> std::unique_ptr<PreparedRun> {
            return std::make_unique<CpuRun<SomeProblem, Call>>(dynamic_cast<SomeProblem&>(problem), call);
        }}};
}

/// The same call for each type.
template <template <typename> typename ProblemOf, typename Call, typename... Ts>
[[nodiscard]] Implementations implementEach(Types<Ts...>, Operation operation, std::string_view variant, Call call) {
    return {implement<ProblemOf<Ts>>(operation, elementTypeOf<Ts>(), variant, call)...};
}

/// Accumulates floats in doubles, because large float sums would stop growing. Accumulates integers in unsigned
/// integers, which wrap.
template <typename T>
void scan(std::span<const T> in, Array<SumOf<T>>& out) {
    if constexpr (std::is_floating_point_v<T>) {
        timer().timeCpu([&] { std::exclusive_scan(in.begin(), in.end(), out.begin(), 0.0); });
    } else {
        using Sum = std::make_unsigned_t<SumOf<T>>;
        timer().timeCpu([&] { std::exclusive_scan(in.begin(), in.end(), out.begin(), Sum{}); });
    }
}

void scanSquares(std::span<const float> in, Array<float>& out) {
    timer().timeCpu(
        [&] { std::transform_exclusive_scan(in.begin(), in.end(), out.begin(), 0.0, std::plus<>{}, Square{}); });
}

template <typename T>
void compact(std::span<const T> in, Array<T>& out) {
    auto end = out.begin();
    timer().timeCpu([&] { end = std::copy_if(in.begin(), in.end(), out.begin(), [](T x) { return x != T{}; }); });
    out.erase(end, out.end());
}

template <typename T>
void compactFlagged(std::span<const T> in, Array<Record>& out) {
    std::vector<Record> records(in.size());
    std::vector<Flag> flags(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
        records[i] = recordAt(i);
        flags[i] = in[i] != T{} ? 1 : 0;
    }
    std::size_t kept = 0;
    timer().timeCpu([&] {
        for (std::size_t i = 0; i < flags.size(); ++i) {
            if (flags[i] != 0) {
                out[kept++] = records[i];
            }
        }
    });
    out.resize(kept);
}

template <typename T>
void partition(std::span<const T> in, Parts<T>& out) {
    std::pair ends(out.kept.begin(), out.rejected.begin());
    timer().timeCpu([&] {
        ends = std::partition_copy(in.begin(), in.end(), ends.first, ends.second, [](T x) { return x != T{}; });
    });
    out.kept.erase(ends.first, out.kept.end());
    out.rejected.erase(ends.second, out.rejected.end());
}

template <typename T>
void multiPartition(std::span<const T> in, Array<T>& out) {
    timer().timeCpu([&] {
        std::array<std::size_t, LowByte::values + 1> begins{};
        for (const T x : in) {
            ++begins[LowByte{}(x) + 1];
        }
        std::partial_sum(begins.begin(), begins.end(), begins.begin());
        for (const T x : in) {
            out[begins[LowByte{}(x)]++] = x;
        }
    });
}

template <typename T>
void sort(std::span<const T> in, Array<T>& out) {
    std::ranges::copy(in, out.begin());
    timer().timeCpu([&] { std::ranges::sort(out); });
}

template <typename K>
void sortPairs(std::span<const K> in, Pairs<K>& out) {
    std::vector<std::pair<K, PairValue>> pairs;
    pairs.reserve(in.size());
    for (const K key : in) {
        pairs.emplace_back(key, static_cast<PairValue>(pairs.size()));
    }
    timer().timeCpu([&] { std::ranges::stable_sort(pairs, {}, &std::pair<K, PairValue>::first); });
    std::ranges::transform(pairs, out.keys.begin(), [](const auto& pair) { return pair.first; });
    std::ranges::transform(pairs, out.values.begin(), [](const auto& pair) { return pair.second; });
}

template <typename T>
void segmentedScan(std::span<const T> in, Array<SumOf<T>>& out) {
    using Sum = std::make_unsigned_t<SumOf<T>>;
    timer().timeCpu([&] {
        Sum sum{};
        for (std::size_t i = 0; i < in.size(); ++i) {
            sum = beginsSegment(in, i) ? Sum{} : sum;
            out[i] = static_cast<SumOf<T>>(sum);
            sum += static_cast<Sum>(in[i]);
        }
    });
}

template <typename T>
void segmentedSort(std::span<const T> in, Array<T>& out) {
    std::ranges::copy(in, out.begin());
    timer().timeCpu([&] {
        std::size_t begin = 0;
        for (std::size_t i = 1; i <= in.size(); ++i) {
            if (i == in.size() || beginsSegment(in, i)) {
                std::ranges::sort(std::span(out).subspan(begin, i - begin));
                begin = i;
            }
        }
    });
}

template <typename T>
void selectFirst(std::span<const T> in, Array<T>& out) {
    timer().timeCpu([&] { std::ranges::partial_sort_copy(in, out); });
}

template <typename T>
void unique(std::span<const T> in, Array<T>& out) {
    auto end = out.begin();
    timer().timeCpu([&] { end = std::unique_copy(in.begin(), in.end(), out.begin()); });
    out.erase(end, out.end());
}

/// Adds up `valueAt(index)` over each run of equal keys.
template <typename K, typename ValueAt>
void reduceByKey(std::span<const K> keys, Pairs<K>& out, ValueAt valueAt) {
    std::size_t runs = 0;
    timer().timeCpu([&] {
        std::uint32_t sum = 0;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            sum += valueAt(i);
            if (i + 1 == keys.size() || keys[i + 1] != keys[i]) {
                out.keys[runs] = keys[i];
                out.values[runs++] = static_cast<PairValue>(std::exchange(sum, 0));
            }
        }
    });
    out.keys.resize(runs);
    out.values.resize(runs);
}

template <typename T>
void count(std::span<const T> in, Array<BinCount>& out) {
    timer().timeCpu([&] {
        std::ranges::fill(out, BinCount{0});
        for (const T x : in) {
            if (const std::uint32_t bin = BinFrom{firstBin<T>}(x); bin < out.size()) {
                ++out[bin];
            }
        }
    });
}

/// The number of columns of the matrix. `out` has one element per row.
template <typename T>
[[nodiscard]] std::size_t colsOf(std::span<const T> in, const Array<SumOf<T>>& out) {
    return in.size() / out.size();
}

template <typename T>
void sumRows(std::span<const T> in, Array<SumOf<T>>& out) {
    using Sum = std::make_unsigned_t<SumOf<T>>;
    timer().timeCpu([&, cols = colsOf(in, out)] {
        for (std::size_t row = 0; row < out.size(); ++row) {
            const std::span<const T> elements = in.subspan(row * cols, cols);
            out[row] = static_cast<SumOf<T>>(std::accumulate(elements.begin(), elements.end(), Sum{},
                                                             [](Sum sum, T x) { return sum + static_cast<Sum>(x); }));
        }
    });
}

/// Wraps one of the library's row sums.
template <typename T>
[[nodiscard]] Implementation rowSum(std::string_view variant,
                                    void (*function)(int rows, int cols, T* out, const T* in)) {
    return implement<RowSumProblem<T>>(
        Operation::RowSum, elementTypeOf<T>(), variant, [function](std::span<const T> in, Array<T>& out) {
            function(static_cast<int>(out.size()), static_cast<int>(colsOf(in, out)), out.data(), in.data());
        });
}

template <typename... Ts>
[[nodiscard]] Implementations rowSums(Types<Ts...>) {
    return {rowSum<Ts>("cpu", StreamCompaction::CPU::sumRows)...,
            rowSum<Ts>("cpu-parallel", StreamCompaction::CPU::parallelSumRows)...};
}

}  // namespace

Implementation cpuImplementation(Operation operation, std::string_view variant,
                                 void (*function)(int n, int* odata, const int* idata)) {
    return implement<ProblemOn<int, Array<int>>>(operation, ElementType::Int32, variant,
                                                 [function](std::span<const int> in, Array<int>& out) {
                                                     function(static_cast<int>(in.size()), out.data(), in.data());
                                                 });
}

Implementation cpuImplementation(Operation operation, std::string_view variant,
                                 int (*function)(int n, int* odata, const int* idata)) {
    return implement<ProblemOn<int, Array<int>>>(
        operation, ElementType::Int32, variant, [function](std::span<const int> in, Array<int>& out) {
            out.resize(function(static_cast<int>(in.size()), out.data(), in.data()));
        });
}

#ifndef STREAM_COMPACTION_HAS_SIMDUTF
Implementations simdutfPeers() { return {}; }
#endif

// The library's own functions take ints. For other types the standard library takes their place.
Implementations cpuImplementations() {
    using namespace StreamCompaction;
    constexpr Types<std::int8_t, std::int64_t, float, double> otherTypes;
    return joined({
        {cpuImplementation(Operation::Scan, "cpu", CPU::scan)},
        implementEach<ScanProblem>(otherTypes, Operation::Scan, "cpu", [](auto in, auto& out) { scan(in, out); }),
        {cpuImplementation(Operation::Scan, "cpu-parallel", CPU::parallelScan)},

        {implement<ScanProblem<float>>(Operation::ScanSquares, ElementType::Float, "cpu", scanSquares)},

        {cpuImplementation(Operation::Compact, "cpu", CPU::compactWithoutScan)},
        implementEach<CompactProblem>(otherTypes, Operation::Compact, "cpu",
                                      [](auto in, auto& out) { compact(in, out); }),
        {cpuImplementation(Operation::Compact, "cpu-scan", CPU::compactWithScan)},
        {cpuImplementation(Operation::Compact, "cpu-parallel", CPU::parallelCompact)},

        implementEach<CompactFlaggedProblem>(IntsAlone{}, Operation::CompactFlagged, "cpu",
                                             [](auto in, auto& out) { compactFlagged(in, out); }),

        implementEach<PartitionProblem>(AllTypes{}, Operation::Partition, "cpu",
                                        [](auto in, auto& out) { partition(in, out); }),

        implementEach<MultiPartitionProblem>(IntsAlone{}, Operation::MultiPartition, "cpu",
                                             [](auto in, auto& out) { multiPartition(in, out); }),

        {cpuImplementation(Operation::Sort, "cpu", CPU::sort)},
        implementEach<SortProblem>(otherTypes, Operation::Sort, "cpu", [](auto in, auto& out) { sort(in, out); }),
        {cpuImplementation(Operation::Sort, "cpu-parallel", CPU::parallelSort)},

        implementEach<SortPairsProblem>(AllTypes{}, Operation::SortPairs, "cpu",
                                        [](auto in, auto& out) { sortPairs(in, out); }),

        implementEach<TopKProblem>(AllTypes{}, Operation::TopK, "cpu",
                                   [](auto in, auto& out) { selectFirst(in, out); }),

        rowSums(Types<std::int32_t, float, double>{}),
        implementEach<RowSumProblem>(Types<std::int8_t, std::int64_t>{}, Operation::RowSum, "cpu",
                                     [](auto in, auto& out) { sumRows(in, out); }),

        implementEach<SegmentedScanProblem>(Integers{}, Operation::SegmentedScan, "cpu",
                                            [](auto in, auto& out) { segmentedScan(in, out); }),
        implementEach<SegmentedSortProblem>(Integers{}, Operation::SegmentedSort, "cpu",
                                            [](auto in, auto& out) { segmentedSort(in, out); }),

        implementEach<UniqueProblem>(AllTypes{}, Operation::Unique, "cpu", [](auto in, auto& out) { unique(in, out); }),
        implementEach<RunsProblem>(
            AllTypes{}, Operation::RunLength, "cpu",
            [](auto in, auto& out) { reduceByKey(in, out, [](std::size_t) { return std::uint32_t{1}; }); }),
        implementEach<RunsProblem>(AllTypes{}, Operation::ReduceByKey, "cpu",
                                   [](auto in, auto& out) {
                                       reduceByKey(in, out,
                                                   [](std::size_t i) { return static_cast<std::uint32_t>(i); });
                                   }),

        implementEach<NarrowHistogramProblem>(BytesAndInts{}, Operation::Histogram, "cpu",
                                              [](auto in, auto& out) { count(in, out); }),
        implementEach<WideHistogramProblem>(BytesAndInts{}, Operation::HistogramWide, "cpu",
                                            [](auto in, auto& out) { count(in, out); }),
        cpuConversions(),
        simdutfPeers(),
    });
}

}  // namespace Bench
