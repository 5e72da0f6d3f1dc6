#include "output/interrupt.h"

#include <gtest/gtest.h>

#include <csignal>

namespace Bench {
namespace {

int handled = 0;

extern "C" void handle(int /*signal*/) { ++handled; }

/// Sets what an interrupt does, and back to the default at the end.
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

TEST(InterruptGuard, LeavesTheNextOnesToWhoeverHadThemBefore) {
    const Disposition disposition(handle);
    handled = 0;
    { const InterruptGuard guard; }
    std::raise(SIGINT);
    EXPECT_EQ(handled, 1);
}

TEST(InterruptGuard, LetsInterruptsBeIgnoredWhereTheyWere) {
    const Disposition disposition(SIG_IGN);
    const InterruptGuard guard;
    std::raise(SIGINT);
    EXPECT_FALSE(guard.interrupted());
}

TEST(InterruptGuardDeathTest, LetsTheSecondInterruptEndTheProgram) {
    EXPECT_DEATH(
        {
            const InterruptGuard guard;
            std::raise(SIGINT);
            std::raise(SIGINT);
        },
        "");
}

}  // namespace
}  // namespace Bench
