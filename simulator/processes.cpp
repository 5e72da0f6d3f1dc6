// The processes of a communicator. Without MPI there are none.

#include "processes.h"

#include "executor.h"

#if defined(STREAM_COMPACTION_SIMULATOR_HAS_MPI)
#define OMPI_SKIP_MPICXX
#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <numeric>
#include <thread>

#include "simulator.h"
#endif

namespace Simulator {

#if defined(STREAM_COMPACTION_SIMULATOR_HAS_MPI)

struct Processes::Connection {
    MPI_Comm processes = MPI_COMM_NULL;
};

namespace {

[[noreturn]] void fail(const std::string& text) {
    std::fprintf(stderr, "simulator: %s\n", text.c_str());
    giveUp();
}

int countOf(std::size_t bytes) {
    if (bytes > std::numeric_limits<int>::max()) {
        fail("more than 2^31 - 1 bytes from one process to another");
    }
    return static_cast<int>(bytes);
}

/// Waits until all requests are done. Ends the program if that takes longer than the setting `patience` says.
void complete(std::vector<MPI_Request> requests) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(settings().patience);
    for (;;) {
        int areDone = 0;
        MPI_Testall(static_cast<int>(requests.size()), requests.data(), &areDone, MPI_STATUSES_IGNORE);
        if (areDone != 0) {
            return;
        }
        if (std::chrono::steady_clock::now() > end) {
            fail("a process waits for ever for the calls of another one");
        }
        std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
}

}  // namespace

bool Processes::areThere(int ranks) {
    int isInitialised = 0;
    int isFinalised = 0;
    MPI_Initialized(&isInitialised);
    MPI_Finalized(&isFinalised);
    int processes = 1;
    if (isInitialised != 0 && isFinalised == 0) {
        MPI_Comm_size(MPI_COMM_WORLD, &processes);
    }
    return processes > 1 && processes == ranks;
}

Processes::Processes(const std::string& id, int rank) : connection_(std::make_unique<Connection>()) {
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &connection_->processes);
    for (const Bytes& other : allGather(std::as_bytes(std::span(id)))) {
        if (!std::ranges::equal(other, std::as_bytes(std::span(id)))) {
            fail("the processes make a communicator of different unique ids");
        }
    }
}

Processes::~Processes() {
    int isFinalised = 0;
    MPI_Finalized(&isFinalised);
    if (isFinalised == 0) {
        MPI_Comm_free(&connection_->processes);
    }
}

std::vector<Bytes> Processes::allGather(std::span<const std::byte> bytes) {
    int ranks = 0;
    MPI_Comm_size(connection_->processes, &ranks);
    const int here = countOf(bytes.size());
    std::vector<int> counts(static_cast<std::size_t>(ranks));
    MPI_Request request{};
    MPI_Iallgather(&here, 1, MPI_INT, counts.data(), 1, MPI_INT, connection_->processes, &request);
    complete({request});
    countOf(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
    std::vector<int> begins(counts.size());
    std::exclusive_scan(counts.begin(), counts.end(), begins.begin(), 0);
    Bytes all(static_cast<std::size_t>(begins.back() + counts.back()));
    MPI_Iallgatherv(bytes.data(), here, MPI_BYTE, all.data(), counts.data(), begins.data(), MPI_BYTE,
                    connection_->processes, &request);
    complete({request});
    std::vector<Bytes> parts;
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
        parts.emplace_back(all.begin() + begins[rank], all.begin() + begins[rank] + counts[rank]);
    }
    return parts;
}

void Processes::exchange(const std::vector<Message>& messages) {
    std::vector<MPI_Request> requests;
    for (const Message& message : messages) {
        MPI_Request& request = requests.emplace_back();
        if (message.isSent) {
            MPI_Isend(message.memory, countOf(message.bytes), MPI_BYTE, message.peer, 0, connection_->processes,
                      &request);
        } else {
            MPI_Irecv(message.memory, countOf(message.bytes), MPI_BYTE, message.peer, 0, connection_->processes,
                      &request);
        }
    }
    complete(std::move(requests));
}

#else

struct Processes::Connection {};

bool Processes::areThere(int) { return false; }
Processes::Processes(const std::string&, int) {}
Processes::~Processes() = default;
std::vector<Bytes> Processes::allGather(std::span<const std::byte>) { return {}; }
void Processes::exchange(const std::vector<Message>&) {}

#endif

}  // namespace Simulator
