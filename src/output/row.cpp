#include "output/row.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>

namespace Bench {

Row rowOf(const RunContext& context, const Measurement& measurement) {
    const Variant& variant = measurement.variant;
    Row row;
    if (context.gpu) {
        row.gpu = context.gpu->name;
        row.computeCapability = context.gpu->computeCapability;
        row.driver = context.gpu->driver;
        row.toolkit = context.gpu->toolkit;
    }
    row.commit = context.commit;
    row.operation = name(variant.operation);
    row.variant = variant.name;
    row.type = typeName(variant.operation, variant.type);
    row.n = measurement.n;
    row.input = measurement.input;
    if (!variant.blockSizes.empty()) {
        row.blockSize = variant.defaultBlockSize;
    }
    row.mode = name(measurement.mode);
    row.shape = measurement.shape ? toString(*measurement.shape) : "";
    return row;
}

Row rowOf(const RunContext& context, std::string_view timestamp, const Outcome& outcome) {
    Row row = rowOf(context, outcome);
    row.timestamp = timestamp;
    row.trials = static_cast<std::size_t>(outcome.time.trials);
    row.bytes = outcome.bytes;
    row.verified = outcome.status == Outcome::Status::Passed;
    if (row.verified) {
        row.medianUs = outcome.time.us.median;
        row.minUs = outcome.time.us.min;
        row.maxUs = outcome.time.us.max;
        row.gbps = outcome.gigabytesPerSecond();
        row.percentOfCopy = outcome.percentOfCopy();
    }
    return row;
}

bool Row::isTimed() const {
    return verified && std::ranges::all_of(std::array{medianUs, minUs, maxUs}, [](std::optional<double> us) {
               return us && std::isfinite(*us) && *us > 0;
           });
}

std::string timestampNow() {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

}  // namespace Bench
