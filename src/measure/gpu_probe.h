#pragma once

#include <stream_compaction/device_buffer.h>
#include <stream_compaction/pinned_array.h>

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

/// Holds up the default stream, so that all work is enqueued before any of it begins. The rate at which the host
/// enqueues is then no part of a time on the card.
class Barrier {
  public:
    Barrier();

    /// Enqueues a kernel that waits for open(), but no longer than 20 ms: the host may be waiting for the card, or the
    /// queue may be full.
    void close();
    void open();
    /// Whether the kernel has waited for open(). Call it once the stream has got past the barrier.
    [[nodiscard]] bool held() const { return gaveUp_ != closed_; }

  private:
    StreamCompaction::PinnedArray<unsigned> shared_{2};  ///< with the card
    unsigned& opened_ = shared_.elements()[0];           ///< how often; the host writes it
    unsigned& gaveUp_ = shared_.elements()[1];           ///< the last time that took too long; the card writes it
    unsigned closed_ = 0;                                ///< how often
};

/// The clock of a multiprocessor: counts its ticks for 0.2 ms.
class ClockProbe {
  public:
    [[nodiscard]] double megahertz();

  private:
    StreamCompaction::DeviceBuffer<unsigned long long> ticksAndNanoseconds_{2};
};

}  // namespace Bench
