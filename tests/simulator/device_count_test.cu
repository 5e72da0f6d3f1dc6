#include <numeric>

#include "seeds.cuh"
#include "stream_compaction/radix_sort.cuh"
#include "stream_compaction/row_sum.cuh"
#include "stream_compaction/runs.cuh"
#include "stream_compaction/segments.cuh"
#include "stream_compaction/single_pass.cuh"
#include "stream_compaction/top_k.cuh"

/// Operations whose number of elements is in device memory: a few blocks take all the tiles.
namespace StreamCompaction::Testing {
namespace {

using TwoWarps = SinglePass::BlockShape<64, 1>;

/// The elements of an array, of which an operation gets the first few, and their number in device memory.
struct Counted {
    Counted(std::size_t n, std::size_t capacity, std::uint64_t seed, std::uint32_t mask = ~0U)
        : all(hostArray(capacity, [=](std::size_t i) { return AnyBits<std::uint32_t>{seed}(i)&mask; })),
          actual(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n)),
          memory(std::span<const std::uint32_t>(all)),
          value(std::span<const std::size_t>(&n, 1)) {}

    [[nodiscard]] const std::uint32_t* in() const { return memory.data(); }
    [[nodiscard]] CountInDeviceMemory count() const { return {value.data(), all.size()}; }

    std::vector<std::uint32_t> all;
    std::vector<std::uint32_t> actual;
    DeviceBuffer<std::uint32_t> memory;
    DeviceBuffer<std::size_t> value;
};

/// More than four times as many tiles as the card has room for blocks, and fewer elements than that.
constexpr std::size_t capacity = 100000;
/// So few tiles that each has a block.
constexpr std::size_t smallCapacity = 16000;
[[nodiscard]] std::size_t numberFor(std::uint64_t seed) { return seed % 5 == 0 ? seed % 3 : 15000 + seed % 300; }

struct IsEven {
    __host__ __device__ bool operator()(std::uint32_t x) const { return x % 2 == 0; }
};

using SeededDeviceCountTest = SeededTest;

/// The sums that a scan by look-back writes, by blocks of two warps.
template <typename Source, typename Op, typename T>
[[nodiscard]] std::vector<std::uint32_t> scanned(const Source& source, const Counted& numbers, Op op, T initial) {
    const std::size_t most = numbers.all.size();
    GuardedArray<std::uint32_t> out(most);
    const std::size_t bytes = scratchBytesFor<std::uint64_t>(ReproducibleChain<T>::wordsFor(most / 64));
    auto scratch = usedScratch(bytes);
    SinglePass::Scan{}.scanByLookBack(TwoWarps{}, source, out.data(), numbers.count(), op, initial,
                                      ScratchArena(scratch.bytes(), bytes), nullptr);
    return out.read(numbers.actual.size());
}

void expectScanned(std::size_t most, std::uint64_t seed) {
    const Counted numbers(numberFor(seed), most, seed);
    std::vector<std::uint32_t> expected(numbers.actual.size());
    std::exclusive_scan(numbers.actual.begin(), numbers.actual.end(), expected.begin(), 0U);
    ASSERT_TRUE(sameBits(scanned(sourceOf(numbers.in()), numbers, Sum{}, 0U), expected));
}

TEST_F(SeededDeviceCountTest, Scan) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) { expectScanned(capacity, seed); });
}

TEST_F(SeededDeviceCountTest, ScanOfFewTiles) {
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) { expectScanned(smallCapacity, seed); });
}

struct Thrice {
    __host__ __device__ std::uint32_t operator()(std::size_t i) const { return 3 * static_cast<std::uint32_t>(i); }
};

TEST_F(SeededDeviceCountTest, ScanOfAFunction) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        const Counted numbers(numberFor(seed), capacity, seed);
        std::vector<std::uint32_t> expected = hostArray(numbers.actual.size(), Thrice{});
        std::exclusive_scan(expected.begin(), expected.end(), expected.begin(), 0U);
        ASSERT_TRUE(sameBits(scanned(generated(Thrice{}), numbers, Sum{}, 0U), expected));
    });
}

