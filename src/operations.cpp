#include "operations.h"

#include <fmt/format.h>

#include <limits>
#include <stdexcept>

#include "nearest_names.h"
#include "problem.h"
#include "usage_error.h"

namespace Bench {
namespace {

using Kind = InputPattern::Kind;

struct Description {
    std::string_view name;
    std::string_view heading;
    InputPattern input;
};

[[nodiscard]] const Description& describe(Operation operation) {
    static constexpr Description scan{"scan", "SCAN TESTS", {Kind::Modulo, 50}};
    static constexpr Description compact{"compact", "STREAM COMPACTION TESTS", {Kind::Modulo, 4}};
    static constexpr Description partition{"partition", "PARTITION TESTS", {Kind::Modulo, 4}};
    static constexpr Description sort{"sort", "RADIX SORT TESTS", {Kind::Uniform}};
    static constexpr Description sortPairs{"sort-pairs", "RADIX SORT OF PAIRS TESTS", {Kind::Uniform}};
    static constexpr Description rowSum{"row-sum", "ROW SUM TESTS", {Kind::Modulo, 50}};
    switch (operation) {
        case Operation::Scan:
            return scan;
        case Operation::Compact:
            return compact;
        case Operation::Partition:
            return partition;
        case Operation::Sort:
            return sort;
        case Operation::SortPairs:
            return sortPairs;
        case Operation::RowSum:
            return rowSum;
    }
    throw std::logic_error("describe: no such operation");
}

[[nodiscard]] bool addsUp(Operation operation) {
    return operation == Operation::Scan || operation == Operation::RowSum;
}

}  // namespace

std::string_view name(Operation operation) { return describe(operation).name; }

std::string_view heading(Operation operation) { return describe(operation).heading; }

InputPattern defaultInput(Operation operation) { return describe(operation).input; }

Operation parseOperation(std::string_view text) { return parseName("operation", text, allOperations); }

std::string typeName(Operation operation, ElementType type) {
    return withElementType(type, [&]<typename T>(std::type_identity<T>) {
        std::string text(name(type));
        if (operation == Operation::SortPairs) {
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
            case Operation::RowSum:
                return sizeof(T) + sizeof(SumOf<T>);
            case Operation::SortPairs:
                return 2 * (sizeof(T) + sizeof(PairValue));
            default:
                return 2 * sizeof(T);
        }
    });
}

void requireCheckable(Operation operation, ElementType type, InputPattern pattern, std::size_t n) {
    const bool randomBits = pattern.kind == Kind::Uniform || pattern.kind == Kind::And;
    const bool floating = type == ElementType::Float || type == ElementType::Double;
    if (addsUp(operation) && floating && randomBits) {
        throw UsageError(fmt::format("--input: sums of {} as {} say nothing; choose another input for the {}",
                                     toString(pattern), name(type), name(operation)));
    }
    constexpr std::size_t mostPairs = std::numeric_limits<PairValue>::max();
    if (operation == Operation::SortPairs && n > mostPairs) {
        throw UsageError(fmt::format("--size: sort-pairs takes at most {} elements", mostPairs));
    }
}

}  // namespace Bench
