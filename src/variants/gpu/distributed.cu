#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <stream_compaction/distributed.cuh>
#include <vector>

#include "variants/gpu/memory.cuh"
#include "variants/gpu/sort_kernels.cuh"
#include "variants/gpu/spread.cuh"
#include "variants/implementation.h"

namespace Bench {
namespace {

namespace Distributed = StreamCompaction::Distributed;
using StreamCompaction::noArray;
using StreamCompaction::Scratch;
using StreamCompaction::Radix::hasValues;
using StreamCompaction::Radix::NoValue;

/// NCCL's communicators of the first GPUs, all in this process. If the world has several ranks, that of the current
/// GPU, with one in each of the other processes.
class Communicators {
  public:
    Communicators(int gpus, const World& world) : comms_(world.isAlone() ? gpus : 1) {
        if (world.isAlone()) {
            Distributed::checkNccl(ncclCommInitAll(comms_.data(), gpus, nullptr), "ncclCommInitAll");
            return;
        }
        ncclUniqueId id{};
        if (world.rank() == 0) {
            Distributed::checkNccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
        }
        Distributed::checkNccl(ncclCommInitRank(comms_.data(), world.size(), world.ofFirst(id), world.rank()),
                               "ncclCommInitRank");
    }
    ~Communicators() { std::ranges::for_each(comms_, ncclCommDestroy); }
    Communicators(const Communicators&) = delete;
    Communicators& operator=(const Communicators&) = delete;

    [[nodiscard]] std::vector<Distributed::Rank> ranks() const { return {comms_.begin(), comms_.end()}; }

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
    [[nodiscard]] std::span<const Distributed::Rank> ranks() const { return ranks_; }
    [[nodiscard]] const Distributed::Rank& rank(int i) const { return ranks_[i]; }
    [[nodiscard]] JoinedStreams& streams() { return streams_; }

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
    std::vector<Distributed::Rank> ranks_;
    JoinedStreams streams_;
};

/// The team of a run. It is made when the first variant needs it, and all variants share it.
class TeamOfTheRun {
  public:
    [[nodiscard]] Team& of(const Setting& setting) {
        if (team_ == nullptr || team_->sizeOfAll() != setting.gpus) {
            team_.reset();  // first, so that there are not two of them
            team_ = std::make_unique<Team>(setting.gpus, setting.world);
        }
        return *team_;
    }

  private:
    std::unique_ptr<Team> team_;
};

template <typename T>
class DistributedScan {
  public:
    using Element = T;
    using SomeProblem = ScanProblem<T>;
    static constexpr Operation operation = Operation::Scan;

    DistributedScan(std::span<const T> input, Team& team, const World& /*world*/)
        : team_(team), input_(team.streams(), input), output_(team.streams(), input.size()) {
        team.streams().forEach([&](int i) {
            const std::size_t n = input_.size(i);
            Scratch scratch = scratch_.emplace_back(scratchBytes(n)).bytes();
            parts_.push_back({input_.data(i), output_.data(i), n, scratch, &team.rank(i), team.streams().stream(i)});
        });
    }

    /// Of a rank with that many elements.
    [[nodiscard]] static std::size_t deviceBytes(std::size_t share, const Team& /*team*/) {
        return 2 * share * sizeof(T) + scratchBytes(share);
    }

    void call() {
        team_.run([this] { Distributed::Scan{}(parts_, StreamCompaction::Sum{}, T{}); });
    }
    void poison() { output_.poison(); }
    void fetchTo(Array<T>& result) const {
        team_.synchronize();
        output_.fetchTo(result);
    }

  private:
    [[nodiscard]] static std::size_t scratchBytes(std::size_t share) {
        return Distributed::Scan{}.scratchBytes(noArray<T>, noArray<T>, share);
    }

    Team& team_;
    Spread<T> input_;
    Spread<T> output_;
    std::vector<StreamCompaction::DeviceBuffer<std::byte>> scratch_;
    std::vector<Distributed::ScanPart<const T*, T>> parts_;
};

/// What is kept stays on its GPU.
template <typename T>
class DistributedCompact {
  public:
    using Element = T;
    using SomeProblem = CompactProblem<T>;
    static constexpr Operation operation = Operation::Compact;

    DistributedCompact(std::span<const T> input, Team& team, const World& world)
        : team_(team),
          world_(world),
          input_(team.streams(), input),
          output_(team.streams(), input.size()),
          counts_(team.streams(), static_cast<std::size_t>(team.size() * team.sizeOfAll())) {
        team.streams().forEach([&](int i) {
            const std::size_t n = input_.size(i);
            Scratch scratch = scratch_.emplace_back(scratchBytes(n)).bytes();
            parts_.push_back({input_.data(i), output_.data(i), counts_.data(i), n, scratch, &team.rank(i),
                              team.streams().stream(i)});
        });
    }

    [[nodiscard]] static std::size_t deviceBytes(std::size_t share, const Team& team) {
        return 2 * share * sizeof(T) + team.sizeOfAll() * sizeof(std::size_t) + scratchBytes(share);
    }

    void call() {
        team_.run([this] { Distributed::Compact{}(parts_, StreamCompaction::IsNonzero{}); });
    }
    void poison() {
        output_.poison();
        counts_.poison();
    }
    /// Throws if the ranks disagree about the counts, or if one exceeds its share.
    void fetchTo(Array<T>& result) const {
        team_.synchronize();
        result.clear();
        const std::vector<std::size_t> counts = countsOfAll();
        for (int i = 0; i < team_.size(); ++i) {
            const int rank = team_.rank(i).index();
            if (!std::ranges::equal(countsOn(i), counts) || counts[rank] > input_.size(i)) {
                throw std::runtime_error("the counts of the GPUs are wrong, or differ from one GPU to another");
            }
            output_.appendTo(result, i, counts[rank]);
        }
    }

