#include "cli/description.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

namespace Bench {

std::string wrapped(const std::string& text, std::size_t columns) {
    std::istringstream words(text);
    std::string lines;
    std::size_t used = 0;
    for (std::string word; words >> word; used += word.size()) {
        if (!lines.empty()) {
            const bool fits = used + 1 + word.size() <= columns;
            lines += fits ? ' ' : '\n';
            used = fits ? used + 1 : 0;
        }
        lines += word;
    }
    return lines;
}

std::string firstClause(const std::string& text) {
    constexpr std::array<std::string_view, 5> ends{":", ";", " (", " [", ". "};
    std::size_t size = text.size();
    for (const std::string_view end : ends) {
        size = std::min(size, text.find(end));
    }
    return text.substr(0, size);
}

}  // namespace Bench
