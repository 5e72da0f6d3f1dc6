#include "stream_compaction/utf8/encode.cuh"
#include "utf8_text.cuh"

namespace StreamCompaction::Testing {
namespace {

using namespace Utf8;

class SeededEncodeTest : public SeededUtf8Test {
  protected:
    /// Random UTF-16. With every fourth seed all characters take three bytes. With the others one element in a thousand
    /// is a lone surrogate.
    [[nodiscard]] static std::vector<char16_t> randomText(std::size_t n, std::uint64_t seed) {
        std::vector<char16_t> text;
        for (std::uint64_t i = 0; text.size() < n; ++i) {
            const char32_t codePoint = randomCodePoint(seed, i);
            char16_t elements[2];
            const std::size_t count = put(seed % 4 == 0 ? U'\u3000' + codePoint % 0x1000 : codePoint, elements);
            text.insert(text.end(), elements, elements + count);
            if (seed % 4 != 0 && randomBits(~seed, i) % 1000 == 0) {
                text.push_back(0xDC00);
            }
        }
        text.resize(n);
        return text;
    }

    static void expectEncoded(bool together, TileOrder order, std::uint64_t seed) {
        using Shape = EncodeShape<char16_t>;
        const auto text = randomText(Shape::bytes / sizeof(char16_t) + 200 + seed % 100, seed);
        expectConverted<std::uint8_t>(
            text, [=](const TextInMemory& inMemory, std::uint8_t* out, Result* result, const ScratchArena& arena) {
                const std::size_t tiles = inMemory.tiles(Shape::bytes);
                launchChain({tiles, tiles}, residentBlocks(together), order, result, 0, arena, nullptr,
                            [=](auto chain, std::size_t blocks, Begin begin) {
                                return tryLaunch<kernEncode<char16_t, Errors::Replace, decltype(chain)>>(
                                    {blocks, Shape::threads, 0, begin}, nullptr, inMemory, out, chain);
                            });
            });
    }
};

TEST_F(SeededEncodeTest, Together) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) { expectEncoded(true, TileOrder::BlockIndex, seed); });
}

TEST_F(SeededEncodeTest, ByLookBack) {
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) { expectEncoded(false, TileOrder::BlockIndex, seed); });
}

TEST_F(SeededEncodeTest, ByTickets) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) { expectEncoded(false, TileOrder::Ticket, seed); });
}

}  // namespace
}  // namespace StreamCompaction::Testing
