#include <gtest/gtest.h>
#define OMPI_SKIP_MPICXX
#include <mpi.h>
#include <nccl_device.h>

#include <string>
#include <vector>

#include "simulator.h"

// Tests of NCCL with one rank per process. Each process started by mpirun runs all of them.

namespace StreamCompaction::Testing {
namespace {

#define EXPECT_NCCL(call) EXPECT_EQ(call, ncclSuccess) << ncclGetLastError(nullptr)

/// The communicator of all processes.
class ProcessTest : public testing::Test {
  protected:
    ProcessTest() {
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        Simulator::configure("seed=" + std::to_string(rank));
        ncclUniqueId id{};
        if (rank == 0) {
            EXPECT_NCCL(ncclGetUniqueId(&id));
        }
        MPI_Bcast(&id, sizeof(id), MPI_BYTE, 0, MPI_COMM_WORLD);
        EXPECT_NCCL(ncclCommInitRank(&comm, ranks, id, rank));
        cudaStreamCreate(&stream);
        cudaMalloc(&data, bytes);
        cudaMemset(data, 0, bytes);
        cudaDeviceSynchronize();
    }
    ~ProcessTest() override {
        cudaFree(data);
        cudaStreamDestroy(stream);
        EXPECT_NCCL(ncclCommDestroy(comm));
        Simulator::configure("seed=0");
    }
    [[nodiscard]] std::vector<int> values(std::size_t n) const {
        std::vector<int> values(n);
        cudaStreamSynchronize(stream);
        cudaMemcpy(values.data(), data, n * sizeof(int), cudaMemcpyDeviceToHost);
        return values;
    }

    static constexpr std::size_t bytes = 4096;
    int ranks = 0;
    int rank = 0;
    ncclComm_t comm = nullptr;
    cudaStream_t stream = nullptr;
    int* data = nullptr;
};

__global__ void kernAddToAll(int* to, int x) { to[threadIdx.x] += x; }

TEST_F(ProcessTest, EachHasARank) {
    int value = -1;
    EXPECT_NCCL(ncclCommCount(comm, &value));
    EXPECT_EQ(value, ranks);
    EXPECT_NCCL(ncclCommUserRank(comm, &value));
    EXPECT_EQ(value, rank);
    EXPECT_EQ(ncclTeamLsa(comm).nRanks, 1) << "no kernel reaches another process";
    EXPECT_EQ(ncclTeamLsa(comm).rank, 0);
    EXPECT_EQ(ncclTeamWorld(comm).nRanks, ranks);
}

TEST_F(ProcessTest, Collectives) {
    kernAddToAll<<<1, 32, 0, stream>>>(data, 1 + rank);
    EXPECT_NCCL(ncclAllGather(data, data + 100, 2, ncclInt, comm, stream));
    EXPECT_NCCL(ncclAllReduce(data, data + 200, 2, ncclInt, ncclSum, comm, stream));
    EXPECT_NCCL(ncclAllReduce(data, data, 1, ncclInt, ncclMax, comm, stream));
    EXPECT_NCCL(ncclBroadcast(data + 1, data + 1, 1, ncclInt, ranks - 1, comm, stream));
    const auto found = values(300);
    for (std::size_t i = 0; i < 2; ++i) {
        for (int other = 0; other < ranks; ++other) {
            EXPECT_EQ(found[100 + static_cast<std::size_t>(other) * 2 + i], 1 + other);
        }
        EXPECT_EQ(found[200 + i], ranks * (ranks + 1) / 2);
        EXPECT_EQ(found[i], ranks) << "the largest, and the value of the last rank";
    }
    EXPECT_EQ(found[2], 1 + rank);
}

TEST_F(ProcessTest, RaggedSendsAndReceives) {
    kernAddToAll<<<1, 32, 0, stream>>>(data, 1 + rank);
    EXPECT_NCCL(ncclGroupStart());
    for (int peer = 0; peer < ranks; ++peer) {
        const auto place = static_cast<std::size_t>(32 + 32 * peer);
        EXPECT_NCCL(ncclSend(data, static_cast<std::size_t>(peer), ncclInt, peer, comm, stream));
        EXPECT_NCCL(ncclRecv(data + place, static_cast<std::size_t>(rank), ncclInt, peer, comm, stream));
    }
    EXPECT_NCCL(ncclGroupEnd());
    const auto found = values(32 + 32 * static_cast<std::size_t>(ranks));
    for (int peer = 0; peer < ranks; ++peer) {
        for (int i = 0; i < 32; ++i) {
            EXPECT_EQ(found[static_cast<std::size_t>(32 + 32 * peer + i)], i < rank ? 1 + peer : 0);
        }
    }
}

TEST_F(ProcessTest, CaptureAndReplay) {
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    kernAddToAll<<<1, 1, 0, stream>>>(data, 1);
    EXPECT_NCCL(ncclAllReduce(data, data, 1, ncclInt, ncclSum, comm, stream));
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(stream, &graph);
    cudaGraphExec_t executable = nullptr;
    cudaGraphInstantiate(&executable, graph);
    cudaGraphLaunch(executable, stream);
    cudaGraphLaunch(executable, stream);
    EXPECT_EQ(values(1)[0], (ranks + 1) * ranks);
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
}

TEST_F(ProcessTest, WindowsReachTheOwnRankOnly) {
    void* memory = nullptr;
    EXPECT_NCCL(ncclMemAlloc(&memory, 4096));
    // Some processes have work before the registration that waits for the others.
    EXPECT_NCCL(ncclAllReduce(data, data, 1, ncclInt, ncclSum, comm, stream));
    if (rank == 0) {
        cudaStreamSynchronize(stream);
    }
    ncclWindow_t window = nullptr;
    EXPECT_NCCL(ncclCommWindowRegister(comm, memory, 4096, &window, NCCL_WIN_COLL_SYMMETRIC));
    EXPECT_NCCL(ncclCommWindowDeregister(comm, window));
    EXPECT_NCCL(ncclMemFree(memory));
}

TEST_F(ProcessTest, RanksOfOneProcessStayInIt) {
    Simulator::configure("devices=4");
    ncclComm_t comms[4];
    EXPECT_NCCL(ncclCommInitAll(comms, 4, nullptr));
    EXPECT_EQ(ncclTeamLsa(comms[0]).nRanks, 4);
    for (const ncclComm_t other : comms) {
        EXPECT_NCCL(ncclCommDestroy(other));
    }
    Simulator::configure("devices=1");
}

}  // namespace
}  // namespace StreamCompaction::Testing

int main(int count, char** arguments) {
    int provided = 0;
    MPI_Init_thread(&count, &arguments, MPI_THREAD_MULTIPLE, &provided);
    testing::InitGoogleTest(&count, arguments);
    const int status = RUN_ALL_TESTS();
    MPI_Finalize();
    return status;
}
