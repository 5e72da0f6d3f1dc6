#include "seeds.cuh"
#include "stream_compaction/single_pass/compact.cuh"
#include "stream_compaction/single_pass/compact_flagged.cuh"

namespace StreamCompaction::Testing {
namespace {

using SinglePass::BlockShape;
using SinglePass::CompactLauncher;
using SinglePass::Rejects;

using TwoWarps = BlockShape<64, 1>;
using SixWarps = BlockShape<192, 1>;

/// Odd elements are kept. Even ones have distinct values too, so each has a definite position.
struct IsOdd {
    __host__ __device__ bool operator()(int x) const { return x % 2 != 0; }
};

class SeededCompactTest : public SeededTest {
  protected:
    /// Expects enqueue(launcher, in, out, rejected, count, scratch) to partition n random values.
    template <Rejects rejects, typename T, typename Enqueue>
    static void expectParted(TileOrder order, std::size_t n, std::uint64_t seed, const Enqueue& enqueue) {
        const auto in = hostArray(n, Summand<T>{seed});
        std::vector<T> kept;
        std::vector<T> others;
        for (const T x : in) {
            (IsOdd{}(x) ? kept : others).push_back(x);
        }
        const DeviceBuffer<T> deviceIn{std::span<const T>(in)};
        GuardedArray<T> out(n);
        GuardedArray<T> rejected(n);
        DeviceBuffer<std::size_t> count(1);
        const std::size_t bytes = scratchBytesFor<std::uint64_t>(LookBackChain<LookBack::Count>::wordsFor(n));
        auto scratch = usedScratch(bytes);
        enqueue(CompactLauncher<rejects>{order}, deviceIn.data(), out.data(), rejected.data(), count.data(),
                ScratchArena(scratch.bytes(), bytes));

        ASSERT_EQ(firstOf(count), kept.size()) << "n = " << n;
        if constexpr (rejects == Rejects::Behind) {
            kept.insert(kept.end(), others.begin(), others.end());
        }
        ASSERT_TRUE(sameBits(out.read(kept.size()), kept)) << "n = " << n;
        if constexpr (rejects == Rejects::Apart) {
            ASSERT_TRUE(sameBits(rejected.read(others.size()), others)) << "n = " << n;
        }
    }

    template <Rejects rejects, typename Shape = TwoWarps, typename T = int>
    static void expectPartedByLookBack(TileOrder order, std::size_t n, std::uint64_t seed) {
        expectParted<rejects, T>(
            order, n, seed,
            [&](const auto& launcher, const T* in, T* out, T* rejected, std::size_t* count, const ScratchArena& arena) {
                launcher.compactByLookBack(Shape{}, sourceOf(in), out, rejected, count, n, IsOdd{}, arena, nullptr);
            });
    }
    /// By blocks that meet, which scatter what they keep, or pack it first.
    template <Rejects rejects, bool packs>
    static void expectPartedTogether(std::size_t n, std::uint64_t seed) {
        expectParted<rejects, int>(TileOrder::BlockIndex, n, seed,
                                   [&](const auto& launcher, const int* in, int* out, int* rejected, std::size_t* count,
                                       const ScratchArena& arena) {
                                       if constexpr (packs) {
                                           ASSERT_TRUE(launcher.compactTogether(TwoWarps{}, sourceOf(in), out, rejected,
                                                                                count, n, IsOdd{}, arena, nullptr));
                                       } else {
                                           ASSERT_TRUE(launcher.compactResident(TwoWarps{}, sourceOf(in), out, rejected,
                                                                                count, n, IsOdd{}, arena, nullptr));
                                       }
                                   });
    }
};

TEST_F(SeededCompactTest, ByLookBack) {
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) {
        expectPartedByLookBack<Rejects::Dropped>(TileOrder::BlockIndex, 1600 + seed % 7, seed);
    });
}

TEST_F(SeededCompactTest, ByTickets) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        expectPartedByLookBack<Rejects::Apart, SixWarps>(TileOrder::Ticket, 3200 + seed % 7, seed);
    });
}

