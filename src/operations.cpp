#include "operations.h"

#include <algorithm>
#include <execution>
#include <iterator>
#include <numeric>

#include "nearest_names.h"
#include "usage_error.h"

namespace Bench {
namespace {

struct Description {
    std::string_view name;
    std::string_view heading;
    InputPattern input;
};

[[nodiscard]] const Description& describe(Operation operation) {
    using Kind = InputPattern::Kind;
    static constexpr Description scan{"scan", "SCAN TESTS", {Kind::Modulo, 50}};
    static constexpr Description compact{"compact", "STREAM COMPACTION TESTS", {Kind::Modulo, 4}};
    static constexpr Description sort{"sort", "RADIX SORT TESTS", {Kind::Uniform, 0}};
    switch (operation) {
        case Operation::Scan:
            return scan;
        case Operation::Compact:
            return compact;
        case Operation::Sort:
            return sort;
    }
    throw std::logic_error("describe: no such operation");
}

}  // namespace

std::string_view name(Operation operation) { return describe(operation).name; }

std::string_view heading(Operation operation) { return describe(operation).heading; }

InputPattern defaultInput(Operation operation) { return describe(operation).input; }

Operation parseOperation(std::string_view text) {
    std::vector<std::string_view> names;
    for (const Operation operation : allOperations) {
        if (text == name(operation)) {
            return operation;
        }
        names.push_back(name(operation));
    }
    throw UsageError(unknownName("operation", text, names));
}

std::vector<int> referenceResult(Operation operation, std::span<const int> input) {
    std::vector<int> result;
    switch (operation) {
        case Operation::Scan:
            result.resize(input.size());
            // Unsigned, so that sums wrap.
            std::exclusive_scan(input.begin(), input.end(), result.begin(), 0u);
            break;
        case Operation::Compact:
            // No more than fits: memory was checked for that much.
            result.reserve(input.size() - std::ranges::count(input, 0));
            std::ranges::copy_if(input, std::back_inserter(result), [](int value) { return value != 0; });
            break;
        case Operation::Sort:
            result.assign(input.begin(), input.end());
            std::sort(std::execution::par, result.begin(), result.end());
            break;
    }
    return result;
}

std::size_t bytesMoved(std::size_t inputSize, std::size_t resultSize) { return (inputSize + resultSize) * sizeof(int); }

}  // namespace Bench
