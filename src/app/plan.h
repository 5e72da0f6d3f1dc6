#pragma once

#include <memory>
#include <span>
#include <vector>

#include "app/options.h"
#include "variants/tester.h"

namespace Bench {

/// Measurements of one operation on elements of one type that share their input.
struct Section {
    Operation operation;
    ElementType type;
    InputPattern input;
    std::vector<Measurement> measurements;
};

/// All that the options ask for, of these variants, in the report's order. Throws UsageError for what could not be run
/// and for options without effect.
[[nodiscard]] std::vector<Section> makePlan(std::span<const Variant> variants, const Options& options);

/// The arrays that a section's measurements are on, each once.
[[nodiscard]] std::vector<std::unique_ptr<Problem>> problemsOf(const Section& section, const Options& options);
/// The one among them that is for this measurement.
[[nodiscard]] Problem& problemFor(const Measurement& measurement, std::span<const std::unique_ptr<Problem>> problems);

}  // namespace Bench
