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

/// Tries kernels in many shapes on the card and tells which is fastest at which size.
namespace Bench::Tune {

/// One way of doing the same work.
struct Candidate {
    std::string kernel;
    int threads = 0;  ///< a block; 0 where there is nothing to choose
    int rows = 0;     ///< of vectors or elements a thread
    std::string order;
    std::function<bool()> launch;  ///< false when the card has no room for it
};

/// What all candidates compute.
struct Contest {
    std::string_view operation;
    std::string_view type;
    std::size_t n = 0;
    std::size_t bytes = 0;            ///< read and written
    std::function<void()> poison;     ///< spoils what the last candidate computed
    std::function<bool()> isCorrect;  ///< checks what this one did
};

class Tuner {
  public:
    /// Appends a row for each measurement to `csv`. Throws UsageError when it cannot be opened.
    Tuner(Gpu& gpu, const std::filesystem::path& csv);

    /// Measures all candidates, checks what the last trial of each has computed, and prints the fastest of those that
    /// are right beside the peer, which comes first.
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
/// By shape, which the operation's name tells; parts of a row in the place of rows, the way of loading in that of the
/// order.
void tuneRowSums(Tuner& tuner);

}  // namespace Bench::Tune
