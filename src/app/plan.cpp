#include "app/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "cli/values.h"
#include "problems/inputs.h"
#include "problems/problems.h"

namespace Bench {
namespace {

[[nodiscard]] bool isOnFile(Operation operation, const Options& options) {
    const bool takesUtf8 = operation == Operation::Utf8ToUtf32 || operation == Operation::Utf8ToUtf16 ||
                           operation == Operation::Utf8Validate;
    return takesUtf8 && options.utf8File;
}

/// Operations on text take patterns of text unless they read a file; the other operations take patterns of numbers.
[[nodiscard]] bool takesInput(Operation operation, InputPattern input, const Options& options) {
    return isText(input) == isOnText(operation) && !isOnFile(operation, options);
}

/// The requested inputs that the operation takes; its default if there are none.
[[nodiscard]] std::vector<InputPattern> inputsFor(Operation operation, const Options& options) {
    std::vector<InputPattern> inputs;
    std::ranges::copy_if(options.inputs, std::back_inserter(inputs),
                         [&](InputPattern input) { return takesInput(operation, input, options); });
    return inputs.empty() ? std::vector{defaultInput(operation)} : inputs;
}

/// Reads nothing from a pipe, because those bytes would be lost.
[[nodiscard]] bool mayHaveText(const std::filesystem::path& path) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored) || std::filesystem::is_character_file(path, ignored)) {
        return std::ifstream(path).peek() != std::ifstream::traits_type::eof();
    }
    return std::filesystem::exists(path, ignored) && !std::filesystem::is_directory(path, ignored);
}

/// Throws UsageError if there is nothing to run, if an option has no effect, or if the text file is missing or empty.
void requireEffect(std::span<const Variant> chosen, const Options& options) {
    if (chosen.empty()) {
        throw UsageError(fmt::format("--type: none of the chosen operations takes it; those on text go with {}",
                                     name(listedTypeOfText)));
    }
    const auto require = [chosen](std::string_view option, std::string_view what, const auto& takes) {
        if (std::ranges::none_of(chosen, takes, &Variant::operation)) {
            throw UsageError(fmt::format("{}: none of the chosen operations takes {}", option, what));
        }
    };
    if (!options.shapes.empty()) {
        require("--shape", "matrices", [](Operation operation) { return operation == Operation::RowSum; });
    }
    if (!options.shapes.empty() && options.asksForSizes) {
        require("--shape", "a size beside it", [](Operation operation) { return operation != Operation::RowSum; });
    }
    if (options.utf8File) {
        require("--utf8-file", "UTF-8", [&options](Operation operation) { return isOnFile(operation, options); });
    }
    for (const InputPattern input : options.inputs) {
        require("--input", toString(input), [&](Operation operation) { return takesInput(operation, input, options); });
    }
    if (options.gpus != 1 && std::ranges::count(chosen, GpuUse::One, &Variant::gpuUse) == std::ssize(chosen)) {
        throw UsageError("--gpus: none of the chosen variants runs on several GPUs");
    }
    if (options.deviceBytes != 0 && std::ranges::count(chosen, GpuUse::All, &Variant::gpuUse) == 0) {
        throw UsageError("--gpu-memory: none of the chosen variants works on arrays in host memory");
    }
    if (options.utf8File && !mayHaveText(*options.utf8File)) {
        throw UsageError(fmt::format("--utf8-file: cannot read {}, or it is empty", options.utf8File->string()));
    }
}

/// The size of an array, or the shape of a matrix. If only a size is requested, the matrix has at most that size.
struct Extent {
    std::size_t n = 0;
    std::optional<Shape> shape;

    bool operator==(const Extent&) const = default;
};

[[nodiscard]] Extent extentOf(Shape shape) { return {shape.size(), shape}; }

