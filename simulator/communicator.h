#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "collectives.h"
#include "processes.h"
#include "streams.h"

namespace Simulator {

class Batch;

/// What the calls of several ranks do together: a collective, or a send and its receive.
struct Transfer {
    struct Part {
        Batch* batch;
        int rank;
        Call call;
    };

    std::size_t parties;
    std::vector<Part> parts;  ///< of the ranks that have made their call

    /// Whether all ranks are here, in the order of their streams.
    [[nodiscard]] bool isReady() const;
    [[nodiscard]] std::string description() const;
    void carryOut();
};

/// Memory that a rank registers.
struct Registered {
    std::byte* memory = nullptr;
    std::size_t bytes = 0;
};

/// The ranks of a communicator.
class Clique {
  public:
    explicit Clique(int ranks) : ranks(ranks), devices(static_cast<std::size_t>(ranks), none) {}

    /// The transfer to which the next call of a rank belongs.
    [[nodiscard]] std::shared_ptr<Transfer> transferOf(int rank, const Call& call);
    /// What the ranks register together with the next registration of this rank.
    [[nodiscard]] std::shared_ptr<std::vector<Registered>> registrationOf(int rank);

    [[nodiscard]] bool hasAllRanks() const;
    /// The ranks that have not joined, as a text.
    [[nodiscard]] std::string missingRanks() const;

    static constexpr int none = -1;

    const int ranks;
    std::vector<int> devices;               ///< of each rank; `none` until it has joined
    std::unique_ptr<Processes> processes;   ///< if the other ranks are in other processes
    std::deque<const Joint*> processTurns;  ///< work that waits for other processes, in the order of the calls
    bool isAborted = false;
    bool isLinked = true;  ///< kernels of a rank reach the memory of the others

  private:
    std::map<std::tuple<int, int, int, bool>, unsigned long long> calls_;  // so far: of a rank, from, to, receives
    std::map<std::tuple<int, int, unsigned long long>, std::shared_ptr<Transfer>> transfers_;  // that miss ranks
    std::vector<unsigned long long> registrations_;                                            // so far, of each rank
    std::map<unsigned long long, std::shared_ptr<std::vector<Registered>>> registered_;        // that miss ranks
};

/// The work of a rank's calls in one group.
[[nodiscard]] std::shared_ptr<Joint> joined(const std::shared_ptr<Clique>& clique, int rank,
                                            const std::vector<Call>& calls, SimulatedStream* stream);

}  // namespace Simulator
