#pragma once

#include <cstdint>
#include <span>

#include "stream_compaction/cpu.h"
#include "stream_compaction/utf8/element.h"
#include "stream_compaction/utf8/types.h"

/// UTF-8 on the host, one unit after the other: the reference for all other variants. Timed by CPU::timer(). Allocates
/// nothing. `To` and `From` are char32_t, char16_t, BigEndian of these, or Latin1. `out` must have room for the worst
/// case: one element per byte when decoding, four bytes per element of UTF-32, three per element of UTF-16 or two per
/// element of Latin-1 when encoding. Less room throws std::invalid_argument. Elements of `out` past the result's count
/// are unspecified.
namespace StreamCompaction::CPU {

/// Decodes UTF-8 to `out`.
template <typename To>
Utf8::Result decodeUtf8(std::span<const std::uint8_t> in, std::span<To> out,
                        Utf8::Errors errors = Utf8::Errors::Replace, Utf8::Bom bom = Utf8::Bom::Keep);

/// Encodes `in` as UTF-8 to `out`.
template <typename From>
Utf8::Result encodeUtf8(std::span<const From> in, std::span<std::uint8_t> out,
                        Utf8::Errors errors = Utf8::Errors::Replace);

/// Counts code points, with one U+FFFD per ill-formed unit, and finds the first error.
Utf8::Result validateUtf8(std::span<const std::uint8_t> in);

}  // namespace StreamCompaction::CPU
