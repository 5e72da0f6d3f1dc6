#include "variants/variants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stream_compaction/efficient.h>
#include <stream_compaction/naive.h>
#include <stream_compaction/radix_sort.h>
#include <stream_compaction/runtime/block_size.h>
#include <stream_compaction/shared_mem.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "cli/nearest_names.h"
#include "cli/values.h"
#include "variants/implementation.h"

namespace Bench {
namespace {

using namespace StreamCompaction;

constexpr int noBlockSize = 0;

/// A variant with all its types.
struct Row {
    Operation operation;
    Hardware hardware;
    std::string_view name;
    std::string_view title;
    std::span<const ElementType> types = allElementTypes;
    int defaultBlockSize = noBlockSize;
};

constexpr std::array onlyInt32{ElementType::Int32};
constexpr std::array onlyFloat{ElementType::Float};
constexpr std::array integers{ElementType::Int32, ElementType::Int64};
constexpr std::array intsAndFloats{ElementType::Int32, ElementType::Float};
constexpr std::array vectorTypes{ElementType::Int32, ElementType::Float, ElementType::Double};
constexpr std::array blasTypes{ElementType::Float, ElementType::Double};
constexpr std::array typeOfText{listedTypeOfText};

[[nodiscard]] constexpr Row cpu(Operation operation, std::string_view name, std::string_view title,
                                std::span<const ElementType> types = allElementTypes) {
    return {operation, Hardware::Cpu, name, title, types, noBlockSize};
}

[[nodiscard]] constexpr Row gpu(Operation operation, std::string_view name, std::string_view title,
                                int defaultBlockSize = noBlockSize,
                                std::span<const ElementType> types = allElementTypes) {
    return {operation, Hardware::Gpu, name, title, types, defaultBlockSize};
}

[[nodiscard]] constexpr Row gpuOnText(Operation operation, std::string_view name, std::string_view title,
                                      int defaultBlockSize = noBlockSize) {
    return {operation, Hardware::Gpu, name, title, typeOfText, defaultBlockSize};
}

// To add a variant, add a line here and one in cpu_variants.cpp, text_variants.cpp or its operation's file in gpu/.
constexpr std::array rows{
    cpu(Operation::Scan, "cpu", "cpu scan"),
    cpu(Operation::Scan, "cpu-parallel", "cpu parallel scan", onlyInt32),
    gpu(Operation::Scan, "naive", "naive scan", Naive::defaultBlockSize, onlyInt32),
    gpu(Operation::Scan, "efficient", "work-efficient scan", Efficient::defaultBlockSize, onlyInt32),
    gpu(Operation::Scan, "efficient-optimized", "optimized work-efficient scan", Efficient::defaultBlockSize,
        onlyInt32),
    gpu(Operation::Scan, "shared-conflicts", "shared-memory scan with bank conflicts", SharedMem::defaultBlockSize,
        onlyInt32),
    gpu(Operation::Scan, "shared", "shared-memory scan", SharedMem::defaultBlockSize, onlyInt32),
    gpu(Operation::Scan, "single-pass", "single-pass scan"),
    gpu(Operation::Scan, "single-pass-tickets", "single-pass scan by ticket"),
    gpu(Operation::Scan, "single-pass-reproducible", "single-pass reproducible scan"),
    gpu(Operation::Scan, "thrust", "thrust scan", noBlockSize, onlyInt32),
    gpu(Operation::Scan, "cub", "cub scan"),

    cpu(Operation::ScanSquares, "cpu", "cpu scan of squares", onlyFloat),
    gpu(Operation::ScanSquares, "single-pass", "single-pass scan of squares", noBlockSize, onlyFloat),

    cpu(Operation::Compact, "cpu", "cpu compact without scan"),
    cpu(Operation::Compact, "cpu-scan", "cpu compact with scan", onlyInt32),
    cpu(Operation::Compact, "cpu-parallel", "cpu parallel compact", onlyInt32),
    gpu(Operation::Compact, "naive", "naive compact", Naive::defaultBlockSize, onlyInt32),
    gpu(Operation::Compact, "efficient", "work-efficient compact", Efficient::defaultBlockSize, onlyInt32),
    gpu(Operation::Compact, "efficient-optimized", "optimized work-efficient compact", Efficient::defaultBlockSize,
        onlyInt32),
    gpu(Operation::Compact, "shared", "shared-memory compact", SharedMem::defaultBlockSize, onlyInt32),
    gpu(Operation::Compact, "single-pass", "single-pass compact"),
    gpu(Operation::Compact, "thrust", "thrust compact", noBlockSize, onlyInt32),
    gpu(Operation::Compact, "cub", "cub compact"),

    cpu(Operation::Partition, "cpu", "cpu partition"),
    gpu(Operation::Partition, "single-pass", "single-pass partition", noBlockSize, onlyInt32),
    gpu(Operation::Partition, "single-pass-apart", "single-pass partition into two arrays", noBlockSize, onlyInt32),
    gpu(Operation::Partition, "thrust", "thrust partition into two arrays", noBlockSize, onlyInt32),
    gpu(Operation::Partition, "cub", "cub partition, rejected in reverse", noBlockSize, onlyInt32),

    cpu(Operation::Sort, "cpu", "cpu sort"),
    cpu(Operation::Sort, "cpu-parallel", "cpu parallel sort", onlyInt32),
    gpu(Operation::Sort, "naive", "naive sort", Naive::defaultBlockSize, onlyInt32),
    gpu(Operation::Sort, "efficient", "work-efficient sort", Efficient::defaultBlockSize, onlyInt32),
    gpu(Operation::Sort, "radix-split", "one-bit radix sort", Radix::defaultBlockSize, onlyInt32),
    gpu(Operation::Sort, "radix", "radix sort"),
    gpu(Operation::Sort, "thrust", "thrust sort", noBlockSize, onlyInt32),
    gpu(Operation::Sort, "cub", "cub sort"),

    cpu(Operation::SortPairs, "cpu", "cpu stable sort of pairs"),
    gpu(Operation::SortPairs, "radix", "radix sort of pairs", noBlockSize, integers),
    gpu(Operation::SortPairs, "radix-argsort", "radix argsort", noBlockSize, onlyInt32),
    gpu(Operation::SortPairs, "thrust", "thrust sort of pairs", noBlockSize, onlyInt32),
    gpu(Operation::SortPairs, "cub", "cub sort of pairs", noBlockSize, integers),

    cpu(Operation::RowSum, "cpu", "cpu row sum"),
    cpu(Operation::RowSum, "cpu-parallel", "cpu parallel row sum", vectorTypes),
    gpu(Operation::RowSum, "block-per-row", "block-per-row sum", noBlockSize, intsAndFloats),
    gpu(Operation::RowSum, "block-per-row-fixed", "block-per-row sum compiled for its columns", noBlockSize,
        intsAndFloats),
    gpu(Operation::RowSum, "ilp-2", "block-per-row sum in 2 accumulators", noBlockSize, intsAndFloats),
    gpu(Operation::RowSum, "ilp-3", "block-per-row sum in 3 accumulators", noBlockSize, intsAndFloats),
    gpu(Operation::RowSum, "ilp-5", "block-per-row sum in 5 accumulators", noBlockSize, intsAndFloats),
    gpu(Operation::RowSum, "ilp-10", "block-per-row sum in 10 accumulators", noBlockSize, intsAndFloats),
    gpu(Operation::RowSum, "shuffle", "block-per-row sum finished by shuffles", noBlockSize, intsAndFloats),
    gpu(Operation::RowSum, "vectors", "block-per-row sum by 16-byte loads", noBlockSize, intsAndFloats),
    gpu(Operation::RowSum, "adaptive", "adaptive row sum"),
    gpu(Operation::RowSum, "thrust", "thrust row sum", noBlockSize, intsAndFloats),
    gpu(Operation::RowSum, "cub", "cub row sum"),
    gpu(Operation::RowSum, "cublas", "cublas product with ones", noBlockSize, blasTypes),

    cpu(Operation::Utf8ToUtf32, "cpu", "cpu decode to UTF-32", typeOfText),
    cpu(Operation::Utf8ToUtf32, "iconv", "iconv decode to UTF-32", typeOfText),
    cpu(Operation::Utf8ToUtf32, "simdutf", "simdutf decode to UTF-32", typeOfText),
    gpuOnText(Operation::Utf8ToUtf32, "textbook", "textbook decode to UTF-32", SharedMem::defaultBlockSize),
    gpuOnText(Operation::Utf8ToUtf32, "single-pass", "single-pass decode to UTF-32"),
    gpuOnText(Operation::Utf8ToUtf32, "single-pass-from-host", "single-pass decode to UTF-32 from host memory"),

    cpu(Operation::Utf8ToUtf16, "cpu", "cpu decode to UTF-16", typeOfText),
    cpu(Operation::Utf8ToUtf16, "iconv", "iconv decode to UTF-16", typeOfText),
    cpu(Operation::Utf8ToUtf16, "simdutf", "simdutf decode to UTF-16", typeOfText),
    gpuOnText(Operation::Utf8ToUtf16, "single-pass", "single-pass decode to UTF-16"),

    cpu(Operation::Utf8Validate, "cpu", "cpu validation", typeOfText),
    gpuOnText(Operation::Utf8Validate, "single-pass", "single-pass validation"),

    cpu(Operation::Utf32ToUtf8, "cpu", "cpu encode from UTF-32", typeOfText),
    cpu(Operation::Utf32ToUtf8, "iconv", "iconv encode from UTF-32", typeOfText),
    cpu(Operation::Utf32ToUtf8, "simdutf", "simdutf encode from UTF-32", typeOfText),
    gpuOnText(Operation::Utf32ToUtf8, "single-pass", "single-pass encode from UTF-32"),

    cpu(Operation::Utf16ToUtf8, "cpu", "cpu encode from UTF-16", typeOfText),
    cpu(Operation::Utf16ToUtf8, "iconv", "iconv encode from UTF-16", typeOfText),
    cpu(Operation::Utf16ToUtf8, "simdutf", "simdutf encode from UTF-16", typeOfText),
    gpuOnText(Operation::Utf16ToUtf8, "single-pass", "single-pass encode from UTF-16"),
};

[[nodiscard]] Variant variantOf(const Row& row, ElementType type) {
    std::span<const int> blockSizes;
    if (row.defaultBlockSize != noBlockSize) {
        blockSizes = powerOfTwoBlockSizes;
    }
    return {{}, row.operation, type, row.hardware, row.name, row.title, blockSizes, row.defaultBlockSize};
}

/// Gives each variant its runner, if this build has one.
void attachRunners(std::span<Variant> variants) {
    for (Implementation& implementation : joined({cpuImplementations(), gpuImplementations()})) {
        const auto variant = std::ranges::find_if(variants, [&](const Variant& candidate) {
            return candidate.operation == implementation.operation && candidate.type == implementation.type &&
                   candidate.name == implementation.variant;
        });
        if (variant == variants.end()) {
            throw std::logic_error(fmt::format("variants.cpp does not list {} {} of {}, which is implemented",
                                               name(implementation.operation), implementation.variant,
                                               name(implementation.type)));
        }
        static_cast<Runner&>(*variant) = std::move(implementation.runner);
    }
}

[[nodiscard]] std::vector<std::string_view> distinctNames(std::span<const Variant> variants) {
    std::vector<std::string_view> names;
    for (const Variant& variant : variants) {
        if (std::ranges::find(names, variant.name) == names.end()) {
            names.push_back(variant.name);
        }
    }
    return names;
}

/// What to say about a name that none of the operations has.
[[nodiscard]] std::string whyNot(std::string_view wanted, std::span<const Operation> operations,
                                 std::span<const Variant> ofOperations, std::span<const Variant> variants) {
    const std::vector<std::string_view> known = distinctNames(ofOperations);
    if (std::ranges::find(variants, wanted, &Variant::name) == variants.end()) {
        return unknownName("variant", wanted, known);
    }
    std::vector<std::string_view> names;
    std::ranges::transform(operations, std::back_inserter(names), [](Operation operation) { return name(operation); });
    return fmt::format("{} is not a variant of {}; {} {}", wanted, fmt::join(names, " or "),
                       names.size() == 1 ? fmt::format("{} has", names.front()) : "they have", fmt::join(known, ", "));
}

/// The variants whose `member` is one of the values, in the order of the values.
template <typename Value>
[[nodiscard]] std::vector<Variant> ofEach(std::span<const Value> values, Value Variant::*member,
                                          std::span<const Variant> variants) {
    std::vector<Variant> chosen;
    for (const Value value : values) {
        std::ranges::copy_if(variants, std::back_inserter(chosen),
                             [&](const Variant& variant) { return variant.*member == value; });
    }
    return chosen;
}

}  // namespace

std::vector<Variant> allVariants() {
    std::vector<Variant> variants;
    for (const Row& row : rows) {
        for (const ElementType type : row.types) {
            variants.push_back(variantOf(row, type));
        }
    }
    attachRunners(variants);
    // Remove the peers that the build did not find.
    std::erase_if(variants,
                  [](const Variant& variant) { return variant.hardware == Hardware::Cpu && !variant.prepare; });
    return variants;
}

std::vector<Variant> selectVariants(std::span<const Variant> variants, std::span<const Operation> operations,
                                    std::span<const ElementType> types, std::span<const std::string> names) {
    const std::vector<Variant> ofOperations = ofEach(operations, &Variant::operation, variants);
    std::vector<Variant> candidates = ofEach(types, &Variant::type, ofOperations);
    for (const std::string& wanted : names) {
        if (std::ranges::find(ofOperations, wanted, &Variant::name) == ofOperations.end()) {
            throw UsageError("--variant: " + whyNot(wanted, operations, ofOperations, variants));
        }
        if (std::ranges::find(candidates, wanted, &Variant::name) == candidates.end()) {
            std::vector<std::string_view> chosen;
            std::ranges::transform(types, std::back_inserter(chosen), [](ElementType type) { return name(type); });
            throw UsageError(fmt::format("--variant: {} does not take {}", wanted, fmt::join(chosen, " or ")));
        }
    }
    std::erase_if(candidates, [names](const Variant& variant) {
        return !names.empty() && std::ranges::find(names, variant.name) == names.end();
    });
    return candidates;
}

std::vector<Variant> withBlockSizes(std::span<const Variant> variants, std::span<const int> blockSizes) {
    std::vector<Variant> chosen;
    bool anyChoice = false;
    for (Variant variant : variants) {
        if (variant.blockSizes.empty()) {
            chosen.push_back(std::move(variant));
            continue;
        }
        anyChoice = true;
        for (const int blockSize : blockSizes) {
            if (std::ranges::find(variant.blockSizes, blockSize) == variant.blockSizes.end()) {
                throw UsageError(fmt::format("--block-size: {} takes {} threads per block, not {}", variant.title,
                                             fmt::join(variant.blockSizes, ", "), blockSize));
            }
            variant.defaultBlockSize = blockSize;
            chosen.push_back(variant);
        }
    }
    if (!anyChoice) {
        throw UsageError("--block-size: none of the chosen variants has a block size to choose");
    }
    return chosen;
}

}  // namespace Bench
