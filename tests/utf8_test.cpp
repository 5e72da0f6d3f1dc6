// Tests of the UTF-8 logic on the host: units against Python's codec, bit planes against units, the serial conversions,
// and conversion in pieces.
#include "stream_compaction/utf8.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "stream_compaction/cpu/utf8.h"
#include "stream_compaction/utf8/bit_planes.h"
#include "stream_compaction/utf8/byte_planes.h"
#include "stream_compaction/utf8/gather_table.h"
#include "stream_compaction/utf8/lead_rule.h"
#include "stream_compaction/utf8/piece_decoder.h"
#include "stream_compaction/utf8/scalar.h"
#include "stream_compaction/utf8/uniform.h"

namespace StreamCompaction::Utf8 {
namespace {

using Bytes = std::vector<std::uint8_t>;

[[nodiscard]] Bytes bytesOf(std::string_view text) { return {text.begin(), text.end()}; }

template <typename To>
struct Decoded {
    std::vector<To> elements;
    Result result;
};

template <typename To = char32_t>
[[nodiscard]] Decoded<To> decoded(const Bytes& text, Errors errors = Errors::Replace, Bom bom = Bom::Keep) {
    std::vector<To> out(text.size());
    const Result result = CPU::decodeUtf8(text, std::span<To>(out), errors, bom);
    out.resize(result.count);
    return {out, result};
}

template <typename From>
[[nodiscard]] Bytes encoded(const std::vector<From>& text, Errors errors = Errors::Replace) {
    Bytes out(text.size() * 4);
    out.resize(CPU::encodeUtf8(std::span<const From>(text), out, errors).count);
    return out;
}

[[nodiscard]] const std::vector<char32_t>& everyCodePoint() {
    static const std::vector<char32_t> all = [] {
        std::vector<char32_t> codePoints(lastCodePoint + 1);
        std::iota(codePoints.begin(), codePoints.end(), U'\0');
        std::erase_if(codePoints, isSurrogate);
        return codePoints;
    }();
    return all;
}

/// Well-formed text, nearly well-formed text, or random bytes.
[[nodiscard]] Bytes randomText(std::size_t n, unsigned seed) {
    static const Bytes edges{0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF,
                             0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF8, 0xFF};
    std::mt19937 random(seed);
    Bytes text;
    while (text.size() < n) {
        std::array<std::uint8_t, 4> sequence{};
        const auto kind = random() % 4;
        if (kind == 0) {
            text.push_back(edges[random() % edges.size()]);
        } else if (kind == 1) {
            text.push_back(static_cast<std::uint8_t>(random()));
        } else {
            const char32_t codePoint = random() % (1u << (7 + random() % 15));
            const std::size_t size = put(isScalarValue(codePoint) ? codePoint : U'?', sequence.data());
            text.insert(text.end(), sequence.data(), sequence.data() + size);
        }
    }
    text.resize(n);
    return text;
}

TEST(Utf8Units, SayWhatIsWrong) {
    struct Case {
        std::string_view text;
        std::size_t offset;
        ErrorKind kind;
    };
    using enum ErrorKind;
    for (const auto& [text, offset, kind] : std::initializer_list<Case>{
             {"abc\x80", 3, UnexpectedContinuation},
             {"ab\xE2\x82", 2, Truncated},
             {"\xF0\x9F\x98", 0, Truncated},
             {"a\xC3(", 1, Truncated},
             {"\xC0\xAF", 0, Overlong},
             {"\xE0\x9F\xBF", 0, Overlong},
             {"\xF0\x8F\xBF\xBF", 0, Overlong},
             {"\xED\xA0\x80", 0, Surrogate},
             {"\xF4\x90\x80\x80", 0, AboveLast},
             {"ok\xFF", 2, AboveLast},
         }) {
        const auto [elements, result] = decoded(bytesOf(text), Errors::Strict);
        EXPECT_FALSE(result.isWellFormed());
        EXPECT_EQ(result.errorOffset(), offset);
        EXPECT_EQ(result.errorKind(), kind);
        EXPECT_EQ(elements.size(), offset) << "ASCII before it";
    }
    EXPECT_TRUE(decoded({}).result.isWellFormed());
}

TEST(Utf8Units, RoundTripOfEveryCodePoint) {
    const std::vector<char32_t>& all = everyCodePoint();
    const Bytes text = encoded(all);
    EXPECT_TRUE(decoded(text).elements == all);
    EXPECT_TRUE(decoded(text).result.isWellFormed());
    EXPECT_EQ(CPU::validateUtf8(text).count, all.size());
    EXPECT_TRUE(encoded(decoded<char16_t>(text).elements) == text);
}

/// The masks of a group agree with its units one by one. Units may cross both ends of the group.
TEST(Utf8BitPlanes, AgreeWithUnitsOneByOne) {
    constexpr std::size_t groupBytes = 32;
    for (unsigned seed = 0; seed < 20000; ++seed) {
        const Bytes text = randomText(4 * groupBytes, seed);
        std::vector<Unit> units(text.size(), Unit{0, false});
        for (std::size_t i = 0; i < text.size();) {
            units[i] = unitAt(windowAt(text, i));
            i += units[i].length;
        }
        std::uint32_t insideBehind = 0;
        for (std::size_t group = 0; group < text.size(); group += groupBytes) {
            std::uint32_t words[8];  // NOLINT(modernize-avoid-c-arrays): as bitPlanes takes them
            std::memcpy(words, &text[group], groupBytes);
            const BitPlanes planes = bitPlanes(words);
            std::rotate(std::begin(words), std::begin(words) + 4, std::end(words));
            ASSERT_TRUE(std::ranges::equal(bitPlanes(words, halvesExchanged).bits, planes.bits));
            const std::uint32_t before = group > 0 ? windowAt(text, group - 4) : 0;
            const std::uint32_t inside = insideOf(before, windowAt(text, group));
            ASSERT_EQ(inside, insideBehind);
            const UnitMasks masks = findUnits(planes, windowAt(text, group + groupBytes));
            insideBehind = masks.insideBehind();
            for (std::size_t i = 0; i < groupBytes; ++i) {
                for (int k = 0; k < 8; ++k) {
                    ASSERT_EQ(planes.bits[k] >> i & 1, text[group + i] >> k & 1u);
                }
                ASSERT_EQ((masks.starts(inside) >> i & 1) != 0, units[group + i].length > 0)
                    << seed << " " << group + i;
                ASSERT_EQ((masks.wellFormed >> i & 1) != 0, units[group + i].isWellFormed) << seed << " " << group + i;
            }
        }
    }
}

/// Decodes well-formed text by the rules, from every byte that gives an element.
template <typename To>
void expectRulesForEveryCodePoint() {
    for (const char32_t codePoint : everyCodePoint()) {
        std::array<std::uint8_t, 4> bytes{};
        const std::size_t size = put(codePoint, bytes.data());
        std::array<To, 2> expected{};
        const std::size_t elements = put(codePoint, expected.data());
        std::size_t at = 0;
        for (std::size_t i = 0; i < elements; ++i) {
            const std::uint32_t window = windowAt(bytes, at);
            const LeadRule rule = leadRule<To>(leadHalf(window));
            ASSERT_EQ(elementOf<To>(window, rule), expected[i]) << static_cast<std::uint32_t>(codePoint);
            at += static_cast<std::size_t>(rule.length);
        }
        ASSERT_EQ(at, size) << static_cast<std::uint32_t>(codePoint);
    }
}

TEST(Utf8Rules, OfEveryCodePoint) {
    expectRulesForEveryCodePoint<char32_t>();
    expectRulesForEveryCodePoint<char16_t>();
}

[[nodiscard]] std::vector<char32_t> codePointsOfLength(int length) {
    std::vector<char32_t> codePoints;
    std::ranges::copy_if(everyCodePoint(), std::back_inserter(codePoints),
                         [length](char32_t codePoint) { return encodeCodePoint(codePoint).length == length; });
    return codePoints;
}

/// Calls `work(bytes, elements)` with all code points of `length` bytes, `sequences` sequences at a time.
template <typename Element, int length, std::size_t sequences, typename Work>
void forAllOfLength(Work&& work) {
    constexpr std::size_t each = sizeof(Element) == sizeof(char16_t) && length == 4 ? 2 : 1;
    const std::vector<char32_t> codePoints = codePointsOfLength(length);
    ASSERT_EQ(codePoints.size() % sequences, 0);
    for (std::size_t begin = 0; begin < codePoints.size(); begin += sequences) {
        std::array<std::uint8_t, sequences * length> bytes{};
        std::array<Element, sequences * each> elements{};
        for (std::size_t i = 0; i < sequences; ++i) {
            ASSERT_EQ(put(codePoints[begin + i], bytes.data() + i * length), length);
            ASSERT_EQ(put(codePoints[begin + i], elements.data() + i * each), each);
        }
        ASSERT_NO_FATAL_FAILURE(work(bytes, elements)) << static_cast<std::uint32_t>(codePoints[begin]);
    }
}

template <typename To, int... lengths>
void expectUniformRuns() {
    const auto expectOf = []<int length>() {
        using Run = UniformRun<To, length>;
        forAllOfLength<To, length, Run::words * 4 / length>([](const auto& bytes, const auto& elements) {
            const Run run(std::bit_cast<Array<std::uint32_t, Run::words>>(bytes));
            ASSERT_EQ((std::bit_cast<std::array<To, elementsPerVector<To>>>(run.converted())), elements);
        });
    };
    (expectOf.template operator()<lengths>(), ...);
}

TEST(Utf8Uniform, Runs) {
    expectUniformRuns<char32_t, 2, 3, 4>();
    expectUniformRuns<char16_t, 2, 3, 4>();
}

template <typename From, int... lengths>
void expectUniformVectors() {
    const auto expectOf = []<int length>() {
        using Vector = UniformVector<From, length>;
        forAllOfLength<From, length, Vector::words * 4 / length>([](const auto& bytes, const auto& elements) {
            const Vector vector(std::bit_cast<Array<std::uint32_t, 4>>(elements));
            ASSERT_EQ((std::bit_cast<std::array<std::uint8_t, Vector::words * 4>>(vector.encoded())), bytes);
        });
    };
    (expectOf.template operator()<lengths>(), ...);
}

TEST(Utf8Uniform, Vectors) {
    expectUniformVectors<char32_t, 1, 2, 3, 4>();
    expectUniformVectors<char16_t, 1, 2, 3, 4>();
}

using Sequences = std::array<std::uint8_t, 48>;

template <int length>
[[nodiscard]] bool areSequencesOf(const Sequences& text) {
    return areSequences<length>(std::bit_cast<Array<std::uint32_t, 12>>(text));
}

template <int length>
[[nodiscard]] bool areWellFormed(const Sequences& text) {
    for (std::size_t at = 0; at < text.size(); at += length) {
        const Unit unit = unitAt(windowAt(text, at));
        if (!unit.isWellFormed || unit.length != length) {
            return false;
        }
    }
    return true;
}

/// Each code point of one length, repeated.
template <int length>
void expectSequencesOfEveryCodePoint() {
    for (const char32_t codePoint : codePointsOfLength(length)) {
        Sequences text{};
        for (std::size_t at = 0; at < text.size(); at += length) {
            put(codePoint, text.data() + at);
        }
        // Sequences of four bytes are only recognised below the last plane, and if they have a bit that overlong
        // sequences lack.
        const bool isKnown = length < 4 || (codePoint < 0x100000 && (codePoint >> 12 & 0x30) != 0);
        ASSERT_EQ(areSequencesOf<length>(text), isKnown) << static_cast<std::uint32_t>(codePoint);
    }
}

/// Puts every pair of bytes at every position among sequences of one length. Nothing ill-formed may pass.
template <int length>
void expectNoOtherSequences(char32_t around) {
    for (std::size_t place = 0; place < Sequences{}.size(); ++place) {
        Sequences text{};
        for (std::size_t at = 0; at < text.size(); at += length) {
            put(around, text.data() + at);
        }
        for (std::uint32_t two = 0; two < 0x10000; ++two) {
            text[place] = static_cast<std::uint8_t>(two >> 8);
            if (place + 1 < text.size()) {
                text[place + 1] = static_cast<std::uint8_t>(two);
            }
            if (areSequencesOf<length>(text)) {
                ASSERT_TRUE(areWellFormed<length>(text)) << place << " " << two;
            } else if (length == 3) {
                ASSERT_FALSE(areWellFormed<length>(text)) << place << " " << two;
            }
        }
    }
}

TEST(Utf8Uniform, SequencesAreWellFormed) {
    expectSequencesOfEveryCodePoint<2>();
    expectSequencesOfEveryCodePoint<3>();
    expectSequencesOfEveryCodePoint<4>();
    for (const char32_t around : {U'\u00E4', U'\u0416'}) {
        expectNoOtherSequences<2>(around);
    }
    for (const char32_t around : {U'\u0E01', U'\u4E2D', U'\uD7A3', U'\uFF0C'}) {
        expectNoOtherSequences<3>(around);
    }
    for (const char32_t around : {U'\U0001F600', U'\U00020000', U'\U000F0000'}) {
        expectNoOtherSequences<4>(around);
    }
}

TEST(Utf8Units, NothingElseBeginsWithAMark) {
    for (std::uint32_t window = 0; window < 1u << 24; ++window) {
        const bool isMark = unitAt(window).isWellFormed && codePointOf(window) == byteOrderMark;
        ASSERT_EQ(beginsWithMark(window), isMark) << window;
    }
}

template <typename To>
void expectIllFormedUnitsCutShort() {
    for (std::uint32_t first = 0; first < 0x10000; ++first) {
        for (const std::uint32_t rest : {0x0000u, 0x8080u, 0x0080u, 0xBF41u, 0x8FBFu, 0xFFC3u}) {
            const std::uint32_t window = first | rest << 16;
            const Unit unit = unitAt(window);
            const std::uint32_t half = leadHalf(window);
            ASSERT_EQ(unit.length == unitLength(half, leadRule<To>(half)), unit.isWellFormed) << window;
        }
    }
}

TEST(Utf8Rules, IllFormedUnitsAreCutShort) {
    expectIllFormedUnitsCutShort<char32_t>();
    expectIllFormedUnitsCutShort<char16_t>();
}

TEST(Utf8Runs, BeginWithEveryNthBit) {
    const auto expectEvery = [](std::uint32_t mask, std::uint32_t before, std::uint32_t step, std::uint32_t found) {
        std::uint32_t expected = 0;
        for (std::uint32_t bit = 1; bit != 0; bit <<= 1) {
            if ((mask & bit) != 0) {
                expected |= before++ % step == 0 ? bit : 0;
            }
        }
        ASSERT_EQ(found, expected) << mask;
    };
    std::mt19937 random(1);
    for (std::uint32_t before = 0; before < 4096; ++before) {
        const std::uint32_t mask = random() | (before % 2 == 0 ? random() : 0);
        expectEvery(mask, before, 4, everyNth<4>(mask, before));
        expectEvery(mask, before, 8, everyNth<8>(mask, before));
    }
    expectEvery(~0u, 0, 4, everyNth<4>(~0u, 0));
    expectEvery(0, 3, 8, everyNth<8>(0, 3));
}

TEST(SelectBytes, BytesAndSigns) {
    EXPECT_EQ(selectBytes(0x33221100, 0xF7665544, 0x7410), 0xF7441100u);
    EXPECT_EQ(selectBytes(0x33221100, 0xF7665544, 0xF8F0), 0xFF00FF00u);
}

/// Consecutive units, with one byte before them.
class SideBySide {
  public:
    SideBySide() { append(std::array<std::uint8_t, 1>{'x'}); }
    explicit SideBySide(std::initializer_list<char32_t> codePoints) : SideBySide() {
        for (const char32_t codePoint : codePoints) {
            std::array<std::uint8_t, 4> unit{};
            append(std::span(unit.data(), put(codePoint, unit.data())));
        }
    }
    void append(std::span<const std::uint8_t> unit) {
        begins_ |= 1u << size_;
        std::ranges::copy(unit, text_.begin() + size_);
        size_ += static_cast<std::uint32_t>(unit.size());
    }

