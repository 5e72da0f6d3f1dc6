#pragma once

#include <nccl.h>

#include <cstddef>
#include <string>
#include <vector>

/// What the calls of NCCL do to data.
namespace Simulator {

using Bytes = std::vector<std::byte>;

/// A call of one rank, which goes on together with those of others.
struct Call {
    enum class Kind { AllGather, AllReduce, Send, Recv };

    Kind kind;
    const void* from;
    void* to;
    std::size_t count;
    ncclDataType_t type;
    ncclRedOp_t operation;
    int peer;  ///< the other rank of Send and Recv; otherwise 0

    [[nodiscard]] bool isCollective() const { return kind < Kind::Send; }
    [[nodiscard]] std::size_t bytes() const;
    /// What it is, as in "AllGather of 3 elements of type ncclInt32".
    [[nodiscard]] std::string description() const;
};

/// Whether the reduction is simulated.
[[nodiscard]] bool isReducible(ncclDataType_t type, ncclRedOp_t operation);

/// Copies in pieces, in an order drawn from the seed.
void copyInPieces(void* to, const void* from, std::size_t bytes);

/// The numbers below n, in an order drawn from the seed.
[[nodiscard]] std::vector<std::size_t> drawOrder(std::size_t n);

/// What a rank contributes to a collective.
[[nodiscard]] Bytes contributionOf(const Call& call);
/// Stores the result of a rank. `order` is that of the ranks in a sum.
void deliver(const Call& call, const std::vector<Bytes>& contributions, const std::vector<std::size_t>& order);

/// End the program unless the calls match: those of all ranks to a collective, or a send and its receive.
void checkMatch(const std::vector<Call>& callsOfRanks);
void checkMatch(const Call& send, int sender, const Call& recv, int receiver);
/// Ends the program if the buffers of a collective overlap, unless it works in place.
void checkOverlap(const Call& call, int rank, int ranks);

}  // namespace Simulator
