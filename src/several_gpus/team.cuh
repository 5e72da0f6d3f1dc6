#pragma once

#include <algorithm>
#include <span>
#include <stream_compaction/distributed.cuh>
#include <vector>

#include "variants/gpu/joined_streams.h"
#include "world/world.h"

/// GPUs that work together.
namespace Bench {

/// NCCL's communicators of the first GPUs, all in this process. If the world has several ranks, that of the current
/// GPU, with one in each of the other processes.
class Communicators {
  public:
    Communicators(int gpus, const World& world) : comms_(world.isAlone() ? gpus : 1) {
        if (world.isAlone()) {
            StreamCompaction::Distributed::checkNccl(ncclCommInitAll(comms_.data(), gpus, nullptr), "ncclCommInitAll");
            return;
        }
        ncclUniqueId id{};
        if (world.rank() == 0) {
            StreamCompaction::Distributed::checkNccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
        }
        StreamCompaction::Distributed::checkNccl(
            ncclCommInitRank(comms_.data(), world.size(), world.ofFirst(id), world.rank()), "ncclCommInitRank");
    }
    ~Communicators() { std::ranges::for_each(comms_, ncclCommDestroy); }
    Communicators(const Communicators&) = delete;
    Communicators& operator=(const Communicators&) = delete;

    [[nodiscard]] std::vector<StreamCompaction::Distributed::Rank> ranks() const {
        return {comms_.begin(), comms_.end()};
    }

  private:
    std::vector<ncclComm_t> comms_;
};

/// The ranks of this process, each on a GPU. One thread serves them all.
class Team {
  public:
    Team(int gpus, const World& world)
        : communicators_(gpus, world), ranks_(communicators_.ranks()), streams_(static_cast<int>(ranks_.size())) {}

    [[nodiscard]] int size() const { return streams_.size(); }
    /// The ranks of all processes.
    [[nodiscard]] int sizeOfAll() const { return rank(0).count(); }
    [[nodiscard]] std::span<const StreamCompaction::Distributed::Rank> ranks() const { return ranks_; }
    [[nodiscard]] const StreamCompaction::Distributed::Rank& rank(int i) const { return ranks_[i]; }
    [[nodiscard]] JoinedStreams& streams() { return streams_; }
    [[nodiscard]] const JoinedStreams& streams() const { return streams_; }

    /// Calls an operation for all ranks.
    template <typename Op>
    void run(const Op& op) {
        streams_.fork();
        op();
        streams_.join();
    }

    /// Waits for the ranks. Throws what has failed on them.
    void synchronize() const {
        for (int i = 0; i < size(); ++i) {
            rank(i).synchronize(streams_.stream(i));
        }
    }

  private:
    Communicators communicators_;
    std::vector<StreamCompaction::Distributed::Rank> ranks_;
    JoinedStreams streams_;
};

}  // namespace Bench
