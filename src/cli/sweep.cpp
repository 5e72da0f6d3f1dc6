#include "cli/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "cli/sizes.h"
#include "cli/usage_error.h"

namespace Bench {
namespace {

constexpr std::string_view nonPowersOfTwo = "npot";
constexpr std::size_t mostSizes = 10'000;

/// How a range goes on: by a factor or by a number of elements.
struct Step {
    std::size_t factor = 1;
    std::size_t addend = 0;

    /// The size after `n`, if it is no larger than `last`.
    [[nodiscard]] std::optional<std::size_t> after(std::size_t n, std::size_t last) const {
        return n > (last - std::min(last, addend)) / factor ? std::nullopt : std::optional(n * factor + addend);
    }
};

[[nodiscard]] Step parseStep(std::string_view text) {
    if (!text.starts_with('x')) {
        return {.factor = 1, .addend = parseSize(text)};
    }
    const std::size_t factor = parseSize(text.substr(1));
    if (factor < 2) {
        throw UsageError(fmt::format("expected a factor of at least 2 such as x4, got '{}'", text));
    }
    return {.factor = factor, .addend = 0};
}

[[nodiscard]] std::vector<std::string_view> partsBetweenColons(std::string_view text) {
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(':', begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

/// `FIRST`, `FIRST:LAST` or `FIRST:LAST:STEP`
void addRange(std::string_view text, std::set<std::size_t>& sizes) {
    const auto parts = partsBetweenColons(text);
    if (parts.size() > 3) {
        throw UsageError(fmt::format("expected FIRST:LAST:STEP, got '{}'", text));
    }
    const std::size_t first = parseSize(parts[0]);
    const std::size_t last = parts.size() > 1 ? parseSize(parts[1]) : first;
    const Step step = parts.size() > 2 ? parseStep(parts[2]) : Step{.factor = 2, .addend = 0};
    if (last < first) {
        throw UsageError(fmt::format("expected a range from a smaller to a larger size, got '{}'", text));
    }
    for (std::optional<std::size_t> n = first; n; n = step.after(*n, last)) {
        sizes.insert(*n);
        if (sizes.size() > mostSizes) {
            throw UsageError(fmt::format("'{}' makes more than {} sizes", text, mostSizes));
        }
    }
}

}  // namespace

std::size_t nonPowerOfTwoBelow(std::size_t n) {
    constexpr std::size_t missing = 3;
    return n > missing ? n - missing : 1;
}

std::vector<std::size_t> parseSweep(std::span<const std::string> items) {
    std::set<std::size_t> sizes;
    for (const std::string& item : items) {
        if (item != nonPowersOfTwo) {
            addRange(item, sizes);
        }
    }
    if (sizes.empty()) {
        throw UsageError(fmt::format("expected sizes beside '{}'", nonPowersOfTwo));
    }
    if (std::ranges::find(items, nonPowersOfTwo) != items.end()) {
        for (const std::size_t n : std::vector(sizes.begin(), sizes.end())) {
            sizes.insert(nonPowerOfTwoBelow(n));
        }
    }
    return {sizes.begin(), sizes.end()};
}

}  // namespace Bench
