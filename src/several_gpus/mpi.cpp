// MPI starts the ranks and carries small messages between them. Elements of arrays are left to NCCL.
#define OMPI_SKIP_MPICXX
#include <mpi.h>

#include <numeric>
#include <stdexcept>

#include "cli/values.h"
#include "world/world.h"

namespace Bench {
namespace {

[[nodiscard]] Place placeIn(MPI_Comm processes) {
    Place place;
    MPI_Comm_rank(processes, &place.rank);
    MPI_Comm_size(processes, &place.size);
    return place;
}

/// MPI while an object lives. A call that fails ends all ranks with MPI's own message.
class Mpi {
  public:
    Mpi() {
        // The simulator's NCCL moves data by MPI, in whichever thread waits for a stream.
        int provided = 0;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
        if (provided < MPI_THREAD_SERIALIZED) {
            throw std::runtime_error("MPI allows calls from one thread only");
        }
        MPI_Comm_dup(MPI_COMM_WORLD, &all_);
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &onMachine_);
    }
    ~Mpi() {
        MPI_Comm_free(&onMachine_);
        MPI_Comm_free(&all_);
        MPI_Finalize();
    }
    Mpi(const Mpi&) = delete;
    Mpi& operator=(const Mpi&) = delete;

    [[nodiscard]] MPI_Comm all() const { return all_; }
    [[nodiscard]] MPI_Comm onMachine() const { return onMachine_; }

  private:
    MPI_Comm all_ = MPI_COMM_NULL;
    MPI_Comm onMachine_ = MPI_COMM_NULL;
};

class MpiWorld final : public World {
  public:
    explicit MpiWorld(std::unique_ptr<const Mpi> mpi)
        : World(placeIn(mpi->all()), placeIn(mpi->onMachine())), mpi_(std::move(mpi)) {}

    void end(int status) const override { MPI_Abort(mpi_->all(), status); }

  private:
    [[nodiscard]] std::vector<std::string> gatherBytes(std::string_view bytes) const override {
        const auto ranks = static_cast<std::size_t>(size());
        const int own = static_cast<int>(bytes.size());
        std::vector<int> sizes(ranks);
        MPI_Allgather(&own, 1, MPI_INT, sizes.data(), 1, MPI_INT, mpi_->all());
        std::vector<int> begins(ranks);
        std::exclusive_scan(sizes.begin(), sizes.end(), begins.begin(), 0);
        std::string joined(static_cast<std::size_t>(begins.back() + sizes.back()), '\0');
        MPI_Allgatherv(bytes.data(), own, MPI_CHAR, joined.data(), sizes.data(), begins.data(), MPI_CHAR, mpi_->all());
        std::vector<std::string> all;
        for (std::size_t i = 0; i < ranks; ++i) {
            all.push_back(joined.substr(static_cast<std::size_t>(begins[i]), static_cast<std::size_t>(sizes[i])));
        }
        return all;
    }

    std::unique_ptr<const Mpi> mpi_;
};

}  // namespace

std::unique_ptr<const World> openWorld() {
    if (startedProcesses() == 1) {
        return std::make_unique<const World>();  // spares the start of MPI
    }
    auto world = std::make_unique<const MpiWorld>(std::make_unique<const Mpi>());
    if (world->isAlone()) {
        throw UsageError("mpirun: it belongs to another MPI than the one that this program was built with");
    }
    return world;
}

}  // namespace Bench
