#include "output/terminal.h"

#include <gtest/gtest.h>

#include <csignal>
#include <sstream>

namespace Bench {
namespace {

int handled = 0;

extern "C" void handle(int /*signal*/) { ++handled; }

TEST(InterruptGuard, NotesAnInterruptSinceItWasMade) {
    std::signal(SIGINT, handle);
    for (int run = 0; run < 2; ++run) {
        const InterruptGuard guard;
        EXPECT_FALSE(guard.interrupted());
        std::raise(SIGINT);
        EXPECT_TRUE(guard.interrupted());
    }
    EXPECT_EQ(handled, 0);
    std::raise(SIGINT);
    EXPECT_EQ(handled, 1);
    std::signal(SIGINT, SIG_DFL);
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

TEST(Progress, TellsHowFarARunIsAndHowLongItWillTake) {
    std::ostringstream terminal;
    double now = 0;
    Progress progress(&terminal, 28, 3, 100, [&now] { return now; });
    progress.begin("scan naive 16");
    EXPECT_EQ(terminal.str(), "[1/3] scan naive 16");
    progress.clear();
    progress.end(20);
    now += 50e6;

    terminal.str("");
    progress.begin("scan cub 16");
    EXPECT_EQ(terminal.str(), "[2/3] scan cub 16, 3 min 20");  // and no further than the terminal
}

}  // namespace
}  // namespace Bench
