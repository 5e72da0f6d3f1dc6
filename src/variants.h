#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "operations.h"
#include "prepared_run.h"

namespace Bench {

enum class Hardware { Cpu, Gpu };

/// One implementation of one operation, as the program lists, runs and reports it.
struct Variant {
    Operation operation = Operation::Scan;
    Hardware hardware = Hardware::Cpu;
    std::string_view name;   ///< as `--variant` and the CSV call it
    std::string_view title;  ///< as the report calls it

    /// Threads a block that it can be launched with, and the one it takes unasked; empty where there is no choice.
    std::span<const int> blockSizes;
    int defaultBlockSize = 0;

    /// Device memory it takes for n elements; of GPU variants only.
    std::function<std::size_t(std::size_t n, int blockSize)> deviceBytes;
    /// Allocates and copies the input, which must outlive the run. Empty for GPU variants in a build without CUDA.
    std::function<std::unique_ptr<PreparedRun>(std::span<const int> input, int blockSize)> prepare;
};

/// What other variants' speed is compared with.
inline constexpr std::string_view serialCpuVariant = "cpu";
inline constexpr std::string_view thrustVariant = "thrust";

/// Every variant there is, in the report's order.
[[nodiscard]] std::vector<Variant> allVariants();

/// Those of the given operations that have one of the given names (all of them when there are none), in their order.
/// Throws UsageError for a name that none of them has.
[[nodiscard]] std::vector<Variant> selectVariants(std::span<const Variant> variants,
                                                  std::span<const Operation> operations,
                                                  std::span<const std::string> names);

/// Makes `blockSize` the one that each variant with a choice takes. Throws UsageError when one of them cannot, or when
/// none has a choice.
void chooseBlockSize(std::span<Variant> variants, int blockSize);

}  // namespace Bench
