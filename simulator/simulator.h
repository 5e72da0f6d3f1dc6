#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// A simulated card: what it is and in which order it does what is free. README.md has the model.
namespace Simulator {

/// What the simulated card is. The defaults are a small card of compute capability 9.0.
struct Card {
    int capability = 90;                        ///< 10 major + minor
    int multiprocessors = 4;                    ///< each has room for the blocks that its threads and memory allow
    std::size_t memory = std::size_t{4} << 30;  ///< bytes of device memory
    bool beginsInOrder = true;                  ///< blocks begin in the order of their index, as on all cards so far

    [[nodiscard]] bool hasClusters() const { return capability >= 90; }
    [[nodiscard]] int threadsPerMultiprocessor() const { return capability < 80 ? 1024 : 2048; }
    [[nodiscard]] std::size_t sharedBytesPerBlock() const {
        return std::size_t{capability < 80 ? 64U : capability < 90 ? 163U : 227U} << 10;
    }
    [[nodiscard]] int blocksPerMultiprocessor(int threads, std::size_t sharedBytes) const;
};

/// What a run is besides.
struct Settings {
    Card card;
    std::uint64_t seed = 0;  ///< 0: the plain order and strong memory; else what all that is free is drawn from
    std::string trace;       ///< the file that a trace is written to, or empty
};

/// Changes settings from "capability=7.5,multiprocessors=2,memory=1073741824,order=any,seed=7,trace=FILE"; those that
/// the text does not name stay. The environment variable STREAM_COMPACTION_SIMULATOR has been read before. Waits for
/// all work of the card. Throws std::invalid_argument for a text that it does not know.
void configure(std::string_view settings);

[[nodiscard]] const Settings& settings();
[[nodiscard]] inline const Card& card() { return settings().card; }
[[nodiscard]] inline std::uint64_t seed() { return settings().seed; }

/// Whether the card has what compute capability `capability` (10 major + minor) brought.
[[nodiscard]] inline bool isAtLeast(int capability) { return card().capability >= capability; }

}  // namespace Simulator
