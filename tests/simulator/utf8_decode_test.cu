#include "stream_compaction/utf8/decode.cuh"
#include "utf8_text.cuh"

namespace StreamCompaction::Testing {
namespace {

using namespace Utf8;
using Bytes = std::vector<std::uint8_t>;

/// Characters of one to four bytes, or of `length` bytes if it is not 0. One byte in a thousand is replaced.
[[nodiscard]] Bytes randomText(std::size_t n, std::uint64_t seed, int length) {
    Bytes text;
    for (std::uint64_t i = 0; text.size() < n; ++i) {
        const char32_t codePoint = randomCodePoint(seed, i);
        std::uint8_t sequence[4];
        const std::size_t bytes = put(length == 3 ? U'\u3000' + codePoint % 0x1000 : codePoint, sequence);
        text.insert(text.end(), sequence, sequence + bytes);
        if (length == 0 && randomBits(~seed, i) % 1000 == 0) {
            text.push_back(static_cast<std::uint8_t>(0x80 + i % 0x80));
        }
    }
    text.resize(n);
    return text;
}

class SeededDecodeTest : public SeededUtf8Test {
  protected:
    template <typename To>
    static void expectDecoded(bool together, TileOrder order, std::uint64_t seed) {
        constexpr int tileBytes = DecodeShape<TextGridChain>::bytes;
        const std::size_t n = (together ? 1 : 2) * tileBytes + 300 + seed % 100;
        expectConverted<To>(randomText(n, seed, seed % 4 == 0 ? 3 : 0), [=](const TextInMemory& text, To* out,
                                                                            Result* result, const ScratchArena& arena) {
            launchChain({text.tiles(tileBytes), text.tiles(DecodeShape<TextLookBackChain>::bytes)},
                        residentBlocks(together), order, result, 0, arena, nullptr,
                        [=](auto chain, std::size_t tiles, Begin begin) {
                            using Chain = decltype(chain);
                            return tryLaunch<kernDecode<To, Errors::Replace, Chain>>(
                                {tiles, DecodeShape<Chain>::threads, 0, begin}, nullptr, text, out, Bom::Keep, chain);
                        });
        });
    }
};

TEST_F(SeededDecodeTest, Together) {
    underEverySeed(BlockOrder::Any,
                   [](std::uint64_t seed) { expectDecoded<char16_t>(true, TileOrder::BlockIndex, seed); });
}

TEST_F(SeededDecodeTest, ByLookBack) {
    underEverySeed(BlockOrder::ByIndex,
                   [](std::uint64_t seed) { expectDecoded<char16_t>(false, TileOrder::BlockIndex, seed); });
}

TEST_F(SeededDecodeTest, ByTickets) {
    underEverySeed(BlockOrder::Any,
                   [](std::uint64_t seed) { expectDecoded<char16_t>(false, TileOrder::Ticket, seed); });
}

/// Expects enqueue(in, result, scratch) to count the code points of n bytes and to find the first error.
template <typename Enqueue>
void expectValidated(std::size_t n, std::uint64_t seed, const Enqueue& enqueue) {
    const Bytes text = randomText(n, seed, 0);
    const Result expected = convertedInTurn<char32_t>(text).result;
    const DeviceBuffer<std::uint8_t> in{std::span<const std::uint8_t>(text)};
    DeviceBuffer<Result> result(1);
    const std::size_t bytes = ChainTiles{2, 2, 1}.scratchBytes();
    auto scratch = usedScratch(bytes);
    enqueue(in.data(), result.data(), ScratchArena(scratch.bytes(), bytes));
    ASSERT_EQ(firstOf(result), expected);
}

TEST_F(SeededDecodeTest, Validate) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        constexpr std::size_t n = ValidateShape::bytes + 300;
        const bool together = seed % 2 == 0;
        expectValidated(n, seed, [=](const std::uint8_t* in, Result* result, const ScratchArena& arena) {
            const TextInMemory text(in, n);
            launchChain({2, 2, 1}, residentBlocks(together), TileOrder::BlockIndex, result, 0, arena, nullptr,
                        [=](auto chain, std::size_t tiles, Begin begin) {
                            return tryLaunch<kernValidate<char32_t, Errors::Replace, decltype(chain)>>(
                                {tiles, ValidateShape::threads, 0, begin}, nullptr, text, chain);
                        });
        });
    });
}

// Only the device knows the length of the text. A few blocks take one tile after the other.
TEST_F(SeededDecodeTest, ValidateByFewBlocks) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        constexpr std::size_t most = 7 * ValidateShape::bytes;
        const std::size_t n = most - seed % 5 * ValidateShape::bytes / 2;
        const DeviceBuffer<std::size_t> value{std::span<const std::size_t>(&n, 1)};
        expectValidated(n, seed, [&](const std::uint8_t* in, Result* result, const ScratchArena& arena) {
            const CountedText text(in, CountInDeviceMemory{value.data(), most});
            launchChain({2, 2, 1}, residentBlocks(false), TileOrder::BlockIndex, result, 0, arena, nullptr,
                        [&](auto chain, std::size_t /*tiles*/, Begin begin) {
                            return tryLaunch<kernValidate<char32_t, Errors::Replace, decltype(chain), CountedText>>(
                                {1 + seed % 3, ValidateShape::threads, 0, begin}, nullptr, text, chain);
                        });
        });
    });
}

}  // namespace
}  // namespace StreamCompaction::Testing
