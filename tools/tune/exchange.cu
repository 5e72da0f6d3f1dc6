#include <cstdio>
#include <span>
#include <vector>

#include "several_gpus/team.cuh"
#include "tune/candidates.cuh"

namespace Bench::Tune {
namespace {

using Distributed::Cuts;
using Element = std::uint32_t;

/// What a rank sends: random values, different ones on each rank.
struct ElementOf {
    int rank;

    __host__ __device__ Element operator()(std::size_t i) const { return static_cast<Element>(randomAt(rank, i)); }
};

/// Elements that each rank sends to the next one, and the last to the first.
class Ring {
  public:
    Ring(Team& team, std::size_t n)
        : team_(team), n_(n), windows_(Distributed::SharedBuffer::allocate(team.ranks(), n * sizeof(Element))) {
        for (int from = 0; from < team.size(); ++from) {
            for (int to = 0; to <= team.size(); ++to) {
                cuts_.of[from][to] = to > next(from) ? n : 0;
            }
        }
        forEachRank([&](int i) {
            sent_.push_back(filled<Element>(n, ElementOf{i}));
            expected_.push_back(filled<Element>(n, ElementOf{(i + team.size() - 1) % team.size()}));
            cutsOnDevice_.emplace_back(std::span<const Cuts>(&cuts_, 1));
            inboxes_.emplace_back(n);
        });
    }

    /// Kernels store to the windows of the ranks. Afterwards the ranks meet.
    void store() {
        usesWindows_ = true;
        team_.run([this] {
            forEachRank([this](int i) {
                Distributed::writeToShares<Element>(sent_[i].data(), cutsOnDevice_[i].data(), n_, team_.rank(i),
                                                    windows_[i].scratch().window, stream(i));
            });
            Distributed::inGroup([this] {
                forEachRank([this](int i) { team_.rank(i).exchange(sizeof(Distributed::Header), stream(i)); });
            });
        });
    }
    /// NCCL sends.
    void send() {
        usesWindows_ = false;
        team_.run([this] {
            Distributed::inGroup([this] {
                forEachRank([this](int i) {
                    Distributed::sendAndReceive<Element>(team_.rank(i), cuts_, sent_[i].data(), received(i), stream(i));
                });
            });
        });
    }
    /// Copies between the GPUs.
    void copy() {
        usesWindows_ = false;
        team_.run([this] {
            forEachRank([this](int i) {
                Common::checkCUDAError(cudaMemcpyAsync(received(next(i)), sent_[i].data(), n_ * sizeof(Element),
                                                       cudaMemcpyDefault, stream(i)),
                                       "cudaMemcpyAsync between GPUs");
            });
        });
    }

    void poison() {
        team_.streams().synchronize();
        forEachRank([this](int i) {
            Common::checkCUDAError(cudaMemset(received(i), 0xCD, n_ * sizeof(Element)), "cudaMemset");
        });
        team_.streams().synchronize();
    }
    [[nodiscard]] bool isCorrect() {
        team_.synchronize();
        bool isCorrect = true;
        forEachRank([&](int i) {
            const auto begin = thrust::device_pointer_cast(expected_[i].data());
            isCorrect = isCorrect && thrust::equal(begin, begin + n_, thrust::device_pointer_cast(received(i)));
        });
        return isCorrect;
    }

  private:
    template <typename Work>
    void forEachRank(const Work& work) {
        team_.streams().forEach(work);
    }
    [[nodiscard]] int next(int rank) const { return (rank + 1) % team_.size(); }
    [[nodiscard]] cudaStream_t stream(int i) const { return team_.streams().stream(i); }
    /// Where the rank receives, in the way that was called last.
    [[nodiscard]] Element* received(int i) {
        return usesWindows_ ? reinterpret_cast<Element*>(windows_[i].scratch().memory.data()) : inboxes_[i].data();
    }

    Team& team_;
    std::size_t n_;
    Cuts cuts_{};
    std::vector<DeviceBuffer<Element>> sent_;
    std::vector<DeviceBuffer<Element>> expected_;
    std::vector<DeviceBuffer<Cuts>> cutsOnDevice_;
    std::vector<DeviceBuffer<Element>> inboxes_;
    std::vector<Distributed::SharedBuffer> windows_;
    bool usesWindows_ = false;  ///< rather than the inboxes
};

}  // namespace

void tuneExchanges(Tuner& tuner) {
    int gpus = 0;
    Common::checkCUDAError(cudaGetDeviceCount(&gpus), "cudaGetDeviceCount");
    if (gpus < 2) {
        std::puts("exchange: not measured, because it takes several GPUs");
        return;
    }
    Team team(gpus, alone);
    team.streams().connect();
    for (const int exponent : {14, 16, 18, 20, 22, 24, 26, 28}) {
        const std::size_t n = std::size_t{1} << exponent;
        Ring ring(team, n);
        const bool reachAll = team.rank(0).reachesAllRanks();
        const auto always = [](const char* name, auto launch) {
            return Candidate{name, 0, 0, "", [launch] {
                                 launch();
                                 return true;
                             }};
        };
        const Candidate windows{"windows", 0, 0, "", [&] {
                                    if (reachAll) {
                                        ring.store();
                                    }
                                    return reachAll;
                                }};
        tuner.run({"exchange", "uint32", n, n * sizeof(Element), [&] { ring.poison(); },
                   [&] { return ring.isCorrect(); }, [&] { reachAll ? ring.store() : ring.send(); }},
                  std::vector{always("copies", [&] { ring.copy(); })},
                  std::vector{windows, always("messages", [&] { ring.send(); })});
    }
}

}  // namespace Bench::Tune
