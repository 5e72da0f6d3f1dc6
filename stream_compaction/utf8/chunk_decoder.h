#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "stream_compaction/utf8/types.h"

namespace StreamCompaction::Utf8 {

/// Decodes text from host memory in chunks, so that the text may be larger than the device's memory. Chunks are copied
/// in, decoded and copied out on three streams. These overlap if both arrays are page-locked (pinned_array.h).
/// All calls must be made while the device is current on which the object was made.
class ChunkDecoder {
  public:
    static constexpr std::size_t defaultChunkBytes = std::size_t{1} << 23;  ///< of text

    /// Allocates device memory for three chunks: 15 bytes for each byte of a chunk, and some scratch. Throws
    /// std::invalid_argument for chunks of less than 4 bytes, and CudaError if memory does not suffice.
    explicit ChunkDecoder(std::size_t chunkBytes = defaultChunkBytes);
    ~ChunkDecoder();
    ChunkDecoder(const ChunkDecoder&) = delete;
    ChunkDecoder& operator=(const ChunkDecoder&) = delete;

    /// The same result as Utf8::decode. Not timed. Allocates no device memory. Returns or throws only when no copy to
    /// or from the caller's memory is in flight. Throws std::invalid_argument if `out` has room for fewer elements than
    /// `in` has bytes, and CudaError if a call fails.
    Result decode(std::span<const std::uint8_t> in, std::span<char32_t> out, Errors errors = Errors::Replace,
                  Bom bom = Bom::Keep);

  private:
    class Slot;

    std::array<std::unique_ptr<Slot>, 3> slots_;
};

}  // namespace StreamCompaction::Utf8
