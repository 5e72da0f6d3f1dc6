#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "stream_compaction/common.h"
#include "stream_compaction/timer.h"
#include "stream_compaction/utf8/unit.h"

/// UTF-8 on the GPU: decoding to UTF-32 and UTF-16, validation, encoding.
/// Course layer: arrays in host memory, copied to the device and back around the timed work; allocates and
/// synchronises. `out` must have room for the result, or std::invalid_argument is thrown; nothing is written past the
/// result. A failing device throws CudaError. The device layer is in utf8.cuh, the reference on the host in utf8_cpu.h.
namespace StreamCompaction::Utf8 {

/// Device time of the last call below, without allocation and copies.
inline Common::PerformanceTimer& timer() { return Common::timerOf<struct Variant>(); }

/// Into UTF-32, a code point for each unit.
Result decode(std::span<const std::uint8_t> in, std::span<char32_t> out, Errors errors = Errors::Replace,
              Bom bom = Bom::Keep);
/// Into UTF-16, native byte order.
Result decode(std::span<const std::uint8_t> in, std::span<char16_t> out, Errors errors = Errors::Replace,
              Bom bom = Bom::Keep);

/// From UTF-32; surrogates and what lies above U+10FFFF are ill-formed.
Result encode(std::span<const char32_t> in, std::span<std::uint8_t> out, Errors errors = Errors::Replace);
/// From UTF-16, native byte order; surrogates that are not of a pair are ill-formed.
Result encode(std::span<const char16_t> in, std::span<std::uint8_t> out, Errors errors = Errors::Replace);

/// Counts code points, U+FFFD for each ill-formed unit among them, and finds the first error.
Result validate(std::span<const std::uint8_t> in);

/// Decodes text in chunks, so that it may be larger than the device's memory: they are copied in, decoded and copied
/// out on three streams, which overlap where both arrays are page-locked (pinned_array.h).
class ChunkDecoder {
  public:
    static constexpr std::size_t defaultChunkBytes = std::size_t{1} << 23;

    /// Allocates device memory for three chunks, in all 15 bytes for each of a chunk's and some scratch. A chunk has at
    /// least 4 bytes, or std::invalid_argument is thrown.
    explicit ChunkDecoder(std::size_t chunkBytes = defaultChunkBytes);
    ~ChunkDecoder();
    ChunkDecoder(const ChunkDecoder&) = delete;
    ChunkDecoder& operator=(const ChunkDecoder&) = delete;

    /// What Utf8::decode does, not timed, without allocations on the device. `out` must have room for an element a
    /// byte, or std::invalid_argument is thrown.
    Result decode(std::span<const std::uint8_t> in, std::span<char32_t> out, Errors errors = Errors::Replace,
                  Bom bom = Bom::Keep);

  private:
    class Slot;

    std::array<std::unique_ptr<Slot>, 3> slots_;
};

}  // namespace StreamCompaction::Utf8
