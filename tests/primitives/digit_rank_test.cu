#include <bit>
#include <numeric>

#include "../device/device_fixture.cuh"
#include "stream_compaction/primitives/digit_rank.cuh"
#include "stream_compaction/primitives/key_coding.cuh"
#include "stream_compaction/runtime/chevrons.h"

namespace StreamCompaction::Testing {
namespace {

/// A thread has the digits at (warp, row, lane) of the tile. Ranks of 32 bits take the place of the counts.
template <typename Ranks>
struct RankMemory {
    typename Ranks::Storage ranks;
    typename Ranks::Counts counts;
};
template <int threads>
struct RankMemory<DigitRank<threads>> {
    union {
        typename DigitRank<threads>::Storage ranks;
        typename DigitRank<threads>::Counts counts;
    };
};

template <typename Ranks, int threads, int rows>
__global__ void kernRankDigits(const std::uint32_t* digits, std::uint32_t* ranks, std::uint32_t* totals,
                               std::uint32_t* firstRanks) {
    __shared__ RankMemory<Ranks> memory;
    const auto at = [](int row) { return (Warp::index() * rows + row) * Warp::lanes + Warp::lane(); };
    Ranks rank(memory.ranks, memory.counts);
    for (int row = 0; row < rows; ++row) {
        rank.count(digits[at(row)]);
    }
    const std::uint32_t total = rank.total();
    const std::uint32_t first = rank.begin(total);
    if (threadIdx.x < digitValues) {
        totals[threadIdx.x] = total;
        firstRanks[threadIdx.x] = first;
    }
    for (int row = 0; row < rows; ++row) {
        ranks[at(row)] = rank.next(digits[at(row)]);
    }
}

class DigitRankTest : public DeviceTest {
  protected:
    template <typename Ranks, int threads, int rows>
    static void expectRightRanks(const std::vector<std::uint32_t>& digits) {
        ASSERT_EQ(digits.size(), std::size_t{threads * rows});
        std::vector<std::uint32_t> totals(digitValues);
        for (const std::uint32_t digit : digits) {
            ++totals[digit];
        }
        std::vector<std::uint32_t> firstRanks(digitValues);
        std::exclusive_scan(totals.begin(), totals.end(), firstRanks.begin(), 0u);
        std::vector<std::uint32_t> next = firstRanks;
        std::vector<std::uint32_t> ranks;
        for (const std::uint32_t digit : digits) {
            ranks.push_back(next[digit]++);
        }

        const DeviceBuffer<std::uint32_t> deviceDigits{std::span<const std::uint32_t>(digits)};
        GuardedArray<std::uint32_t> deviceRanks(digits.size());
        GuardedArray<std::uint32_t> deviceTotals(digitValues);
        GuardedArray<std::uint32_t> deviceFirstRanks(digitValues);
        kernRankDigits<Ranks, threads, rows>
            <<<1, threads>>>(deviceDigits.data(), deviceRanks.data(), deviceTotals.data(), deviceFirstRanks.data());
        Common::checkLaunch("kernRankDigits");
        EXPECT_TRUE(sameBits(deviceRanks.read(digits.size()), ranks));
        EXPECT_TRUE(sameBits(deviceTotals.read(digitValues), totals));
        EXPECT_TRUE(sameBits(deviceFirstRanks.read(digitValues), firstRanks));
    }

    template <int threads, int rows, typename Rank = std::uint32_t>
    static void expectRightRanksOfAllKinds() {
        using Ranks = DigitRank<threads, Rank>;
        constexpr std::size_t n = threads * rows;
        const auto digitsOf = [&](auto digit) { return hostArray(n, digit); };
        using Size = std::size_t;
        expectRightRanks<Ranks, threads, rows>(
            digitsOf([](Size i) -> std::uint32_t { return randomBits(1, i) % 256; }));
        expectRightRanks<Ranks, threads, rows>(digitsOf([](Size i) -> std::uint32_t { return randomBits(2, i) % 3; }));
        expectRightRanks<Ranks, threads, rows>(digitsOf([](Size i) -> std::uint32_t { return i % 256; }));
        expectRightRanks<Ranks, threads, rows>(digitsOf([](Size i) -> std::uint32_t { return 255 - i % 256; }));
        expectRightRanks<Ranks, threads, rows>(digitsOf([](Size) -> std::uint32_t { return 0; }));
        expectRightRanks<Ranks, threads, rows>(digitsOf([](Size) -> std::uint32_t { return 255; }));
        expectRightRanks<Ranks, threads, rows>(digitsOf([](Size i) -> std::uint32_t { return i == n / 2 ? 17 : 128; }));
    }
};

TEST_F(DigitRankTest, RanksAreStable) {
    expectRightRanksOfAllKinds<256, 1>();
    expectRightRanksOfAllKinds<256, 4>();
    expectRightRanksOfAllKinds<448, 24>();
    expectRightRanksOfAllKinds<1024, 8>();
    expectRightRanksOfAllKinds<256, 2, std::uint16_t>();
    expectRightRanksOfAllKinds<384, 9, std::uint16_t>();
    expectRightRanksOfAllKinds<512, 127, std::uint16_t>();
}

TEST(DigitRangeTest, CoversTheBits) {
    constexpr DigitRange all{0, 32};
    static_assert(all.count() == 4);
    static_assert(all.digit(3).shift == 24 && all.digit(3).mask == 255);
    constexpr DigitRange part{3, 12};
    static_assert(part.count() == 2);
    static_assert(part.digit(0).shift == 3 && part.digit(0).mask == 255);
    static_assert(part.digit(1).shift == 11 && part.digit(1).mask == 1);
}

/// The order of codes is that of the keys, and decoding gives the keys.
template <typename Key>
void expectOrderKept(std::vector<Key> ascending) {
    using Bits = BitsOf<Key>;
    for (const bool descending : {false, true}) {
        const auto coding = KeyCoding<Bits>::template of<Key>(descending);
        std::vector<Bits> codes;
        for (const Key key : ascending) {
            const auto bits = std::bit_cast<Bits>(key);
            codes.push_back(coding.encode(bits));
            EXPECT_EQ(coding.decode(codes.back()), bits);
        }
        const auto isBefore = [=](Bits a, Bits b) { return descending ? b < a : a < b; };
        EXPECT_TRUE(std::ranges::is_sorted(codes, isBefore));
        EXPECT_EQ(std::ranges::adjacent_find(codes), codes.end());
    }
}

TEST(KeyCodingTest, KeepsTheOrderOfKeys) {
    expectOrderKept<std::uint8_t>({0, 1, 127, 128, 255});
    expectOrderKept<std::int8_t>({-128, -127, -1, 0, 1, 127});
    expectOrderKept<std::int32_t>({std::numeric_limits<int>::min(), -1, 0, 1, std::numeric_limits<int>::max()});
    expectOrderKept<std::int64_t>({std::numeric_limits<std::int64_t>::min(), -1, 0, 1});
    const float inf = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    expectOrderKept<float>({-inf, -1.0f, -1e-45f, -0.0f, 0.0f, 1e-45f, 1.0f, inf, nan, -nan});
    const double wide = std::numeric_limits<double>::infinity();
    expectOrderKept<double>({-wide, -1.0, -0.0, 0.0, 5e-324, wide, -std::numeric_limits<double>::quiet_NaN()});
}

}  // namespace
}  // namespace StreamCompaction::Testing
