#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

struct SimulatedStream;

/// What the runtime offers to libraries that put work into its streams.
namespace Simulator {

/// While it lives, no other host thread is in the simulator. A thread may have several.
class Guard {
  public:
    Guard();
    ~Guard();
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
};

/// Work that goes on together with other streams: it waits for work in them, or for calls that are still to come.
class Joint {
  public:
    Joint() = default;
    virtual ~Joint() = default;
    Joint(const Joint&) = delete;
    Joint& operator=(const Joint&) = delete;

    /// The streams in which earlier work must be done first.
    [[nodiscard]] virtual std::vector<SimulatedStream*> awaited() const = 0;
    [[nodiscard]] virtual bool canGoOn() const = 0;
    /// Does one part of the work. Returns whether all of it is done.
    virtual bool goOn() = 0;
    /// What it is, and what it waits for.
    [[nodiscard]] virtual std::string description() const = 0;

    bool isFirst = false;  ///< all earlier work of its stream is done
};

/// Makes the work when it takes its place in a stream. A graph makes it anew for each launch.
using Join = std::function<std::shared_ptr<Joint>(SimulatedStream*)>;

// Call these under a guard.

/// The stream, or the legacy stream of the device.
[[nodiscard]] SimulatedStream* streamOf(SimulatedStream* stream, int device);
[[nodiscard]] int deviceOf(const SimulatedStream* stream);
void enqueueJoint(SimulatedStream* stream, const Join& join);
/// Does all work of the device's streams.
void drainDevice(int device);

/// Lets other host threads into the simulator until isTrue(). Ends the program with description() if nothing happens
/// for as long as the setting `patience` says.
void await(const std::function<bool()>& isTrue, const std::function<std::string()>& description);
/// Wakes the threads that wait.
void noteChange();

/// One of `n` numbers, drawn from the seed; 0 without a seed.
[[nodiscard]] std::size_t draw(std::size_t n);

}  // namespace Simulator
