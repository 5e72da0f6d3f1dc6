#include "../primitives/noncommutative.cuh"
#include "seeds.cuh"
#include "stream_compaction/single_pass/scan.cuh"

namespace StreamCompaction::Testing {
namespace {

using SinglePass::BlockShape;
using SinglePass::Scan;
using SinglePass::ScanKind;

template <typename T, typename Op>
[[nodiscard]] std::vector<T> expectedSums(const std::vector<T>& in, ScanKind kind, const Op& op) {
    std::vector<T> sums;
    T sum = op.template identity<T>();
    for (const T& x : in) {
        const T upTo = op(sum, x);
        sums.push_back(kind == ScanKind::Inclusive ? upTo : sum);
        sum = upTo;
    }
    return sums;
}

class SeededScanTest : public SeededTest {
  protected:
    /// Expects enqueue(in, out, scratch) to scan n random values. They begin `misalignment` elements behind an aligned
    /// address.
    template <typename T, typename Op, typename Enqueue>
    static void expectSums(std::size_t n, std::uint64_t seed, ScanKind kind, const Op& op, std::size_t scratchBytes,
                           const Enqueue& enqueue, std::size_t misalignment = 0) {
        const auto all = hostArray(misalignment + n, RandomValue<T>{seed});
        const DeviceBuffer<T> deviceIn{std::span<const T>(all)};
        const std::vector<T> in(all.begin() + static_cast<std::ptrdiff_t>(misalignment), all.end());
        GuardedArray<T> out(n);
        auto scratch = usedScratch(scratchBytes);
        enqueue(deviceIn.data() + misalignment, out.data(), ScratchArena(scratch.bytes(), scratchBytes));
        ASSERT_TRUE(sameBits(out.read(n), expectedSums(in, kind, op))) << "n = " << n;
    }

    template <typename Shape, typename T, typename Op>
    static void expectScannedByLookBack(const Scan& scan, std::size_t n, std::uint64_t seed, const Op& op,
                                        std::size_t misalignment = 0) {
        const std::size_t tiles = n / Shape::threads + 1;  // no fewer than the scan has
        expectSums<T>(
            n, seed, scan.kind, op, scratchBytesFor<std::uint64_t>(ReproducibleChain<T>::wordsFor(tiles)),
            [&](const T* in, T* out, const ScratchArena& arena) {
                scan.scanByLookBack(Shape{}, sourceOf(in), out, n, op, op.template identity<T>(), arena, nullptr);
            },
            misalignment);
    }

    template <typename Shape, typename T, typename Op>
    static void expectScannedTogether(const Scan& scan, std::size_t n, std::uint64_t seed, const Op& op) {
        expectSums<T>(
            n, seed, scan.kind, op, scratchBytesFor<T>(n), [&](const T* in, T* out, const ScratchArena& arena) {
                ASSERT_TRUE(
                    scan.scanResident(Shape{}, sourceOf(in), out, n, op, op.template identity<T>(), arena, nullptr));
            });
    }
};

using TwoWarps = BlockShape<64, 1>;
using SixWarps = BlockShape<192, 1>;

TEST_F(SeededScanTest, ByLookBack) {
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) {
        expectScannedByLookBack<TwoWarps, int>(Scan{}, 1501 + seed % 7, seed, Sum{});
    });
}

// The threads load such an array, not the copy engine.
TEST_F(SeededScanTest, ByLookBackOverAnUnalignedArray) {
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) {
        expectScannedByLookBack<TwoWarps, int>(Scan{}, 1501 + seed % 7, seed, Sum{}, 1);
    });
}

TEST_F(SeededScanTest, ByLookBackOfSixWarps) {
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) {
        expectScannedByLookBack<SixWarps, int>(Scan{.kind = ScanKind::Inclusive}, 3000 + seed % 7, seed, Sum{});
    });
}

TEST_F(SeededScanTest, ByLookBackOfTwoWords) {
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) {
        expectScannedByLookBack<TwoWarps, AffineMap>(Scan{}, 1000 + seed % 7, seed, Compose{});
    });
}

TEST_F(SeededScanTest, ByTickets) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        expectScannedByLookBack<TwoWarps, Matrix>(Scan{.order = TileOrder::Ticket}, 600 + seed % 7, seed, Multiply{});
    });
}

/// Because of its running time, only one of eight seeds has more tiles than a group.
TEST_F(SeededScanTest, Reproducible) {
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) {
        constexpr std::size_t group = std::size_t{32} * LookBack::groupSize;
        expectScannedByLookBack<BlockShape<32, 1>, Matrix>(
            Scan{.reproducible = true}, (seed % 8 == 0 ? group : 0) + 200 + seed % 7, seed, Multiply{});
    });
}

// More blocks than a warp has lanes, where the card holds as many.
TEST_F(SeededScanTest, Together) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        const std::size_t n = (currentDevice().multiprocessors > 2 ? 2600 : 1000) + seed % 7;
        expectScannedTogether<TwoWarps, Matrix>(Scan{}, n, seed, Multiply{});
    });
}

/// The next call may reuse the scratch and the results of the previous one.
TEST_F(SeededScanTest, OneBehindTheOther) {
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) {
        const std::size_t n = 700 + seed % 7;
        const Scan scan;
        const std::size_t bytes = scratchBytesFor<std::uint64_t>(ReproducibleChain<int>::wordsFor(n));
        const auto in = hostArray(n, RandomValue<int>{seed});
        auto scratch = usedScratch(bytes);
        DeviceBuffer<int> array{std::span<const int>(in)};
        std::vector<int> expected = in;
        for (int i = 0; i < 3; ++i) {
            scan.scanByLookBack(TwoWarps{}, sourceOf(std::as_const(array).data()), array.data(), n, Sum{}, 0,
                                ScratchArena(scratch.bytes(), bytes), nullptr);
            expected = expectedSums(expected, scan.kind, Sum{});
        }
        std::vector<int> sums(n);
        array.copyTo(sums);
        ASSERT_TRUE(sameBits(sums, expected));
    });
}

}  // namespace
}  // namespace StreamCompaction::Testing
