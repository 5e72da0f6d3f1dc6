#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <stream_compaction/distributed.cuh>
#include <vector>

#include "several_gpus/records.cuh"
#include "several_gpus/spread.cuh"
#include "several_gpus/team.cuh"
#include "variants/gpu/compact_kernels.cuh"
#include "variants/gpu/sort_kernels.cuh"
#include "variants/implementation.h"

namespace StreamCompaction::Utf8 {

// conversions.cu compiles its kernels.
extern template void EncodeWith<Bench::Replaced>::encode(const TextInMemory&, const char32_t*, std::uint8_t*, Result*,
                                                         std::size_t, Scratch, cudaStream_t) const;

}  // namespace StreamCompaction::Utf8

namespace Bench {
namespace {

namespace Distributed = StreamCompaction::Distributed;
namespace Utf8 = StreamCompaction::Utf8;
using StreamCompaction::noArray;
using StreamCompaction::Scratch;
using StreamCompaction::Radix::hasValues;
using StreamCompaction::Radix::NoValue;
using Validation = Distributed::ValidateUtf8With<Replaced>;

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

/// How many elements each rank has in the end. All ranks know it.
class CountsOfRanks {
  public:
    CountsOfRanks(const Team& team, const World& world)
        : team_(team),
          world_(world),
          counts_(team.streams(), static_cast<std::size_t>(team.size() * team.sizeOfAll())) {}

    [[nodiscard]] static std::size_t deviceBytes(const Team& team) { return team.sizeOfAll() * sizeof(std::size_t); }

    [[nodiscard]] std::size_t* data(int i) { return counts_.data(i); }
    void poison() { counts_.poison(); }

    /// Those of the ranks of this process. Throws if the ranks disagree, or if one has more elements than `room`.
    template <typename T>
    [[nodiscard]] std::vector<std::size_t> fetch(const Spread<T>& room) const {
        std::vector<std::size_t> mine;
        for (int i = 0; i < team_.size(); ++i) {
            mine.push_back(toldBy(i)[team_.rank(i).index()]);
        }
        const std::vector<std::size_t> all = world_.isAlone() ? mine : world_.gather(mine.front());
        for (int i = 0; i < team_.size(); ++i) {
            if (!std::ranges::equal(toldBy(i), all) || mine[i] > room.size(i)) {
                throw std::runtime_error("the counts of the GPUs are wrong, or differ from one GPU to another");
            }
        }
        return mine;
    }

  private:
    /// What a rank knows: a count for each rank.
    [[nodiscard]] Array<std::size_t> toldBy(int i) const {
        Array<std::size_t> counts;
        counts_.appendTo(counts, i, counts_.size(i));
        return counts;
    }

    const Team& team_;
    const World& world_;
    Spread<std::size_t> counts_;
};

/// What is kept stays on its GPU.
template <typename T>
class DistributedCompact {
  public:
    using Element = T;
    using SomeProblem = CompactProblem<T>;
    static constexpr Operation operation = Operation::Compact;

    DistributedCompact(std::span<const T> input, Team& team, const World& world)
        : team_(team), input_(team.streams(), input), output_(team.streams(), input.size()), counts_(team, world) {
        team.streams().forEach([&](int i) {
            const std::size_t n = input_.size(i);
            Scratch scratch = scratch_.emplace_back(scratchBytes(n)).bytes();
            parts_.push_back({input_.data(i), output_.data(i), counts_.data(i), n, scratch, &team.rank(i),
                              team.streams().stream(i)});
        });
    }

    [[nodiscard]] static std::size_t deviceBytes(std::size_t share, const Team& team) {
        return 2 * share * sizeof(T) + CountsOfRanks::deviceBytes(team) + scratchBytes(share);
    }

    void call() {
        team_.run([this] { Distributed::Compact{}(parts_, StreamCompaction::IsNonzero{}); });
    }
    void poison() {
        output_.poison();
        counts_.poison();
    }
    void fetchTo(Array<T>& result) const {
        team_.synchronize();
        output_.fetchTo(result, counts_.fetch(output_));
    }

  private:
    [[nodiscard]] static std::size_t scratchBytes(std::size_t share) {
        return Distributed::Compact{}.scratchBytes(noArray<T>, noArray<T>, noArray<std::size_t>, share);
    }

