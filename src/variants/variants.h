#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "variants/implementation.h"

namespace Bench {

enum class Hardware { Cpu, Gpu };

/// One implementation of one operation on elements of one type, as the program lists, runs and reports it.
struct Variant : Runner {
    Operation operation = Operation::Scan;
    ElementType type = ElementType::Int32;
    Hardware hardware = Hardware::Cpu;
    std::string_view name;   ///< as `--variant` and the CSV call it
    std::string_view title;  ///< as the report calls it

    /// The threads per block that it can be launched with, and those it takes unasked; empty where there is no choice.
    std::span<const int> blockSizes;
    int defaultBlockSize = 0;
};

/// What other variants' speed is compared with.
inline constexpr std::string_view serialCpuVariant = "cpu";
inline constexpr std::string_view thrustVariant = "thrust";

/// Every variant there is, in the report's order.
[[nodiscard]] std::vector<Variant> allVariants();

/// Those of the given operations and types that have one of the given names (all of them when there are none), ordered
/// by type, then by operation, then as they are. Throws UsageError for a name that none of the operations has with one
/// of the types.
[[nodiscard]] std::vector<Variant> selectVariants(std::span<const Variant> variants,
                                                  std::span<const Operation> operations,
                                                  std::span<const ElementType> types,
                                                  std::span<const std::string> names);

/// The variants, those with a choice of block size once for each of these. Throws UsageError when one of them cannot
/// take one, or when none has a choice.
[[nodiscard]] std::vector<Variant> withBlockSizes(std::span<const Variant> variants, std::span<const int> blockSizes);

}  // namespace Bench
