#include "problems/text.h"

#include <fmt/format.h>
#include <stream_compaction/common.h>
#include <stream_compaction/utf8/scalar.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "cli/usage_error.h"

namespace Bench {
namespace {

namespace Utf8 = StreamCompaction::Utf8;
using Kind = InputPattern::Kind;

/// Code points that lie side by side.
struct Script {
    char32_t first;
    std::uint32_t count;
};

constexpr Script ascii{U'!', 94};
constexpr Script cyrillic{0x410, 64};
constexpr Script cjk{0x4E00, 20902};
constexpr Script emoji{0x1F300, 768};
constexpr std::array scripts{ascii, cyrillic, cjk, emoji};

/// Code points one after the other.
class Writer {
  public:
    Writer(InputPattern pattern, std::uint64_t seed) : pattern_(pattern), seed_(seed) {}

    [[nodiscard]] char32_t next() {
        switch (pattern_.kind) {
            case Kind::Ascii:
                return letterOf(ascii);
            case Kind::Cyrillic:
                return letterOf(cyrillic);
            case Kind::Cjk:
                return letterOf(cjk);
            case Kind::Emoji:
                return letterOf(emoji);
            case Kind::Mixed:
            case Kind::IllFormed:
                return inWords();
            default:
                throw UsageError(fmt::format("--input: {} is no text", toString(pattern_)));
        }
    }

    /// Whether something ill-formed takes the place of what would come next.
    [[nodiscard]] bool failsNext() { return pattern_.kind == Kind::IllFormed && random(100) < pattern_.k; }

    [[nodiscard]] std::uint32_t random(std::uint32_t below) {
        return static_cast<std::uint32_t>((randomAt(seed_, drawn_++) >> 32) * below >> 32);
    }

  private:
    [[nodiscard]] char32_t letterOf(Script script) { return script.first + random(script.count); }

    /// Words of two to eight letters, each in one script, with spaces between.
    [[nodiscard]] char32_t inWords() {
        if (left_ == 0) {
            left_ = 2 + random(7);
            script_ = scripts[random(scripts.size())];
            return U' ';
        }
        --left_;
        return letterOf(script_);
    }

    InputPattern pattern_;
    std::uint64_t seed_;
    std::uint64_t drawn_ = 0;
    std::uint32_t left_ = 0;
    Script script_ = ascii;
};

/// An element that is ill-formed wherever it stands, or leaves what it stands in ill-formed.
[[nodiscard]] std::uint8_t badElement(Writer& writer, std::uint8_t) {
    return static_cast<std::uint8_t>(0x80 + writer.random(0x80));
}
[[nodiscard]] char16_t badElement(Writer& writer, char16_t) {
    return static_cast<char16_t>(0xD800 + writer.random(0x800));
}
[[nodiscard]] char32_t badElement(Writer& writer, char32_t) { return 0x110000 + writer.random(0x1000); }

/// Fills the span; where the last character would not fit, with spaces.
template <typename Element>
void fill(std::span<Element> text, Writer& writer) {
    std::size_t at = 0;
    while (at < text.size()) {
        if (writer.failsNext()) {
            text[at++] = badElement(writer, Element{});
            continue;
        }
        std::array<Element, 4> elements{};
        const std::size_t count = Utf8::put(writer.next(), elements.data());
        if (at + count > text.size()) {
            std::ranges::fill(text.subspan(at), static_cast<Element>(U' '));
            return;
        }
        std::copy_n(elements.begin(), count, text.begin() + static_cast<std::ptrdiff_t>(at));
        at += count;
    }
}

}  // namespace

template <typename Element>
Array<Element> makeText(InputPattern pattern, std::span<const std::size_t> sizes, std::uint64_t seed) {
    constexpr std::size_t chunkSize = std::size_t{3} << 16;  // characters of any one length fill it exactly
    const std::size_t n = std::ranges::max(sizes);
    Array<Element> text(n);
    tbb::parallel_for(std::size_t{0}, StreamCompaction::Common::divideRoundUp(n, chunkSize), [&](std::size_t chunk) {
        Writer writer(pattern, randomAt(seed, chunk));
        const std::size_t endOfChunk = std::min((chunk + 1) * chunkSize, n);
        for (std::size_t begin = chunk * chunkSize; begin < endOfChunk;) {
            std::size_t end = endOfChunk;
            for (const std::size_t size : sizes) {
                end = begin < size ? std::min(end, size) : end;
            }
            fill(std::span(text).subspan(begin, end - begin), writer);
            begin = end;
        }
    });
    return text;
}

template Array<std::uint8_t> makeText(InputPattern, std::span<const std::size_t>, std::uint64_t);
template Array<char16_t> makeText(InputPattern, std::span<const std::size_t>, std::uint64_t);
template Array<char32_t> makeText(InputPattern, std::span<const std::size_t>, std::uint64_t);

Array<std::uint8_t> readText(const std::filesystem::path& path, std::size_t n) {
    std::ifstream file(path, std::ios::binary);
    Array<std::uint8_t> text(n);
    file.read(reinterpret_cast<char*>(text.data()), static_cast<std::streamsize>(n));
    const auto count = static_cast<std::size_t>(file.gcount());
    if (count == 0 || file.bad()) {
        throw UsageError(fmt::format("--utf8-file: cannot read {}, or it is empty", path.string()));
    }
    for (std::size_t at = count; at < n; at += count) {
        std::copy_n(text.begin(), std::min(count, n - at), text.begin() + static_cast<std::ptrdiff_t>(at));
    }
    return text;
}

template <typename Element>
std::string abridgedText(std::span<const Element> text) {
    constexpr std::size_t mostBytes = 60;
    std::string shown = "\"";
    std::size_t at = 0;
    while (at < text.size() && shown.size() < mostBytes) {
        const Utf8::SerialUnit unit = Utf8::unitFrom(text, at);
        const bool isControl = unit.codePoint < U' ' || unit.codePoint == 0x7F;
        std::array<std::uint8_t, 4> bytes{};
        const std::size_t count = Utf8::put(isControl ? U' ' : unit.codePoint, bytes.data());
        shown.append(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
        at += static_cast<std::size_t>(unit.length);
    }
    return shown + (at < text.size() ? " ...\"" : "\"");
}

template std::string abridgedText(std::span<const std::uint8_t>);
template std::string abridgedText(std::span<const char16_t>);
template std::string abridgedText(std::span<const char32_t>);

}  // namespace Bench
