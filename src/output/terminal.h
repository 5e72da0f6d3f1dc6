#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>

#include "measure/measure.h"

namespace Bench {

/// Whether standard output is a terminal and NO_COLOR (https://no-color.org) is not set.
[[nodiscard]] bool standardOutputTakesColor();

/// Whether the stream is a terminal.
[[nodiscard]] bool standardErrorIsTerminal();

/// The columns that a line of standard output has: COLUMNS in the environment, else what the terminal says, else 80. At
/// least 40, at most 160.
[[nodiscard]] int standardOutputWidth();

/// The same of standard error, which may be another terminal, or one while standard output is a file.
[[nodiscard]] int standardErrorWidth();

/// While an object lives, the first Ctrl-C is noted, standard error says so, and the program goes on; a second one ends
/// it as usual. If the signal is ignored, as in background jobs of a shell, it stays ignored.
class InterruptGuard {
  public:
    InterruptGuard();
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;

    /// Whether Ctrl-C was pressed since the guard was made.
    [[nodiscard]] bool interrupted() const;

  private:
    using Handler = void (*)(int);

    Handler previous_;
};

/// A progress line on the terminal, cut off at its width. The remaining time is estimated from the work of the
/// remaining measurements.
class Progress {
  public:
    /// Writes nothing if there is no terminal. `work` is the total of all measurements, in any unit.
    Progress(std::ostream* terminal, int width, std::size_t measurements, double work, Clock now = steadyMicroseconds);

    void begin(std::string_view measurement);
    void end(double work);
    /// Removes the line, so that others can write.
    void clear();

  private:
    [[nodiscard]] std::string timeLeft() const;

    std::ostream* terminal_;
    int width_;
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
