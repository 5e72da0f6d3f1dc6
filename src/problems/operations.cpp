#include "problems/operations.h"

#include <fmt/format.h>

#include <limits>

#include "cli/nearest_names.h"
#include "cli/values.h"
#include "problems/inputs.h"
#include "problems/problem.h"

namespace Bench {
namespace {

using Kind = InputPattern::Kind;

struct Description {
    std::string_view name;
    InputPattern input;
    std::string_view type = "";  ///< of operations without a choice
};

/// In the order of the operations.
constexpr std::array<Description, allOperations.size()> descriptions{{
    {"scan", {Kind::Modulo, 50}},
    {"scan-squares", {Kind::Modulo, 50}},
    {"compact", {Kind::Modulo, 4}},
    {"compact-flagged", {.kind = Kind::Kept, .p = 0.05}, "flag,record"},
    {"partition", {Kind::Modulo, 4}},
    {"multi-partition", {Kind::Uniform}},
    {"sort", {Kind::Uniform}},
    {"sort-pairs", {Kind::Uniform}},
    {"top-k", {Kind::Uniform}},
    {"row-sum", {Kind::Modulo, 50}},
    {"segmented-scan", {Kind::Segments, 100}},
    {"segmented-sort", {Kind::Segments, 100}},
    {"unique", {Kind::Runs, 10}},
    {"run-length", {Kind::Runs, 10}},
    {"reduce-by-key", {Kind::Runs, 10}},
    {"histogram", {Kind::Modulo, 1 << 8}},
    {"histogram-wide", {Kind::Modulo, 1 << 16}},
    {"utf8-to-utf32", {Kind::Mixed}, "utf8->utf32"},
    {"utf8-to-utf16", {Kind::Mixed}, "utf8->utf16"},
    {"utf8-validate", {Kind::Mixed}, "utf8"},
    {"utf32-to-utf8", {Kind::Mixed}, "utf32->utf8"},
    {"utf16-to-utf8", {Kind::Mixed}, "utf16->utf8"},
}};

[[nodiscard]] const Description& describe(Operation operation) {
    return descriptions.at(static_cast<std::size_t>(operation));
}

/// The sum of 2^40 squares of numbers below this fits into 64 bits.
constexpr std::uint32_t mostToSquare = 1 << 11;

/// Whether the operation has values beside its keys, in the input or in the result.
[[nodiscard]] bool hasValues(Operation operation) {
    return operation == Operation::SortPairs || operation == Operation::RunLength ||
           operation == Operation::ReduceByKey;
}

[[nodiscard]] bool addsUp(Operation operation) {
    return operation == Operation::Scan || operation == Operation::ScanSquares || operation == Operation::RowSum ||
           operation == Operation::SegmentedScan;
}

/// Whether the operation has offsets, which count its elements.
[[nodiscard]] bool hasOffsets(Operation operation) {
    return operation == Operation::SegmentedScan || operation == Operation::SegmentedSort;
}

}  // namespace

std::string_view name(Operation operation) { return describe(operation).name; }

InputPattern defaultInput(Operation operation) { return describe(operation).input; }

Operation parseOperation(std::string_view text) { return parseName("operation", text, allOperations); }

std::string typeName(Operation operation, ElementType type) {
    if (const std::string_view only = describe(operation).type; !only.empty()) {
        return std::string(only);
    }
    return withElementType(type, [&]<typename T>(std::type_identity<T>) {
        std::string text(name(type));
        if (operation == Operation::RunLength) {
            return fmt::format("{0}->{0},{1}", text, name(elementTypeOf<PairValue>()));
        }
        if (hasValues(operation)) {
            return fmt::format("{},{}", text, name(elementTypeOf<PairValue>()));
        }
        if (addsUp(operation) && elementTypeOf<SumOf<T>>() != type) {
            return fmt::format("{}->{}", text, name(elementTypeOf<SumOf<T>>()));
        }
        return text;
    });
}

std::size_t bytesPerElement(Operation operation, ElementType type) {
    return withElementType(type, [&]<typename T>(std::type_identity<T>) {
        switch (operation) {
            case Operation::Scan:
            case Operation::ScanSquares:
            case Operation::RowSum:
            case Operation::SegmentedScan:
                return sizeof(T) + sizeof(SumOf<T>);
            case Operation::SortPairs:
            case Operation::ReduceByKey:
                return 2 * (sizeof(T) + sizeof(PairValue));
            case Operation::RunLength:
                return 2 * sizeof(T) + sizeof(PairValue);
            case Operation::Histogram:
            case Operation::HistogramWide:
                return sizeof(T) + sizeof(BinCount);
            case Operation::CompactFlagged:
                return sizeof(Flag) + 2 * sizeof(Record);
            case Operation::Utf8ToUtf32:
                return sizeof(std::uint8_t) + sizeof(char32_t);
            case Operation::Utf8ToUtf16:
                return sizeof(std::uint8_t) + sizeof(char16_t);
            case Operation::Utf8Validate:
                return sizeof(std::uint8_t);
            case Operation::Utf32ToUtf8:
                return sizeof(char32_t) + 4;
            case Operation::Utf16ToUtf8:
                return sizeof(char16_t) + 3;
            default:
                return 2 * sizeof(T);
        }
    });
}

void requireCheckable(Operation operation, ElementType type, InputPattern pattern, std::size_t n) {
    const bool randomBits =
        pattern.kind == Kind::Uniform || pattern.kind == Kind::And || pattern.kind == Kind::Segments;
    const bool floating = type == ElementType::Float || type == ElementType::Double;
    if (addsUp(operation) && floating && randomBits) {
        throw UsageError(
            fmt::format("--input: {} as {} is random bits, whose sums overflow and cancel so that none can be checked; "
                        "choose another input for {}, or leave it out",
                        toString(pattern), name(type), name(operation)));
    }
    const bool smallWholeNumbers = pattern.kind == Kind::Zeros || pattern.kind == Kind::Ones ||
                                   pattern.kind == Kind::RandomBits ||
                                   (pattern.kind == Kind::Modulo && pattern.k <= mostToSquare);
    if (operation == Operation::ScanSquares && floating && !smallWholeNumbers) {
        throw UsageError(
            fmt::format("--input: scan-squares of {} takes zeros, ones, random-bits or mod:K with K up to {}, "
                        "whose squares have exact sums, not {}",
                        name(type), mostToSquare, toString(pattern)));
    }
    const bool isHistogram = operation == Operation::Histogram || operation == Operation::HistogramWide;
    constexpr std::size_t mostCounted = std::numeric_limits<BinCount>::max();
    if (isHistogram && n > mostCounted) {
        throw UsageError(
            fmt::format("{} takes at most {} elements; choose a smaller size", name(operation), mostCounted));
    }
    constexpr std::size_t mostPairs = std::numeric_limits<PairValue>::max();
    if ((hasValues(operation) || hasOffsets(operation)) && n > mostPairs) {
        throw UsageError(
            fmt::format("{} takes at most {} elements; choose a smaller size", name(operation), mostPairs));
    }
}

}  // namespace Bench
