#include <algorithm>
#include <random>

#include "distributed_fixture.cuh"
#include "random_text.h"
#include "stream_compaction/cpu/utf8.h"
#include "stream_compaction/utf8/scalar.h"

namespace StreamCompaction::Testing {
namespace {

using namespace Utf8;
using Counts = std::vector<std::size_t>;

constexpr Errors allErrors[] = {Errors::Replace, Errors::Skip, Errors::Strict};

/// What comes from a text that is not spread.
template <typename To>
struct Expected {
    std::vector<To> elements;
    Result result;
    Counts origins;  ///< of each element, the element of the text that it comes from
};

[[nodiscard]] Result convertByCpu(const Bytes& text, auto& out, Errors errors, Bom bom) {
    return CPU::decodeUtf8(text, std::span(out), errors, bom);
}
template <typename From>
[[nodiscard]] Result convertByCpu(const std::vector<From>& text, Bytes& out, Errors errors, Bom) {
    return CPU::encodeUtf8(std::span(text), out, errors);
}

/// The reference is that of the host, which the host's tests compare with Python's codec.
template <typename To, typename From>
[[nodiscard]] Expected<To> expectedOf(const std::vector<From>& text, Errors errors, Bom bom) {
    Expected<To> expected{std::vector<To>(text.size() * mostElements<From, To>), {}, {}};
    expected.result = convertByCpu(text, expected.elements, errors, bom);
    expected.elements.resize(expected.result.count);
    for (std::size_t i = 0; i < text.size();) {
        const SerialUnit unit = unitFor<To>(std::span(text), i);
        if (unit.error != ErrorKind::None && errors == Errors::Strict) {
            break;
        }
        To elements[4];
        const bool isDropped = (unit.error != ErrorKind::None && errors == Errors::Skip) ||
                               (bom == Bom::Drop && i == 0 && unit.codePoint == byteOrderMark);
        const std::size_t count = isDropped ? 0 : put(unit.codePoint, elements);
        for (std::size_t k = 0; k < count; ++k) {
            expected.origins.push_back(i + (sizeof(To) > 1 ? k : k * (unit.length - 1) / 2));
        }
        i += static_cast<std::size_t>(unit.length);
    }
    EXPECT_EQ(expected.origins.size(), expected.elements.size());
    return expected;
}

/// The numbers of elements that come from each rank's part.
[[nodiscard]] Counts countsOf(const Counts& origins, const Counts& parts) {
    Counts counts;
    std::size_t end = 0;
    auto next = origins.begin();
    for (const std::size_t part : parts) {
        end += part;
        const auto first = next;
        next = std::ranges::lower_bound(first, origins.end(), end);
        counts.push_back(static_cast<std::size_t>(next - first));
    }
    return counts;
}

/// A text of elements of type To, in which random numbers replace `badInAHundred` % of the elements.
template <typename To>
[[nodiscard]] std::vector<To> randomElements(std::size_t n, unsigned seed, unsigned badInAHundred) {
    std::vector<To> text = expectedOf<To>(randomText(4 * n, seed, 0), Errors::Replace, Bom::Keep).elements;
    text.resize(n);
    std::mt19937 random(seed);
    for (To& element : text) {
        if (random() % 100 < badInAHundred) {
            element = static_cast<To>(0xD700 + random() % 0xA00 + (random() % 2 << 20));
        }
    }
    return text;
}

/// Parts of a text of n elements: the first one ends at every place in turn, those of the ranks between have a few
/// elements or none, the last one has the rest.
[[nodiscard]] std::vector<Counts> everyCut(std::size_t n, int ranks) {
    const std::vector<Counts> patterns{{0}, {1}, {2, 0}, {3, 1, 0}};
    std::vector<Counts> all;
    for (std::size_t first = ranks > 1 ? 0 : n; first <= n; ++first) {
        for (std::size_t p = 0; p < (ranks > 2 ? patterns.size() : 1); ++p) {
            Counts parts{first};
            std::size_t rest = n - first;
            for (int i = 0; i < ranks - 2; ++i) {
                parts.push_back(std::min(rest, patterns[p][i % patterns[p].size()]));
                rest -= parts.back();
            }
            if (ranks > 1) {
                parts.push_back(rest);
            }
            all.push_back(parts);
        }
    }
    return all;
}

/// The first elements of each rank, given the rooms of all ranks, one behind the other.
template <typename T>
[[nodiscard]] std::vector<T> joined(const std::vector<T>& rooms, const Counts& sizes, const Counts& counts) {
    std::vector<T> elements;
    auto begin = rooms.begin();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        elements.insert(elements.end(), begin, begin + counts[i]);
        begin += sizes[i];
    }
    return elements;
}

class DistributedUtf8Test : public RanksTest {
  protected:
    /// Converts a text in these parts.
    template <typename To, typename Op, typename From>
    void expectConverted(const Op& op, const std::vector<From>& text, const Counts& parts,
                         std::size_t misalignment = 0) {
        Bom bom = Bom::Keep;
        if constexpr (requires { op.bom; }) {
            bom = op.bom;
        }
        expectConverted(op, text, parts, expectedOf<To>(text, op.errors, bom), misalignment);
    }

