#pragma once

#include <ostream>

namespace Bench {

/// Where the program writes.
struct Console {
    std::ostream& out;
    std::ostream& err;
    bool color = false;
    bool progress = false;  ///< whether `err` is a terminal, with someone who waits
};

}  // namespace Bench
