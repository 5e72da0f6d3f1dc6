// Scratch for n elements suffices for fewer, too, so callers need not know at which sizes an operation changes its way.
// No device is needed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "stream_compaction/efficient.cuh"
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
#include "stream_compaction/top_k.cuh"
#include "stream_compaction/utf8.cuh"

namespace StreamCompaction::Testing {
namespace {

/// 16 bytes.
struct alignas(16) Pair {
    double first;
    double second;

    [[maybe_unused]] friend __host__ __device__ Pair operator+(Pair a, Pair b) {
        return {a.first + b.first, a.second + b.second};
    }
};

/// The sizes around powers of two, and many between them, in ascending order.
[[nodiscard]] std::vector<std::size_t> sizesAroundBorders() {
    std::vector<std::size_t> sizes;
    for (std::size_t power = std::size_t{1} << 5; power <= std::size_t{1} << 28; power *= 2) {
        sizes.insert(sizes.end(), {power - 1, power, power + 1});
        for (std::size_t n = power / 16 * 17; n < 2 * power - 1; n += power / 16) {
            sizes.push_back(n);
        }
    }
    return sizes;
}

/// Expects that `scratchBytes(n)` never decreases.
template <typename ScratchBytes>
void expectNeverDecreases(const std::string& what, const ScratchBytes& scratchBytes) {
    std::size_t ofFewer = 0;
    for (const std::size_t n : sizesAroundBorders()) {
        const std::size_t bytes = scratchBytes(n);
        EXPECT_GE(bytes, ofFewer) << what << ", n = " << n;
        ofFewer = bytes;
    }
}

/// The same for numbers and for counts in device memory.
template <typename ScratchBytes>
void expectEnoughForFewer(const std::string& what, const ScratchBytes& scratchBytes) {
    expectNeverDecreases(what, scratchBytes);
    expectNeverDecreases(what + ", count in device memory", [&](std::size_t n) {
        return scratchBytes(CountInDeviceMemory{nullptr, n});
    });
}

template <typename K, typename V>
void expectEnoughForPairs(const std::string& what) {
    expectEnoughForFewer("sort of " + what, [](auto n) {
        return Radix::Sort{}.scratchBytes(noArray<K>, noArray<K>, noArray<V>, noArray<V>, n);
    });
    expectEnoughForFewer("sort of consumed " + what, [](auto n) {
        return Radix::Sort{}.scratchBytes(Radix::Consumed{noArray<K>}, noArray<K>, Radix::Consumed{noArray<V>},
                                          noArray<V>, n);
    });
    expectEnoughForFewer("partition of " + what, [](auto n) {
        return Radix::MultiPartition{}.scratchBytes(noArray<K>, noArray<K>, noArray<V>, noArray<V>,
                                                    noArray<std::size_t>, n, 10, OwnBin{});
    });
    expectEnoughForFewer("segmented sort of " + what, [](auto n) {
        return SegmentedSort{}.scratchBytes(noArray<K>, segmentsAt(noArray<int>, 2), noArray<K>, noArray<V>, noArray<V>,
                                            n);
    });
    expectEnoughForFewer("first of " + what, [](auto n) {
        return Radix::TopK{}.scratchBytes(noArray<K>, noArray<K>, noArray<V>, noArray<V>, n, 10);
    });
    expectEnoughForFewer("reduction by key of " + what, [](auto n) {
        return Runs::ReduceByKey{}.scratchBytes(noArray<K>, noArray<V>, noArray<K>, noArray<V>, noArray<std::size_t>,
                                                n);
    });
}

template <typename K>
void expectEnoughForKeys(const std::string& what) {
    expectEnoughForFewer("sort of " + what,
                         [](auto n) { return Radix::Sort{}.scratchBytes(noArray<K>, noArray<K>, n); });
    expectEnoughForFewer("sort of consumed " + what,
                         [](auto n) { return Radix::Sort{}.scratchBytes(Radix::Consumed{noArray<K>}, noArray<K>, n); });
    expectEnoughForFewer("argsort with 4-byte indices of " + what, [](auto n) {
        return Radix::ArgSort{}.scratchBytes(noArray<K>, noArray<K>, noArray<std::uint32_t>, n);
    });
    expectEnoughForFewer("argsort with 8-byte indices of " + what, [](auto n) {
        return Radix::ArgSort{}.scratchBytes(noArray<K>, noArray<K>, noArray<std::int64_t>, n);
    });
    expectEnoughForFewer("partition of " + what, [](auto n) {
        return Radix::MultiPartition{}.scratchBytes(noArray<K>, noArray<K>, noArray<std::size_t>, n, 10, OwnBin{});
    });
    expectEnoughForFewer("segmented sort of " + what, [](auto n) {
        return SegmentedSort{}.scratchBytes(noArray<K>, segmentsAt(noArray<int>, 2), noArray<K>, n);
    });
    expectEnoughForFewer("first of " + what,
                         [](auto n) { return Radix::TopK{}.scratchBytes(noArray<K>, noArray<K>, n, 10); });
    expectEnoughForPairs<K, std::uint8_t>(what + ", values of 1 byte");
    expectEnoughForPairs<K, std::uint32_t>(what + ", values of 4 bytes");
    expectEnoughForPairs<K, double>(what + ", values of 8 bytes");
    expectEnoughForPairs<K, Pair>(what + ", values of 16 bytes");
}

TEST(Scratch, OfSortsIsEnoughForFewer) {
    expectEnoughForKeys<std::int8_t>("keys of 1 byte");
    expectEnoughForKeys<std::uint16_t>("keys of 2 bytes");
    expectEnoughForKeys<std::int32_t>("keys of 4 bytes");
    expectEnoughForKeys<float>("floats");
    expectEnoughForKeys<std::uint64_t>("keys of 8 bytes");
}

template <typename T>
void expectEnoughForElements(const std::string& what) {
    expectEnoughForFewer("scan of " + what,
                         [](auto n) { return SinglePass::Scan{}.scratchBytes(noArray<T>, noArray<T>, n); });
    expectEnoughForFewer("segmented scan of " + what, [](auto n) {
        return SegmentedScan{}.scratchBytes(noArray<T>, noArray<std::uint8_t>, noArray<T>, n);
    });
    expectEnoughForFewer("compaction of " + what, [](auto n) {
        return SinglePass::Compact{}.scratchBytes(noArray<T>, noArray<T>, noArray<std::size_t>, n);
    });
    expectEnoughForFewer("partition in two of " + what, [](auto n) {
        return SinglePass::Partition{}.scratchBytes(noArray<T>, noArray<T>, noArray<std::size_t>, n);
    });
    expectEnoughForFewer("compaction by flags of " + what, [](auto n) {
        return SinglePass::CompactFlagged{}.scratchBytes(noArray<T>, noArray<std::uint8_t>, noArray<T>,
                                                         noArray<std::size_t>, n);
    });
    for (const std::size_t cols : {1, 1000, 1000000}) {
        expectEnoughForFewer("sums of rows of " + what, [cols](auto rows) {
            return RowSum::Adaptive{}.scratchBytes(noArray<T>, noArray<T>, rows, cols, cols);
        });
    }
}

template <typename Scan>
void expectEnoughForRung(const std::string& what) {
    expectNeverDecreases(what + ", scan",
                         [](std::size_t n) { return Scan{}.scratchBytes(noArray<int>, noArray<int>, n); });
    expectNeverDecreases(what + ", compaction", [](std::size_t n) {
        return MapScanScatter<Scan>{}.scratchBytes(noArray<int>, noArray<int>, noArray<std::size_t>, n);
    });
    expectNeverDecreases(what + ", sort",
                         [](std::size_t n) { return SplitSort<Scan>{}.scratchBytes(noArray<int>, noArray<int>, n); });
}

TEST(Scratch, OfOtherOperationsIsEnoughForFewer) {
    expectEnoughForRung<Naive::Scan>("naive");
    expectEnoughForRung<Efficient::TextbookScan>("textbook");
    expectEnoughForRung<Efficient::OptimizedScan>("optimised");
    expectEnoughForRung<SharedMem::Scan>("shared memory");
    expectEnoughForElements<std::uint8_t>("1 byte");
    expectEnoughForElements<std::uint16_t>("2 bytes");
    expectEnoughForElements<float>("4 bytes");
    expectEnoughForElements<double>("8 bytes");
    expectEnoughForElements<Pair>("16 bytes");
    expectEnoughForFewer("decoding", [](auto n) {
        return Utf8::Decode{}.scratchBytes(noArray<std::uint8_t>, noArray<char32_t>, noArray<Utf8::Result>, n);
    });
    expectEnoughForFewer("encoding", [](auto n) {
        return Utf8::Encode{}.scratchBytes(noArray<char32_t>, noArray<std::uint8_t>, noArray<Utf8::Result>, n);
    });
    expectEnoughForFewer("validation", [](auto n) {
        return Utf8::Validate{}.scratchBytes(noArray<std::uint8_t>, noArray<Utf8::Result>, n);
    });
}

}  // namespace
}  // namespace StreamCompaction::Testing
