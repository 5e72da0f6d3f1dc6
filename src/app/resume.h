#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "app/plan.h"
#include "variants/run_context.h"

namespace Bench {

/// Takes the measurements out of the plan that a CSV file has of this card and commit, and that are right. Returns how
/// many that were; none when there is no such file. Throws UsageError when it is something else.
std::size_t leaveOutMeasured(std::vector<Section>& sections, const std::filesystem::path& csv,
                             const RunContext& context);

}  // namespace Bench