    Team& team_;
    Spread<T> input_;
    Spread<T> output_;
    CountsOfRanks counts_;
    std::vector<StreamCompaction::DeviceBuffer<std::byte>> scratch_;
    std::vector<Distributed::CompactPart<const T*, T>> parts_;
};

/// Both parts stay on their GPU, each in an array of its own.
template <typename T>
class DistributedPartition {
  public:
    using Element = T;
    using SomeProblem = PartitionProblem<T>;
    static constexpr Operation operation = Operation::Partition;

    DistributedPartition(std::span<const T> input, Team& team, const World& world)
        : team_(team),
          input_(team.streams(), input),
          kept_(team.streams(), input.size()),
          rejected_(team.streams(), input.size()),
          counts_(team, world) {
        team.streams().forEach([&](int i) {
            const std::size_t n = input_.size(i);
            Scratch scratch = scratch_.emplace_back(scratchBytes(n)).bytes();
            parts_.push_back(
                {{input_.data(i), kept_.data(i), counts_.data(i), n, scratch, &team.rank(i), team.streams().stream(i)},
                 rejected_.data(i)});
        });
    }

    [[nodiscard]] static std::size_t deviceBytes(std::size_t share, const Team& team) {
        return 3 * share * sizeof(T) + CountsOfRanks::deviceBytes(team) + scratchBytes(share);
    }

    void call() {
        team_.run([this] { Distributed::Partition{}(parts_, StreamCompaction::IsNonzero{}); });
    }
    void poison() {
        kept_.poison();
        rejected_.poison();
        counts_.poison();
    }
    void fetchTo(Parts<T>& result) const {
        team_.synchronize();
        std::vector<std::size_t> counts = counts_.fetch(kept_);
        kept_.fetchTo(result.kept, counts);
        for (int i = 0; i < team_.size(); ++i) {
            counts[i] = input_.size(i) - counts[i];
        }
        rejected_.fetchTo(result.rejected, counts);
    }

  private:
    [[nodiscard]] static std::size_t scratchBytes(std::size_t share) {
        return Distributed::Partition{}.scratchBytes(noArray<T>, noArray<T>, noArray<T>, noArray<std::size_t>, share);
    }

    Team& team_;
    Spread<T> input_;
    Spread<T> kept_;
    Spread<T> rejected_;
    CountsOfRanks counts_;
    std::vector<StreamCompaction::DeviceBuffer<std::byte>> scratch_;
    std::vector<Distributed::PartitionPart<const T*, T>> parts_;
};

/// The result of a text. All ranks know it.
class ResultOfRanks {
  public:
    explicit ResultOfRanks(const Team& team) : results_(team.streams(), team.size()) {}

    static constexpr std::size_t deviceBytes = sizeof(Utf8::Result);

    [[nodiscard]] Utf8::Result* data(int i) { return results_.data(i); }
    void poison() { results_.poison(); }

    /// Throws if the ranks of this process disagree.
    [[nodiscard]] Utf8::Result fetch() const {
        Array<Utf8::Result> results;
        results_.fetchTo(results);
        if (std::ranges::count(results, results.front()) != std::ssize(results)) {
            throw std::runtime_error("the results differ from one GPU to another");
        }
        return results.front();
    }

  private:
    Spread<Utf8::Result> results_;
};

/// Text is cut anywhere, also inside characters. What comes from a GPU's part stays there.
template <Operation ofText, typename Convert, typename From, typename To>
class DistributedConversion {
  public:
    using Element = std::int32_t;  // the type under which text is listed
    using SomeProblem = ConversionProblem<From, To>;
    static constexpr Operation operation = ofText;
    static_assert(elementTypeOf<Element>() == listedTypeOfText);

    DistributedConversion(std::span<const From> input, Team& team, const World& world)
        : team_(team),
          input_(team.streams(), input),
          output_(team.streams(), team.size() * most * input_.size(0)),  // none of the GPUs has more of the input
          counts_(team, world),
          result_(team) {
        team.streams().forEach([&](int i) {
            const std::size_t n = input_.size(i);
            Scratch scratch = scratch_.emplace_back(scratchBytes(n)).bytes();
            parts_.push_back({input_.data(i), output_.data(i), counts_.data(i), result_.data(i), n, scratch,
                              &team.rank(i), team.streams().stream(i)});
        });
    }

    [[nodiscard]] static std::size_t deviceBytes(std::size_t share, const Team& team) {
        return share * (sizeof(From) + most * sizeof(To)) + CountsOfRanks::deviceBytes(team) +
               ResultOfRanks::deviceBytes + scratchBytes(share);
    }

    void call() {
        team_.run([this] { Convert{}(parts_); });
    }
    void poison() {
        output_.poison();
        counts_.poison();
        result_.poison();
    }
    void fetchTo(Converted<To>& to) const {
        team_.synchronize();
        to.result = result_.fetch();
        output_.fetchTo(to.elements, counts_.fetch(output_));
    }

