#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/values.h"
#include "measure/measure.h"
#include "problems/inputs.h"
#include "problems/operations.h"
#include "variants/variants.h"

/// What a run of the program is asked for.
namespace Bench {

/// The name of an output file that means standard output.
inline const std::filesystem::path standardOutput = "-";

struct Options {
    std::vector<std::size_t> sizes;  ///< of the arrays
    bool asksForSizes = false;       ///< whether --size or --sweep was given
    std::vector<Shape> shapes;       ///< of the matrices of row sums; derived from the sizes if empty
    std::vector<Operation> operations{ladder.begin(), ladder.end()};
    std::vector<ElementType> types{ElementType::Int32};
    std::vector<std::string> variants;  ///< all if empty
    std::optional<Hardware> hardware;   ///< both if there is none
    bool list = false;
    std::vector<Mode> modes{Mode::Cold};
    TrialPlan plan{.budgetUs = 2e6};
    std::uint64_t seed = 42;
    std::vector<InputPattern> inputs;               ///< an operation that takes none of them uses its default
    std::optional<std::filesystem::path> utf8File;  ///< text for the operations on UTF-8, in place of a pattern
    std::vector<int> blockSizes;                    ///< if empty, the default of each variant
    int device = 0;
    std::optional<int> gpus = 1;  ///< all if empty
    std::size_t deviceBytes = 0;  ///< that operations on host memory may use on each GPU; 0 if there is no limit
    std::string simulator;        ///< settings in the syntax of Simulator::configure
    std::optional<std::filesystem::path> trace;
    std::optional<std::filesystem::path> csv;
    std::optional<std::filesystem::path> samples;
    bool resume = false;   ///< skips measurements that the CSV has
    bool profile = false;  ///< for a profiler: one trial, and only it is collected
    bool classic = false;  ///< the report of the course's program
    bool color = true;

    /// The text of --help or --version, if one of them is given. Nothing is run then.
    std::optional<std::string> information;
};

/// Whether measurements are written to files.
[[nodiscard]] bool writesFiles(const Options& options);

/// `arguments` do not contain the program's name. Throws UsageError for invalid arguments. A simulated build rejects
/// the options of a card; other builds reject the options of the simulator.
[[nodiscard]] Options parseOptions(std::span<const char* const> arguments, std::vector<std::size_t> defaultSizes,
                                   bool simulated);

/// Options of the command `compare`.
struct CompareOptions {
    std::filesystem::path before;
    std::filesystem::path after;
    double threshold = 0.05;

    /// Text of --help.
    std::optional<std::string> information;
};

/// `arguments` are those behind `compare`. Throws UsageError for what it does not understand.
[[nodiscard]] CompareOptions parseCompareOptions(std::span<const char* const> arguments);

}  // namespace Bench