/// Without duplicates.
[[nodiscard]] std::vector<Extent> extentsFor(Operation operation, const Options& options) {
    std::vector<Extent> extents;
    const auto add = [&extents](const Extent& extent) {
        if (std::ranges::find(extents, extent) == extents.end()) {
            extents.push_back(extent);
        }
    };
    if (operation == Operation::RowSum && !options.shapes.empty()) {
        std::ranges::for_each(options.shapes, add, extentOf);
    } else {
        std::ranges::for_each(options.sizes, add, [operation](std::size_t n) {
            return operation == Operation::RowSum ? extentOf(nearSquare(n)) : Extent{n, std::nullopt};
        });
    }
    return extents;
}

[[nodiscard]] std::vector<Mode> modesFor(const Variant& variant, const Options& options) {
    return variant.hardware == Hardware::Cpu ? std::vector{Mode::Warm} : options.modes;
}

[[nodiscard]] Section makeSection(std::span<const Variant> variants, InputPattern input, const Options& options) {
    const Variant& first = variants.front();
    Section section{first.operation, first.type, input, {}, {}};
    const std::string inputName =
        isOnFile(first.operation, options) ? "file:" + options.utf8File->filename().string() : toString(input);
    const std::vector<Extent> extents = extentsFor(first.operation, options);
    for (const Variant& variant : variants) {
        for (const auto& [n, shape] : extents) {
            for (const Mode mode : modesFor(variant, options)) {
                if (!options.classic || variant.name != classicOneSizeVariant || n == extents.front().n) {
                    section.measurements.push_back({variant, n, shape, inputName, mode});
                }
            }
        }
    }
    return section;
}

}  // namespace

std::vector<Section> makePlan(std::span<const Variant> variants, const Options& options) {
    std::vector<Variant> chosen =
        onHardware(selectVariants(variants, options.operations, options.types, options.variants), options.hardware);
    if (options.classic && options.variants.empty()) {
        std::erase_if(chosen, std::not_fn(isClassic));
    }
    requireEffect(chosen, options);
    if (!options.blockSizes.empty()) {
        chosen = withBlockSizes(chosen, options.blockSizes);
    }
    std::vector<Section> sections;
    for (const ElementType type : options.types) {
        for (const Operation operation : options.operations) {
            const auto ofSection = selectVariants(chosen, std::array{operation}, std::array{type}, {});
            if (ofSection.empty()) {
                continue;
            }
            for (const InputPattern input : inputsFor(operation, options)) {
                requireCheckable(operation, type, input, std::ranges::max(options.sizes));
                sections.push_back(makeSection(ofSection, input, options));
            }
        }
    }
    return sections;
}

void useGpus(std::span<Section> sections, int gpus, std::size_t deviceBytes) {
    for (Section& section : sections) {
        for (Measurement& measurement : section.measurements) {
            const GpuUse use = measurement.variant.gpuUse;
            measurement.gpus = use == GpuUse::One ? 1 : gpus;
            measurement.deviceBytes = use == GpuUse::All ? deviceBytes : 0;
        }
    }
}

std::vector<std::unique_ptr<Problem>> problemsOf(const Section& section, const Options& options, const World& world) {
    std::vector<std::size_t> sizes;
    std::vector<Shape> shapes;
    for (const Measurement& measurement : section.measurements) {
        if (measurement.shape && std::ranges::find(shapes, *measurement.shape) == shapes.end()) {
            shapes.push_back(*measurement.shape);
        } else if (!measurement.shape && std::ranges::find(sizes, measurement.n) == sizes.end()) {
            sizes.push_back(measurement.n);
        }
    }
    if (!shapes.empty()) {
        return makeRowSumProblems(section.type, section.input, shapes, options.seed);
    }
    if (isOnFile(section.operation, options)) {
        return makeFileProblems(section.operation, *options.utf8File, sizes, world);
    }
    return makeProblems(section.operation, section.type, section.input, sizes, options.seed, world);
}

Problem& problemFor(const Measurement& measurement, std::span<const std::unique_ptr<Problem>> problems) {
    const auto found = std::ranges::find_if(problems, [&](const auto& problem) {
        return problem->total() == measurement.n && problem->shape() == measurement.shape;
    });
    if (found == problems.end()) {
        throw std::logic_error("problemFor: no problem of that size");
    }
    return **found;
}

}  // namespace Bench