    template <typename To, typename Op, typename From>
    void expectConverted(const Op& op, const std::vector<From>& text, const Counts& parts, const Expected<To>& expected,
                         std::size_t misalignment = 0) {
        const Counts expectedCounts = countsOf(expected.origins, parts);
        Counts rooms = parts;
        std::ranges::transform(parts, rooms.begin(), [](std::size_t n) { return n * mostElements<From, To>; });
        const Counts& written = op.errors == Errors::Strict ? rooms : expectedCounts;
        const Spread<From> in(team(), parts, text, misalignment);
        const Spread<To> out(team(), rooms, misalignment);
        const Spread<std::size_t> counts(team(), Counts(size(), size()));
        const Spread<Result> result(team(), Counts(size(), 1));
        ScratchOfRanks scratch(team(), [&](int i) {
            return op.scratchBytes(in.data(i), out.data(i), counts.data(i), result.data(i), parts[i]);
        });
        std::vector<Distributed::ConversionPart<From, To>> shares;
        for (int i = 0; i < size(); ++i) {
            shares.push_back({in.data(i), out.data(i), counts.data(i), result.data(i), parts[i], scratch.of(i),
                              &rank(i), stream(i)});
        }
        op(shares);
        team().synchronize();
        expectTold(counts, expectedCounts, result, expected.result);
        ASSERT_TRUE(sameBits(joined(out.read(written), written, expectedCounts), expected.elements))
            << "parts " << testing::PrintToString(parts);
        EXPECT_TRUE(sameBits(in.read(), text)) << "the input was written";
    }

    /// Validates a text in these parts.
    template <typename To>
    void expectValidated(Errors errors, const Bytes& text, const Counts& parts, std::size_t misalignment = 0) {
        const Errors counted = errors == Errors::Strict ? Errors::Replace : errors;
        const Expected<To> expected = expectedOf<To>(text, counted, Bom::Keep);
        const Distributed::ValidateUtf8 validate{
            .errors = errors, .countIn = sizeof(To) == sizeof(char16_t) ? CountIn::Utf16 : CountIn::Utf32};
        const Spread<std::uint8_t> in(team(), parts, text, misalignment);
        const Spread<std::size_t> counts(team(), Counts(size(), size()));
        const Spread<Result> result(team(), Counts(size(), 1));
        ScratchOfRanks scratch(
            team(), [&](int i) { return validate.scratchBytes(in.data(i), counts.data(i), result.data(i), parts[i]); });
        std::vector<Distributed::ValidationPart> shares;
        for (int i = 0; i < size(); ++i) {
            shares.push_back(
                {in.data(i), counts.data(i), result.data(i), parts[i], scratch.of(i), &rank(i), stream(i)});
        }
        validate(shares);
        team().synchronize();
        expectTold(counts, countsOf(expected.origins, parts), result, expected.result);
    }

    /// Decodes to all encodings and validates, in all modes.
    void expectAllDecoded(const Bytes& text, const Counts& parts, std::size_t misalignment = 0) {
        SCOPED_TRACE("parts " + testing::PrintToString(parts) + ", misaligned by " + std::to_string(misalignment));
        for (const Errors errors : allErrors) {
            ASSERT_NO_FATAL_FAILURE(
                expectConverted<char32_t>(Distributed::DecodeUtf8{errors}, text, parts, misalignment));
            ASSERT_NO_FATAL_FAILURE(
                expectConverted<char16_t>(Distributed::DecodeUtf8{errors}, text, parts, misalignment));
            ASSERT_NO_FATAL_FAILURE(
                expectConverted<BigEndian<char16_t>>(Distributed::DecodeUtf8{errors}, text, parts, misalignment));
            ASSERT_NO_FATAL_FAILURE(
                expectConverted<Latin1>(Distributed::DecodeUtf8{errors}, text, parts, misalignment));
            ASSERT_NO_FATAL_FAILURE(expectValidated<char16_t>(errors, text, parts, misalignment));
        }
        ASSERT_NO_FATAL_FAILURE(expectValidated<char32_t>(Errors::Replace, text, parts, misalignment));
    }

