#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "problems/elements.h"

namespace Bench {

struct InputPattern;

enum class Operation {
    Scan,
    ScanSquares,
    Compact,
    CompactFlagged,
    Partition,
    MultiPartition,
    Sort,
    SortPairs,
    TopK,
    RowSum,
    SegmentedScan,
    SegmentedSort,
    Unique,
    RunLength,
    ReduceByKey,
    Histogram,
    HistogramWide,
    Utf8ToUtf32,
    Utf8ToUtf16,
    Utf8Validate,
    Utf32ToUtf8,
    Utf16ToUtf8,
};

/// Operations on arrays of every element type.
inline constexpr std::array operationsOnArrays{Operation::Scan, Operation::Compact,   Operation::Partition,
                                               Operation::Sort, Operation::SortPairs, Operation::RowSum};
/// Operations on the segments of arrays of integers: elements of a segment have the same lowest bit.
inline constexpr std::array operationsOnSegments{Operation::SegmentedScan, Operation::SegmentedSort};
/// Operations on runs of equal neighbours, in arrays of every element type.
inline constexpr std::array operationsOnRuns{Operation::Unique, Operation::RunLength, Operation::ReduceByKey};
inline constexpr std::array operationsOnText{Operation::Utf8ToUtf32, Operation::Utf8ToUtf16, Operation::Utf8Validate,
                                             Operation::Utf32ToUtf8, Operation::Utf16ToUtf8};
/// Operations on arrays of bytes and ints.
inline constexpr std::array histograms{Operation::Histogram, Operation::HistogramWide};
inline constexpr std::array allOperations{
    Operation::Scan,          Operation::ScanSquares,    Operation::Compact,       Operation::CompactFlagged,
    Operation::Partition,     Operation::MultiPartition, Operation::Sort,          Operation::SortPairs,
    Operation::TopK,          Operation::RowSum,         Operation::SegmentedScan, Operation::SegmentedSort,
    Operation::Unique,        Operation::RunLength,      Operation::ReduceByKey,   Operation::Histogram,
    Operation::HistogramWide, Operation::Utf8ToUtf32,    Operation::Utf8ToUtf16,   Operation::Utf8Validate,
    Operation::Utf32ToUtf8,   Operation::Utf16ToUtf8};

/// What runs unless --op says otherwise: the operations whose variants are the rungs of the ladder.
inline constexpr std::array ladder{Operation::Scan, Operation::Compact, Operation::Sort};

/// Whether the operation is on text. Its element type cannot be chosen; its variants are listed under the default type.
[[nodiscard]] constexpr bool isOnText(Operation operation) { return operation >= Operation::Utf8ToUtf32; }
inline constexpr ElementType listedTypeOfText = ElementType::Int32;

/// The name in `--op` and the CSV.
[[nodiscard]] std::string_view name(Operation operation);
/// Throws UsageError, with the nearest names, for an unknown name.
[[nodiscard]] Operation parseOperation(std::string_view text);

/// The course's arrays for scans and row sums (`rand() % 50`) and for compaction and partition (`rand() % 4`).
/// Compaction by flags keeps few elements. Histograms get every bin equally often. Sorts and partitions into many parts
/// get all values, because negative keys need care. Operations on runs get runs of ten elements on average, those on
/// segments any values in segments of a hundred elements on average. Conversions get words of all scripts.
[[nodiscard]] InputPattern defaultInput(Operation operation);

/// The types of the input and the result, as in the CSV: `int32`, `int8->int32`, `int32,int32` for keys and values,
/// `utf8->utf32`.
[[nodiscard]] std::string typeName(Operation operation, ElementType type);

/// Upper bound of the bytes of an input element and its result. Row sums reach it with one column.
[[nodiscard]] std::size_t bytesPerElement(Operation operation, ElementType type);

/// Throws UsageError for an input whose result could not be checked.
void requireCheckable(Operation operation, ElementType type, InputPattern pattern, std::size_t n);

}  // namespace Bench
