#include <stream_compaction/cpu/utf8.h>
#include <stream_compaction/utf8/scalar.h>

#include <cstring>
#include <system_error>
#include <type_traits>
#include <utility>

#include "problems/problems.h"
#include "variants/implementation.h"

#ifdef STREAM_COMPACTION_HAS_ICONV
#include <iconv.h>

#include <cerrno>
#include <cstdint>
#endif
#ifdef STREAM_COMPACTION_HAS_SIMDUTF
#include <simdutf.h>
#endif

namespace Bench {
namespace {

namespace Utf8 = StreamCompaction::Utf8;
using StreamCompaction::CPU::timer;
using Utf8::Result;

/// `convert(input, output)` gets an output with room for the worst case, and times itself by the library's timer.
template <typename From, typename To, typename Convert>
class ConversionRun final : public PreparedRun {
  public:
    ConversionRun(ConversionProblem<From, To>& problem, Convert convert)
        : problem_(problem), convert_(std::move(convert)) {}

    void poisonOutput() override {
        makeRoom();
        Array<To>& out = problem_.result().elements;
        std::memset(out.data(), 0xCD, out.size() * sizeof(To));
        problem_.result().result = {};
    }
    void launch() override {
        makeRoom();
        problem_.result().result = convert_(problem_.input(), std::span(problem_.result().elements));
    }
    void fetchResult() override { problem_.result().elements.resize(problem_.result().result.count); }

  private:
    void makeRoom() { problem_.result().elements.resize(problem_.size() * Utf8::mostElements<From, To>); }

    ConversionProblem<From, To>& problem_;
    Convert convert_;
};

template <typename From, typename To, typename Convert>
[[nodiscard]] Implementation conversion(Operation operation, std::string_view variant, Convert convert) {
    using SomeProblem = ConversionProblem<From, To>;
    return {operation,
            listedTypeOfText,
            variant,
            {.prepare = [convert](Problem& problem, int) -> std::unique_ptr<PreparedRun> {
                return std::make_unique<ConversionRun<From, To, Convert>>(dynamic_cast<SomeProblem&>(problem), convert);
            }}};
}

class ValidationRun final : public PreparedRun {
  public:
    explicit ValidationRun(ValidationProblem& problem) : problem_(problem) {}

    void poisonOutput() override { problem_.result() = {}; }
    void launch() override { problem_.result() = StreamCompaction::CPU::validateUtf8(problem_.input()); }
    void fetchResult() override {}

  private:
    ValidationProblem& problem_;
};

[[nodiscard]] Implementations reference() {
    const auto decode = [](std::span<const std::uint8_t> in, auto out) {
        return StreamCompaction::CPU::decodeUtf8(in, out);
    };
    const auto encode = [](auto in, std::span<std::uint8_t> out) { return StreamCompaction::CPU::encodeUtf8(in, out); };
    return {conversion<std::uint8_t, char32_t>(Operation::Utf8ToUtf32, "cpu", decode),
            conversion<std::uint8_t, char16_t>(Operation::Utf8ToUtf16, "cpu", decode),
            conversion<char32_t, std::uint8_t>(Operation::Utf32ToUtf8, "cpu", encode),
            conversion<char16_t, std::uint8_t>(Operation::Utf16ToUtf8, "cpu", encode),
            {Operation::Utf8Validate,
             listedTypeOfText,
             "cpu",
             {.prepare = [](Problem& problem, int) -> std::unique_ptr<PreparedRun> {
                 return std::make_unique<ValidationRun>(dynamic_cast<ValidationProblem&>(problem));
             }}}};
}

/// Times `convert(count)`, which sets the number of elements written and returns whether the text is well-formed. Peers
/// take only well-formed text.
template <typename Convert>
[[nodiscard]] Result timed(const char* peer, const Convert& convert) {
    std::size_t count = 0;
    bool isWellFormed = true;
    timer().timeCpu([&] { isWellFormed = convert(count); });
    if (!isWellFormed) {
        throw CannotTakeInput(std::string(peer) + " stops at what is ill-formed, or cut off inside a character");
    }
    return {count, Result::noError};
}

#ifdef STREAM_COMPACTION_HAS_ICONV
template <typename Element>
constexpr const char* iconvName = sizeof(Element) == 1   ? "UTF-8"
                                  : sizeof(Element) == 2 ? "UTF-16LE"
                                                         : "UTF-32LE";

/// An open iconv conversion between two encodings.
class Iconv {
  public:
    /// Throws std::system_error if iconv does not have this conversion.
    Iconv(const char* to, const char* from) : descriptor_(iconv_open(to, from)) {
        if (reinterpret_cast<std::intptr_t>(descriptor_) == -1) {
            throw std::system_error(errno, std::generic_category(), "iconv_open");
        }
    }
    ~Iconv() { iconv_close(descriptor_); }
    Iconv(const Iconv&) = delete;
    Iconv& operator=(const Iconv&) = delete;