    /// The sums of `pairs` pairs of elements, beginning with the element that comes from the byte at `position`.
    template <typename To>
    [[nodiscard]] std::vector<std::uint32_t> sums(std::uint32_t position, std::size_t pairs) const {
        static constexpr auto rules = gatherTable<To>();
        std::uint32_t begins = (begins_ | 1u << size_) >> position;
        position -= bytesBefore<To>;
        std::vector<std::uint32_t> sums;
        for (; pairs > 0; --pairs) {
            const GatherEntry rule = rules[begins >> firstGatherBit<To> & ((1u << gatherBits) - 1)];
            const std::span<const std::uint8_t> text(text_);
            for (const int sum : sumsOfTwo<To>({windowAt(text, position), windowAt(text, position + 4)}, rule).items) {
                sums.push_back(static_cast<std::uint32_t>(sum));
            }
            moveOn<To>(rule, position, begins);
        }
        return sums;
    }

  private:
    std::array<std::uint8_t, 32> text_{};
    std::uint32_t begins_ = 0;
    std::uint32_t size_ = 0;
};

/// Calls visit(codePoint, other) for every code point, beside others of one to four bytes in turn.
template <typename Visit>
void forEveryCodePointAmongOthers(const Visit& visit) {
    constexpr std::array others{U'a', U'\u00E9', U'\u4E16', U'\U0001F600'};
    for (const char32_t codePoint : everyCodePoint()) {
        ASSERT_NO_FATAL_FAILURE(visit(codePoint, others.at(codePoint % others.size())));
    }
}

TEST(Utf8TwoElements, EveryCodePointAmongOthersInUtf32) {
    forEveryCodePointAmongOthers([](char32_t codePoint, char32_t other) {
        // Before other code points, behind them, and beside itself.
        const std::vector<std::uint32_t> expected{codePoint, other, other, codePoint, codePoint, codePoint};
        const SideBySide text{codePoint, other, other, codePoint, codePoint, codePoint};
        ASSERT_EQ(text.sums<char32_t>(1, 3), expected);
    });
}

TEST(Utf8TwoElements, EveryCodePointAmongOthersInUtf16) {
    forEveryCodePointAmongOthers([](char32_t codePoint, char32_t other) {
        std::vector<std::uint32_t> expected;
        std::vector<std::uint32_t> positions;
        std::uint32_t position = 1;
        for (const char32_t each : {codePoint, other, codePoint}) {
            std::array<char16_t, 2> elements{};
            std::array<std::uint8_t, 4> bytes{};
            const std::size_t count = put(each, elements.data());
            for (std::size_t i = 0; i < count; ++i) {
                expected.push_back(elements.at(i));
                positions.push_back(position + static_cast<std::uint32_t>(i));
            }
            position += static_cast<std::uint32_t>(put(each, bytes.data()));
        }
        // From every element on. An element that comes from a second byte is a second surrogate.
        const SideBySide text{codePoint, other, codePoint};
        for (std::size_t first = 0; first < positions.size(); ++first) {
            std::vector<std::uint32_t> found = text.sums<char16_t>(positions[first], (expected.size() - first + 1) / 2);
            found.push_back(0);
            found[0] |= isSecondSurrogate(expected[first]) ? secondSurrogate : 0;
            for (std::size_t i = 0; i + 1 < found.size(); ++i) {
                finishSurrogate(found[i], found[i + 1]);
            }
            found.resize(expected.size() - first);
            ASSERT_TRUE(std::ranges::equal(found, std::span(expected).subspan(first)))
                << std::uint32_t{codePoint} << " from element " << first;
        }
    });
}

template <typename To>
void expectMarkedUnitsToBeReplaced() {
    constexpr unsigned mostContinuations = isLatin1<To> ? 3 : 2;
    std::mt19937 random(5);
    for (int i = 0; i < 1'000'000; ++i) {
        // An ill-formed unit: a byte with its highest bit set, or a mark before one or two continuations. In Latin-1
        // also before the three of a well-formed sequence.
        std::vector<std::uint8_t> unit{static_cast<std::uint8_t>(random() % 0x80 + 0x80)};
        for (auto continuations = random() % (mostContinuations + 1); continuations > 0; --continuations) {
            unit[0] = static_cast<std::uint8_t>(illFormedMark);
            unit.push_back(static_cast<std::uint8_t>(random() % 0x40 + 0x80));
        }
        SideBySide text;
        text.append(unit);
        text.append(unit);
        for (const std::uint32_t sum : text.sums<To>(1, 1)) {
            ASSERT_EQ(static_cast<To>(replaceMarked<To>(static_cast<int>(sum))), static_cast<To>(substitute<To>));
        }
    }
}

TEST(Utf8TwoElements, MarkedUnitsAreReplaced) {
    expectMarkedUnitsToBeReplaced<char32_t>();
    expectMarkedUnitsToBeReplaced<char16_t>();
    expectMarkedUnitsToBeReplaced<Latin1>();
}

/// Checks one element of a quad.
void expectElement(const EncodedQuad& quad, int element, const Encoded& expected) {
    const auto byteOfElement = [element](std::uint32_t plane) { return plane >> 8 * element & 0xFF; };
    ASSERT_EQ(byteOfElement(quad.lengths), static_cast<std::uint32_t>(expected.length));
    for (int place = 0; place < expected.length; ++place) {
        ASSERT_EQ(byteOfElement(quad.planes[place]), expected.bytes >> 8 * place & 0xFF);
    }
}

template <int most>
void expectQuads(char32_t last) {
    for (char32_t codePoint = 0; codePoint <= last; ++codePoint) {
        // Between elements of every length.
        const std::array<char32_t, 4> in{codePoint, codePoint ^ (0x15 & last), last - codePoint,
                                         codePoint * 5 % (last + 1)};
        CodePointQuad quad{0, 0};
        for (int i = 0; i < 4; ++i) {
            quad.low |= (in[i] & 0xFF) << 8 * i;
            quad.high |= (in[i] >> 8 & 0xFF) << 8 * i;
            quad.above |= in[i] >> 16 << 8 * i;
        }
        const EncodedQuad encoded = encodeQuad<most>(quad);
        for (int i = 0; i < 4; ++i) {
            ASSERT_NO_FATAL_FAILURE(expectElement(encoded, i, encodeCodePoint(in[i])))
                << "code point " << static_cast<std::uint32_t>(in[i]);
        }
    }
}

TEST(Utf8Quads, EveryCodePoint) {
    expectQuads<1>(0x7F);
    expectQuads<2>(0x7FF);
    expectQuads<3>(0xFFFF);
    expectQuads<4>(lastCodePoint);
}

TEST(Utf8Quads, PlanesOfWords) {
    const Array<std::uint32_t, 4> planes = planesOf({0x03020100, 0x13121110, 0x23222120, 0x33323130});
    EXPECT_EQ(planes, (Array<std::uint32_t, 4>{0x30201000, 0x31211101, 0x32221202, 0x33231303}));
}

TEST(Utf8Quads, ReplacedSurrogates) {
    Utf16Quad quad(0x00000000, 0x41DCD8D8);  // two first surrogates, a second one, a letter
    EXPECT_EQ(quad.first, 0x8080u);
    EXPECT_EQ(quad.second, 0x800000u);
    quad.replace(0x800080);
    EXPECT_EQ(quad.low, 0x00FD00FDu);
    EXPECT_EQ(quad.high, 0x41FFD8FFu);
    EXPECT_EQ(quad.first, 0x8000u);
    EXPECT_EQ(quad.second, 0u);
}

TEST(Utf8Quads, EveryPairOfSurrogates) {
    for (char32_t first = 0xD800; first < 0xDC00; ++first) {
        for (char32_t second = 0xDC00; second < 0xE000; ++second) {
            const std::uint32_t low = (first & 0xFF) << 8 | (second & 0xFF) << 16 | U'a' | U'z' << 24;
            const Utf16Quad quad(low, first >> 8 << 8 | second >> 8 << 16);
            ASSERT_EQ(quad.first, 0x8000u);
            ASSERT_EQ(quad.second, 0x800000u);
            const EncodedQuad encoded = encodeQuad(quad, low << 12);
            const Encoded expected = encodeCodePoint(codePointOfPair(first, second));
            expectElement(encoded, 0, {U'a', 1});
            expectElement(encoded, 1, {expected.bytes >> 16, 2});
            expectElement(encoded, 2, {expected.bytes & 0xFFFF, 2});
            expectElement(encoded, 3, {U'z', 1});
            ASSERT_FALSE(testing::Test::HasFailure());
        }
    }
}

TEST(Utf16, PairsAndWhatIsNone) {
    const std::vector<char16_t> text{u'a', 0xD83D, 0xDE00, 0xD800, u'b', 0xDC00, 0xDBFF};
    EXPECT_EQ(encoded(text), bytesOf("a\xF0\x9F\x98\x80\xEF\xBF\xBD"
                                     "b\xEF\xBF\xBD\xEF\xBF\xBD"));
    EXPECT_EQ(encoded(text, Errors::Skip), bytesOf("a\xF0\x9F\x98\x80"
                                                   "b"));
    Bytes out(3 * text.size());
    const Result strict = CPU::encodeUtf8(std::span<const char16_t>(text), out, Errors::Strict);
    EXPECT_EQ(strict.errorOffset(), 3u);
    EXPECT_EQ(strict.errorKind(), ErrorKind::Surrogate);
    EXPECT_EQ(strict.count, 5u);
}

TEST(Utf32, WhatItMayNotHold) {
    const std::vector<char32_t> text{U'a', 0xD800, 0x10FFFF, 0x110000, 0xFFFFFFFF};
    EXPECT_EQ(encoded(text), bytesOf("a\xEF\xBF\xBD\xF4\x8F\xBF\xBF\xEF\xBF\xBD\xEF\xBF\xBD"));
    Bytes out(4 * text.size());
    const Result strict = CPU::encodeUtf8(std::span<const char32_t>(text), out, Errors::Strict);
    EXPECT_EQ(strict.errorOffset(), 1u);
    EXPECT_EQ(strict.errorKind(), ErrorKind::Surrogate);
}

TEST(Utf8BigEndian, HighestByteFirst) {
    const BigEndian<char16_t> half(0x1234);
    const BigEndian<char32_t> word(0x1F600);
    EXPECT_EQ((std::bit_cast<std::array<std::uint8_t, 2>>(half)), (std::array<std::uint8_t, 2>{0x12, 0x34}));
    EXPECT_EQ((std::bit_cast<std::array<std::uint8_t, 4>>(word)), (std::array<std::uint8_t, 4>{0, 1, 0xF6, 0}));
    EXPECT_EQ(half, 0x1234);
    EXPECT_EQ(word, 0x1F600U);
}

TEST(Utf8Latin1, WhatItLacksIsAnError) {
    const Bytes text = bytesOf("a\xC3\xBF\xC4\x80z\xF0\x9F\x98\x80\xC3");
    const auto latin1 = [](std::string_view expected) {
        std::vector<Latin1> elements;
        std::ranges::transform(expected, std::back_inserter(elements), [](char x) { return Latin1(x); });
        return elements;
    };
    EXPECT_EQ(decoded<Latin1>(text).elements, latin1("a\xFF?z??"));
    EXPECT_EQ(decoded<Latin1>(text, Errors::Skip).elements, latin1("a\xFFz"));
    const auto strict = decoded<Latin1>(text, Errors::Strict);
    EXPECT_EQ(strict.elements, latin1("a\xFF"));
    EXPECT_EQ(strict.result.errorOffset(), 3u);
    EXPECT_EQ(strict.result.errorKind(), ErrorKind::AboveLatin1);
    // A mark that is dropped is none.
    const Bytes marked = bytesOf("\xEF\xBB\xBF\xC3\xBF");
    EXPECT_TRUE(decoded<Latin1>(marked, Errors::Strict, Bom::Drop).result.isWellFormed());
    EXPECT_EQ(decoded<Latin1>(marked, Errors::Replace, Bom::Drop).elements, latin1("\xFF"));
    EXPECT_EQ(decoded<Latin1>(marked).elements, latin1("?\xFF"));
}

TEST(Utf8Cpu, DropsAMarkAtTheBeginningOnly) {
    const Bytes text = bytesOf(
        "\xEF\xBB\xBF"
        "a\xEF\xBB\xBF");
    EXPECT_EQ(decoded(text).elements.size(), 3u);
    EXPECT_EQ(decoded(text, Errors::Replace, Bom::Drop).elements, (std::vector<char32_t>{U'a', byteOrderMark}));
}

TEST(Utf8Cpu, RefusesTooLittleRoom) {
    const Bytes text(10, 'a');
    std::vector<char32_t> out(9);
    EXPECT_THROW(CPU::decodeUtf8(text, std::span<char32_t>(out)), std::invalid_argument);
}

/// Pieces of every size give the same result as the whole text.
TEST(Utf8PieceDecoder, PiecesGiveTheWhole) {
    for (const Errors errors : {Errors::Replace, Errors::Skip, Errors::Strict}) {
        for (unsigned seed = 0; seed < 60; ++seed) {
            Bytes text = randomText(150, seed);
            if (seed % 2 == 0) {
                text.insert(text.begin(), {0xEF, 0xBB, 0xBF});
            }
            const auto whole = decoded(text, errors, Bom::Drop);
            for (std::size_t piece = 1; piece <= text.size(); ++piece) {
                PieceDecoder<char32_t> stream(
                    [](auto in, auto out, auto... options) { return CPU::decodeUtf8(in, out, options...); }, errors,
                    Bom::Drop);
                std::vector<char32_t> all;
                const auto append = [&](std::span<const char32_t> more) {
                    all.insert(all.end(), more.begin(), more.end());
                };
                for (std::size_t at = 0; at < text.size(); at += piece) {
                    append(stream.feed(std::span(text).subspan(at, std::min(piece, text.size() - at))));
                }
                append(stream.finish());
                ASSERT_EQ(all, whole.elements) << seed << " in pieces of " << piece;
                ASSERT_EQ(stream.result().count, whole.result.count);
                ASSERT_EQ(stream.result().firstError, whole.result.firstError) << seed << " in pieces of " << piece;
            }
        }
    }
}

/// Compares with Python's codec through files. Skipped if there is no python3.
class Utf8Python : public testing::Test {
  protected:
    void SetUp() override {
        if (std::system("python3 -c pass") != 0) {
            GTEST_SKIP() << "no python3";
        }
        folder_ = std::filesystem::temp_directory_path() / ("utf8_test_" + std::to_string(std::random_device{}()));
        std::filesystem::create_directory(folder_);
    }
    void TearDown() override {
        if (!folder_.empty()) {
            std::filesystem::remove_all(folder_);
        }
    }

