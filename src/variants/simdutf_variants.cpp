#include <simdutf.h>

#include <atomic>
#include <cstdint>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "problems/chunks.h"
#include "variants/implementation.h"
#include "variants/text_runs.h"

namespace Bench {
namespace {

constexpr std::string_view oneCore = "simdutf";
constexpr std::string_view allCores = "simdutf-parallel";

/// simdutf's functions for one conversion. Its bytes are chars.
template <typename From, typename To>
struct Functions {
    bool (*isWellFormed)(const From* in, std::size_t size) noexcept;
    std::size_t (*length)(const From* in, std::size_t size) noexcept;  ///< of the result, for well-formed text
    std::size_t (*convert)(const From* in, std::size_t size, To* out) noexcept;  ///< 0 for ill-formed text
    std::size_t (*convertWellFormed)(const From* in, std::size_t size, To* out) noexcept;
};

constexpr Functions<char, char32_t> utf8ToUtf32{simdutf::validate_utf8, simdutf::utf32_length_from_utf8,
                                                simdutf::convert_utf8_to_utf32, simdutf::convert_valid_utf8_to_utf32};
constexpr Functions<char, char16_t> utf8ToUtf16{simdutf::validate_utf8, simdutf::utf16_length_from_utf8,
                                                simdutf::convert_utf8_to_utf16, simdutf::convert_valid_utf8_to_utf16};
constexpr Functions<char32_t, char> utf32ToUtf8{simdutf::validate_utf32, simdutf::utf8_length_from_utf32,
                                                simdutf::convert_utf32_to_utf8, simdutf::convert_valid_utf32_to_utf8};
constexpr Functions<char16_t, char> utf16ToUtf8{simdutf::validate_utf16, simdutf::utf8_length_from_utf16,
                                                simdutf::convert_utf16_to_utf8, simdutf::convert_valid_utf16_to_utf8};

/// The element in which the program stores what simdutf takes as T.
template <typename T>
using Stored = std::conditional_t<std::is_same_v<T, char>, std::uint8_t, T>;

[[nodiscard]] bool continuesCharacter(char x) { return (static_cast<unsigned char>(x) & 0xC0u) == 0x80u; }
[[nodiscard]] bool continuesCharacter(char16_t x) { return (x & 0xFC00u) == 0xDC00u; }
[[nodiscard]] bool continuesCharacter(char32_t /*x*/) { return false; }

/// The text in pieces that end between characters, unless it is ill-formed.
template <typename From>
class Pieces {
  public:
    Pieces(const From* text, std::size_t size) : text_(text), size_(size) {}

    [[nodiscard]] std::size_t count() const { return chunksOf(size_); }

    /// Calls `work(piece, begin, size)` for each piece, on all cores.
    template <typename Work>
    void forEach(const Work& work) const {
        forEachChunk(size_, [&](std::size_t piece, std::size_t begin, std::size_t end) {
            const std::size_t first = atCharacter(begin);
            work(piece, text_ + first, atCharacter(end) - first);
        });
    }

  private:
    [[nodiscard]] std::size_t atCharacter(std::size_t i) const {
        while (i > 0 && i < size_ && continuesCharacter(text_[i])) {
            ++i;
        }
        return i;
    }

    const From* text_;
    std::size_t size_;
};

/// The place of each piece in the result, and behind them the length of the result. Nothing for ill-formed text.
template <typename From, typename To>
[[nodiscard]] std::optional<std::vector<std::size_t>> placesOf(const Pieces<From>& pieces,
                                                               const Functions<From, To>& functions) {
    std::vector<std::size_t> places(pieces.count() + 1);
    std::atomic<bool> isWellFormed = true;
    pieces.forEach([&](std::size_t piece, const From* in, std::size_t size) {
        if (functions.isWellFormed(in, size)) {
            places[piece] = functions.length(in, size);
        } else {
            isWellFormed = false;
        }
    });
    std::exclusive_scan(places.begin(), places.end(), places.begin(), std::size_t{0});
    return isWellFormed ? std::optional(std::move(places)) : std::nullopt;
}

/// Each peer returns the length of the result. Nothing for ill-formed text.
using Length = std::optional<std::size_t>;

template <typename From, typename To>
[[nodiscard]] Length convertOnOneCore(const Functions<From, To>& functions, const From* in, std::size_t size, To* out) {
    const std::size_t length = functions.convert(in, size, out);
    return length > 0 || size == 0 ? Length(length) : std::nullopt;
}

template <typename From, typename To>
[[nodiscard]] Length convertOnAllCores(const Functions<From, To>& functions, const From* in, std::size_t size,
                                       To* out) {
    const Pieces<From> pieces(in, size);
    const auto places = placesOf(pieces, functions);
    if (!places) {
        return std::nullopt;
    }
    pieces.forEach([&](std::size_t piece, const From* text, std::size_t length) {
        [[maybe_unused]] const auto written = functions.convertWellFormed(text, length, out + (*places)[piece]);
    });
    return places->back();
}

[[nodiscard]] Length validateOnOneCore(const char* in, std::size_t size) {
    return simdutf::validate_utf8(in, size) ? Length(simdutf::count_utf8(in, size)) : std::nullopt;
}

[[nodiscard]] Length validateOnAllCores(const char* in, std::size_t size) {
    const auto places = placesOf(Pieces(in, size), utf8ToUtf32);
    return places ? Length(places->back()) : std::nullopt;
}

template <typename From, typename To>
[[nodiscard]] Implementations conversions(Operation operation, const Functions<From, To>& functions) {
    const auto through = [&](std::string_view variant, auto convert) {
        return conversion<Stored<From>, Stored<To>>(
            operation, variant, [=](std::span<const Stored<From>> in, std::span<Stored<To>> out) {
                return timedPeer(variant, [&] {
                    return convert(functions, reinterpret_cast<const From*>(in.data()), in.size(),
                                   reinterpret_cast<To*>(out.data()));
                });
            });
    };
    return {through(oneCore, convertOnOneCore<From, To>), through(allCores, convertOnAllCores<From, To>)};
}

[[nodiscard]] Implementations validations() {
    const auto through = [](std::string_view variant, auto validate) {
        return validation(variant, [=](std::span<const std::uint8_t> in) {
            return timedPeer(variant, [&] { return validate(reinterpret_cast<const char*>(in.data()), in.size()); });
        });
    };
    return {through(oneCore, validateOnOneCore), through(allCores, validateOnAllCores)};
}

}  // namespace

Implementations simdutfPeers() {
    Implementations peers =
        joined({conversions(Operation::Utf8ToUtf32, utf8ToUtf32), conversions(Operation::Utf8ToUtf16, utf8ToUtf16),
                validations(), conversions(Operation::Utf32ToUtf8, utf32ToUtf8),
                conversions(Operation::Utf16ToUtf8, utf16ToUtf8)});
    for (Implementation& peer : peers) {
        peer.runner.library = "simdutf " SIMDUTF_VERSION;
    }
    return peers;
}

}  // namespace Bench