/// Whether element i begins a segment. One in twenty does.
[[nodiscard]] bool beginsSegment(std::uint64_t seed, std::size_t i) { return randomBits(seed + 1, i) % 20 == 0; }

/// Expects sums within the segments that begin where beginsSegment() says, if `heads` says the same.
template <typename Heads>
void expectScannedBySegments(const Heads& heads, std::uint64_t seed) {
    const Counted numbers(numberFor(seed), capacity, seed);
    const Segments::SegmentedOperator<std::uint32_t, Sum> op{{Sum{}}, 0};
    const Segments::SegmentedSource<ArraySource<std::uint32_t>, Heads, std::uint32_t, Sum> source{
        {numbers.in()}, heads, op};
    std::vector<std::uint32_t> expected(numbers.actual.size());
    for (std::size_t i = 1; i < expected.size(); ++i) {
        expected[i] = beginsSegment(seed, i) ? 0 : expected[i - 1] + numbers.actual[i - 1];
    }
    ASSERT_TRUE(sameBits(scanned(source, numbers, op, OpenRun<std::uint32_t, bool>{false, 0}), expected));
}

// Flags of a byte, which the copy engine loads beside the values.
TEST_F(SeededDeviceCountTest, SegmentedScan) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        const auto flags =
            hostArray(capacity, [seed](std::size_t i) { return static_cast<std::uint8_t>(beginsSegment(seed, i)); });
        const DeviceBuffer<std::uint8_t> deviceFlags{std::span<const std::uint8_t>(flags)};
        expectScannedBySegments(ArraySource<std::uint8_t>{deviceFlags.data()}, seed);
    });
}

TEST_F(SeededDeviceCountTest, SegmentedScanByOffsets) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        std::vector<std::uint32_t> begins;
        for (std::size_t i = 0; i < capacity; ++i) {
            if (beginsSegment(seed, i)) {
                begins.push_back(static_cast<std::uint32_t>(i));
            }
        }
        const DeviceBuffer<std::uint32_t> deviceBegins{std::span<const std::uint32_t>(begins)};
        expectScannedBySegments(segmentsAt(deviceBegins.data(), begins.size()), seed);
    });
}

/// Expects the even numbers in front of the odd ones from `enqueue(launcher, out, kept, arena)`.
template <typename Enqueue>
void expectParted(const Counted& numbers, std::size_t scratchBytes, Enqueue enqueue) {
    GuardedArray<std::uint32_t> out(numbers.all.size());
    DeviceBuffer<std::size_t> kept(1);
    auto scratch = usedScratch(scratchBytes);
    enqueue(SinglePass::CompactLauncher<SinglePass::Rejects::Behind>{}, out.data(), kept.data(),
            ScratchArena(scratch.bytes(), scratchBytes));
    std::vector<std::uint32_t> expected = numbers.actual;
    const auto others = std::ranges::stable_partition(expected, IsEven{});
    std::vector<std::size_t> counted(1);
    kept.copyTo(counted);
    ASSERT_EQ(counted[0], expected.size() - others.size());
    ASSERT_TRUE(sameBits(out.read(expected.size()), expected));
}

TEST_F(SeededDeviceCountTest, Compact) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        const Counted numbers(numberFor(seed), capacity, seed);
        const std::size_t words = LookBackChain<LookBack::Count>::wordsFor(capacity / 64);
        expectParted(numbers, scratchBytesFor<std::uint64_t>(words),
                     [&](const auto& launcher, auto* out, std::size_t* kept, const ScratchArena& arena) {
                         launcher.compactByLookBack(TwoWarps{}, sourceOf(numbers.in()), out, noArray<std::uint32_t>,
                                                    kept, numbers.count(), IsEven{}, arena, nullptr);
                     });
    });
}

