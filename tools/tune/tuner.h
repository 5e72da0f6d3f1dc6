#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/gpu.h"
#include "output/csv.h"

/// Measures kernels with many shapes on the card and prints the fastest for each size.
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
};

class Tuner {
  public:
    /// Appends one row per measurement to `csv`. Throws UsageError if it cannot be opened.
    Tuner(Gpu& gpu, const std::filesystem::path& csv);

    /// Measures all candidates and checks the result of the last trial of each. Prints the fastest right one and the
    /// peer, which is the first candidate.
    void run(const Contest& contest, std::span<const Candidate> candidates);

    /// Whether every candidate that ran was correct.
    [[nodiscard]] bool allCorrect() const { return allCorrect_; }

  private:
    Gpu& gpu_;
    GpuInfo info_;
    CsvFile csv_;
    bool allCorrect_ = true;
};

void tuneScans(Tuner& tuner);
void tuneCompactions(Tuner& tuner);
void tuneSorts(Tuner& tuner);
/// The operation's name contains the shape. Candidate::rows is the number of parts per row, Candidate::order the kind
/// of loads.
void tuneRowSums(Tuner& tuner);

}  // namespace Bench::Tune
