#include "output/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#ifdef _WIN32
#include <io.h>
#include <windows.h>
#else
#include <sys/ioctl.h>
#include <unistd.h>
#endif

namespace Bench {
namespace {

[[nodiscard]] bool isTerminal(std::FILE* stream) {
#ifdef _WIN32
    return _isatty(_fileno(stream)) != 0;
#else
    return isatty(fileno(stream)) != 0;
#endif
}

}  // namespace

bool standardOutputTakesColor() {
    const char* noColor = std::getenv("NO_COLOR");
    const bool refused = noColor != nullptr && *noColor != '\0';
    return !refused && isTerminal(stdout);
}

namespace {

#ifdef _WIN32
using Stream = DWORD;
constexpr Stream outputStream = STD_OUTPUT_HANDLE;
constexpr Stream errorStream = STD_ERROR_HANDLE;
#else
using Stream = int;
constexpr Stream outputStream = STDOUT_FILENO;
constexpr Stream errorStream = STDERR_FILENO;
#endif

/// 0 if it is unknown.
[[nodiscard]] int widthOfTerminal(Stream stream) {
#ifdef _WIN32
    CONSOLE_SCREEN_BUFFER_INFO info;
    return GetConsoleScreenBufferInfo(GetStdHandle(stream), &info) != 0 ? info.srWindow.Right - info.srWindow.Left + 1
                                                                        : 0;
#else
    winsize size{};
    return ioctl(stream, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
#endif
}

[[nodiscard]] int widthOf(Stream stream) {
    constexpr int least = 40;
    constexpr int most = 160;
    constexpr int usual = 80;
    const char* const columns = std::getenv("COLUMNS");
    int width = columns != nullptr ? std::atoi(columns) : 0;
    if (width <= 0) {
        width = widthOfTerminal(stream);
    }
    return width > 0 ? std::clamp(width, least, most) : usual;
}

}  // namespace

int standardOutputWidth() { return widthOf(outputStream); }

int standardErrorWidth() { return widthOf(errorStream); }

bool standardErrorIsTerminal() { return isTerminal(stderr); }

namespace {

/// Only system calls: a stream may be locked by what the signal interrupts.
void writeToStandardError(std::string_view text) {
#ifdef _WIN32
    [[maybe_unused]] const auto written = _write(_fileno(stderr), text.data(), static_cast<unsigned>(text.size()));
#else
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
#endif
}

// A signal handler may access nothing else.
volatile std::sig_atomic_t noted = 0;

extern "C" void noteInterrupt(int signal) {
    noted = 1;
    std::signal(signal, SIG_DFL);
    const int interruptedError = errno;
    // On a new line, because the terminal may show ^C or the progress.
    writeToStandardError("\nInterrupted: finishing this measurement; press Ctrl-C again to stop now.\n");
    errno = interruptedError;
}

}  // namespace

InterruptGuard::InterruptGuard() {
    noted = 0;
    previous_ = std::signal(SIGINT, SIG_IGN);
    if (previous_ != SIG_IGN) {
        std::signal(SIGINT, noteInterrupt);
    }
}

InterruptGuard::~InterruptGuard() { std::signal(SIGINT, previous_); }

bool InterruptGuard::interrupted() const { return noted != 0; }

Progress::Progress(std::ostream* terminal, int width, std::size_t measurements, double work, Clock now)
    : terminal_(terminal),
      width_(width),
      now_(std::move(now)),
      startUs_(now_()),
      measurements_(measurements),
      work_(work) {}

void Progress::begin(std::string_view measurement) {
    ++begun_;
    if (terminal_ == nullptr) {
        return;
    }
    clear();
    std::string line = fmt::format("[{}/{}] {}{}", begun_, measurements_, measurement, timeLeft());
    line.resize(std::min(line.size(), static_cast<std::size_t>(width_ - 1)));  // a full line would wrap
    written_ = line.size();
    *terminal_ << line << std::flush;
}

void Progress::end(double work) { workDone_ += work; }

void Progress::clear() {
    if (written_ > 0) {
        *terminal_ << '\r' << std::string(written_, ' ') << '\r' << std::flush;
        written_ = 0;
    }
}

std::string Progress::timeLeft() const {
    if (workDone_ <= 0) {
        return "";
    }
    return fmt::format(", {} left", formatSeconds((now_() - startUs_) / 1e6 * (work_ - workDone_) / workDone_));
}

std::string formatSeconds(double seconds) {
    constexpr long long minute = 60;
    constexpr long long hour = 60 * minute;
    const auto whole = std::llround(seconds);
    if (whole < minute) {
        return fmt::format("{} s", whole);
    }
    return whole < hour ? fmt::format("{} min {} s", whole / minute, whole % minute)
                        : fmt::format("{} h {} min", whole / hour, whole % hour / minute);
}

}  // namespace Bench
