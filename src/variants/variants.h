#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "variants/implementation.h"

namespace Bench {

enum class Hardware { Cpu, Gpu };

inline constexpr std::array allHardware{Hardware::Cpu, Hardware::Gpu};

/// The name in `--hardware`.
[[nodiscard]] std::string_view name(Hardware hardware);
/// Throws UsageError, with the nearest names, for other names.
[[nodiscard]] Hardware parseHardware(std::string_view text);

/// The GPUs that a variant on the GPU runs on.
enum class GpuUse {
    One,      ///< the first one
    All,      ///< those of the run, however many; the arrays are in host memory
    Several,  ///< those of the run, at least two
    Ranks,    ///< the same, or one of each process that mpirun has started
};

/// Whether a variant needs more than one GPU.
[[nodiscard]] constexpr bool needsSeveral(GpuUse use) { return use == GpuUse::Several || use == GpuUse::Ranks; }

/// One implementation of one operation on one element type, as the program lists, runs and reports it.
struct Variant : Runner {
    Operation operation = Operation::Scan;
    ElementType type = ElementType::Int32;
    Hardware hardware = Hardware::Cpu;
    std::string_view name;   ///< as in `--variant` and the CSV
    std::string_view title;  ///< as in the report

    /// The possible numbers of threads per block, and the default. Empty if there is no choice.
    std::span<const int> blockSizes;
    int defaultBlockSize = 0;

    GpuUse gpuUse = GpuUse::One;
};

/// The variant that the course's program runs with one size only.
inline constexpr std::string_view classicOneSizeVariant = "cpu-scan";

/// Whether the course's program runs this variant of a scan or a compaction. Of the sorts, which it leaves to the
/// student, those on the CPU, by `radix` and by Thrust.
[[nodiscard]] bool isClassic(const Variant& variant);

/// All variants, in the report's order.
[[nodiscard]] std::vector<Variant> allVariants();

/// The names of the variants, each once, in their order.
[[nodiscard]] std::vector<std::string_view> distinctNames(std::span<const Variant> variants);

/// The variants of the given operations, types and names. A name with a leading ^ is excluded; if no other name is
/// given, all others are chosen. The variants are ordered by type, then by operation, then as in `variants`. Throws
/// UsageError if no variant of the operations and types has one of the names.
[[nodiscard]] std::vector<Variant> selectVariants(std::span<const Variant> variants,
                                                  std::span<const Operation> operations,
                                                  std::span<const ElementType> types,
                                                  std::span<const std::string> names);

/// The variants that run on this hardware; all if there is none. Throws UsageError if none of the variants runs on it.
[[nodiscard]] std::vector<Variant> onHardware(std::vector<Variant> variants, std::optional<Hardware> hardware);

/// The variants; those with a choice of block size once per given size. Throws UsageError if a variant does not take
/// one of the sizes, or if no variant has a choice.
[[nodiscard]] std::vector<Variant> withBlockSizes(std::span<const Variant> variants, std::span<const int> blockSizes);

}  // namespace Bench
