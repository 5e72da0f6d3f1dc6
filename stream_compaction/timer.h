#pragma once

#include <chrono>
#include <memory>
#include <utility>

namespace StreamCompaction::Common {

/// Times one operation at a time: on the host by std::chrono, on the device by a pair of CUDA events on the default
/// stream. Each GPU start creates its events on the current device. The CPU half works on machines without a device.
///
/// Each start needs its end. Starting twice, ending without a start, or reading a time before the first end throws
/// std::logic_error and leaves the timer usable.
class PerformanceTimer {
  public:
    PerformanceTimer();
    ~PerformanceTimer();
    PerformanceTimer(const PerformanceTimer&) = delete;
    PerformanceTimer& operator=(const PerformanceTimer&) = delete;
    PerformanceTimer(PerformanceTimer&&) = delete;
    PerformanceTimer& operator=(PerformanceTimer&&) = delete;

    /// Starts the clock of the host.
    void startCpuTimer();
    /// Stops the clock of the host.
    void endCpuTimer();

    /// Records an event; does not synchronise. Throws CudaError where there is no device.
    void startGpuTimer();
    /// Records an event and waits for it.
    void endGpuTimer();

    /// Milliseconds between the last start and end.
    [[nodiscard]] float getCpuElapsedTimeForPreviousOperation() const;
    /// Milliseconds between the last start and end on the GPU.
    [[nodiscard]] float getGpuElapsedTimeForPreviousOperation() const;

    /// Times `operation()`. If it throws, there is no measurement and the timer stays usable.
    template <typename Operation>
    void timeCpu(Operation&& operation) {
        startCpuTimer();
        const Abandon onFailure(cpu_.running);
        std::forward<Operation>(operation)();
        endCpuTimer();
    }
    /// The same on the GPU.
    template <typename Operation>
    void timeGpu(Operation&& operation) {
        startGpuTimer();
        const Abandon onFailure(gpu_.running);
        std::forward<Operation>(operation)();
        endGpuTimer();
    }

  private:
    struct Stopwatch {
        bool running = false;
        bool measured = false;
        float milliseconds = 0;

        void requireIdle(const char* which) const;
        void requireRunning(const char* which) const;
        void stop(float elapsed);
        [[nodiscard]] float read(const char* which) const;
    };

    /// Ends a measurement when a scope is left, also by an exception. After a regular end it changes nothing.
    class Abandon {
      public:
        explicit Abandon(bool& running) : running_(running) {}
        ~Abandon() { running_ = false; }
        Abandon(const Abandon&) = delete;
        Abandon& operator=(const Abandon&) = delete;

      private:
        bool& running_;
    };

    struct EventPair;

    Stopwatch cpu_;
    Stopwatch gpu_;
    std::chrono::steady_clock::time_point cpuStart_;
    std::unique_ptr<EventPair> events_;
};

/// The timer that the calls of a variant share. `Variant` is any type of the variant's own; it may be incomplete.
template <typename Variant>
[[nodiscard]] PerformanceTimer& timerOf() {
    static PerformanceTimer timer;
    return timer;
}

}  // namespace StreamCompaction::Common
