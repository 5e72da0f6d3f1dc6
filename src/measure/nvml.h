#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace Bench {

/// The reasons in NVML's mask of clock event reasons, in words; empty if there are none. That a card is idle, and
/// clocks that its user has set, are no reasons.
[[nodiscard]] std::string describeThrottling(std::uint64_t reasons);

/// The driver's management library, if it is found at run time.
class Nvml {
  public:
    /// For the card at this PCI address, such as `0000:3B:00.0`.
    explicit Nvml(const std::string& busId);
    ~Nvml();
    Nvml(const Nvml&) = delete;
    Nvml& operator=(const Nvml&) = delete;

    /// What holds the clock down now; empty if nothing does, or if nothing is known.
    [[nodiscard]] std::string throttleReason() const;

  private:
    class Library;

    std::unique_ptr<const Library> library_;
    void* card_;  ///< the library's handle; null if it does not know the card
};

}  // namespace Bench
