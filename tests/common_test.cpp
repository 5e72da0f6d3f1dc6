#include "stream_compaction/common.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <thread>

#include "stream_compaction/runtime/arguments.h"
#include "stream_compaction/runtime/block_size.h"
#include "stream_compaction/runtime/scratch.h"
#include "stream_compaction/timer.h"

namespace StreamCompaction {
namespace {

using Common::ilog2;
using Common::ilog2ceil;

TEST(Logarithms, AtTheirEdges) {
    EXPECT_EQ(ilog2(0), 0);
    EXPECT_EQ(ilog2(1), 0);
    EXPECT_EQ(ilog2ceil(0), 0);
    EXPECT_EQ(ilog2ceil(1), 0);
    EXPECT_EQ(ilog2ceil(2), 1);
    EXPECT_EQ(ilog2ceil(std::numeric_limits<int>::max()), 31);
    EXPECT_EQ(ilog2(std::numeric_limits<std::uint64_t>::max()), 63);
    EXPECT_EQ(ilog2ceil(std::numeric_limits<std::uint64_t>::max()), 64);
}

TEST(Logarithms, AroundEveryPowerOfTwo) {
    for (int k = 2; k < 64; ++k) {
        const std::uint64_t power = std::uint64_t{1} << k;
        EXPECT_EQ(ilog2(power - 1), k - 1);
        EXPECT_EQ(ilog2(power), k);
        EXPECT_EQ(ilog2(power + 1), k);
        EXPECT_EQ(ilog2ceil(power - 1), k);
        EXPECT_EQ(ilog2ceil(power), k);
        EXPECT_EQ(ilog2ceil(power + 1), k + 1);
    }
}

TEST(DivideRoundUp, DoesNotOverflow) {
    constexpr auto most = std::numeric_limits<std::size_t>::max();
    EXPECT_EQ(Common::divideRoundUp(0, 7), 0U);
    EXPECT_EQ(Common::divideRoundUp(1, 7), 1U);
    EXPECT_EQ(Common::divideRoundUp(7, 7), 1U);
    EXPECT_EQ(Common::divideRoundUp(8, 7), 2U);
    EXPECT_EQ(Common::divideRoundUp(most, 256), std::size_t{1} << 56);
    EXPECT_EQ(Common::divideRoundUp(most, most), 1U);
}

TEST(WrappingAdd, IntegersWrapAround) {
    EXPECT_EQ(Common::wrappingAdd(std::numeric_limits<int>::max(), 1), std::numeric_limits<int>::min());
    EXPECT_EQ(Common::wrappingAdd<std::uint8_t>(200, 100), 44);
    EXPECT_EQ(Common::wrappingAdd<std::int64_t>(std::numeric_limits<std::int64_t>::min(), -1),
              std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(Common::wrappingAdd(0.5, 0.25), 0.75);
}

TEST(PerformanceTimer, MeasuresTheTimeBetweenStartAndEnd) {
    using namespace std::chrono_literals;
    Common::PerformanceTimer timer;
    timer.startCpuTimer();
    std::this_thread::sleep_for(5ms);
    timer.endCpuTimer();
    EXPECT_GE(timer.getCpuElapsedTimeForPreviousOperation(), 5.0f);
}

TEST(PerformanceTimer, AWrongOrderThrowsAndLeavesItUsable) {
    Common::PerformanceTimer timer;
    EXPECT_THROW(timer.endCpuTimer(), std::logic_error);
    EXPECT_THROW((void)timer.getCpuElapsedTimeForPreviousOperation(), std::logic_error);
    timer.startCpuTimer();
    EXPECT_THROW(timer.startCpuTimer(), std::logic_error);
    EXPECT_THROW((void)timer.getCpuElapsedTimeForPreviousOperation(), std::logic_error);
    timer.endCpuTimer();
    EXPECT_GE(timer.getCpuElapsedTimeForPreviousOperation(), 0.0f);
    EXPECT_THROW(timer.endGpuTimer(), std::logic_error);
    EXPECT_THROW((void)timer.getGpuElapsedTimeForPreviousOperation(), std::logic_error);
}

TEST(PerformanceTimer, AFailedOperationIsNotAMeasurement) {
    Common::PerformanceTimer timer;
    EXPECT_THROW(timer.timeCpu([] { throw std::runtime_error("failed"); }), std::runtime_error);
    EXPECT_THROW((void)timer.getCpuElapsedTimeForPreviousOperation(), std::logic_error);
    EXPECT_NO_THROW(timer.timeCpu([] {}));
    EXPECT_THROW(timer.timeCpu([] { throw std::runtime_error("failed"); }), std::runtime_error);
    EXPECT_THROW((void)timer.getCpuElapsedTimeForPreviousOperation(), std::logic_error) << "the time of the one before";
}

TEST(PerformanceTimer, GpuHalfWorksOrSaysWhyNot) {
    Common::PerformanceTimer timer;
    if (Common::cudaUnavailableReason()) {
        EXPECT_THROW(timer.startGpuTimer(), CudaError);
        EXPECT_NO_THROW(timer.timeCpu([] {}));
        return;
    }
    timer.startGpuTimer();
    EXPECT_THROW(timer.startGpuTimer(), std::logic_error);
    timer.endGpuTimer();
    EXPECT_GE(timer.getGpuElapsedTimeForPreviousOperation(), 0.0f);
    EXPECT_THROW(timer.timeGpu([] { throw std::runtime_error("failed"); }), std::runtime_error);
    EXPECT_NO_THROW(timer.timeGpu([] {}));
}

TEST(BlockSize, RefusalListsTheAllowedOnes) {
    EXPECT_NO_THROW(requireBlockSize(256));
    try {
        requireBlockSize(100);
        FAIL() << "accepted";
    } catch (const std::invalid_argument& error) {
        EXPECT_STREQ(error.what(), "block size: expected one of 32 64 128 256 512 1024, got 100");
    }
}

TEST(Arguments, OverlapIsRefused) {
    const std::byte memory[16]{};
    EXPECT_NO_THROW(Arguments::requireDisjoint(memory, 8, memory + 8, 8));
    EXPECT_NO_THROW(Arguments::requireDisjoint(memory + 8, 8, memory, 8));
    EXPECT_THROW(Arguments::requireDisjoint(memory, 9, memory + 8, 8), std::invalid_argument);
    EXPECT_THROW(Arguments::requireDisjoint(memory + 8, 8, memory, 9), std::invalid_argument);
    EXPECT_THROW(Arguments::requireDisjoint(memory, 8, memory, 8), std::invalid_argument);
    EXPECT_NO_THROW(Arguments::requireSameOrDisjoint(memory, 8, memory, 8));
    EXPECT_THROW(Arguments::requireSameOrDisjoint(memory, 8, memory, 16), std::invalid_argument);
    EXPECT_THROW(Arguments::requireSameOrDisjoint(memory, 8, memory + 4, 8), std::invalid_argument);
}

TEST(Arguments, OverlapIsRefusedWhereTheEndOfAnArrayOverflows) {
    const std::byte memory[16]{};
    constexpr auto most = std::numeric_limits<std::size_t>::max();
    EXPECT_THROW(Arguments::requireDisjoint(memory, most, memory + 8, 8), std::invalid_argument);
    EXPECT_THROW(Arguments::requireDisjoint(memory + 8, 8, memory, most), std::invalid_argument);
}

TEST(Arguments, AnEmptyArrayOverlapsNothing) {
    const std::byte memory[16]{};
    EXPECT_NO_THROW(Arguments::requireDisjoint(memory, 16, memory, 0));
    EXPECT_NO_THROW(Arguments::requireDisjoint(memory, 16, memory + 8, 0));
}

TEST(Arguments, RefusalOfASizeNamesItAndTheMost) {
    const int element = 0;
    EXPECT_NO_THROW(Arguments::requireArray("in", &element, std::size_t{1} << 54));
    EXPECT_NO_THROW((Arguments::requireSize<char, int>(std::size_t{1} << 54)));
    EXPECT_THROW((Arguments::requireSize<char, int>((std::size_t{1} << 54) + 1)), std::invalid_argument);
    try {
        Arguments::requireArray("in", &element, std::size_t{1} << 62);
        FAIL() << "accepted";
    } catch (const std::invalid_argument& error) {
        EXPECT_STREQ(error.what(), "in: expected at most 18014398509481984, got 4611686018427387904");
    }
}

TEST(Arguments, AHostMatrixOfMoreThanMemoryHoldsIsRefused) {
    constexpr int most = std::numeric_limits<int>::max();
    const float in = 0;
    float out = 0;
    EXPECT_THROW(Arguments::requireHostMatrix(most, most, &out, &in), std::invalid_argument);
}

TEST(ScratchArena, RefusesSizesThatOverflow) {
    constexpr auto most = std::numeric_limits<std::size_t>::max();
    EXPECT_EQ(scratchBytesFor<double>(std::size_t{1} << 40), (std::size_t{1} << 43) + scratchAlignment - 1);
    for (const std::size_t n : {most, most / 2 + 1, std::size_t{1} << 61, (std::size_t{1} << 61) + 1}) {
        EXPECT_THROW((void)scratchBytesFor<double>(n), std::invalid_argument) << n;
        EXPECT_THROW((void)scratchBytesFor<char>(n), std::invalid_argument) << n;
    }
}

TEST(ScratchArena, HandsOutAlignedDisjointArraysFromAnyAddress) {
    alignas(scratchAlignment) std::byte memory[5 * scratchAlignment];
    const std::size_t needed = scratchBytesFor<int>(65) + scratchBytesFor<int>(0) + scratchBytesFor<char>(1);
    for (std::size_t offset = 0; offset < scratchAlignment; ++offset) {
        const Scratch lent = Scratch(memory).subspan(offset, needed);
        ScratchArena arena(lent, needed);
        const std::span<std::byte> ints = std::as_writable_bytes(std::span(arena.take<int>(65), 65));
        (void)arena.take<int>(0);
        const std::span<std::byte> chars = std::as_writable_bytes(std::span(arena.take<char>(1), 1));
        EXPECT_EQ((ints.data() - memory) % scratchAlignment, 0U);
        EXPECT_EQ((chars.data() - memory) % scratchAlignment, 0U);
        EXPECT_GE(ints.data(), lent.data());
        EXPECT_GE(chars.data(), ints.data() + ints.size());
        EXPECT_EQ(chars.data() + chars.size(), arena.rest().data());
        EXPECT_EQ(arena.rest().data() + arena.rest().size(), lent.data() + lent.size());
    }
}

TEST(ScratchArena, SaysHowMuchIsNeeded) {
    alignas(scratchAlignment) std::byte memory[2 * scratchAlignment];
    try {
        const ScratchArena arena(memory, 1000);
        FAIL() << "accepted";
    } catch (const std::invalid_argument& error) {
        EXPECT_STREQ(error.what(), "scratch: expected at least 1000 bytes, got 512");
    }
}

}  // namespace
}  // namespace StreamCompaction
