#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace Bench {

/// The names that a mistyped one may have meant, nearest first, at most three.
[[nodiscard]] std::vector<std::string_view> nearestNames(std::string_view typed,
                                                         std::span<const std::string_view> known);

/// `unknown variant 'naiv': did you mean naive?`, or the whole list when no name is near.
[[nodiscard]] std::string unknownName(std::string_view kind, std::string_view typed,
                                      std::span<const std::string_view> known);

}  // namespace Bench
