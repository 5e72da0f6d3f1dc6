#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>

#include "measure/measure.h"

namespace Bench {

/// Whether standard output is a terminal whose owner has not asked for plain text by NO_COLOR (https://no-color.org).
[[nodiscard]] bool standardOutputTakesColor();

/// Whether someone watches what is written there.
[[nodiscard]] bool standardErrorIsTerminal();

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

/// A line on the terminal that tells how far a run is and how long it will still take, if measurements take as long as
/// their work makes expect.
class Progress {
  public:
    /// Nothing is written when there is no terminal. `work` is that of all measurements, in any unit.
    Progress(std::ostream* terminal, std::size_t measurements, double work, Clock now = steadyMicroseconds);

    void begin(std::string_view measurement);
    void end(double work);
    /// Takes the line away, for others to write.
    void clear();

  private:
    [[nodiscard]] std::string timeLeft() const;

    std::ostream* terminal_;
    Clock now_;
    double startUs_;
    std::size_t measurements_;
    std::size_t begun_ = 0;
    double work_;
    double workDone_ = 0;
    std::size_t written_ = 0;
};

/// `12 s`, `3 min 20 s` or `2 h 5 min`.
[[nodiscard]] std::string formatSeconds(double seconds);

}  // namespace Bench
