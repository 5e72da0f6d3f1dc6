#include "stream_compaction/cpu/utf8.h"

#include <stdexcept>
#include <string>

#include "stream_compaction/utf8/scalar.h"

namespace StreamCompaction::CPU {

namespace {

using Utf8::Bom;
using Utf8::ErrorKind;
using Utf8::Errors;
using Utf8::Result;

void requireRoom(std::size_t size, std::size_t needed) {
    if (size < needed) {
        throw std::invalid_argument("out: expected room for " + std::to_string(needed) + " elements, got " +
                                    std::to_string(size));
    }
}

template <typename From, typename To>
Result convert(std::span<const From> in, std::span<To> out, Errors errors, Bom bom) {
    requireRoom(out.size(), in.size() * Utf8::mostElements<From, To>);
    Result result{0, Result::noError};
    timer().timeCpu([&] {
        for (std::size_t i = 0; i < in.size();) {
            const Utf8::SerialUnit unit = Utf8::unitFor<To>(in, i);
            const bool isMark = bom == Bom::Drop && i == 0 && unit.codePoint == Utf8::byteOrderMark;
            if (unit.error != ErrorKind::None && !isMark) {
                if (result.isWellFormed()) {
                    result.firstError = Result::errorAt(i, unit.error);
                }
                if (errors == Errors::Strict) {
                    return;
                }
            }
            if (!isMark && (unit.error == ErrorKind::None || errors == Errors::Replace)) {
                result.count += Utf8::put(unit.codePoint, out.data() + result.count);
            }
            i += unit.length;
        }
    });
    return result;
}

}  // namespace

template <typename To>
Result decodeUtf8(std::span<const std::uint8_t> in, std::span<To> out, Errors errors, Bom bom) {
    return convert(in, out, errors, bom);
}

template <typename From>
Result encodeUtf8(std::span<const From> in, std::span<std::uint8_t> out, Errors errors) {
    return convert(in, out, errors, Bom::Keep);
}

template Result decodeUtf8(std::span<const std::uint8_t>, std::span<char32_t>, Errors, Bom);
template Result decodeUtf8(std::span<const std::uint8_t>, std::span<char16_t>, Errors, Bom);
template Result decodeUtf8(std::span<const std::uint8_t>, std::span<Utf8::BigEndian<char32_t>>, Errors, Bom);
template Result decodeUtf8(std::span<const std::uint8_t>, std::span<Utf8::BigEndian<char16_t>>, Errors, Bom);
template Result decodeUtf8(std::span<const std::uint8_t>, std::span<Utf8::Latin1>, Errors, Bom);
template Result encodeUtf8(std::span<const char32_t>, std::span<std::uint8_t>, Errors);
template Result encodeUtf8(std::span<const char16_t>, std::span<std::uint8_t>, Errors);
template Result encodeUtf8(std::span<const Utf8::BigEndian<char32_t>>, std::span<std::uint8_t>, Errors);
template Result encodeUtf8(std::span<const Utf8::BigEndian<char16_t>>, std::span<std::uint8_t>, Errors);
template Result encodeUtf8(std::span<const Utf8::Latin1>, std::span<std::uint8_t>, Errors);

Result validateUtf8(std::span<const std::uint8_t> in) {
    Result result{0, Result::noError};
    timer().timeCpu([&] {
        for (std::size_t i = 0; i < in.size(); ++result.count) {
            const Utf8::SerialUnit unit = Utf8::unitFrom(in, i);
            if (unit.error != ErrorKind::None && result.isWellFormed()) {
                result.firstError = Result::errorAt(i, unit.error);
            }
            i += unit.length;
        }
    });
    return result;
}

}  // namespace StreamCompaction::CPU