struct IsBelow {
    std::uint8_t limit;
    __host__ __device__ bool operator()(std::uint8_t x) const { return x < limit; }
};

// Half of the bytes are kept, or so few that several threads share a word of the result.
TEST_F(SeededDeviceCountTest, CompactOfBytes) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        constexpr std::size_t most = 4 * capacity;
        const std::size_t n = 4 * numberFor(seed) + seed % 7;
        const IsBelow keep{static_cast<std::uint8_t>(seed % 2 == 0 ? 128 : 4)};
        const auto all = hostArray(most, Summand<std::uint8_t>{seed});
        std::vector<std::uint8_t> expected;
        std::copy_if(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n), std::back_inserter(expected), keep);
        const DeviceBuffer<std::uint8_t> in{std::span<const std::uint8_t>(all)};
        const DeviceBuffer<std::size_t> number{std::span<const std::size_t>(&n, 1)};
        GuardedArray<std::uint8_t> out(expected.size());
        DeviceBuffer<std::size_t> kept(1);
        const std::size_t bytes = scratchBytesFor<std::uint64_t>(LookBackChain<LookBack::Count>::wordsFor(most / 64));
        auto scratch = usedScratch(bytes);
        SinglePass::CompactLauncher<SinglePass::Rejects::Dropped>{}.compactByLookBack(
            TwoWarps{}, sourceOf(in.data()), out.data(), noArray<std::uint8_t>, kept.data(),
            CountInDeviceMemory{number.data(), most}, keep, ScratchArena(scratch.bytes(), bytes), nullptr);
        std::vector<std::size_t> counted(1);
        kept.copyTo(counted);
        ASSERT_EQ(counted[0], expected.size());
        ASSERT_TRUE(sameBits(out.read(expected.size()), expected));
    });
}

TEST_F(SeededDeviceCountTest, CompactTogether) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        constexpr std::size_t most = 3000;
        const Counted numbers(seed % 5 == 0 ? seed % 3 : 500 + seed * 97 % 2500, most, seed);
        expectParted(
            numbers, scratchBytesFor<std::uint64_t>(most),
            [&](const auto& launcher, auto* out, std::size_t* kept, const ScratchArena& arena) {
                ASSERT_TRUE(launcher.compactTogether(TwoWarps{}, sourceOf(numbers.in()), out, noArray<std::uint32_t>,
                                                     kept, numbers.count(), IsEven{}, arena, nullptr));
            });
    });
}

/// Expects run lengths from `enqueue(unique, lengths, runs, arena)`.
template <typename Enqueue>
void expectRunLengths(const Counted& numbers, std::size_t scratchBytes, Enqueue enqueue) {
    const std::size_t most = numbers.all.size();
    GuardedArray<std::uint32_t> unique(most);
    GuardedArray<std::uint32_t> lengths(most);
    DeviceBuffer<std::size_t> runs(1);
    auto scratch = usedScratch(scratchBytes);
    enqueue(unique.data(), lengths.data(), runs.data(), ScratchArena(scratch.bytes(), scratchBytes));
    std::vector<std::uint32_t> expected;
    std::vector<std::uint32_t> expectedLengths;
    for (const std::uint32_t x : numbers.actual) {
        if (expected.empty() || x != expected.back()) {
            expected.push_back(x);
            expectedLengths.push_back(0);
        }
        ++expectedLengths.back();
    }
    std::vector<std::size_t> counted(1);
    runs.copyTo(counted);
    ASSERT_EQ(counted[0], expected.size());
    ASSERT_TRUE(sameBits(unique.read(expected.size()), expected));
    ASSERT_TRUE(sameBits(lengths.read(expected.size()), expectedLengths));
}

using ShapeOfRuns = ThreadwiseShape<64, 1, 4>;

