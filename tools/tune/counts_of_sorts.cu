#include <stream_compaction/multi_partition.cuh>
#include <stream_compaction/radix_sort.cuh>
#include <stream_compaction/segments.cuh>
#include <stream_compaction/top_k.cuh>

#include "tune/counts.cuh"

/// Counts of sorts, and of partitions and selections by digits.
namespace Bench::Tune {
namespace {

constexpr std::size_t segmentLength = 100;

/// The begins of segments of 1 to 199 elements.
struct SegmentBegin {
    __device__ std::uint32_t operator()(std::size_t i) const {
        return static_cast<std::uint32_t>(segmentLength * i + randomAt(42, i) % segmentLength);
    }
};

struct LowByte {
    __device__ std::uint32_t operator()(int x) const { return static_cast<std::uint32_t>(x) & 0xFF; }
};

}  // namespace

void tuneCountsOfSorts(CountTuner& tuner) {
    const auto keys = filled<int>(largestCount, RandomBits<int>{});
    const int* const in = keys.data();
    int* const out = tuner.out<int>();
    int* const otherOut = tuner.otherOut<int>();
    std::size_t* const totals = tuner.totals();
    constexpr double bytes = sizeof(int);

    tuner.run({"sort", "int32", 2 * bytes}, Radix::Sort{}, [=](auto n, auto use) { return use(in, out, n); });
    tuner.run({"sort-pairs", "int32,int32", 4 * bytes}, Radix::Sort{},
              [=](auto n, auto use) { return use(in, out, in, otherOut, n); });
    tuner.run({"argsort", "int32->int32,int32", 3 * bytes}, Radix::ArgSort{},
              [=](auto n, auto use) { return use(in, out, otherOut, n); });
    // The host knows how many segments the capacity has at most. Those that begin behind the last element are none.
    const auto mostSegments = [](std::size_t n) { return n / segmentLength + 1; };
    const auto begins = filled<std::uint32_t>(mostSegments(largestCount), SegmentBegin{});
    tuner.run({"segmented-sort", "int32", 2 * bytes}, SegmentedSort{}, [=, at = begins.data()](auto n, auto use) {
        return use(in, segmentsAt(at, mostSegments(capacityOf(n))), out, n);
    });
    tuner.run({"multi-partition", "int32", 2 * bytes}, Radix::MultiPartition{},
              [=](auto n, auto use) { return use(in, out, totals, n, 256u, LowByte{}); });
    tuner.run({"top-k", "int32", bytes}, Radix::TopK{},
              [=](auto n, auto use) { return use(in, out, n, std::size_t{100}); });
}

}  // namespace Bench::Tune
