#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "collectives.h"

namespace Simulator {

/// The processes of a communicator, one per rank, which MPI connects.
class Processes {
  public:
    /// Memory to send to the process of a rank, or to fill with what it sends.
    struct Message {
        void* memory;
        std::size_t bytes;
        int peer;
        bool isSent;
    };

    /// Whether mpirun has started as many processes as the communicator has ranks, and more than one.
    [[nodiscard]] static bool areThere(int ranks);
    /// Waits for the other processes.
    Processes(const std::string& id, int rank);
    ~Processes();
    Processes(const Processes&) = delete;
    Processes& operator=(const Processes&) = delete;

    /// What all ranks pass, in the order of the ranks.
    [[nodiscard]] std::vector<Bytes> allGather(std::span<const std::byte> bytes);
    void exchange(const std::vector<Message>& messages);

  private:
    struct Connection;
    std::unique_ptr<Connection> connection_;
};

}  // namespace Simulator
