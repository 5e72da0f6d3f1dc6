#include "output/interrupt.h"

#include <csignal>

namespace Bench {
namespace {

// All that a signal handler may touch.
volatile std::sig_atomic_t noted = 0;

extern "C" void noteInterrupt(int signal) {
    noted = 1;
    std::signal(signal, SIG_DFL);
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

}  // namespace Bench
