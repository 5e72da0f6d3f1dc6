#include <stream_compaction/histogram.cuh>
#include <stream_compaction/row_sum.cuh>
#include <stream_compaction/runs.cuh>
#include <stream_compaction/segments.cuh>

#include "tune/counts.cuh"

/// Counts of operations that read their input once.
namespace Bench::Tune {
namespace {

struct IsEven {
    __device__ bool operator()(int x) const { return x % 2 == 0; }
};

template <int bits>
struct LowBits {
    __device__ std::uint32_t operator()(int x) const { return static_cast<std::uint32_t>(x) & ((1u << bits) - 1); }
};

/// Flags of one element in k.
struct OneIn {
    std::uint64_t k;
    __device__ std::uint8_t operator()(std::size_t i) const { return randomAt(42, i) % k == 0 ? 1 : 0; }
};

constexpr std::size_t runLength = 10;

struct RunOfKey {
    __device__ int operator()(std::size_t i) const { return RandomBits<int>{}(i / runLength); }
};

/// Bytes of an int, and of what is written once per run for each element.
constexpr double whole = sizeof(int);
constexpr double perRun = whole / runLength;

void tuneRowSums(CountTuner& tuner, std::string_view operation, const int* in, std::size_t cols) {
    int* const out = tuner.out<int>();
    tuner.run({operation, "int32", whole * static_cast<double>(cols + 1), largestCount / cols}, RowSum::Adaptive{},
              [=](auto rows, auto use) { return use(in, out, rows, cols, cols); });
}

}  // namespace

void tuneCountsOfPasses(CountTuner& tuner) {
    const auto elements = filled<int>(largestCount, RandomBits<int>{});
    const int* const in = elements.data();
    int* const out = tuner.out<int>();
    int* const otherOut = tuner.otherOut<int>();
    std::size_t* const totals = tuner.totals();

    tuner.run({"scan", "int32", 2 * whole}, SinglePass::Scan{}, [=](auto n, auto use) { return use(in, out, n); });
    tuner.run({"compact", "int32", 1.5 * whole}, SinglePass::Compact{},
              [=](auto n, auto use) { return use(in, out, totals, n, IsEven{}); });
    tuner.run({"partition", "int32", 2 * whole}, SinglePass::Partition{},
              [=](auto n, auto use) { return use(in, out, totals, n, IsEven{}); });
    tuner.run({"partition-apart", "int32", 2 * whole}, SinglePass::Partition{},
              [=](auto n, auto use) { return use(in, out, otherOut, totals, n, IsEven{}); });

    auto* const bins = tuner.out<std::uint32_t>();
    tuner.run({"histogram", "int32", whole}, Histogram{},
              [=](auto n, auto use) { return use(in, bins, n, 1u << 8, LowBits<8>{}); });
    tuner.run({"histogram-wide", "int32", whole}, Histogram{},
              [=](auto n, auto use) { return use(in, bins, n, 1u << 16, LowBits<16>{}); });

    tuneRowSums(tuner, "row-sum of 8", in, 8);
    tuneRowSums(tuner, "row-sum of 1024", in, 1024);

    const auto heads = filled<std::uint8_t>(largestCount, OneIn{100});
    tuner.run({"segmented-scan", "int32", 2 * whole}, SegmentedScan{},
              [=, flags = heads.data()](auto n, auto use) { return use(in, flags, out, n); });

    constexpr double ofFlagged = sizeof(std::uint8_t) + 2 * sizeof(uint4) / 20.0;
    const auto kept = filled<std::uint8_t>(largestCount * sizeof(int) / sizeof(uint4), OneIn{20});
    tuner.run({"compact-flagged", "flag,record", ofFlagged, kept.size()}, SinglePass::CompactFlagged{},
              [=, records = reinterpret_cast<const uint4*>(in), flags = kept.data(), recordsOut = tuner.out<uint4>()](
                  auto n, auto use) { return use(records, flags, recordsOut, totals, n); });

    const auto runs = filled<int>(largestCount, RunOfKey{});
    const int* const keys = runs.data();
    tuner.run({"unique", "int32", whole + perRun}, Runs::Unique{},
              [=](auto n, auto use) { return use(keys, out, totals, n); });
    tuner.run({"run-length", "int32->int32,int32", whole + 2 * perRun}, Runs::Encode{},
              [=](auto n, auto use) { return use(keys, out, otherOut, totals, n); });
    tuner.run({"reduce-by-key", "int32,int32", 2 * whole + 2 * perRun}, Runs::ReduceByKey{},
              [=](auto n, auto use) { return use(keys, in, out, otherOut, totals, n); });
}

}  // namespace Bench::Tune
