#pragma once

#include <stdexcept>

namespace Bench {

/// Thrown by a run that cannot take this input, with the reason: it is skipped.
class CannotTakeInput : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// One variant with its memory allocated and its input in place, ready to run any number of times.
class PreparedRun {
  public:
    virtual ~PreparedRun() = default;

    /// Fills the output with a pattern that no correct run leaves behind.
    virtual void poisonOutput() = 0;
    /// The operation alone; on the device it is only enqueued, on the default stream.
    virtual void launch() = 0;
    /// Brings what the last launch computed to the problem's result.
    virtual void fetchResult() = 0;
};

}  // namespace Bench