TEST_F(SeededCompactTest, RejectsBehind) {
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) {
        expectPartedByLookBack<Rejects::Behind>(TileOrder::BlockIndex, 1100 + seed % 7, seed);
    });
}

TEST_F(SeededCompactTest, Together) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        expectPartedTogether<Rejects::Dropped, false>(1600 + seed % 7, seed);
        expectPartedTogether<Rejects::Behind, false>(900 + seed % 7, seed);
    });
}

TEST_F(SeededCompactTest, PackedTogether) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        expectPartedTogether<Rejects::Dropped, true>(1600 + seed % 7, seed);
        expectPartedTogether<Rejects::Behind, true>(1400 + seed % 7, seed);
        expectPartedTogether<Rejects::Apart, true>(900 + seed % 7, seed);
    });
}

TEST_F(SeededCompactTest, BytesPackedInRegisters) {
    using ThreeRows = BlockShape<64, 3>;
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) {
        expectPartedByLookBack<Rejects::Dropped, ThreeRows, std::uint8_t>(TileOrder::BlockIndex, 6500 + seed % 7, seed);
    });
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        expectPartedByLookBack<Rejects::Dropped, SixWarps, std::uint8_t>(TileOrder::Ticket, 6500 + seed % 7, seed);
    });
}

/// Expects the odd numbers of n random ones to be kept, over tiles of `threads` threads, by look-back or by blocks that
/// meet.
template <int threads, bool meets = false>
void expectKeptByStencil(TileOrder order, std::size_t n, std::uint64_t seed) {
    using Shape = TileShape<threads, 2, 4>;
    const auto stencil = hostArray(n, Summand<int>{seed});
    const auto in = hostArray(n, Summand<std::int64_t>{~seed});
    std::vector<std::int64_t> expected;
    for (std::size_t i = 0; i < n; ++i) {
        if (IsOdd{}(stencil[i])) {
            expected.push_back(in[i]);
        }
    }
    const DeviceBuffer<int> deviceStencil{std::span<const int>(stencil)};
    const DeviceBuffer<std::int64_t> deviceIn{std::span<const std::int64_t>(in)};
    GuardedArray<std::int64_t> out(expected.size());
    DeviceBuffer<std::size_t> count(1);
    const std::size_t bytes = scratchBytesFor<std::uint64_t>(LookBackChain<LookBack::Count>::wordsFor(n));
    auto scratch = usedScratch(bytes);
    const SinglePass::CompactFlagged compact{order};
    const ScratchArena arena(scratch.bytes(), bytes);
    const auto source = sourceOf(deviceIn.data());
    const auto flags = sourceOf(deviceStencil.data());
    if constexpr (meets) {
        ASSERT_TRUE(
            compact.compactTogether<Shape>(source, flags, out.data(), count.data(), n, IsOdd{}, arena, nullptr));
    } else {
        compact.compactByLookBack<Shape>(source, flags, out.data(), count.data(), n, IsOdd{}, arena, nullptr);
    }
    ASSERT_EQ(firstOf(count), expected.size()) << "n = " << n;
    ASSERT_TRUE(sameBits(out.read(expected.size()), expected)) << "n = " << n;
}

TEST_F(SeededCompactTest, FlaggedByLookBack) {
    underEverySeed(BlockOrder::ByIndex,
                   [](std::uint64_t seed) { expectKeptByStencil<64>(TileOrder::BlockIndex, 3300 + seed % 7, seed); });
}

TEST_F(SeededCompactTest, FlaggedTogether) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        expectKeptByStencil<64, true>(TileOrder::BlockIndex, 2800 + seed % 7, seed);
    });
}

TEST_F(SeededCompactTest, FlaggedByTickets) {
    underEverySeed(BlockOrder::Any,
                   [](std::uint64_t seed) { expectKeptByStencil<192>(TileOrder::Ticket, 6500 + seed % 7, seed); });
}

}  // namespace
}  // namespace StreamCompaction::Testing
