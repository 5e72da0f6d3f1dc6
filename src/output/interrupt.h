#pragma once

namespace Bench {

/// While one lives, the first Ctrl-C is noted and the program goes on; a second one ends it as usual. Where they are
/// ignored, as shells have it for what runs in the background, they still are.
class InterruptGuard {
  public:
    InterruptGuard();
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

    /// Whether there was one since the guard was made.
    [[nodiscard]] bool interrupted() const;

  private:
    using Handler = void (*)(int);

    Handler previous_;
};

}  // namespace Bench