    /// Encodes in all modes.
    template <typename From>
    void expectAllEncoded(const std::vector<From>& text, const Counts& parts, std::size_t misalignment = 0) {
        SCOPED_TRACE("parts " + testing::PrintToString(parts) + ", misaligned by " + std::to_string(misalignment));
        for (const Errors errors : allErrors) {
            ASSERT_NO_FATAL_FAILURE(
                expectConverted<std::uint8_t>(Distributed::EncodeUtf8{errors}, text, parts, misalignment));
        }
    }

    /// Numbers of elements per rank: even ones, random ones with every third 0, all on the last rank, 1, none.
    [[nodiscard]] std::vector<Counts> distributions(std::size_t most) const {
        Counts ragged;
        for (int i = 0; i < size(); ++i) {
            ragged.push_back(i % 3 == 1 ? 0 : randomBits(size(), i) % most);
        }
        Counts onlyLast(size());
        onlyLast.back() = most;
        return {Counts(size(), most / 3), ragged, onlyLast, Counts(size(), 1), Counts(size())};
    }

  private:
    void expectTold(const Spread<std::size_t>& counts, const Counts& expectedCounts, const Spread<Result>& results,
                    const Result& expected) const {
        for (const Result& result : results.read()) {
            ASSERT_EQ(result.count, expected.count);
            ASSERT_EQ(result.firstError, expected.firstError);
        }
        Counts onEachRank;
        for (int i = 0; i < size(); ++i) {
            onEachRank.insert(onEachRank.end(), expectedCounts.begin(), expectedCounts.end());
        }
        ASSERT_EQ(counts.read(), onEachRank);
    }
};
INSTANTIATE_TEST_SUITE_P(Ranks, DistributedUtf8Test, numbersOfRanks);

/// With these misalignments a part begins at the end of a group of 32 bytes, in its middle, or in an aligned line.
constexpr std::size_t misalignments[] = {0, 64, 63, 95, 1, 50};

[[nodiscard]] std::size_t sum(const Counts& counts) {
    std::size_t sum = 0;
    for (const std::size_t count : counts) {
        sum += count;
    }
    return sum;
}

const std::vector<Bytes> shortTexts{
    {'a', 0xC3, 0xA9, 0xE4, 0xB8, 0xAD, 0xF0, 0x9F, 0x98, 0x80, 0xF0, 0x9F, 0x98, 0x81, 'z'},  // well-formed
    {0xF0, 0x9F, 0x98, 0xE4, 0xB8, 0x80, 0x80, 0x80, 0xED, 0xA0, 0x80, 0xF4, 0x90, 'b'},       // maximal subparts
    {0xF0, 0x9F, 0x98, 0x80, 0x80, 0xE0, 0x80, 0xC3, 0xC3, 0xA9, 0xF0, 0x9F},
    {'a', 0xF0, 0x80, 0xF8, 0xED, 0x9F, 0xBF, 0xE4, 0xB8}};

TEST_P(DistributedUtf8Test, DecodingOfShortTextsWithEveryCut) {
    std::size_t turn = 0;
    for (const Bytes& text : shortTexts) {
        for (const Counts& parts : everyCut(text.size(), size())) {
            ASSERT_NO_FATAL_FAILURE(expectAllDecoded(text, parts, misalignments[turn++ % std::size(misalignments)]));
        }
    }
}

TEST_P(DistributedUtf8Test, EncodingOfShortTextsWithEveryCut) {
    const std::vector<std::vector<char16_t>> texts{{u'a', 0xD83D, 0xDE00, 0xD83D, 0xDE01, u'é', u'中'},  // well-formed
                                                   {0xDE00, 0xD83D, 0xD83D, 0xDE00, 0xDE00, u'a', 0xD83D}};
    std::size_t turn = 0;
    for (const auto& text : texts) {
        for (const Counts& parts : everyCut(text.size(), size())) {
            const std::size_t misalignment = misalignments[turn++ % std::size(misalignments)];
            const std::vector<BigEndian<char16_t>> inBigEndian(text.begin(), text.end());
            ASSERT_NO_FATAL_FAILURE(expectAllEncoded(text, parts, misalignment));
            ASSERT_NO_FATAL_FAILURE(expectAllEncoded(inBigEndian, parts, misalignment));
        }
    }
}

TEST_P(DistributedUtf8Test, RandomTexts) {
    for (const Counts& parts : distributions(sized(300'000, 15'000))) {
        for (const unsigned badInAHundred : {0, 5}) {
            const auto seed = static_cast<unsigned>(parts.front() + badInAHundred);
            ASSERT_NO_FATAL_FAILURE(expectAllDecoded(randomText(sum(parts), seed, badInAHundred), parts, seed % 128));
            ASSERT_NO_FATAL_FAILURE(
                expectAllEncoded(randomElements<char16_t>(sum(parts), seed, badInAHundred), parts, seed % 128));
        }
        const auto seed = static_cast<unsigned>(parts.back());
        ASSERT_NO_FATAL_FAILURE(expectAllEncoded(randomElements<char32_t>(sum(parts), seed, 1), parts));
        ASSERT_NO_FATAL_FAILURE(expectAllEncoded(randomElements<Latin1>(sum(parts), seed, 50), parts));
    }
}

/// A part has so many tiles that they look back.
TEST_P(DistributedUtf8Test, APartOfManyTiles) {
    Counts parts(size(), 2);
    parts[size() / 2] = std::begin(cards)->mostTogether * DecodeShape<TextGridChain>::bytes + 100'001;
    const Bytes text = randomText(sum(parts), 31, 1);
    ASSERT_NO_FATAL_FAILURE(expectConverted<char16_t>(Distributed::DecodeUtf8{}, text, parts));
    ASSERT_NO_FATAL_FAILURE(expectConverted<char32_t>(Distributed::DecodeUtf8{Errors::Skip}, text, parts));
}

/// Sequences of one length, cut where tiles end: at each byte of a sequence, and so that each part is of whole tiles.
TEST_P(DistributedUtf8Test, WholeTilesOfOneLength) {
    constexpr std::size_t tile = DecodeShape<TextGridChain>::bytes;
    constexpr std::size_t lineAligned = 64;  // behind the guard of as many bytes
    for (const char32_t character : {U'\u0414', U'\u4E2D', U'\U0001F600'}) {
        std::uint8_t sequence[4];
        const std::size_t length = put(character, sequence);
        for (std::size_t first = 0; first < length; ++first) {
            Counts parts(size(), tile);
            parts.front() = first;
            parts.back() += (length - sum(parts) % length) % length;
            Bytes text;
            while (text.size() < sum(parts)) {
                text.insert(text.end(), sequence, sequence + length);
            }
            ASSERT_NO_FATAL_FAILURE(expectAllDecoded(text, parts, lineAligned));
        }
    }
}

TEST_P(DistributedUtf8Test, WholeTilesOfPairs) {
    constexpr std::size_t tile = EncodeShape<char16_t>::bytes / sizeof(char16_t);
    for (const std::size_t first : {0, 1}) {
        Counts parts(size(), tile);
        parts.front() = first;
        parts.back() += sum(parts) % 2;
        std::vector<char16_t> text;
        for (std::size_t i = 0; i < sum(parts); ++i) {
            text.push_back(i % 2 == 0 ? 0xD83D : 0xDE00 + i % 100);
        }
        ASSERT_NO_FATAL_FAILURE(expectAllEncoded(text, parts));
    }
}

/// Only at the beginning of the whole text.
TEST_P(DistributedUtf8Test, AByteOrderMarkIsDroppedWhereverItIsCut) {
    const Bytes text{0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF, 'a', 0xEF, 0xBB, 0xBF, 'b'};
    for (const Counts& parts : everyCut(text.size(), size())) {
        for (const Bom bom : {Bom::Keep, Bom::Drop}) {
            ASSERT_NO_FATAL_FAILURE(expectConverted<char32_t>(Distributed::DecodeUtf8{.bom = bom}, text, parts));
            ASSERT_NO_FATAL_FAILURE(expectConverted<char16_t>(Distributed::DecodeUtf8{.bom = bom}, text, parts));
        }
    }
}

/// The arguments of a call that decodes one rank's share, and the memory behind them.
class SharesOfText {
  public:
    SharesOfText(const Team& team, const Counts& parts, const Bytes& text)
        : team_(team),
          parts_(parts),
          in_(team, parts, text),
          out_(team, parts),
          counts_(team, Counts(team.size(), team.size())),
          result_(team, Counts(team.size(), 1)),
          scratch_(team, [&](int i) {
              return decode.scratchBytes(in_.data(i), out_.data(i), counts_.data(i), result_.data(i), parts_[i]);
          }) {}

