#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "variants/outcome.h"
#include "variants/run_context.h"

namespace Bench {

/// A measurement as files have it. What does not apply is empty; so are the times of a wrong result.
struct Row {
    std::string gpu;
    std::string computeCapability;
    std::string driver;
    std::string toolkit;
    std::string commit;
    std::string timestamp;
    std::string operation;
    std::string variant;
    std::string type;
    std::size_t n = 0;
    std::string input;
    std::optional<std::size_t> blockSize;
    std::string mode;
    std::size_t trials = 0;
    std::optional<double> medianUs;
    std::optional<double> minUs;
    std::optional<double> maxUs;
    std::size_t bytes = 0;
    std::optional<double> gbps;
    std::optional<double> percentOfCopy;
    bool verified = false;
    std::string shape;

    /// Whether its result was right and it has times that something can have taken.
    [[nodiscard]] bool isTimed() const;

    /// What was measured, on which card: equal for rows that can be compared.
    [[nodiscard]] auto subject() const {
        return std::tie(operation, variant, type, n, input, blockSize, mode, shape, gpu);
    }
};

/// Refers to the row.
using Subject = decltype(std::declval<const Row&>().subject());

/// A column of the files: its name, and where a row keeps its value.
struct Column {
    std::string_view name;
    std::variant<std::string Row::*, std::size_t Row::*, bool Row::*, std::optional<std::size_t> Row::*,
                 std::optional<double> Row::*>
        member;
};

/// In the order of the files. New ones go to the end.
inline constexpr std::array columns{
    Column{"gpu", &Row::gpu},
    Column{"compute_capability", &Row::computeCapability},
    Column{"driver", &Row::driver},
    Column{"toolkit", &Row::toolkit},
    Column{"commit", &Row::commit},
    Column{"timestamp", &Row::timestamp},
    Column{"operation", &Row::operation},
    Column{"variant", &Row::variant},
    Column{"type", &Row::type},
    Column{"n", &Row::n},
    Column{"input", &Row::input},
    Column{"block_size", &Row::blockSize},
    Column{"mode", &Row::mode},
    Column{"trials", &Row::trials},
    Column{"median_us", &Row::medianUs},
    Column{"min_us", &Row::minUs},
    Column{"max_us", &Row::maxUs},
    Column{"bytes", &Row::bytes},
    Column{"gbps", &Row::gbps},
    Column{"percent_of_copy", &Row::percentOfCopy},
    Column{"verified", &Row::verified},
    Column{"shape", &Row::shape},
};

/// The row of a measurement that is yet to be made.
[[nodiscard]] Row rowOf(const RunContext& context, const Measurement& measurement);
[[nodiscard]] Row rowOf(const RunContext& context, std::string_view timestamp, const Outcome& outcome);

/// Now, as `2026-01-31T23:59:59Z`.
[[nodiscard]] std::string timestampNow();

}  // namespace Bench
