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

/// Limits of device memory under which arrays of a few thousand elements take many chunks, on one device and on two.
/// The simulator has one device, which then stands for both.
[[nodiscard]] std::vector<Options> tightOptions(std::size_t deviceBytes) {
    return {{.deviceBytes = deviceBytes}, {.devices = {0, 0}, .deviceBytes = deviceBytes}};
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
