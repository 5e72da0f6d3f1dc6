#pragma once

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace StreamCompaction::OutOfCore {

/// Is told after each chunk how many elements have been worked on, of how many. Their copies may be under way. A sort
/// of two trips counts every element twice. Returns whether to go on. Is called on the thread of the call.
using Progress = std::function<bool(std::size_t done, std::size_t all)>;

/// `Progress` has returned false. The contents of the output are unspecified.
class Cancelled : public std::runtime_error {
  public:
    Cancelled() : std::runtime_error("cancelled") {}
};

/// What all operations on arrays in host memory have in common.
struct Options {
    /// Devices of this machine. None means the current one. A device that is named twice gets twice the memory and
    /// streams.
    std::vector<int> devices{};

    /// The most memory to allocate for each entry of `devices`, in bytes. 0 means three quarters of what is free, when
    /// the object is made, on the device with the least. Entries that name the same device share it.
    std::size_t deviceBytes = 0;

    Progress progress{};  ///< may be empty
};

/// Counts the elements that are done, and tells `Progress`.
class Tally {
  public:
    Tally(const Progress& progress, std::size_t all) : progress_(progress), all_(all) {}

    /// Throws Cancelled if `Progress` returns false.
    void add(std::size_t elements) {
        done_ += elements;
        if (progress_ && !progress_(done_, all_)) {
            throw Cancelled();
        }
    }

  private:
    const Progress& progress_;
    std::size_t all_;
    std::size_t done_ = 0;
};

}  // namespace StreamCompaction::OutOfCore
