#include <stream_compaction/radix_sort.cuh>

#include "tune/candidates.cuh"

namespace Bench::Tune {
namespace {

using Radix::NoValue;
using Radix::SortShape;

/// The shapes to try of one way to sort.
template <template <typename> typename Way, typename... Shapes>
struct Family {
    const char* name;
};

/// As many blocks as fit, of a way by resident blocks.
template <typename Shape>
using Grid = Radix::ByGrid<Shape, 4096>;
template <typename Shape>
using ClusterGroups = Radix::BucketsByCluster<Shape, Radix::InGroups>;
template <typename Shape>
using ClusterBuckets = Radix::BucketsByCluster<Shape>;
template <typename Shape>
using GridGroups = Radix::BucketsByGrid<Shape, 128, Radix::InGroups>;
template <typename Shape>
using GridBuckets = Radix::BucketsByGrid<Shape, 256>;
template <typename Shape>
using Passes = Radix::InPasses<Shape>;
template <typename Shape>
using TwoTiles = Radix::InBuckets<Radix::BucketAttempt<Shape, 2, 128>, Radix::InPasses<SortShape<512, 33>, 2>>;

constexpr Family<Radix::ByNetwork, SortShape<128, 4>, SortShape<256, 4>, SortShape<512, 2>, SortShape<512, 4>,
                 SortShape<512, 8>>
    networks{"network"};
constexpr Family<Radix::ByBlock, SortShape<256, 4>, SortShape<256, 8>, SortShape<512, 8>, SortShape<512, 16>> blocks{
    "block"};
constexpr Family<Radix::ByCluster, SortShape<256, 1>, SortShape<256, 2>, SortShape<256, 4>, SortShape<512, 4>,
                 SortShape<512, 8>, SortShape<1024, 4>>
    clusters{"cluster"};
constexpr Family<Grid, SortShape<256, 4>, SortShape<256, 8>, SortShape<512, 8>, SortShape<1024, 8>> grids{"grid"};
constexpr Family<ClusterGroups, SortShape<256, 1>, SortShape<256, 2>, SortShape<256, 4>, SortShape<512, 4>>
    clusterGroups{"cluster-groups"};
constexpr Family<ClusterBuckets, SortShape<256, 2>, SortShape<256, 4>, SortShape<512, 4>> clusterBuckets{
    "cluster-buckets"};
constexpr Family<GridGroups, SortShape<256, 4>, SortShape<512, 4>, SortShape<512, 8>, SortShape<1024, 8>,
                 SortShape<512, 16>, SortShape<1024, 16>>
    gridGroups{"grid-groups"};
constexpr Family<GridBuckets, SortShape<256, 4>, SortShape<512, 4>, SortShape<512, 8>, SortShape<512, 16>,
                 SortShape<1024, 16>>
    gridBuckets{"grid-buckets"};
constexpr Family<TwoTiles, SortShape<512, 16>, SortShape<1024, 8>, SortShape<1024, 16>> twoTiles{"two-tiles"};

/// For elements of which the larger part has 4 or 8 bytes.
constexpr Family<Passes, SortShape<256, 44>, SortShape<384, 28>, SortShape<384, 36>, SortShape<384, 44>,
                 SortShape<384, 56>, SortShape<512, 16>, SortShape<512, 20>, SortShape<512, 24>, SortShape<512, 28>,
                 SortShape<512, 32>, SortShape<512, 33>, SortShape<512, 36>, SortShape<512, 40>, SortShape<512, 42>,
                 SortShape<512, 44>, SortShape<512, 46>>
    narrowPasses{"passes"};
constexpr Family<Passes, SortShape<256, 22>, SortShape<384, 21>, SortShape<384, 24>, SortShape<384, 30>,
                 SortShape<512, 16>, SortShape<512, 20>, SortShape<512, 22>, SortShape<512, 24>>
    widePasses{"passes"};

/// Random integer keys, without values or with their indices as values.
template <typename K, typename Value>
class SortContest {
  public:
    static constexpr bool hasValues = Radix::hasValues<Value>;
    using Bits = BitsOf<K>;
    using Carried = Radix::Carried<Value>;
    using Call = Radix::SortCall<Bits, Carried>;

    explicit SortContest(std::size_t largest)
        : keysIn_(largest),
          keysOut_(largest),
          keysExpected_(largest),
          valuesIn_(hasValues ? largest : 0),
          valuesOut_(valuesIn_.size()),
          valuesExpected_(valuesIn_.size()),
          memory_(scratchFor(scratchBytes(largest))) {
        fill(keysIn_, RandomBits<K>{});
        fill(valuesIn_, IndexAs<int>{});
    }

