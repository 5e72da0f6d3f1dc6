#pragma once

#include <span>
#include <string>

#include "cli/description.h"

namespace Bench {

/// The script that completes the program's command line in a shell. The first command is the program itself. The words
/// of the others follow its name. A choice that begins with ^ is offered once the ^ is typed.
[[nodiscard]] std::string bashCompletions(std::span<const CommandDescription> commands);
[[nodiscard]] std::string zshCompletions(std::span<const CommandDescription> commands);
[[nodiscard]] std::string fishCompletions(std::span<const CommandDescription> commands);

}  // namespace Bench
