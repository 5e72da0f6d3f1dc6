#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "problems/elements.h"
#include "problems/inputs.h"

namespace Bench {

enum class Operation {
    Scan,
    ScanSquares,
    Compact,
    Partition,
    Sort,
    SortPairs,
    RowSum,
    Utf8ToUtf32,
    Utf8ToUtf16,
    Utf8Validate,
    Utf32ToUtf8,
    Utf16ToUtf8,
};

/// Those on arrays of any of the types.
inline constexpr std::array operationsOnArrays{Operation::Scan, Operation::Compact,   Operation::Partition,
                                               Operation::Sort, Operation::SortPairs, Operation::RowSum};
inline constexpr std::array operationsOnText{Operation::Utf8ToUtf32, Operation::Utf8ToUtf16, Operation::Utf8Validate,
                                             Operation::Utf32ToUtf8, Operation::Utf16ToUtf8};
inline constexpr std::array allOperations{Operation::Scan,         Operation::ScanSquares, Operation::Compact,
                                          Operation::Partition,    Operation::Sort,        Operation::SortPairs,
                                          Operation::RowSum,       Operation::Utf8ToUtf32, Operation::Utf8ToUtf16,
                                          Operation::Utf8Validate, Operation::Utf32ToUtf8, Operation::Utf16ToUtf8};

/// Whether it is on text, whose elements have no type to choose: its variants are listed under the default one.
[[nodiscard]] constexpr bool isOnText(Operation operation) { return operation >= Operation::Utf8ToUtf32; }
inline constexpr ElementType listedTypeOfText = ElementType::Int32;

/// As `--op` and the CSV call it.
[[nodiscard]] std::string_view name(Operation operation);
/// As the report's section is headed.
[[nodiscard]] std::string_view heading(Operation operation);
/// Throws UsageError, with the nearest names, for an unknown one.
[[nodiscard]] Operation parseOperation(std::string_view text);

/// The course's classic arrays for scan (`rand() % 50`) and row sums, compaction and partition (`rand() % 4`); every
/// value for sorting, which must also get the negative ones right; words of all scripts for conversions of text.
[[nodiscard]] InputPattern defaultInput(Operation operation);

/// What goes in and comes out, as the CSV calls it: `int32`, `int8->int32`, `int32,int32` for keys and values,
/// `utf8->utf32`.
[[nodiscard]] std::string typeName(Operation operation, ElementType type);

/// Of one element of the input and what it becomes, at most: of row sums those with one column have the most.
[[nodiscard]] std::size_t bytesPerElement(Operation operation, ElementType type);

/// Throws UsageError for an input on which no result could be checked.
void requireCheckable(Operation operation, ElementType type, InputPattern pattern, std::size_t n);

}  // namespace Bench
