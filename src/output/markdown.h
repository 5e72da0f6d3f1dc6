#pragma once

#include <ostream>
#include <span>

#include "variants/outcome.h"
#include "variants/run_context.h"

namespace Bench {

/// Where the run was made, as a list, and the closing table.
void writeMarkdown(std::ostream& out, const RunContext& context, std::span<const Outcome> outcomes);

}  // namespace Bench
