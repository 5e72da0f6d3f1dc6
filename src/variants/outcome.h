#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "cli/shapes.h"
#include "measure/measure.h"
#include "variants/variants.h"

namespace Bench {

/// One variant on one array.
struct Measurement {
    Variant variant;  ///< with the block size that it takes
    std::size_t n = 0;
    std::optional<Shape> shape;  ///< of a matrix
    std::string input;           ///< as `--input` and the CSV call it
    Mode mode = Mode::Cold;
};

/// What came of it.
struct Outcome : Measurement {
    enum class Status { Passed, Failed, Skipped };

    Status status = Status::Skipped;
    std::string reason;  ///< why it was skipped or what is wrong with its result; empty when it passed

    // Only of what has passed and was timed.
    Timing time;
    std::size_t bytes = 0;
    std::optional<double> copyUs;    ///< what a copy of as many bytes takes
    std::optional<double> clockMHz;  ///< of the card, right after it

    [[nodiscard]] bool isTimed() const { return status == Status::Passed && mode != Mode::Untimed; }
    [[nodiscard]] double gigabytesPerSecond() const { return static_cast<double>(bytes) / time.us.median / 1e3; }
    [[nodiscard]] double gigaelementsPerSecond() const { return static_cast<double>(n) / time.us.median / 1e3; }
    [[nodiscard]] std::optional<double> percentOfCopy() const {
        return copyUs ? std::optional(100 * *copyUs / time.us.median) : std::nullopt;
    }
};

}  // namespace Bench