  private:
    static constexpr std::size_t most = Utf8::mostElements<From, To>;

    [[nodiscard]] static std::size_t scratchBytes(std::size_t share) {
        return Convert{}.scratchBytes(noArray<From>, noArray<To>, noArray<std::size_t>, noArray<Utf8::Result>, share);
    }

    Team& team_;
    Spread<From> input_;
    Spread<To> output_;
    CountsOfRanks counts_;
    ResultOfRanks result_;
    std::vector<StreamCompaction::DeviceBuffer<std::byte>> scratch_;
    std::vector<Distributed::ConversionPart<From, To>> parts_;
};

/// The same for a validation, which only counts.
class DistributedValidation {
  public:
    using Element = std::int32_t;
    using SomeProblem = ValidationProblem;
    static constexpr Operation operation = Operation::Utf8Validate;

    DistributedValidation(std::span<const std::uint8_t> input, Team& team, const World& world)
        : team_(team), input_(team.streams(), input), counts_(team, world), result_(team) {
        team.streams().forEach([&](int i) {
            const std::size_t n = input_.size(i);
            Scratch scratch = scratch_.emplace_back(scratchBytes(n)).bytes();
            parts_.push_back({input_.data(i), counts_.data(i), result_.data(i), n, scratch, &team.rank(i),
                              team.streams().stream(i)});
        });
    }

    [[nodiscard]] static std::size_t deviceBytes(std::size_t share, const Team& team) {
        return share + CountsOfRanks::deviceBytes(team) + ResultOfRanks::deviceBytes + scratchBytes(share);
    }

    void call() {
        team_.run([this] { Validation{}(parts_); });
    }
    void poison() {
        counts_.poison();
        result_.poison();
    }
    void fetchTo(Utf8::Result& to) const {
        team_.synchronize();
        (void)counts_.fetch(input_);  // throws if they are wrong
        to = result_.fetch();
    }

  private:
    [[nodiscard]] static std::size_t scratchBytes(std::size_t share) {
        return Validation{}.scratchBytes(noArray<std::uint8_t>, noArray<std::size_t>, noArray<Utf8::Result>, share);
    }

    Team& team_;
    Spread<std::uint8_t> input_;
    CountsOfRanks counts_;
    ResultOfRanks result_;
    std::vector<StreamCompaction::DeviceBuffer<std::byte>> scratch_;
    std::vector<Distributed::ValidationPart> parts_;
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
    /// Enough for all ranks.
    [[nodiscard]] static std::size_t scratchBytes(std::size_t largest, const Team& team) {
        const Distributed::Sort sort{.mostPerRank = largest};
        if constexpr (hasValues<V>) {
            return sort.scratchBytes(noArray<K>, noArray<K>, noArray<V>, noArray<V>, largest, largest, team.rank(0));
        } else {
            return sort.scratchBytes(noArray<K>, noArray<K>, largest, largest, team.rank(0));
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

[[nodiscard]] Implementations distributedConversions(const std::shared_ptr<TeamOfTheRun>& teams) {
    using Decode = Distributed::DecodeUtf8With<Replaced>;
    using Encode = Distributed::EncodeUtf8With<Replaced>;
    return {distributed<DistributedConversion<Operation::Utf8ToUtf32, Decode, std::uint8_t, char32_t>>(teams),
            distributed<DistributedConversion<Operation::Utf8ToUtf16, Decode, std::uint8_t, char16_t>>(teams),
            distributed<DistributedValidation>(teams),
            distributed<DistributedConversion<Operation::Utf32ToUtf8, Encode, char32_t, std::uint8_t>>(teams),
            distributed<DistributedConversion<Operation::Utf16ToUtf8, Encode, char16_t, std::uint8_t>>(teams)};
}

}  // namespace

Implementations gpuDistributed() {
    using SomeTypes = Types<std::int32_t, std::int64_t, float>;
    const auto teams = std::make_shared<TeamOfTheRun>();
    return joined({
        distributedEach<DistributedScan>(SomeTypes{}, teams),
        distributedEach<DistributedCompact>(IntsAlone{}, teams),
        distributedEach<DistributedPartition>(IntsAlone{}, teams),
        distributedEach<DistributedKeySort>(SomeTypes{}, teams),
        distributedEach<DistributedPairSort>(IntsAlone{}, teams),
        distributedConversions(teams),
    });
}

}  // namespace Bench