TEST_F(SeededDeviceCountTest, RunLengths) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        using Heads = std::uint32_t;
        using Chain = LookBackChain<OpenRun<std::uint32_t, Heads>>;
        const Counted numbers(numberFor(seed), capacity, seed);
        const std::size_t words = Chain::wordsFor(capacity / ShapeOfRuns::elements + 1);
        expectRunLengths(numbers, scratchBytesFor<std::uint64_t>(words),
                         [&](auto* unique, auto* lengths, std::size_t* runs, const ScratchArena& arena) {
                             Runs::ReduceByKey{}.reduceByLookBack<ShapeOfRuns, Heads>(
                                 sourceOf(numbers.in()), generated(Runs::One<std::uint32_t>{}), unique, lengths, runs,
                                 numbers.count(), Sum{}, Runs::IsEqual{}, arena, nullptr);
                         });
    });
}

// Some blocks have no tile, and yet all of them meet.
TEST_F(SeededDeviceCountTest, RunLengthsTogether) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        constexpr std::size_t most = 3000;
        const Counted numbers(seed % 5 == 0 ? seed % 3 : 500 + seed * 97 % 2500, most, seed, 1);
        expectRunLengths(numbers, scratchBytesFor<std::uint64_t>(most),
                         [&](auto* unique, auto* lengths, std::size_t* runs, const ScratchArena& arena) {
                             ASSERT_TRUE(Runs::ReduceByKey{}.reduceTogether<ShapeOfRuns>(
                                 sourceOf(numbers.in()), generated(Runs::One<std::uint32_t>{}), unique, lengths, runs,
                                 numbers.count(), Sum{}, Runs::IsEqual{}, arena, nullptr));
                         });
    });
}

using PlaceAsIndex = Radix::OwnIndex<std::uint32_t>;

/// Sorts by the lowest bits, in the given way.
template <typename Way, typename Value>
[[nodiscard]] bool expectSorted(std::size_t n, std::size_t most, std::uint64_t seed, int bits, UsedScratch& scratch) {
    using Word = std::uint32_t;
    const Counted keys(n, most, seed);
    GuardedArray<Word> keysOut(most);
    GuardedArray<Word> places(most);
    const Radix::SortCall<Word, Value, CountInDeviceMemory> call{
        {keys.in(), nullptr},
        {keysOut.data(), reinterpret_cast<Value*>(places.data())},
        keys.count(),
        {0, bits},
        KeyCoding<Word>::of<Word>(false),
        {},
        {},
        ScratchArena(scratch.bytes(), Way::template scratchBytes<Word, Value>(most, false)),
        nullptr};
    if (!Radix::WayTable<Way>::launch(call)) {
        return false;
    }
    std::vector<Word> expected(n);
    std::iota(expected.begin(), expected.end(), 0U);
    std::ranges::stable_sort(expected, {}, [&](Word i) { return keys.all[i] << (32 - bits); });
    if constexpr (Radix::hasValues<Value>) {
        EXPECT_TRUE(sameBits(places.read(n), expected)) << "n = " << n;
    }
    std::ranges::transform(expected, expected.begin(), [&](Word i) { return keys.all[i]; });
    EXPECT_TRUE(sameBits(keysOut.read(n), expected)) << "n = " << n;
    return true;
}

/// Sorts by the low 16 bits.
template <typename Way>
[[nodiscard]] bool expectSorted(std::size_t n, std::size_t most, std::uint64_t seed) {
    auto scratch = usedScratch(Way::template scratchBytes<std::uint32_t, PlaceAsIndex>(most, false));
    return expectSorted<Way, PlaceAsIndex>(n, most, seed, 16, scratch);
}

TEST_F(SeededDeviceCountTest, SortByBlock) {
    using Tile = Radix::SortShape<256, 2>;
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        (void)expectSorted<Radix::ByBlock<Tile>>(seed % 6 == 0 ? 0 : 300 + seed % 40, Tile::elements, seed);
    });
}

