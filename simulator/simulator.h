#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// A simulated card, and the order in which it runs what has no fixed order. README.md describes the model.
namespace Simulator {

/// The order in which blocks begin.
enum class BlockOrder {
    Index,    ///< as on all cards so far
    Any,      ///< drawn from the seed; without a seed by index
    Reverse,  ///< the last block first
};

/// The properties of the simulated card. The defaults are a small card of compute capability 9.0.
struct Card {
    int capability = 90;                        ///< 10 major + minor
    int multiprocessors = 4;                    ///< each holds as many blocks as its threads and memory allow
    int available = 256;                        ///< how many of them run kernels; the card does not say if it is fewer
    std::size_t memory = std::size_t{4} << 30;  ///< bytes of device memory
    BlockOrder order = BlockOrder::Index;

    [[nodiscard]] bool hasClusters() const { return capability >= 90; }
    [[nodiscard]] int threadsPerMultiprocessor() const { return capability < 80 ? 1024 : 2048; }
    [[nodiscard]] std::size_t sharedBytesPerBlock() const {
        return std::size_t{capability < 80 ? 64U : capability < 90 ? 163U : 227U} << 10;
    }
    static constexpr std::size_t reservedSharedBytes = 1024;  ///< per block
    [[nodiscard]] std::size_t sharedGranularity() const { return capability < 80 ? 256 : 128; }
    [[nodiscard]] int blocksPerMultiprocessor(int threads, std::size_t sharedBytes) const;
    /// The blocks that fit at once on the multiprocessors that run kernels.
    [[nodiscard]] unsigned residentBlocks(int threads, std::size_t sharedBytes) const;
};

/// What connects the devices of a process.
enum class Links {
    Peer,  ///< a kernel can load and store in the memory of all of them
    None,  ///< only copies and NCCL reach other devices
};

/// All settings of a run.
struct Settings {
    Card card;                ///< all devices are alike
    std::uint64_t seed = 0;   ///< 0: plain order and strong memory; else the seed of all free choices
    std::string trace;        ///< name of the trace file, or empty
    std::optional<int> rank;  ///< of this process among several; the name of its trace file gets it
    int devices = 1;
    Links links = Links::Peer;
    int patience = 60;  ///< seconds without any change after which a host thread that waits for others ends the program
};

/// Changes the settings that the text names, as in
/// "capability=7.5,multiprocessors=2,memory=1073741824,order=any,seed=7,trace=FILE,devices=4". The environment variable
/// STREAM_COMPACTION_SIMULATOR is read first. Waits for all work of all devices. `trace=` ends a trace. Throws
/// std::invalid_argument for an invalid text, and std::runtime_error if the trace that ends could not be written.
void configure(std::string_view settings);

[[nodiscard]] const Settings& settings();
[[nodiscard]] inline const Card& card() { return settings().card; }
[[nodiscard]] inline std::uint64_t seed() { return settings().seed; }

/// Lets the next call of NCCL that moves data return ncclSystemError, to test how errors are handled. `skipped` calls
/// succeed before it.
void failNextCollective(unsigned skipped = 0);

/// Whether the card has the features of compute capability `capability` (10 major + minor).
[[nodiscard]] inline bool isAtLeast(int capability) { return card().capability >= capability; }

}  // namespace Simulator
