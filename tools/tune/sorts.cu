#include <stream_compaction/radix_sort.cuh>

#include "tune/candidates.cuh"

namespace Bench::Tune {
namespace {

using Radix::NoValue;
using Radix::SortShape;

using BlockShapes = ShapeList<SortShape<256, 4>, SortShape<256, 8>, SortShape<512, 8>, SortShape<512, 16>>;
using ClusterShapes = ShapeList<SortShape<256, 1>, SortShape<256, 2>, SortShape<256, 4>, SortShape<512, 4>,
                                SortShape<512, 8>, SortShape<1024, 4>>;
using GridShapes = ShapeList<SortShape<256, 4>, SortShape<256, 8>, SortShape<512, 8>, SortShape<1024, 8>>;

/// For elements of which the larger part has 4 or 8 bytes.
using NarrowShapes =
    ShapeList<SortShape<256, 44>, SortShape<384, 28>, SortShape<384, 36>, SortShape<384, 44>, SortShape<384, 56>,
              SortShape<512, 16>, SortShape<512, 20>, SortShape<512, 24>, SortShape<512, 28>, SortShape<512, 32>,
              SortShape<512, 36>, SortShape<512, 40>, SortShape<512, 42>, SortShape<512, 44>, SortShape<512, 46>>;
using WideShapes = ShapeList<SortShape<256, 22>, SortShape<384, 21>, SortShape<384, 24>, SortShape<384, 30>,
                             SortShape<512, 16>, SortShape<512, 20>, SortShape<512, 22>, SortShape<512, 24>>;

/// More blocks than any card holds at once.
constexpr std::size_t mostGridBlocks = 4096;

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
          memory_(scratchFor(scratchBytes(largest), peersFor(largest))) {
        fill(keysIn_, RandomBits<K>{});
        fill(valuesIn_, IndexAs<int>{});
    }

    template <typename BlockList, typename ClusterList, typename GridList, typename PassList>
    void run(Tuner& tuner, std::string_view type, std::size_t n, BlockList blocks, ClusterList clusters, GridList grids,
             PassList passes) {
        std::vector<Candidate> candidates;
        const auto add = [&](const char* way, auto shapes, auto launch) {
            forEach(shapes, [&](auto shape) {
                candidates.push_back(
                    {way, shape.threads, shape.items, "", [this, n, shape, launch] { return launch(call(n), shape); }});
            });
        };
        add("block", blocks,
            []<typename Shape>(const Call& sort, Shape) { return launchBy<Radix::ByBlock<Shape>>(sort); });
        add("cluster", clusters,
            []<typename Shape>(const Call& sort, Shape) { return launchBy<Radix::ByCluster<Shape>>(sort); });
        add("grid", grids, []<typename Shape>(const Call& sort, Shape) {
            return launchBy<Radix::ByGrid<Shape, mostGridBlocks>>(sort);
        });
        add("passes", passes,
            []<typename Shape>(const Call& sort, Shape) { return launchBy<Radix::InPasses<Shape>>(sort); });

        const auto peers = peersFor(n);
        peers.front().run(memory_.bytes(), defaultStream);
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
                  candidatesOf(peers, memory_.bytes()), candidates);
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

    [[nodiscard]] std::vector<PeerCall> peersFor(std::size_t n) {
        const K* const keysIn = keysIn_.data();
        return callsOfPeers([&](auto peer) {
            if constexpr (hasValues) {
                const Value* const valuesIn = valuesIn_.data();
                return peer.sortPairs(keysIn, keysOut_.data(), valuesIn, valuesOut_.data(), n);
            } else {
                return peer.sort(keysIn, keysOut_.data(), n);
            }
        });
    }

    template <typename Way>
    [[nodiscard]] static bool launchBy(const Call& sort) {
        return Radix::WayTable<Way>::launch(sort);
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

/// The algorithms for small arrays, up to 2^20 elements.
template <typename K, typename Value>
void tuneSmall(Tuner& tuner, std::string_view type) {
    SortContest<K, Value> contest(powerOfTwo(20));
    for (int exponent = 10; exponent <= 20; ++exponent) {
        contest.run(tuner, type, powerOfTwo(exponent), BlockShapes{}, ClusterShapes{}, GridShapes{}, ShapeList<>{});
    }
}

/// The algorithm with one launch per pass.
template <typename K, typename Value, typename PassList>
void tunePasses(Tuner& tuner, std::string_view type, std::initializer_list<int> exponents, PassList passes) {
    SortContest<K, Value> contest(powerOfTwo(std::max(exponents)));
    for (const int exponent : exponents) {
        contest.run(tuner, type, powerOfTwo(exponent), ShapeList<>{}, ShapeList<>{}, ShapeList<>{}, passes);
    }
}

}  // namespace

void tuneSorts(Tuner& tuner) {
    tuneSmall<int, NoValue>(tuner, "int32");
    tuneSmall<int, int>(tuner, "int32,int32");
    tunePasses<int, NoValue>(tuner, "int32", {20, 21, 22, 23, 24, 26, 28}, NarrowShapes{});
    tunePasses<int, int>(tuner, "int32,int32", {20, 21, 22, 23, 24, 26, 28}, NarrowShapes{});
    tunePasses<std::int64_t, NoValue>(tuner, "int64", {20, 22, 24, 27}, WideShapes{});
    tunePasses<std::int64_t, int>(tuner, "int64,int32", {20, 22, 24, 26}, WideShapes{});
}

}  // namespace Bench::Tune
