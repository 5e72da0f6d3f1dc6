#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "element_type.h"
#include "inputs.h"

namespace Bench {

enum class Operation { Scan, Compact, Partition, Sort, SortPairs, RowSum };

inline constexpr std::array allOperations{Operation::Scan, Operation::Compact,   Operation::Partition,
                                          Operation::Sort, Operation::SortPairs, Operation::RowSum};

/// As `--op` and the CSV call it.
[[nodiscard]] std::string_view name(Operation operation);
/// As the report's section is headed.
[[nodiscard]] std::string_view heading(Operation operation);
/// Throws UsageError, with the nearest names, for an unknown one.
[[nodiscard]] Operation parseOperation(std::string_view text);

/// The course's classic arrays for scan (`rand() % 50`) and row sums, compaction and partition (`rand() % 4`); every
/// value for sorting, which must also get the negative ones right.
[[nodiscard]] InputPattern defaultInput(Operation operation);

/// What goes in and comes out, as the CSV calls it: `int32`, `int8->int32`, `int32,int32` for keys and values.
[[nodiscard]] std::string typeName(Operation operation, ElementType type);

/// Of one element of the input and one of the result, of which row sums have the most with one column.
[[nodiscard]] std::size_t bytesPerElement(Operation operation, ElementType type);

/// Throws UsageError for an input on which no result could be checked.
void requireCheckable(Operation operation, ElementType type, InputPattern pattern, std::size_t n);

}  // namespace Bench