    [[nodiscard]] Distributed::ConversionPart<std::uint8_t, char32_t> of(int rank) {
        return {in_.data(rank), out_.data(rank),   counts_.data(rank), result_.data(rank),
                parts_[rank],   scratch_.of(rank), &team_.rank(rank),  team_.stream(rank)};
    }
    [[nodiscard]] std::vector<Result> results() const { return result_.read(); }
    /// The elements of all ranks, of which each has as many as expected.
    [[nodiscard]] std::vector<char32_t> elements(const Counts& counts) const {
        return joined(out_.read(), parts_, counts);
    }

    Distributed::DecodeUtf8 decode;

  private:
    const Team& team_;
    Counts parts_;
    Spread<std::uint8_t> in_;
    Spread<char32_t> out_;
    Spread<std::size_t> counts_;
    Spread<Result> result_;
    ScratchOfRanks scratch_;
};

/// The calls of the ranks come from one thread per rank.
TEST_P(DistributedUtf8Test, ThreadsOfTheirOwnCanCaptureACall) {
    const Counts parts(size(), sized(100'001, 5'001));
    const Bytes text = randomText(sum(parts), 41, 0);
    SharesOfText shares(team(), parts, text);
    onThreads([&](int i) {
        const auto share = shares.of(i);
        const auto enqueue = [&] {
            shares.decode(share.in, share.out, share.counts, share.result, share.n, share.scratch, rank(i), stream(i));
        };
        enqueue();  // NCCL connects the ranks
        rank(i).synchronize(stream(i));
        replayTwice(i, enqueue);
    });
    const Expected<char32_t> expected = expectedOf<char32_t>(text, Errors::Replace, Bom::Keep);
    for (const Result& result : shares.results()) {
        EXPECT_EQ(result.count, expected.result.count);
    }
    EXPECT_TRUE(sameBits(shares.elements(countsOf(expected.origins, parts)), expected.elements));
}

/// A rank with invalid arguments throws and takes part with no text. The others decode theirs, and throw when they wait
/// for their streams. None hangs.
TEST_P(DistributedUtf8Test, InvalidArgumentsOfOneRankReachAll) {
    const Counts parts(size(), 1001);
    const Bytes text = randomText(sum(parts), 51, 3);
    using Share = Distributed::ConversionPart<std::uint8_t, char32_t>;
    const std::vector<void (*)(Share&)> spoils{
        [](Share& share) { share.in = nullptr; },     [](Share& share) { share.out = nullptr; },
        [](Share& share) { share.counts = nullptr; }, [](Share& share) { share.result = nullptr; },
        [](Share& share) { share.scratch = {}; },     [](Share& share) { share.n = ~std::size_t{0}; }};
    for (const auto spoil : spoils) {
        SharesOfText shares(team(), parts, text);
        const int bad = size() / 2;
        std::vector<Share> all;
        for (int i = 0; i < size(); ++i) {
            all.push_back(shares.of(i));
        }
        spoil(all[bad]);
        EXPECT_THROW(shares.decode(all), std::invalid_argument);
        Bytes rest(text.begin(), text.begin() + 1001 * bad);
        rest.insert(rest.end(), text.begin() + 1001 * (bad + 1), text.end());
        for (int i = 0; i < size(); ++i) {
            if (i != bad) {
                EXPECT_THROW(rank(i).synchronize(stream(i)), std::invalid_argument);
                EXPECT_EQ(shares.results()[i].count,
                          expectedOf<char32_t>(rest, Errors::Replace, Bom::Keep).result.count);
            }
        }
        rank(bad).waitFor(stream(bad));
        ASSERT_NO_FATAL_FAILURE(expectAllDecoded(text, parts));  // the next call is not affected
    }
}

TEST_P(DistributedUtf8Test, InvalidArgumentsOfOtherOperations) {
    Counts parts(size(), 10);
    const Spread<std::uint8_t> bytes(team(), parts, Bytes(sum(parts), 'a'));
    const Spread<char16_t> elements(team(), parts, std::vector<char16_t>(sum(parts), u'a'));
    const auto expectRefused = [&](const auto& call) {
        onThreads([&](int i) { EXPECT_THROW(call(i), std::invalid_argument); });
    };
    expectRefused([&](int i) {
        Distributed::ValidateUtf8{}(std::as_const(bytes).data(i), nullptr, nullptr, parts[i], {}, rank(i), stream(i));
    });
    expectRefused([&](int i) {
        Distributed::EncodeUtf8{}(std::as_const(elements).data(i), bytes.data(i), nullptr, nullptr, parts[i], {},
                                  rank(i), stream(i));
    });
    parts.front() = 0;  // a rank without text refuses the mode, too, lest it wait for the others
    SharesOfText shares(team(), parts, Bytes(sum(parts), 'a'));
    shares.decode.errors = static_cast<Errors>(7);
    expectRefused([&](int i) { shares.decode(std::vector{shares.of(i)}); });
    for (int i = 0; i < size(); ++i) {
        rank(i).waitFor(stream(i));
    }
}

}  // namespace
}  // namespace StreamCompaction::Testing
