#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/description.h"

namespace Bench {

/// The man page in troff. The first command is the program itself. `date` is that of the version, or empty.
[[nodiscard]] std::string manPage(std::span<const CommandDescription> commands, std::string_view version,
                                  std::string_view date);

}  // namespace Bench
