#pragma once

#include <ostream>
#include <span>

#include "output/csv.h"

namespace Bench {

/// The whole run as an object: `context` tells where and how it was made, `rows` has an object a measurement, with the
/// names that the columns of the CSV have; what is empty there is null, or an empty text.
void writeJson(std::ostream& out, const RunContext& context, std::span<const Row> rows);

}  // namespace Bench