    void expectAsPythonDecodes(const Bytes& text, const std::string& errors) const {
        std::ofstream(folder_ / "in", std::ios::binary)
            .write(reinterpret_cast<const char*>(text.data()), static_cast<std::streamsize>(text.size()));
        std::ofstream(folder_ / "decode.py")
            << "import pathlib, sys\n"
               "folder = pathlib.Path(sys.argv[1])\n"
               "text = (folder / 'in').read_bytes().decode('utf-8', sys.argv[2])\n"
               "for codec in 'utf-32-le', 'utf-16-le', 'utf-32-be', 'utf-16-be', 'latin-1':\n"
               "    (folder / codec).write_bytes(text.encode(codec, sys.argv[2]))\n"
               "(folder / 'back').write_bytes((folder / 'latin-1').read_bytes().decode('latin-1').encode())\n";
        const std::string command =
            "python3 \"" + (folder_ / "decode.py").string() + "\" \"" + folder_.string() + "\" " + errors;
        ASSERT_EQ(std::system(command.c_str()), 0);
        const Errors mode = errors == "replace" ? Errors::Replace : Errors::Skip;
        expectDecoded<char32_t>(text, mode, "utf-32-le");
        expectDecoded<char16_t>(text, mode, "utf-16-le");
        expectDecoded<BigEndian<char32_t>>(text, mode, "utf-32-be");
        expectDecoded<BigEndian<char16_t>>(text, mode, "utf-16-be");
        expectDecoded<Latin1>(text, mode, "latin-1");
        EXPECT_TRUE(encoded(read<Latin1>("latin-1")) == read<std::uint8_t>("back"));
        const auto utf8 = encoded(read<char32_t>("utf-32-le"));
        EXPECT_TRUE(encoded(read<BigEndian<char32_t>>("utf-32-be")) == utf8);
        EXPECT_TRUE(encoded(read<BigEndian<char16_t>>("utf-16-be")) == utf8);
    }

