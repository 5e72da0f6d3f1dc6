#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "../primitives/noncommutative.cuh"
#include "distributed_fixture.cuh"

namespace StreamCompaction::Testing {
namespace {

using SinglePass::ScanKind;

/// The most elements of a rank.
constexpr std::size_t most = sized(300'000, 7'000);

/// Numbers of elements per rank, different ones, every third 0.
[[nodiscard]] std::vector<std::size_t> raggedCounts(int ranks) {
    std::vector<std::size_t> counts(ranks);
    for (int i = 0; i < ranks; ++i) {
        counts[i] = i % 3 == 1 ? 0 : randomBits(ranks, i) % most;
    }
    return counts;
}

[[nodiscard]] std::vector<std::vector<std::size_t>> distributions(int ranks) {
    std::vector<std::size_t> onlyLast(ranks);
    onlyLast.back() = most;
    return {std::vector<std::size_t>(ranks, most / 3), raggedCounts(ranks), onlyLast,
            std::vector<std::size_t>(ranks, 1), std::vector<std::size_t>(ranks)};
}

[[nodiscard]] std::size_t totalOf(const std::vector<std::size_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

class DistributedTest : public RanksTest {
  protected:
    template <typename T, typename Op>
    void expectScanned(const std::vector<std::size_t>& counts, const Distributed::Scan& scan, const Op& op,
                       const T& initial, const std::vector<T>& in) {
        const Spread<T> input(team(), counts, in);
        const Spread<T> out(team(), counts);
        ScratchOfRanks scratch(team(),
                               [&](int i) { return scan.scratchBytes(input.data(i), out.data(i), counts[i], op); });
        std::vector<Distributed::ScanPart<const T*, T>> parts;
        for (int i = 0; i < size(); ++i) {
            parts.push_back({input.data(i), out.data(i), counts[i], scratch.of(i), &rank(i), stream(i)});
        }
        scan(parts, op, initial);
        team().synchronize();

        std::vector<T> expected;
        T sum = initial;
        for (const T& x : in) {
            const T upTo = op(sum, x);
            expected.push_back(scan.kind == ScanKind::Inclusive ? upTo : sum);
            sum = upTo;
        }
        EXPECT_TRUE(sameBits(out.read(), expected)) << "counts " << testing::PrintToString(counts);
    }

    template <typename K>
    void expectSorted(const std::vector<std::size_t>& counts, const Distributed::Sort& sort,
                      const std::vector<K>& keys) {
        expectSorted(counts, counts, sort, keys);
    }
    /// Sorts by splitters, and with all elements gathered on each rank.
    template <typename K>
    void expectSorted(const std::vector<std::size_t>& counts, const std::vector<std::size_t>& countsOut,
                      Distributed::Sort sort, const std::vector<K>& keys) {
        for (const std::size_t most :
             {std::size_t{0}, std::max(std::ranges::max(counts), std::ranges::max(countsOut))}) {
            sort.mostPerRank = most;
            expectSortedSo(counts, countsOut, sort, keys);
        }
    }

    /// Calls call(rank) for all ranks, each on a thread of its own. The arguments of rank `bad` are invalid: it throws,
    /// and so do the others when they wait for their streams. None hangs.
    template <typename Call>
    void expectThatAllLearnOf(int bad, const Call& call) {
        onThreads([&](int i) {
            if (i == bad) {
                EXPECT_THROW(call(i), std::invalid_argument);
            } else {
                EXPECT_NO_THROW(call(i));
                EXPECT_THROW(rank(i).synchronize(stream(i)), std::invalid_argument);
            }
        });
    }

    /// Returns the scratch of the ranks.
    template <typename K>
    std::vector<SharedBuffer> expectSortedSo(const std::vector<std::size_t>& counts,
                                             const std::vector<std::size_t>& countsOut, const Distributed::Sort& sort,
                                             const std::vector<K>& keys) {
        const auto index = hostArray(keys.size(), [](std::size_t i) { return static_cast<std::uint32_t>(i); });
        const Spread<K> keysIn(team(), counts, keys);
        const Spread<K> keysOut(team(), countsOut);
        const Spread<std::uint32_t> valuesIn(team(), counts, index);
        const Spread<std::uint32_t> valuesOut(team(), countsOut);
        auto scratch = SharedBuffer::allocate(
            team().ranks(), sort.scratchBytes(noArray<K>, noArray<K>, noArray<std::uint32_t>, noArray<std::uint32_t>,
                                              std::ranges::max(counts), std::ranges::max(countsOut), rank(0)));
        using Part = Distributed::SortPart<K, std::uint32_t>;
        std::vector<Part> parts;
        for (int i = 0; i < size(); ++i) {
            parts.push_back({keysIn.data(i), keysOut.data(i), valuesIn.data(i), valuesOut.data(i), counts[i],
                             countsOut[i], scratch[i].scratch(), &rank(i), stream(i)});
        }
        sort(parts);
        team().synchronize();

        // The oracle: std::stable_sort of the indices by the bits that are compared.
        const int end = sort.endBit == allBits ? static_cast<int>(8 * sizeof(K)) : sort.endBit;
        const auto comparedBits = [&](std::uint32_t i) -> std::uint64_t {
            if (sort.beginBit == end) {
                return 0;
            }
            const std::uint64_t code = orderedBits(keys[i]);
            const std::uint64_t bits = code >> sort.beginBit & (~std::uint64_t{0} >> (64 - (end - sort.beginBit)));
            return sort.descending ? ~bits : bits;
        };
        std::vector<std::uint32_t> expected = index;
        std::ranges::stable_sort(expected, {}, comparedBits);
        std::vector<K> expectedKeys;
        for (const std::uint32_t i : expected) {
            expectedKeys.push_back(keys[i]);
        }
        EXPECT_TRUE(sameBits(valuesOut.read(), expected)) << "counts " << testing::PrintToString(counts);
        EXPECT_TRUE(sameBits(keysOut.read(), expectedKeys));
        EXPECT_TRUE(sameBits(keysIn.read(), keys)) << "the input was written";
        return scratch;
    }

    /// Expects the ranks to sort by segments, and by spans if these are small enough. Returns how many ranks have small
    /// spans.
    template <typename K>
    int expectSortedInSpans(const std::vector<std::size_t>& counts, Distributed::Sort sort,
                            const std::vector<K>& keys) {
        sort.leastPerBucket = 0;
        sort.leastInSpans = 0;
        const auto scratch = expectSortedSo(counts, counts, sort, keys);
        std::vector<BitsOf<K>> codes = hostArray(keys.size(), [&](std::size_t i) {
            return static_cast<BitsOf<K>>(sort.descending ? ~orderedBits(keys[i]) : orderedBits(keys[i]));
        });
        std::ranges::sort(codes);
        std::size_t begin = 0;
        int suited = 0;
        for (int i = 0; i < size() && rank(0).reachesAllRanks(); ++i) {
            const std::span<const BitsOf<K>> share(codes.data() + begin, counts[i]);
            begin += counts[i];
            if (!share.empty()) {
                const Distributed::SortMemory<K, std::uint32_t> memory(scratch[i].scratch().memory, counts[i],
                                                                       counts[i], 0, rank(i));
                Distributed::Segmentation segmentation{};
                const DeviceScope here(i);
                Common::checkCUDAError(
                    cudaMemcpy(&segmentation, memory.segmentation, sizeof(segmentation), cudaMemcpyDeviceToHost),
                    "cudaMemcpy");
                EXPECT_EQ(segmentation.spans.mayEnd, suitsSpans(share)) << "rank " << i;
                suited += suitsSpans(share) ? 1 : 0;
            }
        }
        return suited;
    }

  private:
    /// Whether the spans of sorted codes are small enough, and their segments differ in more than two digits.
    template <typename Bits>
    [[nodiscard]] static bool suitsSpans(std::span<const Bits> codes) {
        constexpr int width = 8 * sizeof(Bits);
        Bits differing = 0;
        std::size_t largest = 0;
        Bits ofSegment = codes.front();
        std::size_t beginOfSpan = 0;
        for (std::size_t i = 0; i < codes.size(); ++i) {
            if (codes[i] >> (width - 8) != ofSegment >> (width - 8)) {
                ofSegment = codes[i];
            }
            if (codes[i] >> (width - 16) != codes[beginOfSpan] >> (width - 16)) {
                beginOfSpan = i;
            }
            differing |= codes[i] ^ ofSegment;
            largest = std::max(largest, i + 1 - beginOfSpan);
        }
        int digits = 0;
        for (int shift = 0; shift < width; shift += 8) {
            digits += (differing >> shift & 0xFF) != 0 ? 1 : 0;
        }
        return digits > 2 && largest <= Radix::SpanShape::elements;
    }
};
INSTANTIATE_TEST_SUITE_P(Ranks, DistributedTest, numbersOfRanks);

TEST_P(DistributedTest, Scan) {
    for (const auto& counts : distributions(size())) {
        const std::size_t n = totalOf(counts);
        for (const ScanKind kind : {ScanKind::Exclusive, ScanKind::Inclusive}) {
            expectScanned(counts, {.kind = kind}, Sum{}, 5, hostArray(n, Summand<int>{1}));
        }
        expectScanned(counts, {}, Max{}, std::int64_t{-7}, hostArray(n, Summand<std::int64_t>{2}));
        expectScanned(counts, {.reproducible = true}, Sum{}, 0.5, hostArray(n, Summand<double>{3}));
    }
}

/// With an operator for which the order of operands matters.
TEST_P(DistributedTest, ScanKeepsTheOrderOfOperands) {
    for (const auto& counts : distributions(size())) {
        const std::size_t n = totalOf(counts);
        expectScanned(counts, {.kind = ScanKind::Inclusive}, Compose{}, AffineMap{3, 4},
                      hostArray(n, RandomValue<AffineMap>{4}));
        expectScanned(counts, {}, Multiply{}, Matrix{{1, 2, 3, 7}}, hostArray(n, RandomValue<Matrix>{5}));
    }
}

/// The calls of the ranks come from one thread per rank.
TEST_P(DistributedTest, ThreadsOfTheirOwnRepeatSumsOfFloatsBitForBit) {
    const std::vector<std::size_t> counts(size(), sized(1'000'000, 20'000));
    const auto in = hostArray(totalOf(counts), [](std::size_t i) {
        return static_cast<float>(std::sin(static_cast<double>(randomBits(5, i) % 1000)));
    });
    const Spread<float> input(team(), counts, in);
    const Spread<float> out(team(), counts);
    const Distributed::Scan scan{.reproducible = true};
    ScratchOfRanks scratch(team(), [&](int i) { return scan.scratchBytes(input.data(i), out.data(i), counts[i]); });
    std::vector<float> first;
    for (int repetition = 0; repetition < 3; ++repetition) {
        onThreads([&](int i) {
            scan(std::as_const(input).data(i), out.data(i), counts[i], Sum{}, 0.0F, scratch.of(i), rank(i), stream(i));
            rank(i).synchronize(stream(i));
        });
        first = repetition == 0 ? out.read() : first;
        EXPECT_TRUE(sameBits(out.read(), first));
    }
}

TEST_P(DistributedTest, CompactionPartitionAndBalance) {
    for (const auto& counts : distributions(size())) {
        const auto in = hostArray(totalOf(counts), KeepThreeInFour<int>{6});
        const Spread<int> input(team(), counts, in);
        const Spread<int> kept(team(), counts);
        const Spread<int> keptApart(team(), counts);
        const Spread<int> rejected(team(), counts);
        const std::vector<std::size_t> onePerRank(size(), size());
        const Spread<std::size_t> compactCounts(team(), onePerRank);
        const Spread<std::size_t> partitionCounts(team(), onePerRank);
        const std::vector<std::size_t> one(size(), 1);
        const Spread<std::size_t> balancedCounts(team(), one);
        const std::size_t mostPerRank = in.size() / size() + 1;
        const auto balanced = SharedBuffer::allocate(team().ranks(), mostPerRank * sizeof(int));
        const Distributed::Compact compact;
        const Distributed::Partition partition;
        ScratchOfRanks scratch(team(), [&](int i) {
            return std::max(compact.scratchBytes(input.data(i), kept.data(i), compactCounts.data(i), counts[i]),
                            partition.scratchBytes(input.data(i), keptApart.data(i), rejected.data(i),
                                                   partitionCounts.data(i), counts[i]));
        });
        std::vector<Distributed::CompactPart<const int*, int>> compactions;
        std::vector<Distributed::PartitionPart<const int*, int>> partitions;
        std::vector<Distributed::BalancePart<int>> balances;
        for (int i = 0; i < size(); ++i) {
            compactions.push_back(
                {input.data(i), kept.data(i), compactCounts.data(i), counts[i], scratch.of(i), &rank(i), stream(i)});
            partitions.push_back({{input.data(i), keptApart.data(i), partitionCounts.data(i), counts[i], scratch.of(i),
                                   &rank(i), stream(i)},
                                  rejected.data(i)});
            balances.push_back({kept.data(i), compactCounts.data(i), balanced[i].scratch(), balancedCounts.data(i),
                                counts[i], &rank(i), stream(i)});
        }
        compact(compactions, IsNonzero{});
        partition(partitions, IsNonzero{});
        Distributed::Balance{}(balances);
        team().synchronize();

        const auto isKept = [](int x) { return x != 0; };
        std::vector<int> expected;
        std::vector<int> others;
        std::ranges::partition_copy(in, std::back_inserter(expected), std::back_inserter(others), isKept);
        std::vector<std::size_t> keptCounts;
        std::vector<std::size_t> rejectedCounts;
        auto begin = in.begin();
        for (const std::size_t count : counts) {
            keptCounts.push_back(static_cast<std::size_t>(std::count_if(begin, begin + count, isKept)));
            rejectedCounts.push_back(count - keptCounts.back());
            begin += count;
        }
        std::vector<std::size_t> onEachRank;
        for (int i = 0; i < size(); ++i) {
            onEachRank.insert(onEachRank.end(), keptCounts.begin(), keptCounts.end());
        }
        EXPECT_EQ(compactCounts.read(), onEachRank);
        EXPECT_EQ(partitionCounts.read(), onEachRank);
        EXPECT_TRUE(sameBits(kept.read(keptCounts), expected));
        EXPECT_TRUE(sameBits(keptApart.read(keptCounts), expected));
        EXPECT_TRUE(sameBits(rejected.read(rejectedCounts), others));

        std::vector<int> inOrder;
        for (int i = 0; i < size(); ++i) {
            const DeviceScope here(i);
            std::vector<int> share(balancedCounts.read()[i]);
            EXPECT_LE(share.size(), (expected.size() + size() - 1) / size());
            EXPECT_GE(share.size(), expected.size() / size());
            Common::checkCUDAError(cudaMemcpy(share.data(), balanced[i].scratch().memory.data(),
                                              share.size() * sizeof(int), cudaMemcpyDeviceToHost),
                                   "cudaMemcpy");
            inOrder.insert(inOrder.end(), share.begin(), share.end());
        }
        EXPECT_TRUE(sameBits(inOrder, expected));
    }
}

TEST_P(DistributedTest, SortOfEveryDistribution) {
    for (const auto& counts : distributions(size())) {
        expectSorted(counts, {}, hostArray(totalOf(counts), AnyBits<int>{7}));
        expectSorted(counts, {}, std::vector<int>(totalOf(counts), -5));
    }
}

TEST_P(DistributedTest, SortOfEveryKindOfInput) {
    const auto counts = raggedCounts(size());
    const std::size_t n = totalOf(counts);
    expectSorted(counts, {}, hostArray(n, [](std::size_t i) { return randomBits(8, i) % 2 == 0 ? -1 : 1; }));
    // Zipf's law: value v with a probability proportional to 1 / v.
    expectSorted(counts, {}, hostArray(n, [](std::size_t i) {
                     const double uniform = static_cast<double>(randomBits(9, i) >> 40) / (1 << 24);
                     return static_cast<int>(std::exp(uniform * std::log(1e6)));
                 }));
    expectSorted(counts, {}, hostArray(n, [](std::size_t i) { return static_cast<int>(i); }));
    expectSorted(counts, {.descending = true}, hostArray(n, [](std::size_t i) { return static_cast<int>(i / 3); }));
}

/// Random keys of which few bits decide the bucket. So there are few tiles, and the simulator takes less time.
template <typename K>
std::vector<K> keysInFewBuckets(std::size_t n, BitsOf<K> differing, std::uint64_t seed) {
    return hostArray(
        n, [&](std::size_t i) { return std::bit_cast<K>(static_cast<BitsOf<K>>(randomBits(seed, i) & differing)); });
}

/// The ranks put their keys in buckets, as they do with many keys. Where all are gathered, there are none.
TEST_P(DistributedTest, SortInBuckets) {
    for (const auto& counts : distributions(size())) {
        expectSortedSo(counts, counts, {.leastPerBucket = 0}, keysInFewBuckets<int>(totalOf(counts), 0x81FF'F0FF, 30));
        expectSortedSo(counts, counts, {.leastPerBucket = 0}, std::vector<int>(totalOf(counts), 8));
    }
}

TEST_P(DistributedTest, SortOfEveryTypeOfKeyInBuckets) {
    const auto counts = raggedCounts(size());
    const std::size_t n = totalOf(counts);
    expectSortedSo(counts, counts, {.leastPerBucket = 0}, keysInFewBuckets<std::int8_t>(n, 0xC3, 31));
    expectSortedSo(counts, counts, {.beginBit = 5, .endBit = 23, .leastPerBucket = 0},
                   keysInFewBuckets<std::uint32_t>(n, 0xFFA0'FFFF, 33));
    expectSortedSo(counts, counts, {.beginBit = 3, .endBit = 8, .leastPerBucket = 0},
                   keysInFewBuckets<std::uint32_t>(n, 0x0000'00FF, 34));
    expectSortedSo(counts, counts, {.descending = true, .leastPerBucket = 0},
                   keysInFewBuckets<double>(n, 0x8170'0000'0000'FFFF, 36));
    expectSortedSo(counts, counts, {.leastPerBucket = 0},
                   keysInFewBuckets<std::uint64_t>(n, 0xC100'0000'000F'0000, 37));
}

/// The first keys are the greatest ones. Then some spans are too large, and at last keys differ in two digits alone.
TEST_P(DistributedTest, SortBySpans) {
    const auto counts = raggedCounts(size());
    const std::size_t n = totalOf(counts);
    const int all = rank(0).reachesAllRanks() ? static_cast<int>(size() - std::ranges::count(counts, 0)) : 0;
    auto keys = keysInFewBuckets<std::uint32_t>(n, sized(0x03FF'F0FF, 0x0307'F0FF), 42);
    for (std::uint32_t& key : keys) {
        key |= static_cast<std::uint32_t>(sized(0xFC00'0000, 0xFCF8'0000));
    }
    EXPECT_EQ(expectSortedInSpans(counts, {}, keys), all);
    EXPECT_EQ(expectSortedInSpans(counts, {.descending = true},
                                  keysInFewBuckets<double>(n, sized(0x01FF'0000'0F00'00FF, 0x0107'0000'0F00'00FF), 43)),
              all);
    for (std::size_t i = 0; i < n; ++i) {
        keys[i] = i % 8 == 0 ? keys[i] : 0xFD23'4567;
    }
    expectSortedInSpans(counts, {}, keys);
    EXPECT_EQ(expectSortedInSpans(counts, {}, keysInFewBuckets<std::uint32_t>(n, 0x01FF'F000, 44)), 0);
}

/// Some ranks get few elements. They fetch them, while others sort by segments.
TEST_P(DistributedTest, SortWithFewElementsOnSomeRanks) {
    for (const std::size_t most : {300, 150}) {  // with several buckets, and mostly with one
        std::vector<std::size_t> counts(size(), 20);
        counts.front() = most;
        expectSorted(counts, {.leastPerBucket = 1}, keysInFewBuckets<int>(totalOf(counts), 0x81FF'F0FF, 38));
    }
}

/// As many ranks as there may be.
class MostRanksTest : public DistributedTest {};

INSTANTIATE_TEST_SUITE_P(Ranks, MostRanksTest, testing::Values(Distributed::mostRanks));

/// By one digit, because each takes long.
TEST_P(MostRanksTest, Sort) {
    const std::vector<std::size_t> counts(size(), 12);
    expectSortedSo(counts, counts, {.beginBit = 8, .endBit = 15, .leastPerBucket = 0},
                   keysInFewBuckets<std::uint16_t>(totalOf(counts), 0xFFFF, 40));
}

/// All keys begin alike.
TEST_P(DistributedTest, SortOfAFewSmallKeys) {
    const std::vector<std::size_t> counts(size(), 100);
    expectSorted(counts, {}, hostArray(totalOf(counts), [](std::size_t i) {
                     return static_cast<std::uint32_t>(randomBits(9, i) % 7);
                 }));
}

/// Ranks may get other numbers of keys than they bring.
TEST_P(DistributedTest, SortIntoOtherShares) {
    const auto counts = raggedCounts(size());
    const std::size_t n = totalOf(counts);
    const auto keys = hostArray(n, [](std::size_t i) { return static_cast<int>(randomBits(20, i) % 1000); });
    const auto keysOfBuckets = keysInFewBuckets<int>(n, 0x81FF'F0FF, 39);
    std::vector<std::size_t> even(size(), n / size());
    even.back() += n % size();
    std::vector<std::size_t> allOnOne(size());
    allOnOne[size() / 2] = n;
    for (const auto& shares : {even, allOnOne}) {
        expectSorted(counts, shares, {}, keys);
        expectSortedSo(counts, shares, {.leastPerBucket = 0}, keysOfBuckets);
    }
}

TEST_P(DistributedTest, SortByNoBitsKeepsTheOrder) {
    const auto counts = raggedCounts(size());
    const std::size_t n = totalOf(counts);
    std::vector<std::size_t> even(size(), n / size());
    even.back() += n % size();
    for (const auto& shares : {counts, even}) {
        expectSorted(counts, shares, {.beginBit = 8, .endBit = 8, .leastPerBucket = 0}, hostArray(n, AnyBits<int>{26}));
        expectSorted(counts, shares, {.beginBit = 64, .endBit = 64}, hostArray(n, AnyBits<std::uint64_t>{27}));
        expectSorted(counts, shares, {.descending = true, .endBit = 0, .mostPerRank = n},
                     hostArray(n, AnyBits<std::int8_t>{28}));
    }
}

TEST_P(DistributedTest, SharesThatDoNotAddUpAreReported) {
    const std::vector<std::size_t> counts(size(), 1000);
    const Spread<int> in(team(), counts, std::vector<int>(totalOf(counts), 3));
    const Spread<int> out(team(), counts);
    using Distributed::Sort;
    for (const Sort& sort : {Sort{}, Sort{.mostPerRank = 1000}, Sort{.leastPerBucket = 0}}) {
        const auto scratch = SharedBuffer::allocate(
            team().ranks(), sort.scratchBytes(in.data(0), out.data(0), counts[0], counts[0], rank(0)));
        onThreads([&](int i) {
            sort(std::as_const(in).data(i), out.data(i), counts[i], i == 0 ? 999 : 1000, scratch[i].scratch(), rank(i),
                 stream(i));
            EXPECT_THROW(rank(i).synchronize(stream(i)), std::invalid_argument);
        });
    }
}

TEST_P(DistributedTest, SortOfEveryTypeOfKey) {
    const auto counts = raggedCounts(size());
    const std::size_t n = totalOf(counts);
    expectSorted(counts, {}, hostArray(n, AnyBits<std::int8_t>{10}));
    expectSorted(counts, {.descending = true}, hostArray(n, AnyBits<std::uint16_t>{11}));
    expectSorted(counts, {.beginBit = 5, .endBit = 23}, hostArray(n, AnyBits<std::uint32_t>{12}));
    expectSorted(counts, {.descending = true}, hostArray(n, AnyBits<double>{14}));
    expectSorted(counts, {.beginBit = 30, .endBit = 41}, hostArray(n, AnyBits<std::uint64_t>{25}));
}

/// Keys of which each rank has n, and the memory to sort them.
class KeysOfRanks {
  public:
    KeysOfRanks(const Team& team, std::size_t n, const std::vector<int>& keys, const Distributed::Sort& sort = {})
        : team_(team),
          n_(n),
          in_(team, std::vector(team.size(), n), keys),
          out_(team, std::vector(team.size(), n)),
          scratch_(
              SharedBuffer::allocate(team.ranks(), sort.scratchBytes(in_.data(0), out_.data(0), n, n, team.rank(0)))) {}

    [[nodiscard]] Distributed::SharedScratch scratch(int rank) const { return scratch_[rank].scratch(); }
    [[nodiscard]] std::vector<int> result() const { return out_.read(); }

    /// Enqueues the sort of one rank.
    void enqueue(const Distributed::Sort& sort, int rank, const Distributed::SharedScratch& scratch) const {
        sort(in_.data(rank), out_.data(rank), n_, n_, scratch, team_.rank(rank), team_.stream(rank));
    }

  private:
    const Team& team_;
    std::size_t n_;
    Spread<int> in_;
    Spread<int> out_;
    std::vector<SharedBuffer> scratch_;
};

TEST_P(DistributedTest, SortOfKeysAloneCanBeCaptured) {
    if (!rank(0).reachesAllRanks()) {
        GTEST_SKIP() << "a sort waits for its stream where kernels do not reach all ranks";
    }
    constexpr std::size_t n = sized(100'000, 2'000);
    const auto keys = keysInFewBuckets<int>(n * size(), sized(0x81FF'F0FF, 0x0301'F0FF), 16);
    std::vector<int> expected = keys;
    std::ranges::sort(expected);
    using Distributed::Sort;
    for (const Sort& sort : {Sort{}, Sort{.leastPerBucket = 0}, Sort{.leastPerBucket = 0, .leastInSpans = 0}}) {
        const KeysOfRanks spread(team(), n, keys, sort);
        onThreads([&](int i) {
            Sort other = sort;
            other.descending = true;
            spread.enqueue(other, i, spread.scratch(i));  // NCCL connects the ranks
            rank(i).synchronize(stream(i));
            replayTwice(i, [&] { spread.enqueue(sort, i, spread.scratch(i)); });
        });
        EXPECT_TRUE(sameBits(spread.result(), expected));
    }
}

TEST_P(DistributedTest, ScanAndCompactionCanBeCaptured) {
    constexpr std::size_t n = sized(100'000, 5'000);
    const std::vector<std::size_t> counts(size(), n);
    const auto in = hostArray(n * size(), KeepThreeInFour<int>{26});
    const Spread<int> input(team(), counts, in);
    const Spread<int> sums(team(), counts);
    const Spread<int> kept(team(), counts);
    const Spread<std::size_t> keptCounts(team(), std::vector<std::size_t>(size(), size()));
    const Distributed::Scan scan{.kind = ScanKind::Inclusive};
    const Distributed::Compact compact;
    ScratchOfRanks scratch(team(), [&](int i) {
        return std::max(scan.scratchBytes(input.data(i), sums.data(i), n),
                        compact.scratchBytes(input.data(i), kept.data(i), keptCounts.data(i), n));
    });
    onThreads([&](int i) {
        const auto enqueue = [&](std::size_t some) {
            const int* const elements = input.data(i);
            scan(elements, sums.data(i), some, Sum{}, 0, scratch.of(i), rank(i), stream(i));
            compact(elements, kept.data(i), keptCounts.data(i), some, IsNonzero{}, scratch.of(i), rank(i), stream(i));
        };
        enqueue(n / 2);  // NCCL connects the ranks
        rank(i).synchronize(stream(i));
        replayTwice(i, [&] { enqueue(n); });
    });
    std::vector<int> expectedSums(in.size());
    std::inclusive_scan(in.begin(), in.end(), expectedSums.begin());
    EXPECT_TRUE(sameBits(sums.read(), expectedSums));
    std::vector<std::size_t> expectedCounts;
    for (int i = 0; i < size(); ++i) {
        expectedCounts.push_back(static_cast<std::size_t>(
            std::count_if(in.begin() + i * n, in.begin() + (i + 1) * n, [](int x) { return x != 0; })));
    }
    std::vector<int> expectedKept;
    std::ranges::copy_if(in, std::back_inserter(expectedKept), [](int x) { return x != 0; });
    EXPECT_TRUE(sameBits(kept.read(expectedCounts), expectedKept));
}

TEST_P(DistributedTest, RowSumsOfSpreadColumns) {
    constexpr std::size_t rows = 37;
    for (const auto& counts : distributions(size())) {
        std::vector<std::size_t> cols = counts;
        std::vector<std::size_t> elements;
        for (std::size_t& col : cols) {
            col /= 20;
            elements.push_back(rows * col);
        }
        const auto in = hostArray(totalOf(elements), Summand<float>{19});
        const Spread<float> input(team(), elements, in);
        const Spread<float> out(team(), std::vector<std::size_t>(size(), rows));
        const Distributed::RowSum rowSum;
        ScratchOfRanks scratch(
            team(), [&](int i) { return rowSum.scratchBytes(input.data(i), out.data(i), rows, cols[i], cols[i]); });
        std::vector<Distributed::RowSumPart<float, float>> parts;
        for (int i = 0; i < size(); ++i) {
            parts.push_back({input.data(i), out.data(i), rows, cols[i], cols[i], scratch.of(i), &rank(i), stream(i)});
        }
        rowSum(parts);
        team().synchronize();

        std::vector<float> expected(rows);
        auto next = in.begin();
        for (const std::size_t col : cols) {
            for (float& sum : expected) {
                sum = std::accumulate(next, next + col, sum);
                next += col;
            }
        }
        std::vector<float> onEachRank;
        for (int i = 0; i < size(); ++i) {
            onEachRank.insert(onEachRank.end(), expected.begin(), expected.end());
        }
        EXPECT_TRUE(sameBits(out.read(), onEachRank));
    }
}

/// Also ranks without elements, and those that have enough for look-back.
TEST_P(DistributedTest, InvalidArgumentsOfOneRankReachAll) {
    const int bad = size() - 1;
    for (const std::size_t n : {std::size_t{1000}, std::size_t{0}, sized(9'000'000, 300'000)}) {
        std::vector<std::size_t> counts(size(), n);
        counts[bad] = 1000;
        const auto in = hostArray(totalOf(counts), Summand<int>{17});
        const Spread<int> input(team(), counts, in);
        const Spread<int> out(team(), counts);
        const Distributed::Scan scan;
        ScratchOfRanks scratch(team(), [&](int i) { return scan.scratchBytes(input.data(i), out.data(i), counts[i]); });
        expectThatAllLearnOf(bad, [&](int i) {
            scan(std::as_const(input).data(i), i == bad ? nullptr : out.data(i), counts[i], Sum{}, 0, scratch.of(i),
                 rank(i), stream(i));
        });
    }
    const std::vector<std::size_t> counts(size(), 1000);
    expectSorted(counts, {}, hostArray(totalOf(counts), Summand<int>{17}));  // the next call is not affected
}

/// The array that a predicate reads is an argument, too.
TEST_P(DistributedTest, FlagsThatOneRankLacksReachAll) {
    const std::vector<std::size_t> counts(size(), 1000);
    const auto in = hostArray(totalOf(counts), Summand<int>{18});
    const Spread<int> input(team(), counts, in);
    const Spread<int> kept(team(), counts);
    const Spread<int> rejected(team(), counts);
    const Spread<std::size_t> keptCounts(team(), std::vector<std::size_t>(size(), size()));
    const Distributed::Partition partition;
    ScratchOfRanks scratch(team(), [&](int i) {
        return partition.scratchBytes(input.data(i), kept.data(i), rejected.data(i), keptCounts.data(i), counts[i]);
    });
    const int bad = size() - 1;
    expectThatAllLearnOf(bad, [&](int i) {
        partition(std::as_const(input).data(i), kept.data(i), rejected.data(i), keptCounts.data(i), counts[i],
                  keepFlagged(i == bad ? nullptr : std::as_const(input).data(i)), scratch.of(i), rank(i), stream(i));
    });
}

/// The number of rows of a rank that fails may be any.
TEST_P(DistributedTest, RowSumsOfARankWithInvalidArguments) {
    constexpr std::size_t rows = 50;
    constexpr std::size_t cols = 30;
    const std::vector<std::size_t> elements(size(), rows * cols);
    const Spread<float> input(team(), elements, std::vector<float>(totalOf(elements), 1));
    const Spread<float> out(team(), std::vector<std::size_t>(size(), rows));
    const Distributed::RowSum rowSum;
    ScratchOfRanks scratch(team(),
                           [&](int i) { return rowSum.scratchBytes(input.data(i), out.data(i), rows, cols, cols); });
    using Part = Distributed::RowSumPart<float, float>;
    const auto partOf = [&](int i, std::size_t itsRows) {
        return Part{input.data(i), out.data(i), itsRows, cols, cols, scratch.of(i), &rank(i), stream(i)};
    };
    constexpr std::size_t tooMany = std::numeric_limits<std::size_t>::max() / 8;
    const int bad = size() - 1;
    expectThatAllLearnOf(bad, [&](int i) { rowSum(std::vector{partOf(i, i == bad ? tooMany : rows)}); });

    std::vector<Part> parts;
    for (int i = 0; i < size(); ++i) {
        parts.push_back(partOf(i, i == bad ? tooMany : rows));
    }
    EXPECT_THROW(rowSum(parts), std::invalid_argument);  // one thread for all
    for (int i = 0; i < bad; ++i) {
        EXPECT_THROW(rank(i).synchronize(stream(i)), std::invalid_argument);
    }

    parts.back().rows = rows;
    rowSum(parts);
    team().synchronize();
    EXPECT_EQ(out.read(), std::vector<float>(size() * rows, static_cast<float>(size() * cols)));
}

/// Nobody writes to a rank whose scratch is too small, and the keys of the others are sorted.
TEST_P(DistributedTest, SortWithTooLittleScratchOnOneRank) {
    constexpr std::size_t n = 3000;
    const auto keys = keysInFewBuckets<int>(n * size(), 0x81FF'F0FF, 21);
    std::vector<int> others(keys.begin() + n, keys.end());
    std::ranges::sort(others);
    using Distributed::Sort;
    for (const Sort& sort : {Sort{}, Sort{.mostPerRank = n}, Sort{.leastPerBucket = 0}}) {
        const KeysOfRanks spread(team(), n, keys, sort);
        onThreads([&](int i) {
            Distributed::SharedScratch lent = spread.scratch(i);
            if (i == 0) {
                lent.memory = lent.memory.first(256);
            }
            const auto call = [&] {
                spread.enqueue(sort, i, lent);
                rank(i).synchronize(stream(i));
            };
            EXPECT_THROW(call(), std::invalid_argument);
        });
        const auto found = spread.result();
        EXPECT_TRUE(sameBits(std::vector<int>(found.begin() + n, found.end()), others));
    }
}

TEST_P(DistributedTest, SortOfMoreElementsThanAgreed) {
    constexpr std::size_t n = 500;
    const KeysOfRanks spread(team(), n, hostArray(n * size(), AnyBits<int>{22}));
    onThreads([&](int i) {
        EXPECT_THROW(spread.enqueue({.mostPerRank = n - 1}, i, spread.scratch(i)), std::invalid_argument);
        rank(i).synchronize(stream(i));
    });
}

/// Nothing moves, and nothing is written past the end of the smallest buffer.
TEST_P(DistributedTest, BalanceWithTooLittleRoomOrTooManyElements) {
    constexpr std::size_t n = 4000;
    const std::vector<std::size_t> counts(size(), n);
    const Spread<int> in(team(), counts, hostArray(n * size(), Summand<int>{22}));
    const Spread<std::size_t> told(team(), std::vector<std::size_t>(size(), size()),
                                   std::vector<std::size_t>(size() * size(), n));
    const Spread<std::size_t> count(team(), std::vector<std::size_t>(size(), 1));
    const auto buffers = SharedBuffer::allocate(team().ranks(), n * sizeof(int));
    for (const bool isRoomShort : {true, false}) {
        std::vector<Distributed::BalancePart<int>> parts;
        for (int i = 0; i < size(); ++i) {
            auto out = buffers[i].scratch();
            std::size_t most = n;
            if (i == size() - 1) {
                out.memory = isRoomShort ? out.memory.first(1024) : out.memory;
                most = isRoomShort ? n : n - 1;
            }
            parts.push_back({in.data(i), told.data(i), out, count.data(i), most, &rank(i), stream(i)});
        }
        Distributed::Balance{}(parts);
        for (int i = 0; i < size(); ++i) {
            EXPECT_THROW(rank(i).synchronize(stream(i)), std::invalid_argument);
        }
        EXPECT_EQ(count.read(), std::vector<std::size_t>(size(), 0));
    }
}

#if defined(STREAM_COMPACTION_SIMULATED)
/// On a card other ranks learn of it after a while, or never, so this is a test of the simulator's communicators.
TEST_P(DistributedTest, AnAbortedCommunicatorIsReported) {
    Team broken(size());
    broken.abort(size() - 1);
    const Distributed::Scan scan;
    const Spread<int> array(team(), std::vector<std::size_t>(size(), 100), std::vector<int>(100 * size(), 1));
    ScratchOfRanks scratch(team(), [&](int i) { return scan.scratchBytes(array.data(i), array.data(i), 100); });
    for (int i = 0; i < size() - 1; ++i) {
        EXPECT_THROW(
            scan(std::as_const(array).data(i), array.data(i), 100, Sum{}, 0, scratch.of(i), broken.rank(i), stream(i)),
            Distributed::NcclError);
    }
}

/// A rank waits for others, and one of them aborts. The buffers do not ask for communicators that are gone.
TEST_P(DistributedTest, BuffersAreFreedAfterAnAbort) {
    Team broken(size());
    auto buffers = SharedBuffer::allocate(broken.ranks(), 1000);
    broken.rank(0).exchange(sizeof(Distributed::Header), broken.stream(0));
    broken.abort(size() - 1);
    EXPECT_THROW(broken.rank(0).waitFor(broken.stream(0)), Distributed::NcclError);
    for (int i = 0; i < size() - 1; ++i) {
        broken.abort(i);
    }
    const std::string lastError = ncclGetLastError(nullptr);
    buffers.clear();
    EXPECT_EQ(ncclGetLastError(nullptr), lastError);
}

TEST_P(DistributedTest, AFailureOfNcclIsReportedInItsWords) {
    const Distributed::Scan scan;
    const Spread<int> array(team(), std::vector<std::size_t>(size(), 100), std::vector<int>(100 * size(), 1));
    ScratchOfRanks scratch(team(), [&](int i) { return scan.scratchBytes(array.data(i), array.data(i), 100); });
    Simulator::failNextCollective();
    try {
        scan(std::as_const(array).data(0), array.data(0), 100, Sum{}, 0, scratch.of(0), rank(0), stream(0));
        FAIL() << "expected an exception";
    } catch (const Distributed::NcclError& error) {
        EXPECT_NE(std::string(error.what()).find(ncclGetErrorString(ncclSystemError)), std::string::npos);
    }
}
#endif

}  // namespace
}  // namespace StreamCompaction::Testing
