#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/shapes.h"
#include "measure/measure.h"
#include "problems/inputs.h"
#include "problems/operations.h"

namespace Bench {

/// As the name of a file to write.
inline const std::filesystem::path standardOutput = "-";

/// Whether both names are those of one file, which need not be there.
[[nodiscard]] bool isSameFile(const std::filesystem::path& a, const std::filesystem::path& b);

struct Options {
    std::vector<std::size_t> sizes;  ///< of the arrays
    bool asksForSizes = false;       ///< whether --size or --sweep was given
    std::vector<Shape> shapes;       ///< of the matrices of row sums; from the sizes, when empty
    std::vector<Operation> operations{allOperations.begin(), allOperations.end()};
    std::vector<ElementType> types{ElementType::Int32};
    std::vector<std::string> variants;  ///< all, when empty
    bool list = false;
    std::vector<Mode> modes{Mode::Cold};
    TrialPlan plan{.budgetUs = 2e6};
    std::uint64_t seed = 42;
    std::vector<InputPattern> inputs;               ///< each operation's own, when there is none for it
    std::optional<std::filesystem::path> utf8File;  ///< text for the operations on UTF-8, in place of a pattern
    std::vector<int> blockSizes;                    ///< each variant's own, when empty
    int device = 0;
    std::string simulator;  ///< settings, in the words of Simulator::configure
    std::optional<std::filesystem::path> csv;
    std::optional<std::filesystem::path> json;
    std::optional<std::filesystem::path> markdown;
    bool resume = false;   ///< leaves out what the CSV has
    bool profile = false;  ///< for a profiler: one trial, which alone is collected
    bool brief = false;    ///< a line a measurement, since there are many
    bool color = true;

    /// What --help or --version asks to be told, instead of a run.
    std::optional<std::string> information;
};

/// Whether measurements are to be kept.
[[nodiscard]] bool writesFiles(const Options& options);

/// `arguments` without the program's name. Throws UsageError for what it does not understand, and for options of a card
/// where GPU variants are simulated, or of the simulator where they are not.
[[nodiscard]] Options parseOptions(std::span<const char* const> arguments, std::vector<std::size_t> defaultSizes,
                                   bool simulated);

}  // namespace Bench