  private:
    template <typename To>
    void expectDecoded(const Bytes& text, Errors errors, const char* codec) const {
        EXPECT_TRUE(decoded<To>(text, errors).elements == read<To>(codec)) << codec;
    }
    template <typename Element>
    [[nodiscard]] std::vector<Element> read(const char* name) const {
        std::vector<Element> elements(std::filesystem::file_size(folder_ / name) / sizeof(Element));
        std::ifstream(folder_ / name, std::ios::binary)
            .read(reinterpret_cast<char*>(elements.data()),
                  static_cast<std::streamsize>(elements.size() * sizeof(Element)));
        return elements;
    }

    std::filesystem::path folder_;
};

// Each sequence stands alone, because the ASCII behind it ends any unit.
TEST_F(Utf8Python, EverySequenceOfOneTwoAndThreeBytes) {
    Bytes text;
    for (unsigned a = 0; a < 256; ++a) {
        text.insert(text.end(), {static_cast<std::uint8_t>(a), '\n'});
        for (unsigned b = 0; b < 256; ++b) {
            text.insert(text.end(), {static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b), '\n'});
        }
    }
    expectAsPythonDecodes(text, "replace");
    // If the first byte is below 80, it is a unit, and the rest is a shorter sequence.
    for (unsigned a = 0x80; a < 256; a += 16) {
        text.clear();
        for (unsigned bits = a << 16; bits < (a + 16) << 16; ++bits) {
            text.insert(text.end(), {static_cast<std::uint8_t>(bits >> 16), static_cast<std::uint8_t>(bits >> 8),
                                     static_cast<std::uint8_t>(bits), '\n'});
        }
        expectAsPythonDecodes(text, "replace");
    }
}

TEST_F(Utf8Python, ManySequencesOfFourBytes) {
    const Bytes edges{0x00, 0x7F, 0x80, 0x81, 0x8F, 0x90, 0x91, 0x9F, 0xA0, 0xA1, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0,
                      0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF2, 0xF3, 0xF4, 0xF5, 0xF8, 0xFC, 0xFE, 0xFF};
    Bytes text;
    for (const std::uint8_t a : edges) {
        for (const std::uint8_t b : edges) {
            for (const std::uint8_t c : edges) {
                for (const std::uint8_t d : edges) {
                    text.insert(text.end(), {a, b, c, d, '\n'});
                }
            }
        }
    }
    expectAsPythonDecodes(text, "replace");
    expectAsPythonDecodes(text, "ignore");
}

TEST_F(Utf8Python, RandomAndMutatedText) {
    expectAsPythonDecodes(randomText(1 << 20, 1), "replace");
    expectAsPythonDecodes(randomText(1 << 20, 2), "ignore");
    Bytes noise(1 << 20);
    std::ranges::generate(noise, std::mt19937(3));
    expectAsPythonDecodes(noise, "replace");
}

TEST(Utf8Course, WithoutADeviceThrows) {
    if (!Common::cudaUnavailableReason()) {
        GTEST_SKIP() << "there is a device";
    }
    const Bytes text(1, 'a');
    std::vector<char32_t> out(1);
    EXPECT_THROW(decode(text, std::span<char32_t>(out)), CudaError);
    EXPECT_THROW(validate(text), CudaError);
    Bytes bytes(4);
    EXPECT_THROW(encode(std::span<const char32_t>(out), bytes), CudaError);
    std::vector<char16_t> utf16(1);
    EXPECT_THROW(decode(text, std::span<char16_t>(utf16)), CudaError);
    EXPECT_THROW(encode(std::span<const char16_t>(utf16), bytes), CudaError);
    EXPECT_THROW(ChunkDecoder(), CudaError);
}

}  // namespace
}  // namespace StreamCompaction::Utf8
