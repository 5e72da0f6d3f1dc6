#pragma once

#include <memory>
#include <span>
#include <vector>

#include "app/options.h"
#include "variants/tester.h"
#include "world/world.h"

namespace Bench {

/// Measurements of one operation and one element type on the same input.
struct Section {
    Operation operation;
    ElementType type;
    InputPattern input;
    std::vector<Measurement> measurements;
    std::vector<Outcome> earlier;  ///< of an earlier run, not to be measured again
};

/// Everything that the options request of these variants, in the report's order. Throws UsageError if something cannot
/// be run, or if an option has no effect.
[[nodiscard]] std::vector<Section> makePlan(std::span<const Variant> variants, const Options& options);

/// Tells the measurements how many GPUs the run uses, and how much of their memory.
void useGpus(std::span<Section> sections, int gpus, std::size_t deviceBytes);

/// The problems of a section's measurements, one per size or shape.
[[nodiscard]] std::vector<std::unique_ptr<Problem>> problemsOf(const Section& section, const Options& options,
                                                               const World& world);
/// The problem of this measurement.
[[nodiscard]] Problem& problemFor(const Measurement& measurement, std::span<const std::unique_ptr<Problem>> problems);

}  // namespace Bench
