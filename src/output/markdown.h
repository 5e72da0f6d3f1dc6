#pragma once

#include <ostream>
#include <span>

#include "measure/run_context.h"
#include "output/outcome.h"

namespace Bench {

/// Where the run was made, as a list, and the closing table.
void writeMarkdown(std::ostream& out, const RunContext& context, std::span<const Outcome> outcomes);

}  // namespace Bench
