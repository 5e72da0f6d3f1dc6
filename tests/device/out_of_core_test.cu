#include <array>
#include <numeric>

#include "../primitives/noncommutative.cuh"
#include "device_fixture.cuh"
#include "stream_compaction/out_of_core.cuh"
#include "stream_compaction/pinned_array.h"

namespace StreamCompaction::Testing {
namespace {

using OutOfCore::Cancelled;
using OutOfCore::Options;
using SinglePass::ScanKind;

/// Limits of device memory under which arrays of a few thousand elements take many chunks, on one device and on two. If
/// there is only one, it stands for both.
[[nodiscard]] std::vector<Options> tightOptions(std::size_t deviceBytes) {
    int devices = 0;
    Common::checkCUDAError(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
    return {{.deviceBytes = deviceBytes}, {.devices = {0, devices - 1}, .deviceBytes = deviceBytes}};
}

/// Sizes with no chunk, one, two and many, which are multiples of nothing.
constexpr std::array<std::size_t, 5> sizes{0, 1, 2, 1000, 30011};

/// The message of the exception of type Error that a call throws.
template <typename Error, typename Call>
[[nodiscard]] std::string messageOf(const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return "no such exception";
}

class OutOfCoreTest : public DeviceTest {
  protected:
    template <typename T, typename In, typename Op>
    static void expectScanned(OutOfCore::Scan& scan, ScanKind kind, const std::vector<In>& in, const Op& op,
                              const T& initial) {
        std::vector<T> expected;
        T sum = initial;
        for (const In& x : in) {
            const T upTo = op(sum, static_cast<T>(x));
            expected.push_back(kind == ScanKind::Inclusive ? upTo : sum);
            sum = upTo;
        }
        std::vector<T> out(in.size());
        scan(in, out, op, initial);
        EXPECT_TRUE(sameBits(out, expected)) << "n = " << in.size();
    }

    template <typename T, typename In, typename Op>
    static void expectScans(const Op& op, const T& initial) {
        for (const Options& options : tightOptions(100'000)) {
            for (const ScanKind kind : {ScanKind::Exclusive, ScanKind::Inclusive}) {
                OutOfCore::Scan scan(options, {.kind = kind});
                for (const std::size_t n : sizes) {
                    expectScanned<T>(scan, kind, hostArray(n, RandomValue<In>{71}), op, initial);
                }
            }
        }
    }

    template <typename T, typename Predicate>
    static void expectCompacted(OutOfCore::Compact& compact, const std::vector<T>& in, const Predicate& keep) {
        std::vector<T> expected;
        std::ranges::copy_if(in, std::back_inserter(expected), keep);
        std::vector<T> out(in.size());
        const std::size_t kept = compact(in, out, keep);
        ASSERT_EQ(kept, expected.size());
        out.resize(kept);
        EXPECT_TRUE(sameBits(out, expected)) << "n = " << in.size();
    }
};

struct IsOdd {
    template <typename T>
    __host__ __device__ bool operator()(const T& x) const {
        return static_cast<std::uint64_t>(x) % 2 != 0;
    }
};

// The predicates that no chunk and no rank can decide alone.
static_assert(asksForPrevious<WithPrevious<IsOdd>> && !asksForPrevious<WithIndex<IsOdd>> && !asksForPrevious<IsOdd>);

struct Triple {
    std::uint16_t words[3];
};
struct HasEvenFirst {
    __host__ __device__ bool operator()(const Triple& x) const { return x.words[0] % 2 == 0; }
};

TEST_F(OutOfCoreTest, ScansInChunks) {
    expectScans<int, int>(Sum{}, 5);
    expectScans<std::uint64_t, std::uint8_t>(Sum{}, std::uint64_t{1} << 40);
    expectScans<double, float>(Max{}, -1e9);
}

TEST_F(OutOfCoreTest, ScansByOperatorsThatDoNotCommute) {
    expectScans<AffineMap, AffineMap>(Compose{}, AffineMap{3, 7});
    expectScans<Matrix, Matrix>(Multiply{}, Matrix{{1, 2, 0, 1}});
}

TEST_F(OutOfCoreTest, ScansPageLockedMemoryInPlace) {
    const std::size_t n = 30011;
    const auto in = hostArray(n, Summand<int>{72});
    std::vector<int> expected(n);
    std::exclusive_scan(in.begin(), in.end(), expected.begin(), 0, std::plus<std::uint32_t>());
    const PinnedArray<int> array(n);
    std::ranges::copy(in, array.elements().begin());
    OutOfCore::Scan scan({.deviceBytes = 100'000});
    scan(array.elements(), array.elements());
    EXPECT_TRUE(sameBits(std::vector<int>(array.elements().begin(), array.elements().end()), expected));
}

TEST_F(OutOfCoreTest, CompactsInChunks) {
    for (const Options& options : tightOptions(100'000)) {
        OutOfCore::Compact compact(options);
        for (const std::size_t n : sizes) {
            expectCompacted(compact, hostArray(n, KeepThreeInFour<int>{73}), IsNonzero{});
            expectCompacted(compact, hostArray(n, Summand<std::uint8_t>{74}), IsOdd{});
            expectCompacted(compact, std::vector<std::uint64_t>(n, 1), IsOdd{});
            expectCompacted(compact, std::vector<std::uint64_t>(n, 2), IsOdd{});
            const auto triples = hostArray(n, [](std::size_t i) {
                return Triple{{static_cast<std::uint16_t>(randomBits(75, i)), 2, static_cast<std::uint16_t>(i)}};
            });
            expectCompacted(compact, triples, HasEvenFirst{});
        }
    }
}

struct IsThirdPlace {
    template <typename T>
    __host__ __device__ bool operator()(const T&, std::size_t i) const {
        return i % 3 == 0;
    }
};

TEST_F(OutOfCoreTest, CompactsRegisteredMemoryInPlaceByIndex) {
    const std::size_t n = 30011;
    auto array = hostArray(n, Summand<int>{76});
    std::vector<int> expected;
    for (std::size_t i = 0; i < n; i += 3) {
        expected.push_back(array[i]);
    }
    OutOfCore::Compact compact({.deviceBytes = 100'000});
    Common::checkCUDAError(cudaHostRegister(array.data(), n * sizeof(int), cudaHostRegisterDefault),
                           "cudaHostRegister");
    const std::size_t kept = compact(array, array, WithIndex<IsThirdPlace>{});
    Common::checkCUDAError(cudaHostUnregister(array.data()), "cudaHostUnregister");
    array.resize(kept);
    EXPECT_TRUE(sameBits(array, expected));
}

/// The bits of a key that a sort compares, as Radix::Sort defines them.
template <typename K>
[[nodiscard]] std::uint64_t comparedBits(const Radix::Sort& sort, K key) {
    const auto [begin, end] = sort.digitRange(8 * sizeof(K));
    const std::uint64_t bits = (orderedBits(key) >> begin) & (~std::uint64_t{0} >> (64 - (end - begin)));
    return sort.descending ? ~bits : bits;
}

/// The indices of the keys in sorted order, by the standard library.
template <typename K>
[[nodiscard]] std::vector<std::size_t> sortedPlaces(const Radix::Sort& sort, const std::vector<K>& keys) {
    std::vector<std::size_t> places(keys.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::ranges::stable_sort(places, {}, [&](std::size_t place) { return comparedBits(sort, keys[place]); });
    return places;
}

template <typename T>
[[nodiscard]] std::vector<T> gathered(const std::vector<T>& array, const std::vector<std::size_t>& places) {
    std::vector<T> result;
    std::ranges::transform(places, std::back_inserter(result), [&](std::size_t place) { return array[place]; });
    return result;
}

/// Limits of device memory under which a sort of arrays of `bytes` bytes takes each of its ways, in many chunks: two
/// trips through host memory on one device and on two, and two trips on the cards, if they are connected.
[[nodiscard]] std::vector<Options> limitsOfEveryWay(std::size_t bytes) {
    constexpr std::size_t fixed = 45'000;  // scratch that does not grow with the chunks
    const std::vector<Options> inHostMemory = tightOptions(fixed + bytes / 5 * 2);
    return {inHostMemory[0], inHostMemory[1], tightOptions(fixed + bytes / 4 * 5)[0],
            tightOptions(fixed + bytes / 4 * 3)[1]};
}

class OutOfCoreSortTest : public DeviceTest {
  protected:
    template <typename K>
    static void expectSorted(OutOfCore::Sort& sort, const Radix::Sort& order, const std::vector<K>& keys) {
        std::vector<K> out(keys.size());
        sort(keys, out);
        ASSERT_TRUE(sameBits(out, gathered(keys, sortedPlaces(order, keys)))) << "n = " << keys.size();
    }

    template <typename K, typename V>
    static void expectPairsSorted(OutOfCore::Sort& sort, const Radix::Sort& order, const std::vector<K>& keys) {
        const auto values = hostArray(keys.size(), RandomValue<V>{81});
        const auto places = sortedPlaces(order, keys);
        std::vector<K> keysOut(keys.size());
        std::vector<V> valuesOut(keys.size());
        sort(keys, keysOut, values, valuesOut);
        ASSERT_TRUE(sameBits(keysOut, gathered(keys, places))) << "n = " << keys.size();
        ASSERT_TRUE(sameBits(valuesOut, gathered(values, places))) << "values, n = " << keys.size();
    }

    template <typename K>
    static void expectKeyTypeSorted() {
        const Radix::Sort order{.descending = std::is_signed_v<K>};
        const std::size_t n = 20011 / sizeof(K);
        for (const Options& options : limitsOfEveryWay(n * sizeof(K))) {
            OutOfCore::Sort sort(options, order);
            expectSorted(sort, order, hostArray(n, AnyBits<K>{82}));
        }
    }
};

TEST_F(OutOfCoreSortTest, SortsEveryKeyType) {
    expectKeyTypeSorted<std::int8_t>();
    expectKeyTypeSorted<std::uint8_t>();
    expectKeyTypeSorted<std::int16_t>();
    expectKeyTypeSorted<std::uint16_t>();
    expectKeyTypeSorted<std::int32_t>();
    expectKeyTypeSorted<std::uint32_t>();
    expectKeyTypeSorted<std::int64_t>();
    expectKeyTypeSorted<std::uint64_t>();
    expectKeyTypeSorted<float>();
    expectKeyTypeSorted<double>();
}

TEST_F(OutOfCoreSortTest, SortsSkewedPairsStably) {
    const std::size_t n = 5003;
    const std::vector<std::uint32_t (*)(std::size_t i)> shapes{
        [](std::size_t) -> std::uint32_t { return 0xC0FFEE; },
        [](std::size_t i) -> std::uint32_t { return randomBits(83, i) % 2 == 0 ? 0x01020304 : 0xF1020304; },
        [](std::size_t i) -> std::uint32_t { return 1000000 / (1 + randomBits(84, i) % 1000000); },  // like Zipf
        [](std::size_t i) -> std::uint32_t { return static_cast<std::uint32_t>(i / 3); },
        [](std::size_t i) -> std::uint32_t { return static_cast<std::uint32_t>(n - i) << 8; },
        [](std::size_t i) -> std::uint32_t { return i + 1 == n ? 0 : ~0U; }};
    for (const Options& options : limitsOfEveryWay(n * 8)) {
        OutOfCore::Sort sort(options);
        for (const auto shape : shapes) {
            expectPairsSorted<std::uint32_t, std::uint32_t>(sort, {}, hostArray(n, shape));
        }
    }
}

TEST_F(OutOfCoreSortTest, SortsByRangesOfBits) {
    const std::size_t n = 5003;
    for (const bool descending : {false, true}) {
        const Radix::Sort order{.descending = descending, .beginBit = 5, .endBit = 13};
        for (const Options& options : limitsOfEveryWay(n * 8)) {
            OutOfCore::Sort sort(options, order);
            expectPairsSorted<std::uint32_t, std::uint32_t>(sort, order, hostArray(n, AnyBits<std::uint32_t>{85}));
        }
        for (const Options& options : limitsOfEveryWay(n * 16)) {
            OutOfCore::Sort sort(options, order);
            expectPairsSorted<double, AffineMap>(sort, order, hostArray(n, AnyBits<double>{86}));
        }
    }
}

TEST_F(OutOfCoreSortTest, CopiesByAnEmptyRangeOfBits) {
    const std::size_t n = 5003;
    for (const int bit : {0, 8, 32}) {
        const Radix::Sort order{.beginBit = bit, .endBit = bit};
        const auto keys = hostArray(n, AnyBits<std::uint32_t>{88});
        const auto values = hostArray(n, AnyBits<std::uint32_t>{89});
        for (const Options& options : limitsOfEveryWay(n * 8)) {
            std::vector<std::uint32_t> keysOut(n);
            std::vector<std::uint32_t> valuesOut(n);
            OutOfCore::Sort(options, order)(keys, keysOut, values, valuesOut);
            EXPECT_TRUE(sameBits(keysOut, keys)) << bit;
            EXPECT_TRUE(sameBits(valuesOut, values)) << bit;
        }
    }
}

TEST_F(OutOfCoreSortTest, SortsAnySizeWithTheSameObject) {
    for (const Options& options : limitsOfEveryWay(20'000)) {
        OutOfCore::Sort sort(options);
        for (const std::size_t n : {1000, 0, 1, 2, 9000, 12, 5000}) {
            expectSorted(sort, {}, hostArray(n, AnyBits<int>{87}));
        }
    }
}

/// The sort of the smaller chunk, of 16384 bytes, goes a way that takes more scratch than that of the larger one.
TEST_F(OutOfCoreSortTest, SortsChunksThatGoDifferentWays) {
    std::vector<std::size_t> reports;
    OutOfCore::Sort sort({.deviceBytes = 200'000, .progress = [&](std::size_t done, std::size_t) {
                              reports.push_back(done);
                              return true;
                          }});
    expectSorted(sort, {}, hostArray(2 * 16384 + 1, AnyBits<std::int8_t>{90}));
    EXPECT_EQ(reports, (std::vector<std::size_t>{16385, 32769, 49154, 65538}));
}

/// Whether the first and the last device reach each other's memory.
[[nodiscard]] bool areLinked() {
    int devices = 0;
    Common::checkCUDAError(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
    int isPossible = 1;
    if (devices > 1) {
        Common::checkCUDAError(cudaDeviceCanAccessPeer(&isPossible, 0, devices - 1), "cudaDeviceCanAccessPeer");
    }
    return isPossible != 0;
}

/// Runs in host memory lie in the spare array. Cuts of more than 32 runs take several warps.
TEST_F(OutOfCoreSortTest, KeepsManyRunsOnTheCards) {
    const std::size_t n = 30011;
    const auto keys = hostArray(n, [](std::size_t i) { return static_cast<std::uint8_t>(randomBits(91, i) % 5); });
    const auto values = hostArray(n, [](std::size_t i) { return static_cast<std::uint32_t>(i); });
    const auto places = sortedPlaces({}, keys);
    for (const bool onSeveral : {false, true}) {
        // Two devices share keys of one byte and values of four.
        Options options = onSeveral ? tightOptions(200'000 - 5 * n / 2)[1] : tightOptions(200'000)[0];
        std::size_t reports = 0;
        options.progress = [&](std::size_t, std::size_t) {
            ++reports;
            return true;
        };
        OutOfCore::Sort sort(options);
        std::vector<std::uint8_t> keysOut(n);
        std::vector<std::uint32_t> valuesOut(n);
        std::vector<std::uint8_t> spareKeys(n);
        std::vector<std::uint32_t> spareValues(n);
        sort(keys, std::span(keysOut), values, std::span(valuesOut), std::span(spareKeys), std::span(spareValues));
        EXPECT_TRUE(sameBits(keysOut, gathered(keys, places)));
        EXPECT_TRUE(sameBits(valuesOut, gathered(values, places)));
        const bool stay = !onSeveral || areLinked();
        const bool isSpareUntouched = std::ranges::count(spareValues, 0U) == static_cast<std::ptrdiff_t>(n);
        EXPECT_EQ(isSpareUntouched, stay) << (onSeveral ? "on two cards" : "on one card");
        EXPECT_TRUE(!stay || reports > 2 * 64) << reports;
    }
}

/// Pieces of 4 MiB carry pageable memory, in turn.
TEST_F(OutOfCoreTest, CompactsPageableMemoryOfSeveralPieces) {
    const auto in = hostArray((std::size_t{9} << 20) + 5, [](std::size_t i) { return static_cast<char>(i % 7); });
    std::vector<char> out(in.size());
    OutOfCore::Compact compact;
    const std::size_t kept = compact(in, out);
    std::vector<char> expected;
    std::ranges::copy_if(in, std::back_inserter(expected), [](char x) { return x != 0; });
    out.resize(kept);
    EXPECT_TRUE(sameBits(out, expected));
}

template <typename T>
[[nodiscard]] std::vector<T> copyOf(std::span<const T> elements) {
    return {elements.begin(), elements.end()};
}

TEST_F(OutOfCoreSortTest, SortsPageLockedMemoryInPlaceAndWithASpare) {
    const std::size_t n = 5003;
    const auto keys = hostArray(n, AnyBits<int>{88});
    const auto expected = gathered(keys, sortedPlaces({}, keys));
    for (const Options& options : limitsOfEveryWay(n * sizeof(int))) {
        OutOfCore::Sort sort(options);
        const PinnedArray<int> array(n);
        const PinnedArray<int> other(n);
        std::ranges::copy(keys, array.elements().begin());
        sort(array.elements(), other.elements(), array.elements());
        EXPECT_TRUE(sameBits(copyOf<int>(other.elements()), expected)) << "the input is the spare";
        std::ranges::copy(keys, array.elements().begin());
        sort(array.elements(), array.elements(), other.elements());
        EXPECT_TRUE(sameBits(copyOf<int>(array.elements()), expected)) << "in place";
    }
}

TEST_F(OutOfCoreSortTest, SortsRecordsAtAnyAddress) {
    const std::size_t n = 3001;
    for (const std::size_t recordBytes : {4, 7, 12}) {
        auto bytes = hostArray(1 + n * recordBytes, [](std::size_t i) { return std::byte(randomBits(89, i) & 3); });
        const auto in = std::span(bytes).subspan(1);
        const auto keys = hostArray(n, [&](std::size_t i) {
            float key;
            std::memcpy(&key, &in[i * recordBytes], sizeof(key));
            return key;
        });
        std::vector<std::byte> expected;
        for (const std::size_t place : sortedPlaces({}, keys)) {
            const auto record = in.subspan(place * recordBytes, recordBytes);
            expected.insert(expected.end(), record.begin(), record.end());
        }
        for (const Options& options : limitsOfEveryWay(in.size() * 2)) {
            OutOfCore::Sort sort(options);
            std::vector<std::byte> out(1 + in.size());
            sort.records<float>(in, std::span(out).subspan(1), recordBytes);
            out.erase(out.begin());
            EXPECT_TRUE(out == expected) << recordBytes << " bytes";
        }
    }
}

TEST_F(OutOfCoreSortTest, ScratchForRecordsSuffices) {
    const OutOfCore::RecordSorter<float> sorter{{}, sizeof(float)};
    // An array in scratch may take more memory for n elements than for n - 1.
    for (const std::size_t n : {1, 65, 6401, 30017}) {
        const auto keys = hostArray(n, Summand<float>{91});
        DeviceBuffer<float> in(keys);
        DeviceBuffer<float> out(n);
        UsedScratch scratch = usedScratch(sorter.scratchBytes(n));
        sorter({reinterpret_cast<std::byte*>(in.data())}, {reinterpret_cast<std::byte*>(out.data())}, n,
               scratch.bytes(), nullptr);
        std::vector<float> sorted(n);
        out.copyTo(sorted);
        EXPECT_TRUE(std::ranges::is_sorted(sorted)) << "n = " << n;
    }
}

TEST_F(OutOfCoreSortTest, ReportsProgressOfBothTripsAndCancels) {
    const auto keys = hostArray(5003, AnyBits<int>{90});
    for (Options options : limitsOfEveryWay(keys.size() * sizeof(int))) {
        std::vector<std::size_t> reports;
        std::size_t most = 1'000'000;
        options.progress = [&](std::size_t done, std::size_t all) {
            EXPECT_EQ(all, 2 * keys.size());
            reports.push_back(done);
            return done < most;
        };
        OutOfCore::Sort sort(options);
        expectSorted(sort, {}, keys);
        EXPECT_GT(reports.size(), 8U);
        EXPECT_TRUE(std::ranges::is_sorted(reports));
        EXPECT_EQ(reports.back(), 2 * keys.size());
        std::vector<int> out(keys.size());
        for (const std::size_t limit : {1, 5004}) {
            most = limit;
            EXPECT_THROW(sort(keys, out), Cancelled);
        }
        most = 1'000'000;
        expectSorted(sort, {}, keys);
    }
}

TEST_F(OutOfCoreSortTest, RefusesBadArguments) {
    std::vector<int> a(1000);
    std::vector<int> b(1000);
    std::vector<int> c(1000);
    OutOfCore::Sort sort;
    const auto expectMessage = [](const auto& call, const std::string& message) {
        EXPECT_EQ(messageOf<std::invalid_argument>(call), message);
    };
    expectMessage([&] { sort(a, std::span(b).first(999)); }, "out: expected 1000 elements, got 999");
    expectMessage([&] { sort(a, b, std::span(c).first(999)); }, "spare: expected 1000 elements, got 999");
    expectMessage([&] { sort(a, b, std::span(a).first(2), c); }, "valuesIn: expected 1000 elements, got 2");
    expectMessage([&] { sort.records<int>(std::as_bytes(std::span(a)), std::as_writable_bytes(std::span(b)), 3); },
                  "recordBytes: expected at least 4 and a divisor of 4000, got 3");
    expectMessage([&] { OutOfCore::Sort({}, {.endBit = 33})(a, b); },
                  "bits: expected a range within 0 to 32, got 0 to 33");
    EXPECT_THROW(sort(a, b, b), std::invalid_argument);
    EXPECT_THROW(sort(a, b, a, b), std::invalid_argument);
    EXPECT_THROW(sort(std::span(a).first(500), std::span(a).subspan(1, 500)), std::invalid_argument);
    OutOfCore::Sort tight({.deviceBytes = 100});
    EXPECT_THROW(tight(a, b), std::invalid_argument);
}

TEST_F(OutOfCoreTest, ReportsProgressAndCancels) {
    std::vector<std::size_t> reports;
    std::size_t most = 30011;
    const auto progress = [&](std::size_t done, std::size_t all) {
        EXPECT_EQ(all, 30011U);
        reports.push_back(done);
        return done < most;
    };
    const std::vector<int> in(30011, 1);
    std::vector<int> out(in.size());
    OutOfCore::Compact compact({.deviceBytes = 100'000, .progress = progress});
    EXPECT_THROW(compact(in, out), Cancelled);
    EXPECT_EQ(reports.back(), in.size());
    EXPECT_GT(reports.size(), 3U);
    EXPECT_TRUE(std::ranges::is_sorted(reports));
    most = 10000;
    reports.clear();
    EXPECT_THROW(compact(in, out), Cancelled);
    EXPECT_LT(reports.back(), in.size());
    most = in.size() + 1;
    EXPECT_EQ(compact(in, out), in.size()) << "the object is as good as new";
}

TEST_F(OutOfCoreTest, RefusesBadArguments) {
    std::vector<int> in(1000, 1);
    std::vector<int> out(999);
    OutOfCore::Scan scan;
    EXPECT_EQ(messageOf<std::invalid_argument>([&] { scan(in, out); }), "out: expected 1000 elements, got 999");
    EXPECT_THROW(scan(std::span(in).first(500), std::span(in).subspan(1, 500)), std::invalid_argument);
    OutOfCore::Compact compact;
    EXPECT_EQ(messageOf<std::invalid_argument>([&] { (void)compact(in, out); }),
              "out: expected room for at least 1000 elements, got 999");
    EXPECT_THROW((void)compact(in, std::span(in).subspan(1)), std::invalid_argument);
    OutOfCore::Scan tight({.deviceBytes = 100});
    out.resize(1000);
    const std::string message = messageOf<std::invalid_argument>([&] { tight(in, out); });
    EXPECT_TRUE(message.starts_with("deviceBytes: expected at least ")) << message;
    EXPECT_TRUE(message.ends_with(", got 100")) << message;
    EXPECT_THROW(OutOfCore::Compact({.devices = {-1}}), std::invalid_argument);
    EXPECT_THROW(OutOfCore::Compact({.devices = {0, 1000}}), std::invalid_argument);
}

// An error that the caller has not looked at is neither reported nor cleared.
TEST_F(OutOfCoreSortTest, AnErrorOfTheCallerStays) {
    void* tooMuch = nullptr;
    ASSERT_EQ(cudaMalloc(&tooMuch, std::size_t{1} << 50), cudaErrorMemoryAllocation);
    const auto keys = hostArray(30011, RandomValue<int>{88});
    OutOfCore::Sort sort({.deviceBytes = 200'000});
    expectSorted<int>(sort, {}, keys);
    OutOfCore::Scan scan({.deviceBytes = 100'000});
    std::vector<int> sums(keys.size());
    EXPECT_NO_THROW(scan(keys, sums));
    EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
}

TEST_F(OutOfCoreTest, KeepsItsMemory) {
    std::vector<int> array(30011, 1);
    OutOfCore::Scan scan({.deviceBytes = 100'000});
    scan(array, array);
    std::size_t free = 0;
    std::size_t freeAfter = 0;
    std::size_t total = 0;
    Common::checkCUDAError(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    scan(array, array);
    Common::checkCUDAError(cudaMemGetInfo(&freeAfter, &total), "cudaMemGetInfo");
    EXPECT_EQ(free, freeAfter);
}

}  // namespace
}  // namespace StreamCompaction::Testing
