#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <stream_compaction/distributed.cuh>
#include <tuple>
#include <type_traits>
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

/// An array that an operation writes: as large as the input, or with room for `most` elements per element of it.
template <typename T, std::size_t most = 0>
class OutputOfRanks : public Spread<T> {
  public:
    /// None of the GPUs has more of the input than the first.
    OutputOfRanks(const Team& team, std::size_t n, const World& /*world*/)
        : Spread<T>(team.streams(), most == 0 ? n : team.size() * most * shareOf(n, team.size(), 0).size) {}

    static constexpr T* none = noArray<T>;
    [[nodiscard]] static std::size_t deviceBytes(std::size_t share, const Team& /*team*/) {
        return share * std::max(most, std::size_t{1}) * sizeof(T);
    }
};

/// How many elements each rank has in the end. All ranks know it.
class CountsOfRanks : public Spread<std::size_t> {
  public:
    CountsOfRanks(const Team& team, std::size_t /*n*/, const World& world)
        : Spread(team.streams(), static_cast<std::size_t>(team.size() * team.sizeOfAll())),
          team_(team),
          world_(world) {}

    static constexpr std::size_t* none = noArray<std::size_t>;
    [[nodiscard]] static std::size_t deviceBytes(std::size_t /*share*/, const Team& team) {
        return team.sizeOfAll() * sizeof(std::size_t);
    }

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
        appendTo(counts, i, size(i));
        return counts;
    }

    const Team& team_;
    const World& world_;
};

/// The result of a text. All ranks know it.
class ResultOfRanks : public Spread<Utf8::Result> {
  public:
    ResultOfRanks(const Team& team, std::size_t /*n*/, const World& /*world*/) : Spread(team.streams(), team.size()) {}

    static constexpr Utf8::Result* none = noArray<Utf8::Result>;
    [[nodiscard]] static std::size_t deviceBytes(std::size_t /*share*/, const Team& /*team*/) {
        return sizeof(Utf8::Result);
    }

    /// Throws if the ranks of this process disagree.
    [[nodiscard]] Utf8::Result fetch() const {
        Array<Utf8::Result> results;
        fetchTo(results);
        if (std::ranges::count(results, results.front()) != std::ssize(results)) {
            throw std::runtime_error("the results differ from one GPU to another");
        }
        return results.front();
    }
};

/// The part of a rank. `arrays` are its own, in the order of the operation's arguments.
template <typename Part, typename... Arrays>
[[nodiscard]] Part partOf(std::type_identity<Part>, std::size_t n, Scratch scratch, const Distributed::Rank* rank,
                          cudaStream_t stream, Arrays... arrays) {
    return {arrays..., n, scratch, rank, stream};
}
template <typename In, typename T>
[[nodiscard]] Distributed::PartitionPart<In, T> partOf(std::type_identity<Distributed::PartitionPart<In, T>>,
                                                       std::size_t n, Scratch scratch, const Distributed::Rank* rank,
                                                       cudaStream_t stream, In in, T* kept, T* rejected,
                                                       std::size_t* counts) {
    return {{in, kept, counts, n, scratch, rank, stream}, rejected};
}

/// An operation whose input and other arrays are spread over the ranks.
template <typename Op, typename Part, Operation ofProblem, typename ProblemOfOp, typename In, typename... Arguments>
class OfRanks {
  public:
    using SomeProblem = ProblemOfOp;
    static constexpr Operation operation = ofProblem;

    OfRanks(std::span<const In> input, Team& team, const World& world)
        : team_(team), input_(team.streams(), input), arguments_(Arguments(team, input.size(), world)...) {
        team.streams().forEach([&](int i) {
            const std::size_t n = input_.size(i);
            const In* const in = input_.data(i);
            Scratch scratch = scratch_.emplace_back(scratchBytes(n)).bytes();
            std::apply(
                [&](auto&... arguments) {
                    parts_.push_back(partOf(std::type_identity<Part>{}, n, scratch, &team.rank(i),
                                            team.streams().stream(i), in, arguments.data(i)...));
                },
                arguments_);
        });
    }

    /// Of a rank with that many elements.
    [[nodiscard]] static std::size_t deviceBytes(std::size_t share, const Team& team) {
        return share * sizeof(In) + (Arguments::deviceBytes(share, team) + ...) + scratchBytes(share);
    }

