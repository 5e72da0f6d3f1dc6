#pragma once

#include <algorithm>
#include <iterator>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace Bench {

/// The words of a command line, which are separated by blanks.
class Words {
  public:
    explicit Words(const std::string& line) {
        std::istringstream in(line);
        words_.assign(std::istream_iterator<std::string>(in), {});
        std::ranges::transform(words_, std::back_inserter(pointers_), &std::string::c_str);
    }
    Words(const Words&) = delete;
    Words& operator=(const Words&) = delete;

    [[nodiscard]] std::span<const char* const> get() const { return pointers_; }

  private:
    std::vector<std::string> words_;
    std::vector<const char*> pointers_;
};

}  // namespace Bench
