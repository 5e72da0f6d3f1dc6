#pragma once

#include <cstdint>
#include <span>

#include "stream_compaction/common.h"
#include "stream_compaction/timer.h"
#include "stream_compaction/utf8/chunk_decoder.h"
#include "stream_compaction/utf8/types.h"

/// UTF-8 on the GPU: decoding to UTF-32 and UTF-16, validation, encoding.
///
/// Course layer: arrays in host memory. A call allocates, copies to the device and back, and synchronises. If `out` has
/// no room for the result, std::invalid_argument is thrown. Nothing is written past the result. A failing device throws
/// CudaError. The device layer is in utf8.cuh, the reference on the host in cpu/utf8.h.
namespace StreamCompaction::Utf8 {

/// Device time of the last call below, without allocation and copies.
inline Common::PerformanceTimer& timer() { return Common::timerOf<struct Variant>(); }

/// Into UTF-32: one code point per unit.
Result decode(std::span<const std::uint8_t> in, std::span<char32_t> out, Errors errors = Errors::Replace,
              Bom bom = Bom::Keep);
/// Into UTF-16 in native byte order.
Result decode(std::span<const std::uint8_t> in, std::span<char16_t> out, Errors errors = Errors::Replace,
              Bom bom = Bom::Keep);

/// From UTF-32. Surrogates and numbers above U+10FFFF are ill-formed.
Result encode(std::span<const char32_t> in, std::span<std::uint8_t> out, Errors errors = Errors::Replace);
/// From UTF-16 in native byte order. Surrogates without their other half are ill-formed.
Result encode(std::span<const char16_t> in, std::span<std::uint8_t> out, Errors errors = Errors::Replace);

/// Counts code points, with one U+FFFD per ill-formed unit, and finds the first error.
Result validate(std::span<const std::uint8_t> in);

}  // namespace StreamCompaction::Utf8