  private:
    [[nodiscard]] static std::size_t scratchBytes(std::size_t share) {
        return Distributed::Compact{}.scratchBytes(noArray<T>, noArray<T>, noArray<std::size_t>, share);
    }
    /// What each rank says of itself.
    [[nodiscard]] std::vector<std::size_t> countsOfAll() const {
        std::vector<std::size_t> counts;
        for (int i = 0; i < team_.size(); ++i) {
            counts.push_back(countsOn(i)[team_.rank(i).index()]);
        }
        return world_.isAlone() ? counts : world_.gather(counts.front());
    }
    /// What a rank knows: a count for each rank.
    [[nodiscard]] Array<std::size_t> countsOn(int rank) const {
        Array<std::size_t> counts;
        counts_.appendTo(counts, rank, counts_.size(rank));
        return counts;
    }

    Team& team_;
    const World& world_;
    Spread<T> input_;
    Spread<T> output_;
    Spread<std::size_t> counts_;
    std::vector<StreamCompaction::DeviceBuffer<std::byte>> scratch_;
    std::vector<Distributed::CompactPart<const T*, T>> parts_;
};

/// Sorts keys, with their indices as values or without.
template <typename K, typename V>
class DistributedSort : public SortOf<K, V> {
  public:
    using Element = K;

    DistributedSort(std::span<const K> keys, Team& team, const World& world)
        : team_(team),
          in_{{team.streams(), keys},
              {team.streams(),
               std::span<const V>(valuesOf<V>(keys.size(), hasValues<V> ? world.sumBefore(keys.size()) : 0))}},
          out_{{team.streams(), keys.size()}, {team.streams(), hasValues<V> ? keys.size() : 0}},
          sort_{.mostPerRank = world.largest(in_.keys.size(0))},
          scratch_(Distributed::SharedBuffer::allocate(team.ranks(), scratchBytes(sort_.mostPerRank, team))) {
        for (int i = 0; i < team.size(); ++i) {
            parts_.push_back({in_.keys.data(i), out_.keys.data(i), in_.values.data(i), out_.values.data(i),
                              in_.keys.size(i), out_.keys.size(i), scratch_[i].scratch(), &team.rank(i),
                              team.streams().stream(i)});
        }
    }

    [[nodiscard]] static std::size_t deviceBytes(std::size_t share, const Team& team) {
        return 2 * share * SortOf<K, V>::elementBytes + scratchBytes(share, team);
    }

    void call() {
        team_.run([this] { sort_(parts_); });
    }
    void poison() { out_.poison(); }
    template <typename Result>
    void fetchTo(Result& result) const {
        team_.synchronize();
        out_.fetchTo(result);
    }

  private:
    [[nodiscard]] static std::size_t scratchBytes(std::size_t share, const Team& team) {
        const Distributed::Sort sort{.mostPerRank = share};
        if constexpr (hasValues<V>) {
            return sort.scratchBytes(noArray<K>, noArray<K>, noArray<V>, noArray<V>, share, share, team.rank(0));
        } else {
            return sort.scratchBytes(noArray<K>, noArray<K>, share, share, team.rank(0));
        }
    }

    Team& team_;
    Records<Spread, K, V> in_;
    Records<Spread, K, V> out_;
    Distributed::Sort sort_;
    std::vector<Distributed::SharedBuffer> scratch_;
    std::vector<Distributed::SortPart<K, V>> parts_;
};

template <typename K>
using DistributedKeySort = DistributedSort<K, NoValue>;
template <typename K>
using DistributedPairSort = DistributedSort<K, PairValue>;

template <typename Memory>
[[nodiscard]] Implementation distributed(std::shared_ptr<TeamOfTheRun> teams) {
    return {Memory::operation,
            elementTypeOf<typename Memory::Element>(),
            "distributed",
            {.deviceBytes =
                 [teams](const Problem& problem, const Setting& setting) {
                     const Team& team = teams->of(setting);
                     return Memory::deviceBytes(shareOf(problem.size(), team.size(), 0).size, team);
                 },
             .prepare = [teams](Problem& problem, const Setting& setting) -> std::unique_ptr<PreparedRun> {
                 return std::make_unique<RunInParts<Memory>>(dynamic_cast<typename Memory::SomeProblem&>(problem),
                                                             teams->of(setting), setting.world);
             }}};
}

template <template <typename> typename MemoryOf, typename... Ts>
[[nodiscard]] Implementations distributedEach(Types<Ts...>, const std::shared_ptr<TeamOfTheRun>& teams) {
    return {distributed<MemoryOf<Ts>>(teams)...};
}

}  // namespace

Implementations gpuDistributed() {
    using SomeTypes = Types<std::int32_t, std::int64_t, float>;
    const auto teams = std::make_shared<TeamOfTheRun>();
    return joined({
        distributedEach<DistributedScan>(SomeTypes{}, teams),
        distributedEach<DistributedCompact>(IntsAlone{}, teams),
        distributedEach<DistributedKeySort>(SomeTypes{}, teams),
        distributedEach<DistributedPairSort>(IntsAlone{}, teams),
    });
}

}  // namespace Bench