TEST_F(SeededDeviceCountTest, SortByGrid) {
    using Tile = Radix::SortShape<256, 2>;
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        (void)expectSorted<Radix::ByGrid<Tile, 128>>(seed % 6 == 0 ? 0 : 300 + seed % 900, 1500, seed);
    });
}

TEST_F(SeededDeviceCountTest, SortInPasses) {
    using Tile = Radix::SortShape<256, 2>;
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        EXPECT_TRUE(expectSorted<Radix::InPasses<Tile>>(numberFor(seed) * 3 / 5, capacity / 2, seed));
    });
}

TEST_F(SeededDeviceCountTest, SortInPassesOfFewTiles) {
    using Tile = Radix::SortShape<256, 2>;
    underEverySeed(BlockOrder::ByIndex, [](std::uint64_t seed) {
        EXPECT_TRUE(expectSorted<Radix::InPasses<Tile>>(numberFor(seed) * 3 / 5, smallCapacity, seed));
    });
}

/// All keys, or by buckets in which the number of keys leaves room.
TEST_F(SeededDeviceCountTest, SortInBuckets) {
    using Tile = Radix::SortShape<256, 2>;
    using Way = Radix::InBuckets<Radix::BucketAttempt<Tile, 2, 2>, Radix::InPasses<Tile>>;
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        constexpr std::size_t most = 1800;
        auto scratch = usedScratch(Way::scratchBytes<std::uint32_t, Radix::NoValue>(most, false));
        const std::size_t n = seed % 5 == 0 ? seed / 5 % 3 : seed % 5 == 1 ? most : seed * 97 % most;
        EXPECT_TRUE((expectSorted<Way, Radix::NoValue>(n, most, seed, 32, scratch)));
    });
}

/// Fewer than 2049 keys without values are sorted by buckets, before the sort in spans.
template <typename Value>
void expectSortedInSpans(std::size_t n, std::size_t most, std::uint64_t seed) {
    using Tile = Radix::SortShape<256, 2>;
    using Attempt = Radix::BucketAttempt<Tile, 2, 2>;
    using Way = Radix::InSpans<Radix::InPasses<Tile>, Tile, 256, Attempt>;
    UsedScratch scratch = usedScratch(Way::scratchBytes<std::uint32_t, Value>(most, false));
    EXPECT_TRUE((expectSorted<Way, Value>(n, most, seed, 32, scratch)));
    const auto state = scratch.first<Radix::SpanState>();
    EXPECT_EQ(state.mayEnd, n >= 256 && (Radix::hasValues<Value> || n > Attempt::mostElements));
    EXPECT_EQ(state.failed, 0);
}

/// The capacity has more spans than blocks. They begin with 9 bits, which two passes sort by, but those of fewer keys
/// begin with 4 or 5 bits.
TEST_F(SeededDeviceCountTest, SortInSpans) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        constexpr std::size_t most = 200000;
        const std::size_t n = seed % 5 == 0 ? 254 + seed / 5 : seed % 5 == 1 ? 9000 : 4000 + seed % 300;
        if (seed % 4 == 2) {
            expectSortedInSpans<PlaceAsIndex>(n, most, seed);
        } else {
            expectSortedInSpans<Radix::NoValue>(n, most, seed);
        }
    });
}

