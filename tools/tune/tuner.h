#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/gpu.h"
#include "output/csv.h"

/// Measures kernels with many shapes on the card. Prints the fastest for each size, and how much slower the shape is
/// that the library chooses.
namespace Bench::Tune {

/// One kernel with one shape.
struct Candidate {
    std::string kernel;
    int threads = 0;  ///< per block; 0 if there is no choice
    int rows = 0;     ///< vectors or elements per thread
    std::string order;
    std::function<bool()> launch;  ///< false if the card has no room for it
};

/// The work that all candidates do.
struct Contest {
    std::string_view operation;
    std::string_view type;
    std::size_t n = 0;
    std::size_t bytes = 0;            ///< bytes read and written
    std::function<void()> poison;     ///< overwrites the result of the last candidate
    std::function<bool()> isCorrect;  ///< checks the result of this one
    std::function<void()> chosen;     ///< launches what the library chooses
};

class Tuner {
  public:
    /// Appends one row per measurement to `csv`. Throws UsageError if it cannot be opened.
    Tuner(Gpu& gpu, const std::filesystem::path& csv);

    /// Measures all candidates and the library's choice, and checks the result of the last trial of each.
    void run(const Contest& contest, std::span<const Candidate> candidates);

    /// Whether everything that ran was correct.
    [[nodiscard]] bool allCorrect() const { return allCorrect_; }
    /// The number of contests in which the library's choice is slower than the fastest candidate by more than 3 %.
    [[nodiscard]] int misses() const { return misses_; }

  private:
    /// One of the candidates, with its median time in microseconds.
    struct Result {
        const Candidate* candidate;
        double us;
    };

    /// The fastest of those that fit the card and are correct.
    [[nodiscard]] std::optional<Result> fastestOf(const Contest& contest, std::span<const Candidate> candidates,
                                                  double copyUs);
    /// The median time of a candidate in microseconds, if it fits the card and is correct. Appends the row.
    [[nodiscard]] std::optional<double> measured(const Contest& contest, const Candidate& candidate, double copyUs);
    /// The time of the first over that of the second, measured anew in turns.
    [[nodiscard]] double ratio(const Contest& contest, const Candidate& first, const Candidate& second);

    Gpu& gpu_;
    GpuInfo info_;
    CsvFile csv_;
    bool allCorrect_ = true;
    int misses_ = 0;
};

void tuneScans(Tuner& tuner);
void tuneCompactions(Tuner& tuner);
void tuneSorts(Tuner& tuner);
/// The operation's name contains the shape. Candidate::rows is the number of parts per row, Candidate::order the kind
/// of loads.
void tuneRowSums(Tuner& tuner);

}  // namespace Bench::Tune
