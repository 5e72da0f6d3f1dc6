#pragma once

#include <cstdint>
#include <span>

#include "stream_compaction/common.h"
#include "stream_compaction/timer.h"
#include "stream_compaction/utf8/chunk_decoder.h"
#include "stream_compaction/utf8/element.h"
#include "stream_compaction/utf8/types.h"

/// UTF-8 on the GPU: decoding to UTF-32, UTF-16 and Latin-1, validation, encoding. `To` and `From` are char32_t,
/// char16_t, BigEndian of these, or Latin1 (utf8/element.h).
///
/// Course layer: arrays in host memory. A call allocates, copies to the device and back, and synchronises. If `out` has
/// no room for the result, std::invalid_argument is thrown. Nothing is written past the result. A failing device throws
/// CudaError. The device layer is in utf8.cuh, the reference on the host in cpu/utf8.h.
namespace StreamCompaction::Utf8 {

/// Device time of the last call below, without allocation and copies.
inline Common::PerformanceTimer& timer() { return Common::timerOf<struct Variant>(); }

/// From UTF-8. In Latin-1 a code point above U+00FF counts as ill-formed, and `?` replaces ill-formed units.
template <typename To>
Result decode(std::span<const std::uint8_t> in, std::span<To> out, Errors errors = Errors::Replace,
              Bom bom = Bom::Keep);

/// Into UTF-8. In UTF-32 surrogates and numbers above U+10FFFF are ill-formed, in UTF-16 surrogates without their other
/// half.
template <typename From>
Result encode(std::span<const From> in, std::span<std::uint8_t> out, Errors errors = Errors::Replace);

/// Counts code points, with one U+FFFD per ill-formed unit, and finds the first error.
Result validate(std::span<const std::uint8_t> in);

}  // namespace StreamCompaction::Utf8
