#include "output/terminal.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <sstream>
#include <utility>

#ifndef _WIN32
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>
#endif

namespace Bench {
namespace {

int handled = 0;

extern "C" void handle(int /*signal*/) { ++handled; }

/// Sets the handler of SIGINT, and restores the default at the end.
class Disposition {
  public:
    explicit Disposition(void (*handler)(int)) { std::signal(SIGINT, handler); }
    ~Disposition() { std::signal(SIGINT, SIG_DFL); }
    Disposition(const Disposition&) = delete;
    Disposition& operator=(const Disposition&) = delete;
};

TEST(InterruptGuard, NotesAnInterruptSinceItWasMade) {
    const Disposition disposition(handle);
    for (int run = 0; run < 2; ++run) {
        const InterruptGuard guard;
        EXPECT_FALSE(guard.interrupted());
        std::raise(SIGINT);
        EXPECT_TRUE(guard.interrupted());
    }
    EXPECT_EQ(handled, 0);
}

TEST(InterruptGuardDeathTest, SaysWhatTheFirstInterruptDoesAndLetsTheSecondEndTheProgram) {
    EXPECT_DEATH(
        {
            const InterruptGuard guard;
            std::raise(SIGINT);
            std::raise(SIGINT);
        },
        "Interrupted: finishing this measurement; press Ctrl-C again to stop now");
}

}  // namespace
namespace {

TEST(Progress, TellsHowFarARunIsAndHowLongItWillTake) {
    std::ostringstream terminal;
    double now = 0;
    Progress progress(&terminal, 80, 3, 100, [&now] { return now; });
    progress.begin("scan naive 16");
    EXPECT_EQ(terminal.str(), "[1/3] scan naive 16");
    progress.clear();
    progress.end(20);
    now += 10e6;

    terminal.str("");
    progress.begin("scan cub 16");
    EXPECT_EQ(terminal.str(), "[2/3] scan cub 16, 40 s left");
}

TEST(Progress, LeavesTheLastColumnFreeSoThatNoLineWraps) {
    std::ostringstream terminal;
    Progress progress(&terminal, 12, 1, 1);
    progress.begin("scan naive 16");
    EXPECT_EQ(terminal.str(), "[1/1] scan ");
}

/// Sets COLUMNS, or removes it if it is empty.
void setColumns(const char* columns) {
#ifdef _WIN32
    _putenv_s("COLUMNS", columns);
#else
    *columns != '\0' ? setenv("COLUMNS", columns, 1) : unsetenv("COLUMNS");
#endif
}

TEST(StandardOutputWidth, IsThatOfTheEnvironmentWithinLimits) {
    const std::pair<const char*, int> cases[] = {{"100", 100}, {"20", 40}, {"1000", 160}};
    for (const auto& [columns, width] : cases) {
        setColumns(columns);
        EXPECT_EQ(standardOutputWidth(), width);
    }
    setColumns("");
}

#ifndef _WIN32
/// A terminal of 50 columns in the place of standard error.
class NarrowStandardError {
  public:
    NarrowStandardError() : original_(dup(STDERR_FILENO)), terminal_(posix_openpt(O_RDWR | O_NOCTTY)) {
        grantpt(terminal_);
        unlockpt(terminal_);
        const int screen = open(ptsname(terminal_), O_RDWR | O_NOCTTY);
        winsize size{};
        size.ws_col = 50;
        ioctl(screen, TIOCSWINSZ, &size);
        dup2(screen, STDERR_FILENO);
        close(screen);
    }
    ~NarrowStandardError() {
        dup2(original_, STDERR_FILENO);
        close(original_);
        close(terminal_);
    }
    NarrowStandardError(const NarrowStandardError&) = delete;
    NarrowStandardError& operator=(const NarrowStandardError&) = delete;

  private:
    int original_;
    int terminal_;
};

TEST(StandardErrorWidth, IsThatOfItsOwnTerminal) {
    setColumns("");
    const int before = standardOutputWidth();
    const NarrowStandardError narrow;
    EXPECT_EQ(standardErrorWidth(), 50);
    EXPECT_EQ(standardOutputWidth(), before);
}
#endif

TEST(FormatSeconds, TakesTheUnitThatFits) {
    EXPECT_EQ(formatSeconds(0.2), "0 s");
    EXPECT_EQ(formatSeconds(59.4), "59 s");
    EXPECT_EQ(formatSeconds(200), "3 min 20 s");
    EXPECT_EQ(formatSeconds(7500), "2 h 5 min");
}

}  // namespace
}  // namespace Bench
