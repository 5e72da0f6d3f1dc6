#pragma once

#include <stdexcept>

namespace Bench {

/// Something that the person at the keyboard can put right: one line that says what is wrong and what to do.
class UsageError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

}  // namespace Bench
