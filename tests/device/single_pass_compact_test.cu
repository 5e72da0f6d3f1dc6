#include "../primitives/noncommutative.cuh"
#include "operation_under_test.cuh"
#include "stream_compaction/map_scan_scatter.cuh"
#include "stream_compaction/shared_mem.cuh"
#include "stream_compaction/single_pass.cuh"

namespace StreamCompaction::Testing {
namespace {

using SinglePass::Compact;
using SinglePass::CompactFlagged;
using SinglePass::Partition;

/// An element of `size` bytes with any alignment.
template <int size, int alignment>
struct alignas(alignment) Blob {
    std::uint8_t bytes[size];
};

/// Elements whose bytes contain their index.
template <typename T>
struct Numbered {
    __host__ __device__ T operator()(std::size_t i) const {
        T value;
        for (std::size_t byte = 0; byte < sizeof(T); ++byte) {
            reinterpret_cast<std::uint8_t*>(&value)[byte] =
                static_cast<std::uint8_t>(byte < 4 ? i >> 8 * byte : byte + i);
        }
        return value;
    }
};

/// Keeps element i with probability inAMillion / 10^6, or whole runs of elements with that probability.
struct Fraction {
    unsigned inAMillion;
    bool isClustered = false;

    __host__ __device__ bool operator()(std::size_t i) const {
        return randomBits(50, isClustered ? i / 5000 : i) % 1000000 < inAMillion;
    }
};

/// A predicate that uses only the index.
struct KeepByIndex {
    Fraction fraction;
    template <typename T>
    __device__ bool operator()(const T&, std::size_t i) const {
        return fraction(i);
    }
};

template <typename T>
struct Parts {
    std::vector<T> kept;
    std::vector<T> rejected;
};

template <typename T>
[[nodiscard]] Parts<T> expectedParts(const std::vector<T>& in, Fraction fraction) {
    Parts<T> parts;
    for (std::size_t i = 0; i < in.size(); ++i) {
        (fraction(i) ? parts.kept : parts.rejected).push_back(in[i]);
    }
    return parts;
}

[[nodiscard]] std::vector<std::size_t> sizesOfEveryPath() {
    std::vector<std::size_t> sizes{1, 100, 1000, 4000, 30001, 200003};
    if (!quick()) {
        sizes.insert(sizes.end(), {700001, 5000003});
    }
    return sizes;
}

const std::vector<Fraction> fractions{{0},      {1000},    {250000},       {500000},
                                      {750000}, {1000000}, {500000, true}, {50000, true}};

struct Counter {
    DeviceBuffer<std::size_t> memory{1};
    [[nodiscard]] std::size_t read() const {
        std::size_t count = 0;
        memory.copyTo({&count, 1});
        return count;
    }
};

/// Expects `op` to keep these elements of its inputs, into an output that has room for no more. The inputs are a
/// source, or a source and a stencil.
template <typename T, typename Op, typename... In, typename... Predicate>
void expectKept(Op op, const std::tuple<In...>& inputs, std::size_t n, const std::vector<T>& expected,
                std::size_t misalignment, Predicate... keep) {
    GuardedArray<T> out(expected.size(), misalignment);
    Counter count;
    op.maxOut = expected.size();
    std::apply(
        [&](const auto&... in) {
            auto scratch = usedScratch(op.scratchBytes(in..., out.data(), count.memory.data(), n, keep...));
            op(in..., out.data(), count.memory.data(), n, keep..., scratch.bytes(), nullptr);
        },
        inputs);
    ASSERT_EQ(count.read(), expected.size()) << "n = " << n;
    ASSERT_TRUE(sameBits(out.read(expected.size()), expected)) << "n = " << n;
}

/// The same of a partition into two outputs.
template <typename T, typename In, typename Predicate>
void expectParts(Partition partition, const In& in, std::size_t n, const Parts<T>& expected, Predicate keep) {
    GuardedArray<T> kept(expected.kept.size(), 2);
    GuardedArray<T> rejected(expected.rejected.size(), 3);
    Counter count;
    partition.maxOut = expected.kept.size();
    partition.maxRejected = expected.rejected.size();
    auto scratch = usedScratch(partition.scratchBytes(in, kept.data(), rejected.data(), count.memory.data(), n, keep));
    partition(in, kept.data(), rejected.data(), count.memory.data(), n, keep, scratch.bytes(), nullptr);
    ASSERT_EQ(count.read(), expected.kept.size()) << "n = " << n;
    ASSERT_TRUE(sameBits(kept.read(expected.kept.size()), expected.kept)) << "n = " << n;
    ASSERT_TRUE(sameBits(rejected.read(expected.rejected.size()), expected.rejected)) << "n = " << n;
}

template <typename T>
void expectCompacted(std::size_t n, Fraction fraction, const Compact& compact = {}, std::size_t misalignment = 0) {
    const auto in = hostArray(n, Numbered<T>{});
    const DeviceBuffer<T> deviceIn{std::span<const T>(in)};
    expectKept(compact, std::tuple(deviceIn.data()), n, expectedParts(in, fraction).kept, misalignment,
               WithIndex{KeepByIndex{fraction}});
}

template <typename T>
void expectPartitioned(std::size_t n, Fraction fraction, const Partition& partition = {}) {
    const auto in = hostArray(n, Numbered<T>{});
    const DeviceBuffer<T> deviceIn{std::span<const T>(in)};
    const WithIndex keep{KeepByIndex{fraction}};
    const Parts<T> expected = expectedParts(in, fraction);
    ASSERT_NO_FATAL_FAILURE(expectParts(partition, deviceIn.data(), n, expected, keep));

    GuardedArray<T> out(n, 1);
    Counter count;
    auto scratch = usedScratch(partition.scratchBytes(noArray<T>, noArray<T>, noArray<std::size_t>, n));
    partition(deviceIn.data(), out.data(), count.memory.data(), n, keep, scratch.bytes(), nullptr);
    std::vector<T> both = expected.kept;
    both.insert(both.end(), expected.rejected.begin(), expected.rejected.end());
    ASSERT_EQ(count.read(), expected.kept.size()) << "n = " << n;
    ASSERT_TRUE(sameBits(out.read(n), both)) << "n = " << n;
}

[[nodiscard]] std::vector<std::size_t> fewSizes() { return {999, 50001, quick() ? 140001u : 600011u}; }

template <typename... T>
void expectCompactedAtFewSizes() {
    for (const std::size_t n : fewSizes()) {
        (expectCompacted<T>(n, {500000}), ...);
    }
}

using SinglePassCompactTest = DeviceTest;

TEST_F(SinglePassCompactTest, EveryKeptFraction) {
    for (const std::size_t n : sizesOfEveryPath()) {
        for (const Fraction fraction : fractions) {
            expectCompacted<int>(n, fraction);
            expectCompacted<int>(n, fraction, {.order = TileOrder::Ticket});
        }
    }
}

TEST_F(SinglePassCompactTest, EveryAlignmentOfTheOutput) {
    const std::size_t n = quick() ? 600001 : 5000001;
    for (std::size_t misalignment = 0; misalignment < 16; misalignment += quick() ? 5 : 1) {
        expectCompacted<std::uint8_t>(n, {750000}, {}, misalignment);
        expectCompacted<std::uint16_t>(n, {750000}, {}, misalignment);
        expectCompacted<int>(n, {250000}, {}, misalignment);
    }
}

TEST_F(SinglePassCompactTest, ElementsOfEverySize) {
    // One type per way to access memory.
    expectCompactedAtFewSizes<Blob<1, 1>, Blob<2, 2>, Blob<3, 1>, Blob<8, 4>, Blob<12, 4>, Blob<16, 16>, Blob<44, 4>,
                              Blob<64, 16>>();
}

// Narrow elements take other shapes of blocks than ints.
TEST_F(SinglePassCompactTest, NarrowElementsOnEveryPath) {
    std::vector<std::size_t> sizes{1024, 1025, 4096, 4097, 8192, 8193, 262144, 262145, 524288, 524289};
    sizes.push_back((std::size_t{1} << 22) + 1);  // by look-back
    if (!quick()) {
        sizes.insert(sizes.end(), {1u << 20, (1u << 20) + 1, 1u << 21, (1u << 21) + 1, 1u << 22});
    }
    for (const std::size_t n : sizes) {
        ASSERT_NO_FATAL_FAILURE(expectCompacted<std::uint8_t>(n, {750000}));
        ASSERT_NO_FATAL_FAILURE(expectCompacted<std::uint16_t>(n, {250000}));
    }
}

/// More bytes than blocks meet for, so that blocks look back and pack them in registers. The last tile is one thread's,
/// one warp's, a whole one, and one more or less.
[[nodiscard]] std::vector<std::size_t> sizesOfByteTiles() {
    using Block = SinglePass::ByteCompactBlock;
    constexpr std::size_t length = 16;
    const std::size_t meeting =
        SinglePass::countedLength<length> * SinglePass::compactLimits<length>(SinglePass::Rejects::Dropped).ofWhole;
    const std::size_t tile = Block::vectors * length;
    std::vector<std::size_t> sizes;
    for (const std::size_t last : {std::size_t{Block::rows * length}, Warp::lanes * Block::rows * length, tile}) {
        const std::size_t border = (meeting / tile + 1) * tile + last;
        sizes.push_back(border + 1);
        if (!quick()) {
            sizes.insert(sizes.end(), {border - 1, border});
        }
    }
    return sizes;
}

struct IsBelow {
    unsigned limit;
    __host__ __device__ bool operator()(std::uint8_t x) const { return x < limit; }
};
struct Differ {
    __device__ bool operator()(std::uint8_t before, std::uint8_t x) const { return before != x; }
};

template <typename Predicate>
void expectBytes(const std::vector<std::uint8_t>& bytes, Predicate keep, const std::vector<std::uint8_t>& expected,
                 const Compact& compact = {}, std::size_t misalignment = 0) {
    auto in = placed(bytes, misalignment);
    expectKept(compact, std::tuple(in.data()), bytes.size(), expected, bytes.size() % 16, keep);
}

// Several threads of a warp share a word of the result if each keeps less than four bytes.
TEST_F(SinglePassCompactTest, BytesOfEveryFraction) {
    const std::vector<unsigned> limits =
        quick() ? std::vector<unsigned>{2, 128, 256} : std::vector<unsigned>{0, 1, 2, 5, 128, 254, 256};
    for (const std::size_t n : sizesOfByteTiles()) {
        const auto bytes = hostArray(n, Summand<std::uint8_t>{23});
        for (const unsigned limit : limits) {
            std::vector<std::uint8_t> expected;
            std::ranges::copy_if(bytes, std::back_inserter(expected), IsBelow{limit});
            ASSERT_NO_FATAL_FAILURE(expectBytes(bytes, IsBelow{limit}, expected));
            ASSERT_NO_FATAL_FAILURE(expectBytes(bytes, IsBelow{limit}, expected, {.order = TileOrder::Ticket}, 3));
        }
    }
}

// Runs go on from vector to vector, from thread to thread and from tile to tile.
TEST_F(SinglePassCompactTest, BytesThatDifferFromTheOneBefore) {
    for (const std::size_t n : sizesOfByteTiles()) {
        for (const unsigned bits : {1, 8}) {
            auto bytes = hostArray(n, Summand<std::uint8_t>{29});
            std::ranges::transform(bytes, bytes.begin(), [=](std::uint8_t x) { return x >> (8 - bits); });
            std::vector<std::uint8_t> expected;
            std::ranges::unique_copy(bytes, std::back_inserter(expected));
            ASSERT_NO_FATAL_FAILURE(expectBytes(bytes, WithPrevious{Differ{}}, expected));
        }
    }
}

TEST_F(SinglePassCompactTest, PartitionIsStable) {
    for (const std::size_t n : sizesOfEveryPath()) {
        for (const Fraction fraction : fractions) {
            expectPartitioned<int>(n, fraction);
            expectPartitioned<int>(n, fraction, {.order = TileOrder::Ticket});
        }
    }
    for (const std::size_t n : fewSizes()) {
        expectPartitioned<std::uint8_t>(n, {250000});
        expectPartitioned<Blob<12, 4>>(n, {250000});
        expectPartitioned<Blob<48, 16>>(n, {750000});
    }
}

template <typename Flag>
struct FlagOf {
    Fraction fraction;
    __host__ __device__ Flag operator()(std::size_t i) const { return static_cast<Flag>(fraction(i) ? 2 : 0); }
};

/// A second parameter with a default is not taken for an index.
struct IsAtLeast {
    __host__ __device__ bool operator()(int x, int least = 500) const { return x >= least; }
};

TEST_F(SinglePassCompactTest, APredicateReceivesNoIndexUnlessItAsksForIt) {
    std::vector<int> in(3000);
    std::iota(in.rbegin(), in.rend(), 0);
    const DeviceBuffer<int> deviceIn{std::span<const int>(in)};
    const std::vector<int> expected(in.begin(), in.end() - 500);
    expectKept(Compact{}, std::tuple(deviceIn.data()), in.size(), expected, 0, IsAtLeast{});
    expectKept(MapScanScatter<SharedMem::Scan>{}, std::tuple(deviceIn.data()), in.size(), expected, 0, IsAtLeast{});
}

TEST_F(SinglePassCompactTest, MapScanScatterByIndex) {
    MapScanScatter<SharedMem::Scan> compact;
    const Fraction fraction{400000};
    const auto in = hostArray(5000, Numbered<int>{});
    const auto expected = expectedParts(in, fraction).kept;
    const WithIndex keep{KeepByIndex{fraction}};
    const DeviceBuffer<int> deviceIn{std::span<const int>(in)};
    expectKept(compact, std::tuple(deviceIn.data()), in.size(), expected, 0, keep);

    // Right before the input.
    GuardedArray<int> memory(expected.size() + in.size());
    int* const after = memory.data() + expected.size();
    Common::checkCUDAError(cudaMemcpy(after, in.data(), in.size() * sizeof(int), cudaMemcpyHostToDevice), "cudaMemcpy");
    Counter count;
    auto scratch =
        usedScratch(compact.scratchBytes(deviceIn.data(), memory.data(), count.memory.data(), in.size(), keep));
    const auto call = [&](int* to, std::size_t maxOut) {
        compact.maxOut = maxOut;
        compact(static_cast<const int*>(after), to, count.memory.data(), in.size(), keep, scratch.bytes(), nullptr);
    };
    EXPECT_THROW(call(memory.data(), noLimit), std::invalid_argument);
    EXPECT_THROW(call(memory.data(), expected.size() + 1), std::invalid_argument);
    call(memory.data(), expected.size());
    std::vector<int> both = expected;
    both.insert(both.end(), in.begin(), in.end());
    EXPECT_TRUE(sameBits(memory.read(both.size()), both));
}

TEST_F(SinglePassCompactTest, MapScanScatterOfNothingTakesNoOutput) {
    const DeviceBuffer<int> zeros{std::span<const int>(std::vector<int>(100))};
    Counter count;
    const MapScanScatter<SharedMem::Scan> compact{.maxOut = 0};
    auto scratch = usedScratch(compact.scratchBytes(zeros.data(), noArray<int>, count.memory.data(), zeros.size()));
    compact(zeros.data(), noArray<int>, count.memory.data(), zeros.size(), scratch.bytes(), nullptr);
    EXPECT_EQ(count.read(), 0U);
}

/// The result is wider than the element, so a tile grows in shared memory.
struct WideSquare {
    __host__ __device__ std::uint64_t operator()(std::uint8_t x) const { return std::uint64_t{x} * x; }
};
struct SquareOfIndex {
    __host__ __device__ std::uint64_t operator()(std::size_t i) const { return i * i; }
};
struct IsEven {
    __host__ __device__ bool operator()(std::uint64_t x) const { return x % 2 == 0; }
};

template <typename In>
void expectEvenValues(const In& in, const std::vector<std::uint64_t>& values) {
    Parts<std::uint64_t> expected;
    std::ranges::partition_copy(values, std::back_inserter(expected.kept), std::back_inserter(expected.rejected),
                                IsEven{});
    ASSERT_NO_FATAL_FAILURE(expectKept(Compact{}, std::tuple(in), values.size(), expected.kept, 0, IsEven{}));
    ASSERT_NO_FATAL_FAILURE(expectParts(Partition{}, in, values.size(), expected, IsEven{}));
}

TEST_F(SinglePassCompactTest, OfAFunction) {
    for (const std::size_t n : sizesOfEveryPath()) {
        const auto bytes = hostArray(n, Summand<std::uint8_t>{17});
        const DeviceBuffer<std::uint8_t> array{std::span<const std::uint8_t>(bytes)};
        std::vector<std::uint64_t> values(n);
        std::ranges::transform(bytes, values.begin(), WideSquare{});
        expectEvenValues(transformed(array.data(), WideSquare{}), values);
        for (std::size_t i = 0; i < n; ++i) {
            values[i] = i * i;
        }
        expectEvenValues(generated(SquareOfIndex{}), values);
    }
}

// The output has room for all elements, and nobody says how many are kept. The count may be any integer of 8 bytes.
TEST_F(SinglePassCompactTest, ByFlags) {
    const Fraction fraction{400000};
    for (const std::size_t n : sizesOfEveryPath()) {
        const auto in = hostArray(n, Numbered<int>{});
        const auto expected = expectedParts(in, fraction).kept;
        const DeviceBuffer<int> deviceIn{std::span<const int>(in)};
        const DeviceBuffer<std::uint8_t> flags = deviceArray(n, FlagOf<std::uint8_t>{fraction});
        const auto keep = keepFlagged(flags.data());
        GuardedArray<int> out(n);
        out.poison(n, nullptr);
        DeviceBuffer<unsigned long long> count(1);
        auto scratch = usedScratch(Compact{}.scratchBytes(deviceIn.data(), out.data(), count.data(), n, keep));
        Compact{}(deviceIn.data(), out.data(), count.data(), n, keep, scratch.bytes(), nullptr);
        unsigned long long counted = 0;
        count.copyTo({&counted, 1});
        ASSERT_EQ(counted, expected.size());
        ASSERT_TRUE(sameBits(out.read(expected.size()), expected));
    }
}

/// Flags packed in words. Bits behind the last flag are set, and nobody may take them for flags.
[[nodiscard]] std::vector<std::uint32_t> packed(std::size_t n, Fraction fraction) {
    std::vector<std::uint32_t> words(Common::divideRoundUp(n, 32), ~0u);
    for (std::size_t i = 0; i < n; ++i) {
        words[i / 32] &= ~(static_cast<std::uint32_t>(!fraction(i)) << i % 32);
    }
    return words;
}

/// The elements of a tile that is decided by bytes or bits.
constexpr std::size_t tileOfFlags = SinglePass::FlaggedTile<bool>::elements;

/// Around the words, vectors and tiles of flags.
[[nodiscard]] std::vector<std::size_t> sizesAroundTilesOfFlags() {
    std::vector<std::size_t> sizes{1, 2};
    for (const std::size_t border : {std::size_t{16}, std::size_t{32}, std::size_t{512}, std::size_t{1024}, tileOfFlags,
                                     2 * tileOfFlags, std::size_t{1} << 15}) {
        sizes.insert(sizes.end(), {border - 1, border, border + 1});
    }
    sizes.push_back(35 * tileOfFlags + 123);  // more tiles than a warp has lanes
    if (!quick()) {
        sizes.insert(sizes.end(), {(1u << 20) - 1, (1u << 20) + 1, 5000003});
    }
    return sizes;
}

template <typename T>
void expectFlaggedInEveryWay(std::size_t n, Fraction fraction) {
    const auto in = hostArray(n, Numbered<T>{});
    const auto expected = expectedParts(in, fraction).kept;
    const DeviceBuffer<T> deviceIn{std::span<const T>(in)};
    const T* const elements = deviceIn.data();
    const DeviceBuffer<std::uint8_t> bytes = deviceArray(n, FlagOf<std::uint8_t>{fraction});
    const auto words = packed(n, fraction);
    const DeviceBuffer<std::uint32_t> bits{std::span<const std::uint32_t>(words)};
    ASSERT_NO_FATAL_FAILURE(expectKept(CompactFlagged{}, std::tuple(elements, bytes.data()), n, expected, 0));
    ASSERT_NO_FATAL_FAILURE(
        expectKept(CompactFlagged{}, std::tuple(elements, packedBits(bits.data())), n, expected, 1));
    ASSERT_NO_FATAL_FAILURE(
        expectKept(CompactFlagged{.order = TileOrder::Ticket}, std::tuple(elements, bytes.data()), n, expected, 0));
}

TEST_F(SinglePassCompactTest, FlaggedOfEveryFraction) {
    for (const std::size_t n : sizesAroundTilesOfFlags()) {
        for (const Fraction fraction : fractions) {
            ASSERT_NO_FATAL_FAILURE(expectFlaggedInEveryWay<int>(n, fraction));
        }
    }
}

template <typename T>
void expectFlaggedOfSize() {
    constexpr std::size_t smallTile = SinglePass::SmallFlaggedTile<bool>::elements;
    const std::size_t tooManyToMeet = (2 * currentDevice().multiprocessors + 1) * smallTile + 777;
    for (const std::size_t n : {2 * tileOfFlags + 777, tooManyToMeet}) {
        for (const Fraction fraction : {Fraction{50000}, Fraction{500000}, Fraction{1000000}}) {
            ASSERT_NO_FATAL_FAILURE(expectFlaggedInEveryWay<T>(n, fraction));
        }
    }
}

TEST_F(SinglePassCompactTest, FlaggedElementsOfEverySize) {
    // One type per size of the words that are copied.
    expectFlaggedOfSize<Blob<3, 1>>();
    expectFlaggedOfSize<Blob<6, 2>>();
    expectFlaggedOfSize<Blob<12, 4>>();
    expectFlaggedOfSize<Blob<24, 8>>();
    expectFlaggedOfSize<Blob<64, 64>>();
}

TEST_F(SinglePassCompactTest, FlagsAtEveryAddress) {
    const std::size_t n = 3 * tileOfFlags + 5;
    const Fraction fraction{200000};
    const auto in = hostArray(n, Numbered<Blob<16, 16>>{});
    const auto expected = expectedParts(in, fraction).kept;
    const DeviceBuffer<Blob<16, 16>> deviceIn{std::span<const Blob<16, 16>>(in)};
    const auto flags = hostArray(n, FlagOf<std::uint8_t>{fraction});
    for (std::size_t misalignment = 0; misalignment < 16; misalignment += quick() ? 3 : 1) {
        auto bytes = placed(flags, misalignment);
        ASSERT_NO_FATAL_FAILURE(
            expectKept(CompactFlagged{}, std::tuple(deviceIn.data(), bytes.data()), n, expected, misalignment));
    }
}

/// Keeps every third number.
struct IsMultipleOfThree {
    template <typename S>
    __host__ __device__ bool operator()(const S& x) const {
        return static_cast<std::int64_t>(x) % 3 == 0;
    }
};
struct IsGreater {
    template <typename S>
    __host__ __device__ bool operator()(const S& before, const S& x) const {
        return before < x;
    }
};

template <typename S>
void expectKeptByStencil(std::size_t n) {
    const auto stencil = hostArray(n, Summand<S>{23});
    const DeviceBuffer<S> deviceStencil{std::span<const S>(stencil)};
    const S* const elements = deviceStencil.data();
    std::vector<std::uint64_t> ofMultiples;
    std::vector<std::uint64_t> ofRises;
    for (std::size_t i = 0; i < n; ++i) {
        if (IsMultipleOfThree{}(stencil[i])) {
            ofMultiples.push_back(i);
        }
        if (i == 0 || IsGreater{}(stencil[i - 1], stencil[i])) {
            ofRises.push_back(i);
        }
    }
    const auto index = indices<std::uint64_t>();
    ASSERT_NO_FATAL_FAILURE(
        expectKept(CompactFlagged{}, std::tuple(index, elements), n, ofMultiples, 0, IsMultipleOfThree{}));
    ASSERT_NO_FATAL_FAILURE(
        expectKept(CompactFlagged{}, std::tuple(index, transformed(elements, IsMultipleOfThree{})), n, ofMultiples, 0));
    ASSERT_NO_FATAL_FAILURE(
        expectKept(CompactFlagged{}, std::tuple(index, elements), n, ofRises, 0, WithPrevious{IsGreater{}}));
}

TEST_F(SinglePassCompactTest, StencilsOfEveryType) {
    for (const std::size_t n : {std::size_t{100}, std::size_t{30001}}) {
        expectKeptByStencil<std::int8_t>(n);
        expectKeptByStencil<std::uint16_t>(n);
        expectKeptByStencil<float>(n);
        expectKeptByStencil<std::int64_t>(n);
    }
}

TEST_F(SinglePassCompactTest, FlaggedByFunctionsOfTheIndex) {
    const std::size_t n = 2 * tileOfFlags + 3;
    const Fraction fraction{30000};
    std::vector<std::uint64_t> squares;
    for (std::size_t i = 0; i < n; ++i) {
        if (fraction(i)) {
            squares.push_back(i * i);
        }
    }
    expectKept(CompactFlagged{}, std::tuple(generated(SquareOfIndex{}), generated(fraction)), n, squares, 0);
    const DeviceBuffer<std::uint64_t> places = deviceArray(n, IndexAs<std::uint64_t>{});
    expectKept(CompactFlagged{}, std::tuple(transformed(places.data(), SquareOfIndex{}), indices<std::uint64_t>()), n,
               squares, 0, WithIndex{KeepByIndex{fraction}});
}

/// A kept element is called for, and a dropped one is not.
struct CountCalls {
    unsigned* calls;
    __device__ int operator()(int x) const {
        atomicAdd(calls, 1u);
        return x;
    }
};

TEST_F(SinglePassCompactTest, FlaggedReadsNoElementThatItDrops) {
    const std::size_t n = 2 * tileOfFlags + 100;
    const Fraction fraction{20000};
    const auto in = hostArray(n, Numbered<int>{});
    const auto expected = expectedParts(in, fraction).kept;
    const DeviceBuffer<int> deviceIn{std::span<const int>(in)};
    const unsigned none = 0;
    DeviceBuffer<unsigned> calls{std::span(&none, 1)};
    expectKept(CompactFlagged{},
               std::tuple(transformed(deviceIn.data(), CountCalls{calls.data()}), generated(fraction)), n, expected, 0);
    unsigned counted = 0;
    calls.copyTo({&counted, 1});
    EXPECT_EQ(counted, expected.size());
}

TEST_F(SinglePassCompactTest, FlaggedReplayedFromAGraph) {
    const Fraction fraction{100000};
    for (const std::size_t n : {std::size_t{1000}, 12 * tileOfFlags + 1}) {
        const auto in = hostArray(n, Numbered<int>{});
        const auto expected = expectedParts(in, fraction).kept;
        const DeviceBuffer<int> deviceIn{std::span<const int>(in)};
        const DeviceBuffer<bool> flags = deviceArray(n, FlagOf<bool>{fraction});
        GuardedArray<int> out(n);
        Counter count;
        const CompactFlagged compact;
        auto scratch =
            usedScratch(compact.scratchBytes(deviceIn.data(), flags.data(), out.data(), count.memory.data(), n));
        replay(3, [&](cudaStream_t stream) {
            out.poison(n, stream);
            compact(deviceIn.data(), flags.data(), out.data(), count.memory.data(), n, scratch.bytes(), stream);
        });
        ASSERT_EQ(count.read(), expected.size());
        ASSERT_TRUE(sameBits(out.read(expected.size()), expected));
    }
}

TEST_F(SinglePassCompactTest, FlaggedRefusesBadArguments) {
    const std::size_t n = 3 * tileOfFlags;
    DeviceBuffer<int> in(n);
    DeviceBuffer<int> out(n);
    DeviceBuffer<std::uint8_t> flags(n);
    Counter count;
    std::size_t* const counter = count.memory.data();
    const CompactFlagged compact;
    auto scratch = usedScratch(compact.scratchBytes(in.data(), flags.data(), out.data(), counter, n));
    const auto expectRefused = [&](const int* from, const auto& stencil, int* to, std::size_t* counted, Scratch lent) {
        EXPECT_THROW(compact(from, stencil, to, counted, n, lent, nullptr), std::invalid_argument);
    };
    const std::uint8_t* const bytes = flags.data();
    const std::uint8_t* const noBytes = nullptr;
    const auto* const bits = reinterpret_cast<const std::uint32_t*>(bytes);
    expectRefused(nullptr, bytes, out.data(), counter, scratch.bytes());
    expectRefused(in.data(), noBytes, out.data(), counter, scratch.bytes());
    expectRefused(in.data(), packedBits(nullptr), out.data(), counter, scratch.bytes());
    expectRefused(in.data(), bytes, nullptr, counter, scratch.bytes());
    expectRefused(in.data(), bytes, out.data(), nullptr, scratch.bytes());
    expectRefused(in.data(), bytes, in.data() + n - 1, counter, scratch.bytes());
    expectRefused(in.data(), bytes, reinterpret_cast<int*>(flags.data()), counter, scratch.bytes());
    expectRefused(in.data(), packedBits(bits), reinterpret_cast<int*>(flags.data()), counter, scratch.bytes());
    expectRefused(in.data(), bytes, out.data(), counter, scratch.bytes().first(scratch.size() - 1));
    for (void* const array :
         {static_cast<void*>(in.data()), static_cast<void*>(out.data()), static_cast<void*>(flags.data())}) {
        expectRefused(in.data(), bytes, out.data(), static_cast<std::size_t*>(array), scratch.bytes());
    }
    compact(in.data(), bytes, out.data(), counter, 0, {}, nullptr);
    EXPECT_EQ(count.read(), 0U);
}

/// Takes milliseconds for one of the elements.
struct SlowPredicate {
    __device__ bool operator()(int x) const {
        for (int i = 0; x == -1 && i < 50; ++i) {
            __nanosleep(100000);
        }
        return x % 3 != 0;
    }
};

// The first tile is late, so all other resident tiles look back to the beginning.
TEST_F(SinglePassCompactTest, FirstTileLate) {
    auto in = hostArray(9000001, [](std::size_t i) { return static_cast<int>(i); });
    in[7] = -1;
    const DeviceBuffer<int> deviceIn{std::span<const int>(in)};
    std::vector<int> expected;
    std::ranges::copy_if(in, std::back_inserter(expected), [](int x) { return x % 3 != 0; });
    expectKept(Compact{}, std::tuple(deviceIn.data()), in.size(), expected, 0, SlowPredicate{});
}

struct NotAThird {
    __device__ bool operator()(std::uint32_t, std::size_t i) const { return i % 3 != 0; }
};

struct KeptValue {
    __device__ std::uint32_t operator()(std::size_t i) const { return static_cast<std::uint32_t>(i + i / 2 + 1); }
};

TEST_F(SinglePassCompactTest, MoreThanTwoToThe32Elements) {
    const std::size_t n = (std::size_t{1} << 32) + 7;
    if (!hasRoomFor(2 * n * sizeof(int))) {
        GTEST_SKIP() << "takes " << 2 * n * sizeof(int) << " bytes of device memory and a while";
    }
    const DeviceBuffer<std::uint32_t> in = deviceArray(n, Numbered<std::uint32_t>{});
    DeviceBuffer<std::uint32_t> out(n);
    Counter count;
    auto scratch =
        usedScratch(Compact{}.scratchBytes(noArray<std::uint32_t>, noArray<std::uint32_t>, noArray<std::size_t>, n));
    Compact{}(in.data(), out.data(), count.memory.data(), n, WithIndex{NotAThird{}}, scratch.bytes(), nullptr);
    const std::size_t expected = n - (n + 2) / 3;
    ASSERT_EQ(count.read(), expected);
    EXPECT_EQ(wrongElements(expected, out.data(), KeptValue{}), 0U);
}

TEST_F(SinglePassCompactTest, RefusesBadArguments) {
    const std::size_t n = 1000;
    DeviceBuffer<int> in(2 * n);
    DeviceBuffer<int> out(n);
    DeviceBuffer<int> rejected(n);
    Counter count;
    auto scratch = usedScratch(Partition{}.scratchBytes(noArray<int>, noArray<int>, noArray<std::size_t>, n));
    const auto expectRefused = [&](const int* from, int* kept, int* others, std::size_t* counter, Scratch lent) {
        EXPECT_THROW(Partition{}(from, kept, others, counter, n, lent, nullptr), std::invalid_argument);
    };
    std::size_t* const counter = count.memory.data();
    expectRefused(nullptr, out.data(), rejected.data(), counter, scratch.bytes());
    expectRefused(in.data(), nullptr, rejected.data(), counter, scratch.bytes());
    expectRefused(in.data(), out.data(), nullptr, counter, scratch.bytes());
    expectRefused(in.data(), out.data(), rejected.data(), nullptr, scratch.bytes());
    expectRefused(in.data(), in.data(), rejected.data(), counter, scratch.bytes());
    expectRefused(in.data(), out.data(), in.data() + n - 1, counter, scratch.bytes());
    expectRefused(in.data(), out.data(), rejected.data(), counter, scratch.bytes().first(scratch.size() - 1));
    EXPECT_THROW(Partition{}(in.data(), in.data() + 1, counter, n, scratch.bytes(), nullptr), std::invalid_argument);
    expectRefused(in.data(), out.data(), out.data(), counter, scratch.bytes());
    for (int* const array : {in.data(), out.data(), rejected.data()}) {
        auto* const inside = reinterpret_cast<std::size_t*>(array);
        expectRefused(in.data(), out.data(), rejected.data(), inside, scratch.bytes());
    }
    EXPECT_THROW(Partition{}(in.data(), out.data(), reinterpret_cast<std::size_t*>(out.data() + n - 2), n,
                             scratch.bytes(), nullptr),
                 std::invalid_argument);
    const auto expectFlagsRefused = [&](const int* flags) {
        EXPECT_THROW(Compact{}(in.data(), out.data(), counter, n, keepFlagged(flags), scratch.bytes(), nullptr),
                     std::invalid_argument);
    };
    expectFlagsRefused(nullptr);
    expectFlagsRefused(out.data());
    expectFlagsRefused(reinterpret_cast<const int*>(counter));
    Partition{}(in.data(), out.data(), rejected.data(), counter, 0, {}, nullptr);
    EXPECT_EQ(count.read(), 0U);
}

// Outputs need room for no more than what goes there, if the caller says how much that is.
TEST_F(SinglePassCompactTest, WhatLiesBehindAShortOutputIsItsOwn) {
    const std::vector<int> in{1, 0, 2, 0, 0, 0, 3, 0};
    DeviceBuffer<int> memory(2 * in.size());
    const DeviceBuffer<int> deviceIn{std::span<const int>(in)};
    int* const rejected = memory.data() + 6;
    auto* const count = reinterpret_cast<std::size_t*>(memory.data() + 4);
    auto scratch = usedScratch(Partition{}.scratchBytes(deviceIn.data(), memory.data(), rejected, count, in.size()));
    const Partition partition{.maxOut = 3, .maxRejected = 5};
    partition(deviceIn.data(), memory.data(), rejected, count, in.size(), scratch.bytes(), nullptr);
    std::vector<int> actual(3);
    memory.copyTo(actual);
    EXPECT_EQ(actual, (std::vector<int>{1, 2, 3}));
    const Compact compact{.maxOut = 3};
    EXPECT_NO_THROW(compact(deviceIn.data(), memory.data(), count, in.size(), scratch.bytes(), nullptr));
    EXPECT_THROW(Compact{}(deviceIn.data(), memory.data(), count, in.size(), scratch.bytes(), nullptr),
                 std::invalid_argument);
}

}  // namespace
}  // namespace StreamCompaction::Testing
