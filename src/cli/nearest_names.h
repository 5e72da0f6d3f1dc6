#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/values.h"

namespace Bench {

/// The names most similar to a mistyped one, nearest first, at most three.
[[nodiscard]] std::vector<std::string_view> nearestNames(std::string_view typed,
                                                         std::span<const std::string_view> known);

/// `unknown variant 'naiv': did you mean naive?`, or the whole list if no name is similar.
[[nodiscard]] std::string unknownName(std::string_view kind, std::string_view typed,
                                      std::span<const std::string_view> known);

/// The element of `known` whose name is `text`. Throws UsageError, with the nearest names, if there is none.
template <typename Values>
[[nodiscard]] auto parseName(std::string_view kind, std::string_view text, const Values& known) {
    std::vector<std::string_view> names;
    for (const auto value : known) {
        if (text == name(value)) {
            return value;
        }
        names.push_back(name(value));
    }
    throw UsageError(unknownName(kind, text, names));
}

}  // namespace Bench
