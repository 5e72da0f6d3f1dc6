#pragma once

#include <stream_compaction/device_buffer.h>

#include <cstddef>

/// Measurements of the card itself.
namespace Bench {

/// Reads an array once, by cub::DeviceReduce.
class ReadProbe {
  public:
    explicit ReadProbe(std::size_t bytes);

    /// Enqueues it on the default stream.
    void launch();

  private:
    StreamCompaction::DeviceBuffer<int> array_;
    StreamCompaction::DeviceBuffer<int> sum_{1};
    StreamCompaction::DeviceBuffer<std::byte> scratch_;
};

/// The clock of a multiprocessor: counts its ticks for 0.2 ms.
class ClockProbe {
  public:
    [[nodiscard]] double megahertz();

  private:
    StreamCompaction::DeviceBuffer<unsigned long long> ticksAndNanoseconds_{2};
};

}  // namespace Bench
