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
#include <set>
#include <stdexcept>
#include <utility>

#include "cli/nearest_names.h"
#include "cli/values.h"
#include "variants/implementation.h"

namespace Bench {
namespace {

using namespace StreamCompaction;

constexpr int noBlockSize = 0;

/// A variant, of the types that it is implemented for.
struct Row {
    Operation operation;
    Hardware hardware;
    std::string_view name;
    std::string_view title;
    int defaultBlockSize = noBlockSize;
    bool isListedIfAbsent = false;  ///< and skipped with the reason; peers that a build did not find are not
    GpuUse gpuUse = GpuUse::One;
};

[[nodiscard]] constexpr Row cpu(Operation operation, std::string_view name, std::string_view title) {
    return {operation, Hardware::Cpu, name, title};
}

[[nodiscard]] constexpr Row gpu(Operation operation, std::string_view name, std::string_view title,
                                int defaultBlockSize = noBlockSize) {
    return {operation, Hardware::Gpu, name, title, defaultBlockSize, true};
}

/// A variant that uses all GPUs of a run.
[[nodiscard]] constexpr Row gpus(GpuUse use, Operation operation, std::string_view name, std::string_view title) {
    return {operation, Hardware::Gpu, name, title, noBlockSize, true, use};
}

/// A peer on the GPU that few builds have.
[[nodiscard]] constexpr Row latest(Operation operation, std::string_view name, std::string_view title) {
    return {operation, Hardware::Gpu, name, title};
}

// To add a variant, add a line here and one in cpu_variants.cpp, text_variants.cpp or its operation's file in gpu/.
constexpr std::array rows{
    cpu(Operation::Scan, "cpu", "cpu scan"),
    cpu(Operation::Scan, "cpu-parallel", "cpu parallel scan"),
    gpu(Operation::Scan, "naive", "naive scan", Naive::defaultBlockSize),
    gpu(Operation::Scan, "efficient", "work-efficient scan", Efficient::defaultBlockSize),
    gpu(Operation::Scan, "efficient-optimized", "optimized work-efficient scan", Efficient::defaultBlockSize),
    gpu(Operation::Scan, "shared-conflicts", "shared-memory scan with bank conflicts", SharedMem::defaultBlockSize),
    gpu(Operation::Scan, "shared", "shared-memory scan", SharedMem::defaultBlockSize),
    gpu(Operation::Scan, "single-pass", "single-pass scan"),
    gpu(Operation::Scan, "single-pass-tickets", "single-pass scan by ticket"),
    gpu(Operation::Scan, "single-pass-reproducible", "single-pass reproducible scan"),
    gpu(Operation::Scan, "thrust", "thrust scan"),
    latest(Operation::Scan, "thrust-latest", "latest thrust scan"),
    gpu(Operation::Scan, "cub", "cub scan"),
    latest(Operation::Scan, "cub-latest", "latest cub scan"),
    gpus(GpuUse::All, Operation::Scan, "out-of-core", "scan in host memory"),
    gpus(GpuUse::Ranks, Operation::Scan, "distributed", "scan over several GPUs"),
    gpus(GpuUse::Several, Operation::Scan, "gather-to-one", "scan gathered to one GPU"),

    cpu(Operation::ScanSquares, "cpu", "cpu scan of squares"),
    gpu(Operation::ScanSquares, "single-pass", "single-pass scan of squares"),

    cpu(Operation::Compact, "cpu", "cpu compact without scan"),
    cpu(Operation::Compact, "cpu-scan", "cpu compact with scan"),
    cpu(Operation::Compact, "cpu-parallel", "cpu parallel compact"),
    gpu(Operation::Compact, "naive", "naive compact", Naive::defaultBlockSize),
    gpu(Operation::Compact, "efficient", "work-efficient compact", Efficient::defaultBlockSize),
    gpu(Operation::Compact, "efficient-optimized", "optimized work-efficient compact", Efficient::defaultBlockSize),
    gpu(Operation::Compact, "shared", "shared-memory compact", SharedMem::defaultBlockSize),
    gpu(Operation::Compact, "single-pass", "single-pass compact"),
    gpu(Operation::Compact, "thrust", "thrust compact"),
    latest(Operation::Compact, "thrust-latest", "latest thrust compact"),
    gpu(Operation::Compact, "cub", "cub compact"),
    latest(Operation::Compact, "cub-latest", "latest cub compact"),
    gpus(GpuUse::All, Operation::Compact, "out-of-core", "compact in host memory"),
    gpus(GpuUse::Ranks, Operation::Compact, "distributed", "compact over several GPUs"),
    gpus(GpuUse::Several, Operation::Compact, "gather-to-one", "compact gathered to one GPU"),

    cpu(Operation::CompactFlagged, "cpu", "cpu compact by flags"),
    gpu(Operation::CompactFlagged, "single-pass", "single-pass compact by flags"),
    gpu(Operation::CompactFlagged, "cub", "cub compact by flags"),
    latest(Operation::CompactFlagged, "cub-latest", "latest cub compact by flags"),

    cpu(Operation::Partition, "cpu", "cpu partition"),
    gpu(Operation::Partition, "single-pass", "single-pass partition"),
    gpu(Operation::Partition, "single-pass-apart", "single-pass partition into two arrays"),
    gpu(Operation::Partition, "thrust", "thrust partition into two arrays"),
    latest(Operation::Partition, "thrust-latest", "latest thrust partition into two arrays"),
    gpu(Operation::Partition, "cub", "cub partition, rejected in reverse"),
    latest(Operation::Partition, "cub-latest", "latest cub partition, rejected in reverse"),
    gpus(GpuUse::Ranks, Operation::Partition, "distributed", "partition over several GPUs"),

    cpu(Operation::MultiPartition, "cpu", "cpu partition into 256 parts"),
    gpu(Operation::MultiPartition, "radix", "partition into 256 parts by a radix pass"),
    gpu(Operation::MultiPartition, "cub", "cub sort by the lowest byte"),
    latest(Operation::MultiPartition, "cub-latest", "latest cub sort by the lowest byte"),

    cpu(Operation::Sort, "cpu", "cpu sort"),
    cpu(Operation::Sort, "cpu-parallel", "cpu parallel sort"),
    gpu(Operation::Sort, "naive", "naive sort", Naive::defaultBlockSize),
    gpu(Operation::Sort, "efficient", "work-efficient sort", Efficient::defaultBlockSize),
    gpu(Operation::Sort, "radix-split", "one-bit radix sort", Radix::defaultBlockSize),
    gpu(Operation::Sort, "radix", "radix sort"),
    gpu(Operation::Sort, "thrust", "thrust sort"),
    latest(Operation::Sort, "thrust-latest", "latest thrust sort"),
    gpu(Operation::Sort, "cub", "cub sort"),
    latest(Operation::Sort, "cub-latest", "latest cub sort"),
    gpus(GpuUse::All, Operation::Sort, "out-of-core", "sort in host memory"),
    gpus(GpuUse::Ranks, Operation::Sort, "distributed", "sort over several GPUs"),
    gpus(GpuUse::Several, Operation::Sort, "gather-to-one", "sort gathered to one GPU"),

    cpu(Operation::SortPairs, "cpu", "cpu stable sort of pairs"),
    gpu(Operation::SortPairs, "radix", "radix sort of pairs"),
    gpu(Operation::SortPairs, "radix-argsort", "radix argsort"),
    gpu(Operation::SortPairs, "thrust", "thrust sort of pairs"),
    latest(Operation::SortPairs, "thrust-latest", "latest thrust sort of pairs"),
    gpu(Operation::SortPairs, "cub", "cub sort of pairs"),
    latest(Operation::SortPairs, "cub-latest", "latest cub sort of pairs"),
    gpus(GpuUse::All, Operation::SortPairs, "out-of-core", "sort of pairs in host memory"),
    gpus(GpuUse::Ranks, Operation::SortPairs, "distributed", "sort of pairs over several GPUs"),

    cpu(Operation::TopK, "cpu", "cpu selection"),
    gpu(Operation::TopK, "radix", "radix selection"),
    gpu(Operation::TopK, "cub", "cub selection"),
    latest(Operation::TopK, "cub-latest", "latest cub selection"),

    cpu(Operation::RowSum, "cpu", "cpu row sum"),
    cpu(Operation::RowSum, "cpu-parallel", "cpu parallel row sum"),
    gpu(Operation::RowSum, "block-per-row", "block-per-row sum"),
    gpu(Operation::RowSum, "block-per-row-fixed", "block-per-row sum compiled for its columns"),
    gpu(Operation::RowSum, "ilp-2", "block-per-row sum in 2 accumulators"),
    gpu(Operation::RowSum, "ilp-3", "block-per-row sum in 3 accumulators"),
    gpu(Operation::RowSum, "ilp-5", "block-per-row sum in 5 accumulators"),
    gpu(Operation::RowSum, "ilp-10", "block-per-row sum in 10 accumulators"),
    gpu(Operation::RowSum, "shuffle", "block-per-row sum finished by shuffles"),
    gpu(Operation::RowSum, "vectors", "block-per-row sum by 16-byte loads"),
    gpu(Operation::RowSum, "adaptive", "adaptive row sum"),
    gpu(Operation::RowSum, "thrust", "thrust row sum"),
    latest(Operation::RowSum, "thrust-latest", "latest thrust row sum"),
    gpu(Operation::RowSum, "cub", "cub row sum"),
    latest(Operation::RowSum, "cub-latest", "latest cub row sum"),
    gpu(Operation::RowSum, "cublas", "cublas product with ones"),

    cpu(Operation::SegmentedScan, "cpu", "cpu segmented scan"),
    gpu(Operation::SegmentedScan, "single-pass", "single-pass segmented scan by flags"),
    gpu(Operation::SegmentedScan, "single-pass-offsets", "single-pass segmented scan by offsets"),
    gpu(Operation::SegmentedScan, "cub", "cub scan by key"),
    latest(Operation::SegmentedScan, "cub-latest", "latest cub scan by key"),

    cpu(Operation::SegmentedSort, "cpu", "cpu segmented sort"),
    gpu(Operation::SegmentedSort, "adaptive", "segmented sort by warps and blocks"),
    gpu(Operation::SegmentedSort, "cub", "cub segmented sort"),
    latest(Operation::SegmentedSort, "cub-latest", "latest cub segmented sort"),

    cpu(Operation::Unique, "cpu", "cpu unique"),
    gpu(Operation::Unique, "single-pass", "single-pass unique"),
    gpu(Operation::Unique, "cub", "cub unique"),
    latest(Operation::Unique, "cub-latest", "latest cub unique"),

    cpu(Operation::RunLength, "cpu", "cpu run-length encoding"),
    gpu(Operation::RunLength, "single-pass", "single-pass run-length encoding"),
    gpu(Operation::RunLength, "cub", "cub run-length encoding"),
    latest(Operation::RunLength, "cub-latest", "latest cub run-length encoding"),

    cpu(Operation::ReduceByKey, "cpu", "cpu reduction by key"),
    gpu(Operation::ReduceByKey, "single-pass", "single-pass reduction by key"),
    gpu(Operation::ReduceByKey, "cub", "cub reduction by key"),
    latest(Operation::ReduceByKey, "cub-latest", "latest cub reduction by key"),

    cpu(Operation::Histogram, "cpu", "cpu histogram"),
    gpu(Operation::Histogram, "shared", "shared-memory histogram"),
    gpu(Operation::Histogram, "cub", "cub histogram"),
    latest(Operation::Histogram, "cub-latest", "latest cub histogram"),

    cpu(Operation::HistogramWide, "cpu", "cpu histogram of 65536 bins"),
    gpu(Operation::HistogramWide, "shared", "shared-memory histogram of 65536 bins"),
    gpu(Operation::HistogramWide, "cub", "cub histogram of 65536 bins"),
    latest(Operation::HistogramWide, "cub-latest", "latest cub histogram of 65536 bins"),

    cpu(Operation::Utf8ToUtf32, "cpu", "cpu decode to UTF-32"),
    cpu(Operation::Utf8ToUtf32, "iconv", "iconv decode to UTF-32"),
    cpu(Operation::Utf8ToUtf32, "simdutf", "simdutf decode to UTF-32"),
    cpu(Operation::Utf8ToUtf32, "simdutf-parallel", "simdutf decode to UTF-32, all cores"),
    gpu(Operation::Utf8ToUtf32, "textbook", "textbook decode to UTF-32", SharedMem::defaultBlockSize),
    gpu(Operation::Utf8ToUtf32, "single-pass", "single-pass decode to UTF-32"),
    gpu(Operation::Utf8ToUtf32, "single-pass-from-host", "single-pass decode to UTF-32 from host memory"),
    gpus(GpuUse::Ranks, Operation::Utf8ToUtf32, "distributed", "decode to UTF-32 over several GPUs"),

    cpu(Operation::Utf8ToUtf16, "cpu", "cpu decode to UTF-16"),
    cpu(Operation::Utf8ToUtf16, "iconv", "iconv decode to UTF-16"),
    cpu(Operation::Utf8ToUtf16, "simdutf", "simdutf decode to UTF-16"),
    cpu(Operation::Utf8ToUtf16, "simdutf-parallel", "simdutf decode to UTF-16, all cores"),
    gpu(Operation::Utf8ToUtf16, "single-pass", "single-pass decode to UTF-16"),
    gpus(GpuUse::Ranks, Operation::Utf8ToUtf16, "distributed", "decode to UTF-16 over several GPUs"),

    cpu(Operation::Utf8Validate, "cpu", "cpu validation"),
    cpu(Operation::Utf8Validate, "simdutf", "simdutf validation"),
    cpu(Operation::Utf8Validate, "simdutf-parallel", "simdutf validation, all cores"),
    gpu(Operation::Utf8Validate, "single-pass", "single-pass validation"),
    gpus(GpuUse::Ranks, Operation::Utf8Validate, "distributed", "validation over several GPUs"),

    cpu(Operation::Utf32ToUtf8, "cpu", "cpu encode from UTF-32"),
    cpu(Operation::Utf32ToUtf8, "iconv", "iconv encode from UTF-32"),
    cpu(Operation::Utf32ToUtf8, "simdutf", "simdutf encode from UTF-32"),
    cpu(Operation::Utf32ToUtf8, "simdutf-parallel", "simdutf encode from UTF-32, all cores"),
    gpu(Operation::Utf32ToUtf8, "single-pass", "single-pass encode from UTF-32"),
    gpus(GpuUse::Ranks, Operation::Utf32ToUtf8, "distributed", "encode from UTF-32 over several GPUs"),

    cpu(Operation::Utf16ToUtf8, "cpu", "cpu encode from UTF-16"),
    cpu(Operation::Utf16ToUtf8, "iconv", "iconv encode from UTF-16"),
    cpu(Operation::Utf16ToUtf8, "simdutf", "simdutf encode from UTF-16"),
    cpu(Operation::Utf16ToUtf8, "simdutf-parallel", "simdutf encode from UTF-16, all cores"),
    gpu(Operation::Utf16ToUtf8, "single-pass", "single-pass encode from UTF-16"),
    gpus(GpuUse::Ranks, Operation::Utf16ToUtf8, "distributed", "encode from UTF-16 over several GPUs"),
};

[[nodiscard]] Variant variantOf(const Row& row, ElementType type, Runner runner) {
    std::span<const int> blockSizes;
    if (row.defaultBlockSize != noBlockSize) {
        blockSizes = powerOfTwoBlockSizes;
    }
    return {std::move(runner), row.operation,        type,      row.hardware, row.name, row.title,
            blockSizes,        row.defaultBlockSize, row.gpuUse};
}

[[nodiscard]] bool isOf(const Implementation& implementation, const Row& row) {
    return implementation.operation == row.operation && implementation.variant == row.name;
}

void requireListed(const Implementation& implementation) {
    if (std::ranges::none_of(rows, [&](const Row& row) { return isOf(implementation, row); })) {
        throw std::logic_error(fmt::format("variants.cpp does not list {} {}, which is implemented",
                                           name(implementation.operation), implementation.variant));
    }
}

/// The types for which the operation has any variant.
[[nodiscard]] std::set<ElementType> typesOf(Operation operation, const Implementations& implementations) {
    std::set<ElementType> types;
    for (const Implementation& implementation : implementations) {
        if (implementation.operation == operation) {
            types.insert(implementation.type);
        }
    }
    return types;
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

/// The names given with `--variant`. A leading ^ excludes a name.
class NameFilter {
  public:
    explicit NameFilter(std::span<const std::string> names) {
        for (const std::string_view name : names) {
            if (name.starts_with('^')) {
                excluded_.push_back(name.substr(1));
            } else {
                wanted_.push_back(name);
            }
        }
    }

    [[nodiscard]] const std::vector<std::string_view>& wanted() const { return wanted_; }
    [[nodiscard]] const std::vector<std::string_view>& excluded() const { return excluded_; }

    [[nodiscard]] bool keeps(std::string_view name) const {
        return (wanted_.empty() || isAmong(wanted_, name)) && !isAmong(excluded_, name);
    }

  private:
    [[nodiscard]] static bool isAmong(const std::vector<std::string_view>& names, std::string_view name) {
        return std::ranges::find(names, name) != names.end();
    }

    std::vector<std::string_view> wanted_;
    std::vector<std::string_view> excluded_;
};

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

std::string_view name(Hardware hardware) { return hardware == Hardware::Cpu ? "cpu" : "gpu"; }

Hardware parseHardware(std::string_view text) { return parseName("hardware", text, allHardware); }

Implementation absent(Operation operation, ElementType type, std::string_view variant, std::string_view reason) {
    return {operation, type, variant, {.reasonToSkip = [reason](const Problem&) {
                return std::optional<std::string>(reason);
            }}};
}

bool isClassic(const Variant& variant) {
    constexpr std::array<std::pair<Operation, std::string_view>, 10> classics{{{Operation::Scan, "cpu"},
                                                                               {Operation::Scan, "naive"},
                                                                               {Operation::Scan, "efficient"},
                                                                               {Operation::Scan, "thrust"},
                                                                               {Operation::Compact, "cpu"},
                                                                               {Operation::Compact, "cpu-scan"},
                                                                               {Operation::Compact, "efficient"},
                                                                               {Operation::Sort, "cpu"},
                                                                               {Operation::Sort, "radix"},
                                                                               {Operation::Sort, "thrust"}}};
    return std::ranges::find(classics, std::pair(variant.operation, variant.name)) != classics.end();
}

std::vector<Variant> allVariants() {
    Implementations implementations = joined({cpuImplementations(), gpuImplementations()});
    std::ranges::for_each(implementations, requireListed);
    std::ranges::stable_sort(implementations, {}, &Implementation::type);
    std::vector<Variant> variants;
    for (const Row& row : rows) {
        const std::size_t listed = variants.size();
        for (Implementation& implementation : implementations) {
            if (isOf(implementation, row)) {
                variants.push_back(variantOf(row, implementation.type, std::move(implementation.runner)));
            }
        }
        if (variants.size() == listed && row.isListedIfAbsent) {
            for (const ElementType type : typesOf(row.operation, implementations)) {
                variants.push_back(variantOf(row, type, {}));
            }
        }
    }
    return variants;
}

std::vector<std::string_view> distinctNames(std::span<const Variant> variants) {
    std::vector<std::string_view> names;
    for (const Variant& variant : variants) {
        if (std::ranges::find(names, variant.name) == names.end()) {
            names.push_back(variant.name);
        }
    }
    return names;
}

std::vector<Variant> selectVariants(std::span<const Variant> variants, std::span<const Operation> operations,
                                    std::span<const ElementType> types, std::span<const std::string> names) {
    const std::vector<Variant> ofOperations = ofEach(operations, &Variant::operation, variants);
    std::vector<Variant> candidates = ofEach(types, &Variant::type, ofOperations);
    const NameFilter filter(names);
    const auto require = [&](std::string_view name) {
        if (std::ranges::find(ofOperations, name, &Variant::name) == ofOperations.end()) {
            throw UsageError("--variant: " + whyNot(name, operations, ofOperations, variants));
        }
    };
    std::ranges::for_each(filter.excluded(), require);
    for (const std::string_view wanted : filter.wanted()) {
        require(wanted);
        if (std::ranges::find(candidates, wanted, &Variant::name) == candidates.end()) {
            std::vector<std::string_view> chosen;
            std::ranges::transform(types, std::back_inserter(chosen), [](ElementType type) { return name(type); });
            throw UsageError(fmt::format("--variant: {} does not take {}", wanted, fmt::join(chosen, " or ")));
        }
    }
    const auto isLeftOut = [&filter](const Variant& variant) { return !filter.keeps(variant.name); };
    if (std::erase_if(candidates, isLeftOut) > 0 && candidates.empty()) {
        throw UsageError("--variant: no implementation is left");
    }
    return candidates;
}

std::vector<Variant> onHardware(std::vector<Variant> variants, std::optional<Hardware> hardware) {
    const auto runsElsewhere = [hardware](const Variant& variant) { return hardware && variant.hardware != *hardware; };
    if (std::erase_if(variants, runsElsewhere) > 0 && variants.empty()) {
        throw UsageError(fmt::format("--hardware: none of the chosen variants runs on the {}", name(*hardware)));
    }
    return variants;
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
