#include "variants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stream_compaction/block_size.h>
#include <stream_compaction/cpu.h>
#include <stream_compaction/efficient.h>
#include <stream_compaction/naive.h>
#include <stream_compaction/radix.h>
#include <stream_compaction/shared_mem.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "cpu_variants.h"
#include "gpu_variants.h"
#include "nearest_names.h"
#include "usage_error.h"

namespace Bench {
namespace {

constexpr int noBlockSize = 0;

template <typename Function>
[[nodiscard]] Variant cpu(Operation operation, std::string_view name, std::string_view title, Function* function) {
    Variant variant{operation, Hardware::Cpu, name, title, {}, noBlockSize, {}, {}};
    variant.prepare = [call = cpuCall(function)](std::span<const int> input, int) {
        return prepareCpuRun(call, input);
    };
    return variant;
}

[[nodiscard]] Variant gpu(Operation operation, std::string_view name, std::string_view title,
                          int defaultBlockSize = noBlockSize) {
    std::span<const int> blockSizes;
    if (defaultBlockSize != noBlockSize) {
        blockSizes = StreamCompaction::powerOfTwoBlockSizes;
    }
    return {operation, Hardware::Gpu, name, title, blockSizes, defaultBlockSize, {}, {}};
}

/// Gives each GPU variant its implementation, where this build has them.
void attachImplementations(std::span<Variant> variants) {
    for (GpuImplementation& implementation : gpuImplementations()) {
        const auto variant = std::ranges::find_if(variants, [&](const Variant& candidate) {
            return candidate.operation == implementation.operation && candidate.name == implementation.variant;
        });
        if (variant == variants.end()) {
            throw std::logic_error(fmt::format("gpu_variants.cu implements {} {}, which variants.cpp does not list",
                                               name(implementation.operation), implementation.variant));
        }
        variant->deviceBytes = std::move(implementation.deviceBytes);
        variant->prepare = std::move(implementation.prepare);
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

}  // namespace

// To add a variant: its line here and, for a GPU one, its line in gpu_variants.cu.
std::vector<Variant> allVariants() {
    using namespace StreamCompaction;
    std::vector<Variant> variants{
        cpu(Operation::Scan, "cpu", "cpu scan", CPU::scan),
        cpu(Operation::Scan, "cpu-parallel", "cpu parallel scan", CPU::parallelScan),
        gpu(Operation::Scan, "naive", "naive scan", Naive::defaultBlockSize),
        gpu(Operation::Scan, "efficient", "work-efficient scan", Efficient::defaultBlockSize),
        gpu(Operation::Scan, "efficient-optimized", "optimized work-efficient scan", Efficient::defaultBlockSize),
        gpu(Operation::Scan, "shared-conflicts", "shared-memory scan with bank conflicts", SharedMem::defaultBlockSize),
        gpu(Operation::Scan, "shared", "shared-memory scan", SharedMem::defaultBlockSize),
        gpu(Operation::Scan, "single-pass", "single-pass scan"),
        gpu(Operation::Scan, "thrust", "thrust scan"),
        gpu(Operation::Scan, "cub", "cub scan"),

        cpu(Operation::Compact, "cpu", "cpu compact without scan", CPU::compactWithoutScan),
        cpu(Operation::Compact, "cpu-scan", "cpu compact with scan", CPU::compactWithScan),
        cpu(Operation::Compact, "cpu-parallel", "cpu parallel compact", CPU::parallelCompact),
        gpu(Operation::Compact, "naive", "naive compact", Naive::defaultBlockSize),
        gpu(Operation::Compact, "efficient", "work-efficient compact", Efficient::defaultBlockSize),
        gpu(Operation::Compact, "efficient-optimized", "optimized work-efficient compact", Efficient::defaultBlockSize),
        gpu(Operation::Compact, "shared", "shared-memory compact", SharedMem::defaultBlockSize),
        gpu(Operation::Compact, "single-pass", "single-pass compact"),
        gpu(Operation::Compact, "thrust", "thrust compact"),
        gpu(Operation::Compact, "cub", "cub compact"),

        cpu(Operation::Sort, "cpu", "cpu sort", CPU::sort),
        cpu(Operation::Sort, "cpu-parallel", "cpu parallel sort", CPU::parallelSort),
        gpu(Operation::Sort, "naive", "naive sort", Naive::defaultBlockSize),
        gpu(Operation::Sort, "efficient", "work-efficient sort", Efficient::defaultBlockSize),
        gpu(Operation::Sort, "radix-split", "one-bit radix sort", Radix::defaultBlockSize),
        gpu(Operation::Sort, "radix", "radix sort"),
        gpu(Operation::Sort, "thrust", "thrust sort"),
        gpu(Operation::Sort, "cub", "cub sort"),
    };
    attachImplementations(variants);
    return variants;
}

std::vector<Variant> selectVariants(std::span<const Variant> variants, std::span<const Operation> operations,
                                    std::span<const std::string> names) {
    std::vector<Variant> candidates;
    for (const Operation operation : operations) {
        std::ranges::copy_if(variants, std::back_inserter(candidates),
                             [operation](const Variant& variant) { return variant.operation == operation; });
    }
    for (const std::string& name : names) {
        if (std::ranges::find(candidates, name, &Variant::name) == candidates.end()) {
            throw UsageError("--variant: " + unknownName("variant", name, distinctNames(candidates)));
        }
    }
    std::erase_if(candidates, [names](const Variant& variant) {
        return !names.empty() && std::ranges::find(names, variant.name) == names.end();
    });
    return candidates;
}

void chooseBlockSize(std::span<Variant> variants, int blockSize) {
    bool anyChoice = false;
    for (Variant& variant : variants) {
        if (variant.blockSizes.empty()) {
            continue;
        }
        if (std::ranges::find(variant.blockSizes, blockSize) == variant.blockSizes.end()) {
            throw UsageError(fmt::format("--block-size: {} takes {} threads a block, not {}", variant.title,
                                         fmt::join(variant.blockSizes, ", "), blockSize));
        }
        variant.defaultBlockSize = blockSize;
        anyChoice = true;
    }
    if (!anyChoice) {
        throw UsageError("--block-size: none of the chosen variants has a block size to choose");
    }
}

}  // namespace Bench
