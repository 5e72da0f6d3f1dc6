#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stream_compaction/device_buffer.h"

/// Finds the lines of text on the GPU.
class LineSplitter {
  public:
    /// Allocates device memory for texts of up to `mostBytes` bytes: five times as many, and some scratch.
    explicit LineSplitter(std::uint32_t mostBytes);

    /// The offsets behind the line feeds of a text, in order: where the next lines begin. Synchronises.
    [[nodiscard]] std::vector<std::uint32_t> lineEnds(std::span<const char> text);

  private:
    StreamCompaction::DeviceBuffer<char> text_;
    StreamCompaction::DeviceBuffer<std::uint32_t> ends_;
    StreamCompaction::DeviceBuffer<std::size_t> count_{1};
    StreamCompaction::DeviceBuffer<std::byte> scratch_;
};
