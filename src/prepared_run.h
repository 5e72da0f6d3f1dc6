#pragma once

#include <span>

namespace Bench {

/// One variant with its memory allocated and its input in place, ready to run any number of times.
class PreparedRun {
  public:
    virtual ~PreparedRun() = default;

    /// Fills the output with a pattern that no correct run leaves behind.
    virtual void poisonOutput() = 0;
    /// The operation alone; on the device it is only enqueued, on the default stream.
    virtual void launch() = 0;
    /// What the last launch computed; valid until the next call.
    [[nodiscard]] virtual std::span<const int> result() = 0;
};

}  // namespace Bench
