#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "device_fixture.cuh"
#include "stream_compaction/distributed.cuh"
#if defined(STREAM_COMPACTION_SIMULATED)
#include "simulator.h"
#endif

/// Shared by the tests of arrays that are spread over ranks.
namespace StreamCompaction::Testing {

using Distributed::Rank;
using Distributed::SharedBuffer;

/// The ranks of this process, one per device.
class Team {
  public:
    explicit Team(int size) : comms_(size) {
        Distributed::checkNccl(ncclCommInitAll(comms_.data(), size, nullptr), "ncclCommInitAll");
        for (int i = 0; i < size; ++i) {
            const DeviceScope here(i);
            ranks_.emplace_back(comms_[i]);
            streams_.push_back(std::make_unique<CudaStream>());
        }
    }
    ~Team() {
        streams_.clear();
        ranks_.clear();
        for (ncclComm_t comm : comms_) {
            if (comm != nullptr) {
                ncclCommDestroy(comm);
            }
        }
    }
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    [[nodiscard]] int size() const { return static_cast<int>(ranks_.size()); }
    [[nodiscard]] std::span<const Rank> ranks() const { return ranks_; }
    [[nodiscard]] const Rank& rank(int i) const { return ranks_[i]; }
    [[nodiscard]] cudaStream_t stream(int i) const { return *streams_[i]; }

    /// Aborts a rank's communicator, which may not be used afterwards.
    [[maybe_unused]] void abort(int i) {
        ranks_[i].abort();
        comms_[i] = nullptr;
    }

    void synchronize() const {
        for (int i = 0; i < size(); ++i) {
            rank(i).synchronize(stream(i));
        }
    }

  private:
    std::vector<ncclComm_t> comms_;
    std::vector<Rank> ranks_;
    std::vector<std::unique_ptr<CudaStream>> streams_;
};

/// An array that is spread over the ranks.
template <typename T>
class Spread {
  public:
    /// Of the given numbers of elements. Poisoned.
    Spread(const Team& team, const std::vector<std::size_t>& counts, std::size_t misalignment = 0)
        : team_(team), counts_(counts) {
        for (int i = 0; i < team.size(); ++i) {
            const DeviceScope here(i);
            parts_.push_back(std::make_unique<GuardedArray<T>>(counts[i], misalignment));
        }
        waitForAll();
    }
    /// With these elements.
    Spread(const Team& team, const std::vector<std::size_t>& counts, const std::vector<T>& elements,
           std::size_t misalignment = 0)
        : Spread(team, counts, misalignment) {
        std::size_t begin = 0;
        for (int i = 0; i < team.size(); ++i) {
            const DeviceScope here(i);
            parts_[i]->write(std::span(elements).subspan(begin, counts[i]));
            begin += counts[i];
        }
        waitForAll();
    }

    [[nodiscard]] T* data(int rank) const { return parts_[rank]->data(); }

    /// The elements of all ranks, the first `counts[r]` of each.
    [[nodiscard]] std::vector<T> read(const std::vector<std::size_t>& counts) const {
        std::vector<T> all;
        for (int i = 0; i < team_.size(); ++i) {
            const DeviceScope here(i);
            const std::vector<T> part = parts_[i]->read(counts[i]);
            all.insert(all.end(), part.begin(), part.end());
        }
        return all;
    }
    [[nodiscard]] std::vector<T> read() const { return read(counts_); }

  private:
    void waitForAll() const {
        for (int i = 0; i < team_.size(); ++i) {
            const DeviceScope here(i);
            Common::checkCUDAError(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        }
    }

    const Team& team_;
    std::vector<std::size_t> counts_;
    std::vector<std::unique_ptr<GuardedArray<T>>> parts_;
};

/// Scratch for each rank.
class ScratchOfRanks {
  public:
    template <typename BytesOf>
    ScratchOfRanks(const Team& team, const BytesOf& bytesOf) {
        for (int i = 0; i < team.size(); ++i) {
            const DeviceScope here(i);
            buffers_.push_back(usedScratch(bytesOf(i)));
            Common::checkCUDAError(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        }
    }
    [[nodiscard]] Scratch of(int rank) { return buffers_[rank].bytes(); }

  private:
    std::vector<UsedScratch> buffers_;
};

/// In the simulator an even and an odd number suffice: a test takes as long as the square of it.
const auto numbersOfRanks = testing::ValuesIn(isSimulated ? std::vector{1, 2, 5} : std::vector{1, 2, 3, 4, 8});

/// Tests on a number of ranks, each with a GPU of its own.
class RanksTest : public DeviceTest, public testing::WithParamInterface<int> {
  protected:
    void SetUp() override {
        DeviceTest::SetUp();
        if (IsSkipped()) {
            return;
        }
#if defined(STREAM_COMPACTION_SIMULATED)
        Simulator::configure("devices=" + std::to_string(GetParam()));
#endif
        int devices = 0;
        Common::checkCUDAError(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
        if (devices < GetParam()) {
            GTEST_SKIP() << GetParam() << " GPUs are needed, and there are " << devices;
        }
        team_ = std::make_unique<Team>(GetParam());
    }
    void TearDown() override { team_.reset(); }

    [[nodiscard]] const Team& team() const { return *team_; }
    [[nodiscard]] int size() const { return team_->size(); }
    [[nodiscard]] const Rank& rank(int i) const { return team_->rank(i); }
    [[nodiscard]] cudaStream_t stream(int i) const { return team_->stream(i); }

    /// Calls work(rank) for all ranks, each on a thread of its own.
    template <typename Work>
    void onThreads(const Work& work) const {
        std::vector<std::thread> threads;
        for (int i = 0; i < size(); ++i) {
            threads.emplace_back([&work, i] {
                const DeviceScope here(i);
                work(i);
            });
        }
        std::ranges::for_each(threads, &std::thread::join);
    }

    /// Captures what `enqueue` enqueues on a rank's stream, and runs it twice.
    template <typename Enqueue>
    void replayTwice(int i, const Enqueue& enqueue) const {
        Common::checkCUDAError(cudaStreamBeginCapture(stream(i), cudaStreamCaptureModeThreadLocal), "begin capture");
        enqueue();
        cudaGraph_t graph = nullptr;
        Common::checkCUDAError(cudaStreamEndCapture(stream(i), &graph), "end capture");
        cudaGraphExec_t executable = nullptr;
        Common::checkCUDAError(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
        for (int repetition = 0; repetition < 2; ++repetition) {
            Common::checkCUDAError(cudaGraphLaunch(executable, stream(i)), "cudaGraphLaunch");
        }
        rank(i).synchronize(stream(i));
        cudaGraphExecDestroy(executable);
        cudaGraphDestroy(graph);
    }

  private:
    std::unique_ptr<Team> team_;
};

}  // namespace StreamCompaction::Testing