/// Expects the first k keys, or all if there are fewer. Some inputs have many equal keys, and in some all are equal.
template <int threads>
void expectFirst(std::size_t n, std::size_t most, std::size_t k, const Radix::RankOfBound& rank, std::uint64_t seed) {
    using Word = std::uint32_t;
    using Index = GeneratedSource<IndexAs<std::uint32_t>>;
    static constexpr Word masks[] = {~0U, 0xF00000FF, 0};
    const Counted keys(n, most, seed, masks[seed / 2 % 3]);
    GuardedArray<Word> keysOut(k);
    GuardedArray<Word> indices(k);
    const std::size_t bytes = Radix::TopK::scratchFor<Word, Index>(keys.count(), rank);
    auto scratch = usedScratch(bytes);
    Radix::TopK{}.select<Word, Index, threads>({keys.in(), {}}, {keysOut.data(), indices.data()}, keys.count(), k, rank,
                                               KeyCoding<Word>::of<Word>(), ScratchArena(scratch.bytes(), bytes),
                                               nullptr);
    std::vector<Word> expected(n);
    std::iota(expected.begin(), expected.end(), 0U);
    std::ranges::stable_sort(expected, {}, [&](Word i) { return keys.all[i]; });
    expected.resize(std::min(n, k));
    std::ranges::sort(expected);
    ASSERT_TRUE(sameBits(indices.read(expected.size()), expected)) << "n = " << n << ", k = " << k;
    std::ranges::transform(expected, expected.begin(), [&](Word i) { return keys.all[i]; });
    ASSERT_TRUE(sameBits(keysOut.read(expected.size()), expected)) << "n = " << n << ", k = " << k;
}

constexpr Radix::RankOfBound noFilter{.k = 0, .mostUnfiltered = capacity};

TEST_F(SeededDeviceCountTest, TopKByBlock) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        expectFirst<512>(seed % 6 == 0 ? 0 : 3000 + seed % 9, 5000, 1 + seed * 1237 % 5000, noFilter, seed);
    });
}

TEST_F(SeededDeviceCountTest, TopK) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        expectFirst<128>(seed % 6 == 0 ? 0 : 700 + seed % 9 * 600, 6500, 1 + seed * 1237 % 6500, noFilter, seed);
    });
}

// With a bound for one key instead of k, too few keys pass the filter.
TEST_F(SeededDeviceCountTest, TopKBehindAFilter) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        const std::size_t k = 60;
        const Radix::RankOfBound rank{.k = seed % 5 == 0 ? 1 : k, .mostUnfiltered = Radix::sampleSize};
        expectFirst<128>(seed % 4 == 0 ? 50 * seed : Radix::sampleSize + 150 * (seed % 20), smallCapacity, k, rank,
                         seed);
    });
}

/// Sums rows of `cols` elements by a plan for more rows than there are.
void expectSums(const RowSum::Plan& plan, std::size_t rows, std::size_t mostRows, std::size_t cols,
                std::uint64_t seed) {
    const auto in = hostArray(mostRows * cols, AnyBits<std::uint32_t>{seed});
    const DeviceBuffer<std::uint32_t> deviceIn{std::span<const std::uint32_t>(in)};
    const DeviceBuffer<std::size_t> value{std::span<const std::size_t>(&rows, 1)};
    GuardedArray<std::uint32_t> out(mostRows);
    const std::size_t bytes = scratchBytesFor<std::uint32_t>(mostRows * plan.parts);
    auto scratch = usedScratch(bytes);
    using Matrix = RowSum::Matrix<std::uint32_t, RowSum::Unchanged, CountInDeviceMemory>;
    RowSum::Adaptive{}.sumBy(plan, Matrix{deviceIn.data(), {value.data(), mostRows}, cols, cols}, out.data(),
                             ScratchArena(scratch.bytes(), bytes), nullptr);
    std::vector<std::uint32_t> expected;
    for (std::size_t row = 0; row < rows; ++row) {
        expected.push_back(std::accumulate(in.begin() + row * cols, in.begin() + (row + 1) * cols, 0U));
    }
    ASSERT_TRUE(sameBits(out.read(rows), expected)) << rows << " x " << cols;
}

TEST_F(SeededDeviceCountTest, RowSums) {
    underEverySeed(BlockOrder::Any, [](std::uint64_t seed) {
        expectSums({RowSum::Mapping::Thread}, 1500 * (seed % 3), 4000, 20 + seed % 9, seed);
        expectSums({RowSum::Mapping::Block}, 40 + seed % 9, 60, 600 + seed % 9, seed);
    });
}

}  // namespace
}  // namespace StreamCompaction::Testing
