#include "../device/distributed_fixture.cuh"
#include "../primitives/noncommutative.cuh"
#include "utf8_text.cuh"

namespace StreamCompaction::Testing {
namespace {

/// Wide, so that a tile is small.
struct Payload {
    std::uint64_t index;
    std::uint64_t copy;
};

constexpr int ranks = 3;

class SeededDistributedTest : public SeededTest {
  protected:
    void TearDown() override {
        Simulator::configure("devices=1,links=peer");
        SeededTest::TearDown();
    }
};

/// Tiles of several cards look back while their keys go to other cards; cards take turns in any order.
void expectSorted(TileOrder order, std::uint64_t seed) {
    Simulator::configure(seed % 2 == 0 ? "devices=3,links=peer" : "devices=3,links=none");
    const Team team(ranks);
    const std::vector<std::size_t> counts{3000, 0, 2500};
    const std::size_t n = counts[0] + counts[2];
    // By turns: all keys lie on the border, one of six buckets does, or few elements are fetched.
    const bool hasSixBuckets = seed / 2 % 4 == 1;
    const auto keys = hostArray(n, [&](std::size_t i) {
        const std::uint64_t bits = randomBits(seed, i);
        return static_cast<int>(hasSixBuckets ? (bits % 6 + 1) << 16 | (bits >> 32 & 1) * 0xFFFF : bits % 100);
    });
    Distributed::Sort sort{.endBit = 24, .order = order};  // with fewer passes, which takes the simulator less time
    if (seed / 2 % 4 < 2) {
        sort.leastPerBucket = 0;
    }
    const auto values = hostArray(n, [](std::size_t i) { return Payload{i, i}; });
    const Spread<int> keysIn(team, counts, keys);
    const Spread<int> keysOut(team, counts);
    const Spread<Payload> valuesIn(team, counts, values);
    const Spread<Payload> valuesOut(team, counts);
    const auto scratch =
        SharedBuffer::allocate(team.ranks(), sort.scratchBytes(keysIn.data(0), keysOut.data(0), valuesIn.data(0),
                                                               valuesOut.data(0), counts[0], counts[0], team.rank(0)));
    std::vector<Distributed::SortPart<int, Payload>> parts;
    for (int i = 0; i < ranks; ++i) {
        parts.push_back({keysIn.data(i), keysOut.data(i), valuesIn.data(i), valuesOut.data(i), counts[i], counts[i],
                         scratch[i].scratch(), &team.rank(i), team.stream(i)});
    }
    sort(parts);
    team.synchronize();

    std::vector<Payload> expected = values;
    std::ranges::stable_sort(expected, {}, [&](const Payload& x) { return keys[x.index]; });
    ASSERT_TRUE(sameBits(valuesOut.read(), expected));
    ASSERT_TRUE(sameBits(keysOut.read(), hostArray(n, [&](std::size_t i) { return keys[expected[i].index]; })));
}
TEST_F(SeededDistributedTest, Sort) {
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) { expectSorted(TileOrder::BlockIndex, seed); });
}
TEST_F(SeededDistributedTest, SortByTickets) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) { expectSorted(TileOrder::Ticket, seed); });
}

void expectScanned(TileOrder order, std::uint64_t seed) {
    Simulator::configure("devices=3");
    const Team team(ranks);
    const std::vector<std::size_t> counts{900, 9000, 1};
    const auto in = hostArray(9901, RandomValue<AffineMap>{seed});
    const Spread<AffineMap> array(team, counts, in);
    const Distributed::Scan scan{.order = order};
    ScratchOfRanks scratch(
        team, [&](int i) { return scan.scratchBytes(array.data(i), array.data(i), counts[i], Compose{}); });
    std::vector<Distributed::ScanPart<const AffineMap*, AffineMap>> parts;
    for (int i = 0; i < ranks; ++i) {
        parts.push_back({array.data(i), array.data(i), counts[i], scratch.of(i), &team.rank(i), team.stream(i)});
    }
    scan(parts, Compose{}, AffineMap{5, 7});
    team.synchronize();

    std::vector<AffineMap> expected;
    AffineMap sum{5, 7};
    for (const AffineMap& x : in) {
        expected.push_back(sum);
        sum = Compose{}(sum, x);
    }
    ASSERT_TRUE(sameBits(array.read(), expected));
}
TEST_F(SeededDistributedTest, ScanThatKeepsTheOrderOfRanks) {
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) { expectScanned(TileOrder::BlockIndex, seed); });
}
TEST_F(SeededDistributedTest, ScanThatKeepsTheOrderOfRanksByTickets) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) { expectScanned(TileOrder::Ticket, seed); });
}

/// No rank finds its first unit before the others have told how theirs end.
void expectDecoded(TileOrder order, std::uint64_t seed) {
    Simulator::configure("devices=3");
    const Team team(ranks);
    const std::vector<std::size_t> parts{12'400 + seed % 7, 1, 500};
    const std::size_t n = parts[0] + parts[1] + parts[2];
    std::vector<std::uint8_t> text;
    for (std::uint64_t i = 0; text.size() < n; ++i) {
        std::uint8_t sequence[4];
        text.insert(text.end(), sequence, sequence + Utf8::put(randomCodePoint(seed, i), sequence));
    }
    text.resize(n);
    const Spread<std::uint8_t> in(team, parts, text);
    const Spread<char16_t> out(team, parts);
    const Spread<std::size_t> counts(team, std::vector<std::size_t>(ranks, ranks));
    const Spread<Result> result(team, std::vector<std::size_t>(ranks, 1));
    const Distributed::DecodeUtf8 decode{.order = order};
    ScratchOfRanks scratch(team, [&](int i) {
        return decode.scratchBytes(in.data(i), out.data(i), counts.data(i), result.data(i), parts[i]);
    });
    std::vector<Distributed::ConversionPart<std::uint8_t, char16_t>> shares;
    for (int i = 0; i < ranks; ++i) {
        shares.push_back({in.data(i), out.data(i), counts.data(i), result.data(i), parts[i], scratch.of(i),
                          &team.rank(i), team.stream(i)});
    }
    decode(shares);
    team.synchronize();

    const Converted<char16_t> expected = convertedInTurn<char16_t>(text);
    for (const Result& each : result.read()) {
        ASSERT_EQ(each.count, expected.result.count);
        ASSERT_EQ(each.firstError, expected.result.firstError);
    }
    const std::vector<std::size_t> told = counts.read();
    const std::vector<char16_t> all = out.read();
    std::vector<char16_t> elements;
    std::size_t begin = 0;
    for (int i = 0; i < ranks; ++i) {
        elements.insert(elements.end(), all.begin() + begin, all.begin() + begin + told[i]);
        begin += parts[i];
    }
    ASSERT_TRUE(sameBits(elements, expected.elements));
}
TEST_F(SeededDistributedTest, DecodeOfTextThatIsCut) {
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) { expectDecoded(TileOrder::BlockIndex, seed); });
}
TEST_F(SeededDistributedTest, DecodeOfTextThatIsCutByTickets) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) { expectDecoded(TileOrder::Ticket, seed); });
}

}  // namespace
}  // namespace StreamCompaction::Testing
