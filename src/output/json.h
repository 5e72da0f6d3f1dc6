#pragma once

#include <ostream>
#include <span>

#include "output/csv.h"

namespace Bench {

/// The whole run as an object. `context` describes the program and the machine. `rows` has one object per measurement,
/// with the column names of the CSV; fields that do not apply are null or an empty text.
void writeJson(std::ostream& out, const RunContext& context, std::span<const Row> rows);

}  // namespace Bench