    void call() { run(); }
    void poison() {
        std::apply([](auto&... arguments) { (arguments.poison(), ...); }, arguments_);
    }

  protected:
    /// `more` are the arguments that are no arrays.
    template <typename... More>
    void run(More... more) {
        team_.run([&] { Op{}(parts_, more...); });
    }
    /// Once the ranks are done, the arrays.
    [[nodiscard]] const std::tuple<Arguments...>& done() const {
        team_.synchronize();
        return arguments_;
    }
    [[nodiscard]] const Spread<In>& input() const { return input_; }

  private:
    [[nodiscard]] static std::size_t scratchBytes(std::size_t share) {
        return Op{}.scratchBytes(noArray<In>, Arguments::none..., share);
    }

    Team& team_;
    Spread<In> input_;
    std::tuple<Arguments...> arguments_;
    std::vector<StreamCompaction::DeviceBuffer<std::byte>> scratch_;
    std::vector<Part> parts_;
};

template <typename T>
class DistributedScan : public OfRanks<Distributed::Scan, Distributed::ScanPart<const T*, T>, Operation::Scan,
                                       ScanProblem<T>, T, OutputOfRanks<T>> {
  public:
    using Element = T;
    using DistributedScan::OfRanks::OfRanks;

    void call() { this->run(StreamCompaction::Sum{}, T{}); }
    void fetchTo(Array<T>& result) const { std::get<0>(this->done()).fetchTo(result); }
};

/// What is kept stays on its GPU.
template <typename T>
class DistributedCompact : public OfRanks<Distributed::Compact, Distributed::CompactPart<const T*, T>,
                                          Operation::Compact, CompactProblem<T>, T, OutputOfRanks<T>, CountsOfRanks> {
  public:
    using Element = T;
    using DistributedCompact::OfRanks::OfRanks;

    void call() { this->run(StreamCompaction::IsNonzero{}); }
    void fetchTo(Array<T>& result) const {
        const auto& [output, counts] = this->done();
        output.fetchTo(result, counts.fetch(output));
    }
};

/// Both parts stay on their GPU, each in an array of its own.
template <typename T>
class DistributedPartition
    : public OfRanks<Distributed::Partition, Distributed::PartitionPart<const T*, T>, Operation::Partition,
                     PartitionProblem<T>, T, OutputOfRanks<T>, OutputOfRanks<T>, CountsOfRanks> {
  public:
    using Element = T;
    using DistributedPartition::OfRanks::OfRanks;

    void call() { this->run(StreamCompaction::IsNonzero{}); }
    void fetchTo(Parts<T>& result) const {
        const auto& [kept, rejected, countsOfRanks] = this->done();
        std::vector<std::size_t> counts = countsOfRanks.fetch(kept);
        kept.fetchTo(result.kept, counts);
        for (int i = 0; i < std::ssize(counts); ++i) {
            counts[i] = this->input().size(i) - counts[i];
        }
        rejected.fetchTo(result.rejected, counts);
    }
};

/// Text is cut anywhere, also inside characters. What comes from a GPU's part stays there.
template <Operation ofText, typename Convert, typename From, typename To>
class DistributedConversion
    : public OfRanks<Convert, Distributed::ConversionPart<From, To>, ofText, ConversionProblem<From, To>, From,
                     OutputOfRanks<To, Utf8::mostElements<From, To>>, CountsOfRanks, ResultOfRanks> {
  public:
    using Element = std::int32_t;  // the type under which text is listed
    static_assert(elementTypeOf<Element>() == listedTypeOfText);
    using DistributedConversion::OfRanks::OfRanks;

    void fetchTo(Converted<To>& to) const {
        const auto& [output, counts, result] = this->done();
        to.result = result.fetch();
        output.fetchTo(to.elements, counts.fetch(output));
    }
};

/// The same for a validation, which only counts.
class DistributedValidation
    : public OfRanks<Distributed::ValidateUtf8With<Replaced>, Distributed::ValidationPart, Operation::Utf8Validate,
                     ValidationProblem, std::uint8_t, CountsOfRanks, ResultOfRanks> {
  public:
    using Element = std::int32_t;
    using OfRanks::OfRanks;

    void fetchTo(Utf8::Result& to) const {
        const auto& [counts, result] = done();
        (void)counts.fetch(input());  // throws if they are wrong
        to = result.fetch();
    }
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
