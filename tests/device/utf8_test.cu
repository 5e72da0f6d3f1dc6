#if defined(STREAM_COMPACTION_SIMULATED)
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <array>
#include <functional>
#include <memory>
#include <random>

#include "device_fixture.cuh"
#include "random_text.h"
#include "stream_compaction/cpu/utf8.h"
#include "stream_compaction/pinned_array.h"
#include "stream_compaction/shared_mem.cuh"
#include "stream_compaction/utf8.cuh"
#include "stream_compaction/utf8.h"
#include "stream_compaction/utf8/scalar.h"

namespace StreamCompaction::Testing {
namespace {

using namespace Utf8;

constexpr Errors allErrors[] = {Errors::Replace, Errors::Skip, Errors::Strict};

template <typename T>
struct Converted {
    std::vector<T> elements;
    Result result;
};

/// Converts from memory of exactly the text's size to guarded memory of exactly the output's size. The text begins
/// `misalignment` elements behind an aligned address.
template <typename To, typename From, typename Op>
void expectConverted(const Op& op, const std::vector<From>& text, const Converted<To>& expected,
                     std::size_t misalignment = 0) {
    const std::size_t n = text.size();
    DeviceBuffer<From> in(n + misalignment);
    Common::checkCUDAError(cudaMemcpy(in.data() + misalignment, text.data(), n * sizeof(From), cudaMemcpyHostToDevice),
                           "cudaMemcpy");
    const std::size_t room = op.errors == Errors::Strict ? n * mostElements<From, To> : expected.elements.size();
    GuardedArray<To> out(room, misalignment);
    out.poison(room, nullptr);
    DeviceBuffer<Result> result(1);
    auto scratch = usedScratch(op.scratchBytes(noArray<From>, noArray<To>, noArray<Result>, n));
    Op limited = op;
    limited.maxOut = room;
    limited(std::as_const(in).data() + misalignment, out.data(), result.data(), n, scratch.bytes(), nullptr);
    Result actual{};
    result.copyTo({&actual, 1});
    ASSERT_EQ(actual.count, expected.result.count) << "n = " << n;
    ASSERT_EQ(actual.firstError, expected.result.firstError) << "n = " << n;
    std::vector<To> elements = out.read(room);
    elements.resize(actual.count);
    ASSERT_TRUE(elements == expected.elements) << "n = " << n << ", misaligned by " << misalignment;
}

template <typename To>
[[nodiscard]] Converted<To> decodedByCpu(const Bytes& text, Errors errors, Bom bom = Bom::Keep) {
    std::vector<To> out(text.size());
    const Result result = CPU::decodeUtf8(text, std::span<To>(out), errors, bom);
    out.resize(result.count);
    return {out, result};
}

template <typename From>
[[nodiscard]] Converted<std::uint8_t> encodedByCpu(const std::vector<From>& text, Errors errors) {
    Bytes out(text.size() * 4);
    const Result result = CPU::encodeUtf8(std::span<const From>(text), out, errors);
    out.resize(result.count);
    return {out, result};
}

void expectValidated(const Bytes& text, std::size_t misalignment) {
    DeviceBuffer<std::uint8_t> in(text.size() + misalignment);
    Common::checkCUDAError(cudaMemcpy(in.data() + misalignment, text.data(), text.size(), cudaMemcpyHostToDevice),
                           "cudaMemcpy");
    const std::uint8_t* const begin = in.data() + misalignment;
    DeviceBuffer<Result> result(1);
    const auto expectResult = [&](const Validate& validate, const Result& expected) {
        auto scratch = usedScratch(validate.scratchBytes(begin, result.data(), text.size()));
        validate(begin, result.data(), text.size(), scratch.bytes(), nullptr);
        Result actual{};
        result.copyTo({&actual, 1});
        ASSERT_EQ(actual.count, expected.count) << "n = " << text.size() << ", misaligned by " << misalignment;
        ASSERT_EQ(actual.firstError, expected.firstError) << "n = " << text.size();
    };
    ASSERT_NO_FATAL_FAILURE(expectResult({}, CPU::validateUtf8(text)));
    for (const Errors errors : {Errors::Replace, Errors::Skip}) {
        ASSERT_NO_FATAL_FAILURE(
            expectResult({.errors = errors, .countIn = CountIn::Utf16}, decodedByCpu<char16_t>(text, errors).result));
    }
}

template <typename... To>
void expectDecoded(const Bytes& text, Errors errors, std::size_t misalignment, Bom bom = Bom::Keep) {
    (expectConverted(Decode{errors, bom}, text, decodedByCpu<To>(text, errors, bom), misalignment), ...);
}

/// Conversions to all encodings of little-endian order, in all modes.
void expectAllAsOnTheCpu(const Bytes& text, std::size_t misalignment = 0) {
    for (const Errors errors : allErrors) {
        expectDecoded<char32_t, char16_t, Latin1>(text, errors, misalignment);
        expectConverted(TextbookDecode<SharedMem::Scan>{.errors = errors}, text, decodedByCpu<char32_t>(text, errors),
                        misalignment);
        if (testing::Test::HasFatalFailure()) {
            return;
        }
    }
    expectValidated(text, misalignment);
}

class Utf8Test : public DeviceTest {};

// If there are few tiles, they are smaller.
constexpr std::size_t tileOfFew = DecodeShape<TextGridChain>::bytes;
constexpr std::size_t tileOfMany = DecodeShape<TextLookBackChain>::bytes;
constexpr std::size_t fewBytes = std::begin(cards)->mostTogether * tileOfFew;

/// All sizes of one small tile, a sample of those of a few, and larger ones.
[[nodiscard]] std::vector<std::size_t> sizesOfEveryPath() {
    std::vector<std::size_t> sizes = smallSizes();
    std::erase_if(sizes, [](std::size_t n) { return n >= 200 && n % 97 != 0 && n <= 4080; });
    std::ranges::copy_if(largeSizes(), std::back_inserter(sizes), [](std::size_t n) { return n < 10'000'000; });
    return sizes;
}

TEST_F(Utf8Test, EverySizeAndAlignment) {
    for (const std::size_t n : sizesOfEveryPath()) {
        ASSERT_NO_FATAL_FAILURE(expectAllAsOnTheCpu(randomText(n, n, n % 3 * 5), n % 19));
    }
}

class Utf8BorderTest : public Utf8Test, public testing::WithParamInterface<std::size_t> {};

INSTANTIATE_TEST_SUITE_P(Borders, Utf8BorderTest,
                         testing::Values(32, 1024, 2048, 3072, 6144, 8192, 12288, 24576, 32768),
                         testing::PrintToStringParamName());

// Sequences at every position around the border of a group, warp or tile, and texts that end at every such position.
TEST_P(Utf8BorderTest, SequencesAtEveryPosition) {
    const std::vector<Bytes> sequences{{0xC3, 0xA9}, {0xE4, 0xB8, 0xAD}, {0xF0, 0x9F, 0x98, 0x80}, {0xE4, 0xB8},
                                       {0xF0, 0x9F}, {0xED, 0xA0, 0x80}, {0xF4, 0x90, 0x80, 0x80}, {0x80, 0x80}};
    for (std::size_t begin = GetParam() - 5; begin <= GetParam() + 1; begin += quick() ? 3 : 1) {
        for (const Bytes& sequence : sequences) {
            for (const bool isElseAscii : {true, false}) {
                // Tiles begin at an aligned address, `lead` bytes before the text.
                const std::size_t lead = isElseAscii ? 0 : begin % (begin < 200 ? 16 : 127);
                Bytes text(begin - lead, 'a');
                if (!isElseAscii) {
                    text[0] = 0xC3;
                    text[1] = 0xA9;
                }
                text.insert(text.end(), sequence.begin(), sequence.end());
                for (std::size_t behind = 0; behind < (quick() ? 1 : 20); ++behind) {
                    ASSERT_NO_FATAL_FAILURE(expectAllAsOnTheCpu(text, lead));
                    text.push_back(behind % 3 == 2 ? 0xBF : 'z');
                }
            }
        }
    }
}

/// Text of any bytes.
[[nodiscard]] std::vector<Latin1> randomLatin1(std::size_t n, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<Latin1> text(n);
    std::ranges::generate(text, [&] { return Latin1(random()); });
    return text;
}

/// Decodes and encodes.
template <typename T>
void expectByTickets(const Bytes& text) {
    const auto decoded = decodedByCpu<T>(text, Errors::Replace);
    expectConverted(Decode{.order = TileOrder::Ticket}, text, decoded, 5);
    expectConverted(Encode{.order = TileOrder::Ticket}, decoded.elements,
                    encodedByCpu(decoded.elements, Errors::Replace), 5);
}

// The same result with tiles in the order of tickets.
TEST_F(Utf8Test, ByTickets) {
    const Bytes text = randomText(fewBytes + 3 * tileOfMany, 11, 1);
    const Bytes latin1 = encodedByCpu(randomLatin1(text.size() / 3 * 2, 11), Errors::Replace).elements;
    expectByTickets<char32_t>(text);
    expectByTickets<char16_t>(text);
    expectByTickets<BigEndian<char16_t>>(text);
    expectByTickets<Latin1>(latin1);
}

TEST_F(Utf8Test, MegabytesOfOneByte) {
    const std::size_t n = quick() ? 50'000 : 4'000'000;
    for (const std::uint8_t byte : {0x00, 0x41, 0x80, 0xBF, 0xC3, 0xE4, 0xF0, 0xFF}) {
        ASSERT_NO_FATAL_FAILURE(expectAllAsOnTheCpu(Bytes(n, byte), 3));
    }
}

// The tiles have too many elements for one list of runs, so each is listed in two halves. Few tiles, and many.
TEST_F(Utf8Test, MostlyAscii) {
    for (const std::size_t n : {std::size_t{100'000}, fewBytes + 3 * tileOfMany}) {
        if (quick() && n > fewBytes) {
            continue;
        }
        for (const std::size_t every : {2, 40, 1000, 30'000}) {
            Bytes text;
            while (text.size() < n) {
                text.insert(text.end(), every, 'a');
                text.insert(text.end(), {0xC3, 0xA9});
            }
            ASSERT_NO_FATAL_FAILURE(expectAllAsOnTheCpu(text, every % 16));
            text[n / 2] = 0xFF;
            ASSERT_NO_FATAL_FAILURE(expectAllAsOnTheCpu(text));
        }
    }
}

// Ill-formed units of every length in a row. The first one is reported. The bytes behind it must not be taken for
// something else.
TEST_F(Utf8Test, IllFormedUnitsInARow) {
    constexpr std::array<std::size_t, 6> begins{31, 0, 30, 1022, 1023, 5000};
    const std::vector<Bytes> units{{0xE4}, {0xF0}, {0xC3},       {0xE4, 0xB8}, {0xF0, 0x9F}, {0xF0, 0x9F, 0x98},
                                   {0xFF}, {0x80}, {0xED, 0xA0}, {0xF4, 0x90}};
    for (const Bytes& first : units) {
        for (const Bytes& second : units) {
            for (std::size_t b = 0; b < begins.size(); b += quick() ? 4 : 1) {
                Bytes text(begins[b], 'a');
                text.insert(text.end(), first.begin(), first.end());
                text.insert(text.end(), second.begin(), second.end());
                text.insert(text.end(), {0xE4, 0xB8, 0xAD, 'z'});
                ASSERT_NO_FATAL_FAILURE(expectAllAsOnTheCpu(text));
            }
        }
    }
}

/// Text of characters from `first` on. All sequences have the same length.
[[nodiscard]] Bytes textOfOneLength(char32_t first, std::size_t n, unsigned seed) {
    std::mt19937 random(seed);
    Bytes text;
    while (text.size() < n) {
        std::uint8_t sequence[4];
        text.insert(text.end(), sequence, sequence + put(first + random() % 128, sequence));
    }
    return text;
}

/// Inserts a sequence where the sequence at `at` begins.
void insertSequence(Bytes& text, std::size_t at, const Bytes& sequence) {
    while (at > 0 && isContinuation(text[at])) {
        --at;
    }
    text.insert(text.begin() + at, sequence.begin(), sequence.end());
}

constexpr char32_t firstOfOneLength[] = {U'\u0400', U'\u4E00', U'\U0001F300'};

// Tiles whose sequences all have one length, and tiles with an exception: a shorter or a longer sequence, an error, or
// a cut sequence at the beginning. At every alignment of text and output.
TEST_F(Utf8Test, SequencesOfOneLength) {
    std::mt19937 random(17);
    for (const char32_t first : firstOfOneLength) {
        const Bytes plain = textOfOneLength(first, (quick() ? 2 : 4) * tileOfFew + 2000, 18);
        for (std::size_t shift = 0; shift < 16; shift += quick() ? 5 : 1) {
            Bytes text(shift % 4, 'a');
            text.insert(text.end(), plain.begin() + shift / 4, plain.end());
            ASSERT_NO_FATAL_FAILURE(expectAllAsOnTheCpu(text, 9 * shift));
            const std::vector<Bytes> others{{'a'}, {0xD0, 0x90}, {0xE4, 0xB8, 0xAD}, {0xF0, 0x9F, 0x98, 0x80}, {0xFF}};
            for (const Bytes& other : others) {
                Bytes changed = text;
                insertSequence(changed, random() % changed.size(), other);
                ASSERT_NO_FATAL_FAILURE(expectAllAsOnTheCpu(changed, 9 * shift));
            }
        }
    }
}

// The same at the end of tiles: the last tile is nearly full, or the only sequence of four bytes crosses a border.
TEST_F(Utf8Test, SequencesOfOneLengthAtTheEndOfATile) {
    constexpr std::size_t tile = tileOfFew;
    for (const char32_t first : firstOfOneLength) {
        const Bytes plain = textOfOneLength(first, 2 * tile, 19);
        for (std::size_t lead = 0; lead < TextInMemory::alignment; lead += quick() ? 45 : 9) {
            for (const std::size_t missing : {0, 32, 64, 96}) {
                const Bytes text(plain.begin(), plain.begin() + 2 * tile - lead - missing);
                ASSERT_NO_FATAL_FAILURE(expectAllAsOnTheCpu(text, lead));
            }
            Bytes text = plain;
            insertSequence(text, tile - lead - 1, {0xF0, 0x9F, 0x98, 0x80});
            ASSERT_NO_FATAL_FAILURE(expectAllAsOnTheCpu(text, lead));
        }
    }
}

// Units that may cross the border of two tiles among sequences of one length: stray continuations, and well-formed or
// ill-formed units of other lengths.
const std::vector<Bytes> unitsAtABorder{{0x80, 0x80, 0x80},
                                        {0xD0, 0x90},
                                        {0xE4, 0xB8, 0xAD},
                                        {0xF0, 0x9F, 0x98, 0x80},
                                        {0xE4, 0xB8},
                                        {0xF0, 0x9F},
                                        {0xF0, 0x9F, 0x98},
                                        {0xC3},
                                        {0xE4},
                                        {0xF0}};

/// Appends sequences of one length up to `place`. Letters before them ensure that the last sequence ends there.
void appendUpTo(Bytes& text, const Bytes& plain, std::size_t place, std::size_t length) {
    text.insert(text.end(), (place - text.size()) % length, 'a');
    text.insert(text.end(), plain.begin(), plain.begin() + (place - text.size()));
}

// Each unit alone, cut at every position.
TEST_F(Utf8Test, OtherUnitsAcrossTheBorderOfTiles) {
    for (const char32_t first : firstOfOneLength) {
        const Bytes plain = textOfOneLength(first, 2 * tileOfFew + 100, 22);
        const auto length = static_cast<std::size_t>(encodeCodePoint(first).length);
        for (const Bytes& unit : unitsAtABorder) {
            for (std::size_t before = 0; before <= unit.size(); before += quick() ? 2 : 1) {
                const std::size_t lead = 9 * before;
                Bytes text;
                appendUpTo(text, plain, tileOfFew - lead - before, length);
                text.insert(text.end(), unit.begin(), unit.end());
                text.insert(text.end(), plain.begin(), plain.end());
                ASSERT_NO_FATAL_FAILURE(expectAllAsOnTheCpu(text, lead)) << before;
            }
        }
    }
}

// All units in one text, at the borders of tiles that look back.
TEST_F(Utf8Test, OtherUnitsAcrossTheBordersOfManyTiles) {
    for (const char32_t first : firstOfOneLength) {
        const Bytes plain = textOfOneLength(first, tileOfMany + 100, 24);
        const auto length = static_cast<std::size_t>(encodeCodePoint(first).length);
        for (std::size_t lead = 0; lead < TextInMemory::alignment; lead += isSimulated ? TextInMemory::alignment
                                                                           : quick()   ? 99
                                                                                       : 31) {
            Bytes text;
            std::size_t border = 0;
            while (text.size() < fewBytes + tileOfMany) {
                for (const Bytes& unit : unitsAtABorder) {
                    for (std::size_t before = 0; before <= unit.size(); ++before) {
                        border += tileOfMany;
                        appendUpTo(text, plain, border - lead - before, length);
                        text.insert(text.end(), unit.begin(), unit.end());
                    }
                }
            }
            ASSERT_NO_FATAL_FAILURE(expectAllAsOnTheCpu(text, lead));
        }
    }
}

// The last tile, all tiles but the first, or the only tile have no run to convert.
TEST_F(Utf8Test, TilesThatEmitNothing) {
    for (const std::size_t border : {tileOfFew, fewBytes + 2 * tileOfMany - fewBytes % tileOfMany}) {
        Bytes text{0xC3, 0xA9};
        text.insert(text.end(), border - 3, 'a');
        text.insert(text.end(), {0xC3, 0xA9});
        ASSERT_NO_FATAL_FAILURE(expectAllAsOnTheCpu(text));
    }
    Bytes illFormed(fewBytes + 2 * tileOfMany, 0xFF);
    illFormed[0] = 'a';
    for (const std::size_t n : {3 * tileOfFew, illFormed.size()}) {
        const Bytes text(illFormed.begin(), illFormed.begin() + n);
        expectConverted(Decode{Errors::Skip}, text, decodedByCpu<char32_t>(text, Errors::Skip), 0);
        expectConverted(Decode{Errors::Skip}, text, decodedByCpu<char16_t>(text, Errors::Skip), 0);
    }
    const Bytes mark{0xEF, 0xBB, 0xBF};
    expectConverted(Decode{Errors::Replace, Bom::Drop}, mark, decodedByCpu<char32_t>(mark, Errors::Replace, Bom::Drop),
                    1);
}

TEST_F(Utf8Test, MarkAtTheBeginning) {
    // The byte order mark, and ill-formed text whose bits add up to the mark. Also before sequences of the same length.
    const std::vector<Bytes> beginnings{
        {0xEF, 0xBB, 0xBF}, {0xEF, 0xB9, 0x3F}, {0xED, 0x3B, 0xBF}, {0xF0, 0x8F, 0xBB, 0xBF}};
    for (const Bytes& beginning : beginnings) {
        for (const std::size_t n : {0, 1, 5, 100, 60'000}) {
            Bytes text = beginning;
            const Bytes rest = n < tileOfFew ? randomText(n, 8) : textOfOneLength(U'\u4E00', n, 8);
            text.insert(text.end(), rest.begin(), rest.end());
            for (const std::size_t misalignment : {0, 13, 15, 31, 32, 33, 64, 100, 127}) {
                for (const Errors errors : allErrors) {
                    expectDecoded<char32_t, char16_t, Latin1>(text, errors, misalignment, Bom::Drop);
                }
            }
        }
    }
}

template <typename From>
void expectEncoded(const std::vector<From>& text, std::size_t misalignment) {
    for (const Errors errors : allErrors) {
        ASSERT_NO_FATAL_FAILURE(expectConverted(Encode{errors}, text, encodedByCpu(text, errors), misalignment));
    }
}

/// The same text in the order of bytes that a BigEndian has.
template <typename T>
[[nodiscard]] std::vector<BigEndian<T>> bigEndian(const std::vector<T>& text) {
    return {text.begin(), text.end()};
}

TEST_F(Utf8Test, EncodesEverySizeAndAlignment) {
    for (const std::size_t n : sizesOfEveryPath()) {
        const auto badInAHundred = static_cast<std::uint32_t>(n % 3 * 5);
        std::vector<char32_t> text(n);
        std::vector<char16_t> text16(n);
        std::mt19937 random(static_cast<unsigned>(n));
        for (std::size_t i = 0; i < n; ++i) {
            const bool isBad = random() % 100 < badInAHundred;
            text[i] = isBad ? random() : random() % (1u << (7 + random() % 14));
            text16[i] =
                static_cast<char16_t>(isBad ? 0xD800 + random() % 0x800 : random() % (1u << (7 + random() % 9)));
            if (i > 0 && random() % 4 == 0) {
                text16[i - 1] = static_cast<char16_t>(0xD800 + random() % 0x400);
                text16[i] = static_cast<char16_t>(0xDC00 + random() % 0x400);
            }
        }
        ASSERT_NO_FATAL_FAILURE(expectEncoded(text, n % 5));
        ASSERT_NO_FATAL_FAILURE(expectEncoded(text16, n % 9));
        ASSERT_NO_FATAL_FAILURE(expectEncoded(bigEndian(text), n % 5));
        ASSERT_NO_FATAL_FAILURE(expectEncoded(bigEndian(text16), n % 9));
        ASSERT_NO_FATAL_FAILURE(expectEncoded(randomLatin1(n, static_cast<unsigned>(n)), n % 17));
    }
}

// Surrogates, in pairs and alone, at every position around the borders of rows, groups, warps and tiles.
TEST_F(Utf8Test, SurrogatesAcrossEveryBorder) {
    const std::vector<std::u16string> sequences{u"\xD83D\xDE00", u"\xD83D", u"\xDE00", u"\xD83D\xD83D\xDE00\xDE00"};
    for (const int border : {64, 256, 1280, EncodeShape<char16_t>::bytes / 2}) {
        for (auto begin = static_cast<std::size_t>(border - 4); begin <= static_cast<std::size_t>(border + 1);
             ++begin) {
            for (const std::u16string& sequence : sequences) {
                for (const std::size_t lead : {std::size_t{0}, begin % 8}) {
                    std::vector<char16_t> text(begin - lead, u'ä');
                    text.insert(text.end(), sequence.begin(), sequence.end());
                    for (std::size_t behind = 0; behind < (quick() ? 2 : 20); ++behind) {
                        ASSERT_NO_FATAL_FAILURE(expectEncoded(text, lead));
                        ASSERT_NO_FATAL_FAILURE(expectEncoded(bigEndian(text), lead));
                        text.push_back(u'z');
                    }
                }
            }
        }
    }
}

// Parts of tiles in which all elements have the same length in bytes, and parts with one exception. At every alignment
// of text and output. In UTF-16 the borders of parts cut pairs.
TEST_F(Utf8Test, ElementsOfOneLength) {
    std::mt19937 random(20);
    for (const char32_t first : {U'\0', U'\u0400', U'\u4E00', U'\U0001F300'}) {
        const std::size_t n = EncodeShape<char32_t>::bytes / sizeof(char32_t) * (quick() ? 2 : 4) + 700;
        const Bytes plain = textOfOneLength(first, n * encodeCodePoint(first).length, 21);
        const auto expectAll = [](const Bytes& text, std::size_t shift) {
            expectEncoded(decodedByCpu<char32_t>(text, Errors::Replace).elements, shift);
            expectEncoded(decodedByCpu<char16_t>(text, Errors::Replace).elements, shift);
            expectEncoded(decodedByCpu<BigEndian<char32_t>>(text, Errors::Replace).elements, shift);
            expectEncoded(decodedByCpu<BigEndian<char16_t>>(text, Errors::Replace).elements, shift);
        };
        for (std::size_t shift = 0; shift < 8; shift += quick() ? 3 : 1) {
            Bytes text(shift % 3, 'a');
            text.insert(text.end(), plain.begin(), plain.end());
            ASSERT_NO_FATAL_FAILURE(expectAll(text, 9 * shift));
            const std::vector<Bytes> others{{'a'}, {0xD0, 0x90}, {0xE4, 0xB8, 0xAD}, {0xF0, 0x9F, 0x98, 0x80}};
            for (const Bytes& other : others) {
                Bytes changed = text;
                insertSequence(changed, random() % changed.size(), other);
                ASSERT_NO_FATAL_FAILURE(expectAll(changed, 9 * shift));
            }
            auto utf16 = decodedByCpu<char16_t>(text, Errors::Replace).elements;
            utf16[random() % utf16.size()] = static_cast<char16_t>(0xD800 + random() % 0x800);
            ASSERT_NO_FATAL_FAILURE(expectEncoded(utf16, 9 * shift));
            auto utf32 = decodedByCpu<char32_t>(text, Errors::Replace).elements;
            utf32[random() % utf32.size()] = random() % 2 == 0 ? 0xDABC : 0x110000;
            ASSERT_NO_FATAL_FAILURE(expectEncoded(utf32, 9 * shift));
        }
    }
}

// Parts of tiles of Latin-1 in which all characters take one byte or all take two, and parts with one exception. The
// longest output, and rows, groups and parts of characters of two bytes.
TEST_F(Utf8Test, Latin1OfOneLength) {
    constexpr std::size_t part = EncodeShape<Latin1>::Text::bytes;
    for (const unsigned first : {0x00U, 0x80U}) {
        for (std::size_t lead = 0; lead < 16; lead += quick() ? 5 : 1) {
            std::vector<Latin1> text = randomLatin1(EncodeShape<Latin1>::bytes + 3 * part + lead, 27);
            std::ranges::transform(text, text.begin(),
                                   [=](Latin1 x) { return Latin1(first + static_cast<unsigned>(x) % 0x80); });
            ASSERT_NO_FATAL_FAILURE(expectEncoded(text, 9 * lead));
            for (const std::size_t at : {std::size_t{0}, 3 * part + 255 - 9 * lead, text.size() - 1}) {
                std::vector<Latin1> changed = text;
                changed[at] = Latin1(first ^ 0x80);
                ASSERT_NO_FATAL_FAILURE(expectEncoded(changed, 9 * lead)) << at;
            }
        }
    }
}

// The borders of parts cut pairs, and one half is missing there.
TEST_F(Utf8Test, HalfAPairAtTheBorderOfParts) {
    constexpr std::size_t part = EncodeShape<char16_t>::Text::bytes / sizeof(char16_t);
    std::u16string pairs;
    for (std::size_t i = 0; i < 2 * part; ++i) {
        pairs += u"\xD83D\xDE00";
    }
    for (const std::size_t lead : {0, 1, 2, 45}) {
        // The first element of every part is the second half of a pair.
        std::vector<char16_t> text((lead + 1) % 2, u'x');
        text.insert(text.end(), pairs.begin(), pairs.end());
        ASSERT_NO_FATAL_FAILURE(expectEncoded(text, lead));
        for (std::size_t border = part - lead; border < text.size(); border += part) {
            for (const std::size_t at : {border - 1, border}) {
                for (const char16_t other : {u'x', u'\xD83D', u'\xDE00'}) {
                    std::vector<char16_t> changed = text;
                    changed[at] = other;
                    ASSERT_NO_FATAL_FAILURE(expectEncoded(changed, lead)) << at;
                    ASSERT_NO_FATAL_FAILURE(expectEncoded(bigEndian(changed), lead)) << at;
                }
            }
        }
    }
}

TEST_F(Utf8Test, RoundTripOfEveryCodePoint) {
    std::vector<char32_t> all;
    for (char32_t codePoint = 0; codePoint <= lastCodePoint; ++codePoint) {
        if (isScalarValue(codePoint)) {
            all.push_back(codePoint);
        }
    }
    const Converted<std::uint8_t> encoded = encodedByCpu(all, Errors::Strict);
    expectConverted(Encode{Errors::Strict}, all, encoded);
    expectConverted(Decode{Errors::Strict}, encoded.elements, Converted<char32_t>{all, {all.size(), Result::noError}});
    const auto utf16 = decodedByCpu<char16_t>(encoded.elements, Errors::Strict);
    expectConverted(Encode{Errors::Strict}, utf16.elements, encoded);
    expectConverted(Decode{Errors::Strict}, encoded.elements, utf16);
    const auto bigEndian32 = decodedByCpu<BigEndian<char32_t>>(encoded.elements, Errors::Strict);
    const auto bigEndian16 = decodedByCpu<BigEndian<char16_t>>(encoded.elements, Errors::Strict);
    expectConverted(Encode{Errors::Strict}, bigEndian32.elements, encoded);
    expectConverted(Encode{Errors::Strict}, bigEndian16.elements, encoded);
    for (const Errors errors : allErrors) {
        expectDecoded<BigEndian<char32_t>, BigEndian<char16_t>, Latin1>(encoded.elements, errors, 0);
    }
}

TEST_F(Utf8Test, ErrorsKnownWhenCompiling) {
    const Bytes text = randomText(100'000, 7, 5);
    const std::vector<char16_t> text16{u'a', 0xD800, u'b', 0xDC00};
    const auto expectAs = [&]<Errors errors>(Always<errors>) {
        expectConverted(DecodeWith<Always<errors>>{}, text, decodedByCpu<char16_t>(text, errors));
        expectConverted(EncodeWith<Always<errors>>{}, text16, encodedByCpu(text16, errors));
    };
    ASSERT_NO_FATAL_FAILURE(expectAs(Always<Errors::Replace>{}));
    ASSERT_NO_FATAL_FAILURE(expectAs(Always<Errors::Skip>{}));
    ASSERT_NO_FATAL_FAILURE(expectAs(Always<Errors::Strict>{}));
}

// UTF-8 may lie in an array of any type of bytes.
TEST_F(Utf8Test, BytesOfAnyType) {
    const std::vector<char16_t> text{u'\u00FC', u'a'};
    const DeviceBuffer<char16_t> in{std::span<const char16_t>(text)};
    DeviceBuffer<Result> result(1);
    const auto expectSame = [&]<typename Byte>(Byte) {
        GuardedArray<Byte> bytes(3);
        GuardedArray<char16_t> out(2);
        const EncodeWith<Always<Errors::Strict>> encode{.maxOut = 3};
        auto scratch = usedScratch(encode.scratchBytes(in.data(), bytes.data(), result.data(), 2));
        encode(in.data(), bytes.data(), result.data(), 2, scratch.bytes(), nullptr);
        const DecodeWith<Always<Errors::Strict>> decode{.maxOut = 2};
        scratch = usedScratch(decode.scratchBytes(bytes.data(), out.data(), result.data(), 3));
        decode(bytes.data(), out.data(), result.data(), 3, scratch.bytes(), nullptr);
        const ValidateWith<Always<Errors::Strict>> validate;
        scratch = usedScratch(validate.scratchBytes(bytes.data(), result.data(), 3));
        validate(bytes.data(), result.data(), 3, scratch.bytes(), nullptr);
        EXPECT_TRUE(sameBits(out.read(2), text));
    };
    expectSame(char{});
    expectSame(char8_t{});
    expectSame(std::byte{});
}

// Characters of Latin-1, of which some take two bytes, with others and with errors among them, in few and in many
// tiles.
TEST_F(Utf8Test, TextOfLatin1) {
    for (const std::size_t n : {std::size_t{100'000}, fewBytes + 3 * tileOfMany}) {
        if (quick() && n > fewBytes) {
            continue;
        }
        for (const unsigned every : {0U, 3U, 40U, 5000U}) {
            Bytes text = encodedByCpu(randomLatin1(n / 3 * 2, every), Errors::Replace).elements;
            const Bytes others[] = {{0xC4, 0x80}, {0xE4, 0xB8, 0xAD}, {0xF0, 0x9F, 0x98, 0x80}, {0xFF}, {0xC3}};
            for (std::size_t at = 1, i = 0; every > 0 && at < text.size(); at += every, ++i) {
                const Bytes& other = others[i % std::size(others)];
                std::copy_n(other.begin(), std::min(other.size(), text.size() - at), text.begin() + at);
            }
            for (const Errors errors : allErrors) {
                ASSERT_NO_FATAL_FAILURE(expectDecoded<Latin1>(text, errors, every % 19));
            }
        }
    }
}

// What the byte order has to do with: stores of whole vectors and of single elements, of all kinds of text.
TEST_F(Utf8Test, BigEndianText) {
    const auto expectBoth = [](const Bytes& text, std::size_t misalignment) {
        for (const Errors errors : allErrors) {
            expectDecoded<BigEndian<char32_t>, BigEndian<char16_t>>(text, errors, misalignment);
        }
    };
    for (const std::size_t n : sizesOfEveryPath()) {
        ASSERT_NO_FATAL_FAILURE(expectBoth(randomText(n, n, n % 3 * 5), n % 19));
        ASSERT_NO_FATAL_FAILURE(expectBoth(Bytes(n, 'a'), n % 19));
    }
    for (const char32_t first : firstOfOneLength) {
        for (const std::size_t n : {2 * tileOfFew + 2000, fewBytes + 3 * tileOfMany}) {
            if (quick() && n > fewBytes) {
                continue;
            }
            const Bytes plain = textOfOneLength(first, n, 25);
            for (std::size_t shift = 0; shift < 4; ++shift) {
                Bytes text(shift, 'a');
                text.insert(text.end(), plain.begin(), plain.end());
                ASSERT_NO_FATAL_FAILURE(expectBoth(text, 5 * shift));
            }
        }
    }
}

// Sequences of four bytes at the limits of what the rules distinguish. A line feed ends any open unit.
TEST_F(Utf8Test, SequencesAtEveryLimit) {
    const Bytes limits = quick() ? Bytes{0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC1, 0xE0, 0xED, 0xF0, 0xF4, 0xF5}
                                 : Bytes{0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0,
                                         0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF8, 0xFF};
    Bytes text;
    for (const std::uint8_t a : limits) {
        for (const std::uint8_t b : limits) {
            for (const std::uint8_t c : limits) {
                for (const std::uint8_t d : limits) {
                    text.insert(text.end(), {a, b, c, d, '\n'});
                }
            }
        }
    }
    expectAllAsOnTheCpu(text);
}

/// Converts from a graph that runs three times.
template <typename To, typename From, typename Op>
void expectReplayed(const Op& op, const std::vector<From>& text, const Converted<To>& expected) {
    const DeviceBuffer<From> in{std::span<const From>(text)};
    GuardedArray<To> out(text.size() * mostElements<From, To>);
    DeviceBuffer<Result> result(1);
    auto scratch = usedScratch(op.scratchBytes(in.data(), out.data(), result.data(), text.size()));
    replay(3, [&](cudaStream_t stream) {
        out.poison(expected.elements.size(), stream);
        op(in.data(), out.data(), result.data(), text.size(), scratch.bytes(), stream);
    });
    EXPECT_TRUE(out.read(expected.elements.size()) == expected.elements);
}

TEST_F(Utf8Test, InAGraph) {
    const Bytes text = randomText(300'000, 9, 5);
    expectReplayed(Decode{}, text, decodedByCpu<char32_t>(text, Errors::Replace));
    const auto latin1 = decodedByCpu<Latin1>(text, Errors::Replace);
    expectReplayed(Decode{}, text, latin1);
    expectReplayed(Encode{}, latin1.elements, encodedByCpu(latin1.elements, Errors::Replace));
}

TEST_F(Utf8Test, CourseLayerAndChunks) {
    Bytes text = randomText(quick() ? 30'000 : 1'000'000, 10, 3);
    text.insert(text.begin(), {0xEF, 0xBB, 0xBF});
    for (const Errors errors : allErrors) {
        const auto expected = decodedByCpu<char32_t>(text, errors, Bom::Drop);
        const auto expectSame = [&](const std::vector<char32_t>& out, const Result& result) {
            EXPECT_EQ(result.count, expected.result.count);
            EXPECT_EQ(result.firstError, expected.result.firstError);
            EXPECT_TRUE(std::equal(expected.elements.begin(), expected.elements.end(), out.begin()));
        };
        std::vector<char32_t> out(text.size());
        const Result whole = decode(text, std::span<char32_t>(out), errors, Bom::Drop);
        expectSame(out, whole);
        for (const std::size_t chunk : {std::size_t{1000}, std::size_t{65536}, text.size() * 2}) {
            std::ranges::fill(out, 0);
            ChunkDecoder decoder(chunk);
            const Result result = decoder.decode(text, out, errors, Bom::Drop);
            expectSame(out, result);
            const Bytes start(text.begin(), text.begin() + text.size() / 2);
            EXPECT_EQ(decoder.decode(start, out, errors).count, decodedByCpu<char32_t>(start, errors).result.count)
                << "once more";
        }
    }
    std::vector<char32_t> little(10);
    EXPECT_THROW(decode(text, std::span<char32_t>(little)), std::invalid_argument);
    EXPECT_THROW(ChunkDecoder().decode(text, little), std::invalid_argument);
    EXPECT_THROW(ChunkDecoder(3), std::invalid_argument);
    EXPECT_EQ(validate(text).count, CPU::validateUtf8(text).count);
    const std::vector<char16_t> utf16 = decodedByCpu<char16_t>(text, Errors::Replace).elements;
    Bytes out(utf16.size() * 3);
    const Result result = encode(std::span<const char16_t>(utf16), out);
    EXPECT_TRUE(std::ranges::equal(encodedByCpu(utf16, Errors::Replace).elements, std::span(out).first(result.count)));
}

#if defined(STREAM_COMPACTION_SIMULATED)
/// If a call throws, its copies from the caller's memory have ended. A copy under way would read a page that the test
/// takes away. The simulated card copies from page-locked memory only when somebody waits.
TEST_F(Utf8Test, ChunksThatThrowLeaveNoCopyUnderWay) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const PinnedArray<std::uint8_t> memory(2 * page);
    void* begin = memory.elements().data();
    std::size_t room = 2 * page;
    ASSERT_NE(std::align(page, page, begin, room), nullptr);
    const std::span text(static_cast<std::uint8_t*>(begin), page);
    std::ranges::fill(text, std::uint8_t{'a'});
    std::vector<char32_t> out(page);
    ChunkDecoder decoder(page);
    constexpr auto unknown = static_cast<Errors>(99);
    EXPECT_THROW(decoder.decode(text, out, unknown), std::invalid_argument);  // after the copy has been enqueued

    ASSERT_EQ(mprotect(begin, page, PROT_NONE), 0);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    ASSERT_EQ(mprotect(begin, page, PROT_READ | PROT_WRITE), 0);
    EXPECT_EQ(decoder.decode(text, out).count, page) << "afterwards";
}
#endif

/// Sequences of three bytes, E4 B8 80 + i % 64. There are three bytes of ASCII per period, so every tile has some.
struct CjkByte {
    static constexpr std::size_t period = 3000;

    __host__ __device__ std::uint8_t operator()(std::size_t i) const {
        if (i % period >= period - 3) {
            return 'a';
        }
        return i % 3 == 0 ? 0xE4 : i % 3 == 1 ? 0xB8 : static_cast<std::uint8_t>(0x80 + i / 3 % 64);
    }
};

/// The code points of that text.
struct CjkCodePoint {
    static constexpr std::size_t period = CjkByte::period / 3 + 2;

    __host__ __device__ char32_t operator()(std::size_t i) const {
        const std::size_t place = i % period;
        const std::size_t sequence = i / period * (CjkByte::period / 3) + place;
        return place >= period - 3 ? U'a' : static_cast<char32_t>(0x4E00 + sequence % 64);
    }
};

TEST_F(Utf8Test, MoreThanTwoToThe32Bytes) {
    const std::size_t periods = 1'600'000;
    const std::size_t n = periods * CjkByte::period;
    const std::size_t count = periods * CjkCodePoint::period;
    if (!hasRoomFor(n + count * sizeof(char32_t))) {
        GTEST_SKIP() << "takes " << n + count * sizeof(char32_t) << " bytes of device memory";
    }
    DeviceBuffer<std::uint8_t> in = deviceArray(n, CjkByte{});
    Common::checkCUDAError(cudaMemset(in.data() + n - 1, 0xFF, 1), "cudaMemset");
    DeviceBuffer<char32_t> out(count);
    DeviceBuffer<Result> result(1);
    const auto expectResult = [&] {
        Result actual{};
        result.copyTo({&actual, 1});
        EXPECT_EQ(actual.count, count);
        EXPECT_EQ(actual.firstError, Result::errorAt(n - 1, ErrorKind::AboveLast));
    };
    auto scratch = usedScratch(Decode{}.scratchBytes(in.data(), out.data(), result.data(), n));
    const std::uint8_t* const text = in.data();
    Decode{}(text, out.data(), result.data(), n, scratch.bytes(), nullptr);
    expectResult();
    EXPECT_EQ(wrongElements(count - 1, out.data(), CjkCodePoint{}), 0U);
    ASSERT_LE(Validate{}.scratchBytes(text, result.data(), n), scratch.size());
    Validate{}(text, result.data(), n, scratch.bytes(), nullptr);
    expectResult();
}

TEST_F(Utf8Test, RefusesBadArguments) {
    const std::size_t n = 1000;
    DeviceBuffer<std::uint8_t> in(n);
    DeviceBuffer<char32_t> out(n);
    DeviceBuffer<Result> result(1);
    auto scratch = usedScratch(Decode{}.scratchBytes(in.data(), out.data(), result.data(), n));
    const auto expectRefused = [&](const std::uint8_t* from, char32_t* to, Result* where, Scratch lent) {
        EXPECT_THROW(Decode{}(from, to, where, n, lent, nullptr), std::invalid_argument);
    };
    expectRefused(nullptr, out.data(), result.data(), scratch.bytes());
    expectRefused(in.data(), nullptr, result.data(), scratch.bytes());
    expectRefused(in.data(), out.data(), nullptr, scratch.bytes());
    expectRefused(in.data(), reinterpret_cast<char32_t*>(in.data()), result.data(), scratch.bytes());
    expectRefused(in.data(), out.data(), result.data(), scratch.bytes().first(scratch.size() - 1));
}

}  // namespace
}  // namespace StreamCompaction::Testing