    [[nodiscard]] iconv_t get() const { return descriptor_; }

  private:
    iconv_t descriptor_;
};

template <typename From, typename To>
[[nodiscard]] Implementation throughIconv(Operation operation) {
    return conversion<From, To>(operation, "iconv", [](std::span<const From> in, std::span<To> out) {
        const Iconv converter(iconvName<To>, iconvName<From>);
        return timed("iconv", [&](std::size_t& count) {
            auto* from = const_cast<char*>(reinterpret_cast<const char*>(in.data()));
            auto* to = reinterpret_cast<char*>(out.data());
            std::size_t fromBytes = in.size_bytes();
            std::size_t toBytes = out.size_bytes();
            const std::size_t status = iconv(converter.get(), &from, &fromBytes, &to, &toBytes);
            count = out.size() - toBytes / sizeof(To);
            return status != static_cast<std::size_t>(-1);
        });
    });
}

[[nodiscard]] Implementations iconvPeers() {
    return {throughIconv<std::uint8_t, char32_t>(Operation::Utf8ToUtf32),
            throughIconv<std::uint8_t, char16_t>(Operation::Utf8ToUtf16),
            throughIconv<char32_t, std::uint8_t>(Operation::Utf32ToUtf8),
            throughIconv<char16_t, std::uint8_t>(Operation::Utf16ToUtf8)};
}
#else
[[nodiscard]] Implementations iconvPeers() { return {}; }
#endif

#ifdef STREAM_COMPACTION_HAS_SIMDUTF
template <typename From, typename To, typename Convert>
[[nodiscard]] Implementation throughSimdutf(Operation operation, Convert convert) {
    return conversion<From, To>(operation, "simdutf", [convert](std::span<const From> in, std::span<To> out) {
        return timed("simdutf", [&](std::size_t& count) {
            count = convert(in, out);
            return count > 0 || in.empty();
        });
    });
}

[[nodiscard]] Implementations simdutfPeers() {
    const auto bytes = [](std::span<const std::uint8_t> text) { return reinterpret_cast<const char*>(text.data()); };
    const auto room = [](std::span<std::uint8_t> text) { return reinterpret_cast<char*>(text.data()); };
    return {
        throughSimdutf<std::uint8_t, char32_t>(
            Operation::Utf8ToUtf32,
            [bytes](auto in, auto out) { return simdutf::convert_utf8_to_utf32(bytes(in), in.size(), out.data()); }),
        throughSimdutf<std::uint8_t, char16_t>(
            Operation::Utf8ToUtf16,
            [bytes](auto in, auto out) { return simdutf::convert_utf8_to_utf16(bytes(in), in.size(), out.data()); }),
        throughSimdutf<char32_t, std::uint8_t>(
            Operation::Utf32ToUtf8,
            [room](auto in, auto out) { return simdutf::convert_utf32_to_utf8(in.data(), in.size(), room(out)); }),
        throughSimdutf<char16_t, std::uint8_t>(Operation::Utf16ToUtf8, [room](auto in, auto out) {
            return simdutf::convert_utf16_to_utf8(in.data(), in.size(), room(out));
        })};
}
#else
[[nodiscard]] Implementations simdutfPeers() { return {}; }
#endif

}  // namespace

Implementations cpuConversions() { return joined({reference(), iconvPeers(), simdutfPeers()}); }

}  // namespace Bench