    template <typename... Families>
    void run(Tuner& tuner, std::string_view type, std::size_t n, Families... families) {
        std::vector<Candidate> candidates;
        (add(candidates, n, families), ...);

        sort(n);
        copy(keysExpected_, keysOut_, n);
        copy(valuesExpected_, valuesOut_, hasValues ? n : 0);
        const auto spoil = [this] {
            poison(keysOut_);
            poison(valuesOut_);
        };
        const auto isCorrect = [this, n] {
            return areEqual(keysOut_, keysExpected_, n) && areEqual(valuesOut_, valuesExpected_, hasValues ? n : 0);
        };
        const std::size_t bytes = 2 * n * (sizeof(K) + (hasValues ? sizeof(Value) : 0));
        tuner.run({hasValues ? "sort-pairs" : "sort", type, n, bytes, spoil, isCorrect, [this, n] { sort(n); }},
                  candidates);
    }

  private:
    using StoredValue = std::conditional_t<hasValues, Value, int>;

    [[nodiscard]] static std::size_t scratchBytes(std::size_t n) {
        if constexpr (hasValues) {
            return Radix::Sort{}.scratchBytes(noArray<K>, noArray<K>, noArray<Value>, noArray<Value>, n);
        } else {
            return Radix::Sort{}.scratchBytes(noArray<K>, noArray<K>, n);
        }
    }

    void sort(std::size_t n) {
        const K* const keysIn = keysIn_.data();
        if constexpr (hasValues) {
            const Value* const valuesIn = valuesIn_.data();
            Radix::Sort{}(keysIn, keysOut_.data(), valuesIn, valuesOut_.data(), n, memory_.bytes(), defaultStream);
        } else {
            Radix::Sort{}(keysIn, keysOut_.data(), n, memory_.bytes(), defaultStream);
        }
    }

    template <template <typename> typename Way, typename... Shapes>
    void add(std::vector<Candidate>& candidates, std::size_t n, Family<Way, Shapes...> family) {
        (candidates.push_back({family.name, Shapes::threads, Shapes::items, "",
                               [this, n] { return Radix::WayTable<Way<Shapes>>::launch(call(n)); }}),
         ...);
    }

    [[nodiscard]] Call call(std::size_t n) {
        const DigitRange allBits{0, 8 * sizeof(K)};
        return {{reinterpret_cast<const Bits*>(keysIn_.data()), reinterpret_cast<const Carried*>(valuesIn_.data())},
                {reinterpret_cast<Bits*>(keysOut_.data()), reinterpret_cast<Carried*>(valuesOut_.data())},
                n,
                allBits,
                KeyCoding<Bits>::template of<K>(),
                TileOrder::BlockIndex,
                {},
                ScratchArena(memory_.bytes(), 0),
                defaultStream};
    }

    DeviceBuffer<K> keysIn_;
    DeviceBuffer<K> keysOut_;
    DeviceBuffer<K> keysExpected_;
    DeviceBuffer<StoredValue> valuesIn_;
    DeviceBuffer<StoredValue> valuesOut_;
    DeviceBuffer<StoredValue> valuesExpected_;
    DeviceBuffer<std::byte> memory_;
};

constexpr std::size_t powerOfTwo(int exponent) { return std::size_t{1} << exponent; }

/// The algorithms for small arrays, up to 2^22 elements.
template <typename K, typename Value>
void tuneSmall(Tuner& tuner, std::string_view type) {
    constexpr int mostExponent = 22;
    SortContest<K, Value> contest(powerOfTwo(mostExponent));
    for (int exponent = 10; exponent <= mostExponent; ++exponent) {
        contest.run(tuner, type, powerOfTwo(exponent), networks, blocks, clusters, grids, clusterGroups, gridGroups,
                    twoTiles, clusterBuckets, gridBuckets);
    }
}

/// The algorithm with one launch per pass.
template <typename K, typename Value, typename PassFamily>
void tunePasses(Tuner& tuner, std::string_view type, std::initializer_list<int> exponents, PassFamily passes) {
    SortContest<K, Value> contest(powerOfTwo(std::max(exponents)));
    for (const int exponent : exponents) {
        contest.run(tuner, type, powerOfTwo(exponent), passes);
    }
}

}  // namespace

void tuneSorts(Tuner& tuner) {
    tuneSmall<int, NoValue>(tuner, "int32");
    tuneSmall<int, int>(tuner, "int32,int32");
    tunePasses<int, NoValue>(tuner, "int32", {21, 22, 23, 24, 26, 28}, narrowPasses);
    tunePasses<int, int>(tuner, "int32,int32", {21, 22, 23, 24, 26, 28}, narrowPasses);
    tunePasses<std::int64_t, NoValue>(tuner, "int64", {20, 22, 24, 27}, widePasses);
    tunePasses<std::int64_t, int>(tuner, "int64,int32", {20, 22, 24, 26}, widePasses);
}

}  // namespace Bench::Tune
