#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "inputs.h"

namespace Bench {

enum class Operation { Scan, Compact, Sort };

inline constexpr std::array allOperations{Operation::Scan, Operation::Compact, Operation::Sort};

/// As `--op` and the CSV call it.
[[nodiscard]] std::string_view name(Operation operation);
/// As the report's section is headed.
[[nodiscard]] std::string_view heading(Operation operation);
/// Throws UsageError, with the nearest names, for an unknown one.
[[nodiscard]] Operation parseOperation(std::string_view text);

/// The course's classic arrays for scan (`rand() % 50`) and compaction (`rand() % 4`); every int for sorting, which
/// must also get the negative ones right.
[[nodiscard]] InputPattern defaultInput(Operation operation);

/// What every variant must produce, by the standard library.
[[nodiscard]] std::vector<int> referenceResult(Operation operation, std::span<const int> input);

/// Bytes that any implementation has to read and write: each input element read once, each result written once.
[[nodiscard]] std::size_t bytesMoved(std::size_t inputSize, std::size_t resultSize);

}  // namespace Bench
