#include <gtest/gtest.h>
#define OMPI_SKIP_MPICXX
#include <mpi.h>
#include <nccl_device.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "../device/device_fixture.cuh"
#include "simulator.h"
#include "stream_compaction/distributed.cuh"

// Tests of NCCL, and of arrays spread over ranks, with one rank per process. Each process started by mpirun runs all of
// them.

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

/// Every process knows the whole array, and checks its own part of the results.
TEST_F(ProcessTest, ScanAndSortOfAnArrayThatIsSpread) {
    const Distributed::Rank self(comm);
    std::vector<std::size_t> begins{0};
    for (int other = 0; other < ranks; ++other) {
        begins.push_back(begins.back() + 3000 + 500 * static_cast<std::size_t>(other));
    }
    const std::size_t begin = begins[static_cast<std::size_t>(rank)];
    const std::size_t n = begins[static_cast<std::size_t>(rank) + 1] - begin;
    const auto all = hostArray(begins.back(), AnyBits<int>{1});
    const DeviceBuffer<int> in(std::span<const int>(all).subspan(begin, n));
    const auto partOf = [&](const std::vector<int>& whole) {
        const auto part = std::span(whole).subspan(begin, n);
        return std::vector<int>(part.begin(), part.end());
    };

    GuardedArray<int> sums(n);
    const Distributed::Scan scan;
    auto scratch = usedScratch(scan.scratchBytes(in.data(), sums.data(), n));
    scan(in.data(), sums.data(), n, Sum{}, 7, scratch.bytes(), self, stream);
    self.synchronize(stream);
    std::vector<int> expected(all.size());
    std::exclusive_scan(all.begin(), all.end(), expected.begin(), 7,
                        [](int a, int b) { return Common::wrappingAdd(a, b); });
    EXPECT_TRUE(sameBits(sums.read(n), partOf(expected)));

    GuardedArray<int> sorted(n);
    const Distributed::Sort sort;
    const auto shared = Distributed::SharedBuffer::allocate(
        std::span(&self, 1), sort.scratchBytes(in.data(), sorted.data(), begins.back(), n, self));
    sort(in.data(), sorted.data(), n, n, shared[0].scratch(), self, stream);
    self.synchronize(stream);
    expected = all;
    std::ranges::sort(expected);
    EXPECT_TRUE(sameBits(sorted.read(n), partOf(expected)));
}

/// The process that calls with invalid arguments throws at once, the others when they wait.
TEST_F(ProcessTest, InvalidArgumentsOfOneProcessReachAll) {
    const Distributed::Rank self(comm);
    const DeviceBuffer<int> array(100);
    const Distributed::Scan scan;
    DeviceBuffer<std::byte> scratch(scan.scratchBytes(array.data(), data, 100));
    const auto call = [&] {
        scan(array.data(), rank == 0 ? nullptr : data, 100, Sum{}, 0, scratch.bytes(), self, stream);
        self.synchronize(stream);
    };
    EXPECT_THROW(call(), std::invalid_argument);
    EXPECT_NO_THROW(self.synchronize(stream));
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
