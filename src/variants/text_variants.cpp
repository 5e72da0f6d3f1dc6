#include <stream_compaction/cpu/utf8.h>
#include <stream_compaction/utf8/scalar.h>

#include <cstring>
#include <system_error>
#include <type_traits>
#include <utility>

#include "problems/problems.h"
#include "variants/implementation.h"
#include "variants/text_runs.h"

#ifdef STREAM_COMPACTION_HAS_ICONV
#include <iconv.h>

#include <cerrno>
#include <cstdint>
#endif

namespace Bench {
namespace {

[[nodiscard]] Implementations reference() {
    const auto decode = [](std::span<const std::uint8_t> in, auto out) {
        return StreamCompaction::CPU::decodeUtf8(in, out);
    };
    const auto encode = [](auto in, std::span<std::uint8_t> out) { return StreamCompaction::CPU::encodeUtf8(in, out); };
    return {conversion<std::uint8_t, char32_t>(Operation::Utf8ToUtf32, "cpu", decode),
            conversion<std::uint8_t, char16_t>(Operation::Utf8ToUtf16, "cpu", decode),
            conversion<char32_t, std::uint8_t>(Operation::Utf32ToUtf8, "cpu", encode),
            conversion<char16_t, std::uint8_t>(Operation::Utf16ToUtf8, "cpu", encode),
            validation("cpu", StreamCompaction::CPU::validateUtf8)};
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
        return timedPeer("iconv", [&]() -> std::optional<std::size_t> {
            auto* from = const_cast<char*>(reinterpret_cast<const char*>(in.data()));
            auto* to = reinterpret_cast<char*>(out.data());
            std::size_t fromBytes = in.size_bytes();
            std::size_t toBytes = out.size_bytes();
            const std::size_t status = iconv(converter.get(), &from, &fromBytes, &to, &toBytes);
            return status == static_cast<std::size_t>(-1) ? std::nullopt
                                                          : std::optional(out.size() - toBytes / sizeof(To));
        });
    });
}

[[nodiscard]] Implementations iconvPeers() {
    Implementations peers{throughIconv<std::uint8_t, char32_t>(Operation::Utf8ToUtf32),
                          throughIconv<std::uint8_t, char16_t>(Operation::Utf8ToUtf16),
                          throughIconv<char32_t, std::uint8_t>(Operation::Utf32ToUtf8),
                          throughIconv<char16_t, std::uint8_t>(Operation::Utf16ToUtf8)};
    for (Implementation& peer : peers) {
        peer.runner.library = "iconv";
    }
    return peers;
}
#else
[[nodiscard]] Implementations iconvPeers() { return {}; }
#endif

}  // namespace

Implementations cpuConversions() { return joined({reference(), iconvPeers()}); }

}  // namespace Bench
