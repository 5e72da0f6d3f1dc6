#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "inputs.h"
#include "operations.h"

namespace Bench {

/// The sizes of the test arrays: one that is meant to be a power of two, and one that is not.
struct Sizes {
    std::size_t powerOfTwo = 0;
    std::size_t nonPowerOfTwo = 0;
};

struct Options {
    Sizes sizes;
    std::vector<Operation> operations{allOperations.begin(), allOperations.end()};
    std::vector<ElementType> types{ElementType::Int32};
    std::vector<std::string> variants;  ///< all, when empty
    bool list = false;
    int trials = 15;
    int warmup = 1;
    std::uint64_t seed = 42;
    std::optional<InputPattern> input;              ///< each operation's own, when absent
    std::optional<std::filesystem::path> utf8File;  ///< text for the operations on UTF-8, in place of a pattern
    std::optional<int> blockSize;                   ///< each variant's own, when absent
    int device = 0;
    std::optional<std::filesystem::path> csv;
    bool color = true;

    /// What --help or --version asks to be told, instead of a run.
    std::optional<std::string> information;
};

/// `arguments` without the program's name. Throws UsageError for what it does not understand.
[[nodiscard]] Options parseOptions(std::span<const char* const> arguments, Sizes defaults);

}  // namespace Bench
