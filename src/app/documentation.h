#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/description.h"
#include "variants/variants.h"

/// What the program says of itself: the completions of shells, and the man page.
namespace Bench {

inline constexpr std::string_view completionsCommand = "completions";
inline constexpr std::string_view manPageCommand = "man";

/// The run, then the command `compare`. Options with a fixed choice have their values.
[[nodiscard]] std::vector<CommandDescription> describeProgram(std::span<const Variant> variants,
                                                              const std::vector<std::size_t>& defaultSizes,
                                                              bool simulated);

/// The script for a shell; `arguments` are those behind `completions`. Throws UsageError unless they name one shell.
[[nodiscard]] std::string completions(std::span<const char* const> arguments,
                                      std::span<const CommandDescription> commands);

[[nodiscard]] std::string manPage(std::span<const CommandDescription> commands);

}  // namespace Bench
