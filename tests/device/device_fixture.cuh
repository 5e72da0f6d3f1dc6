#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <ranges>
#include <vector>

#include "device_test.h"
#include "stream_compaction/common.cuh"
#include "stream_compaction/cuda_stream.h"
#include "stream_compaction/device_buffer.h"
#include "stream_compaction/runtime/block_size.h"
#include "stream_compaction/runtime/chevrons.h"

#if !defined(STREAM_COMPACTION_SIMULATED)
#include "green_context.h"
#endif

/// Shared by the tests of the device layer: random values, guarded arrays, streams, sizes.
namespace StreamCompaction::Testing {

/// Element i of a sequence of well-mixed 64-bit values (SplitMix64, Steele et al. 2014).
__host__ __device__ inline std::uint64_t randomBits(std::uint64_t seed, std::uint64_t i) {
    std::uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/// Integers over their full range, or floating-point numbers that are small integers, so that sums are exact in any
/// order.
template <typename T>
struct Summand {
    std::uint64_t seed;
    __host__ __device__ T operator()(std::size_t i) const {
        const std::uint64_t bits = randomBits(seed, i);
        if constexpr (std::is_floating_point_v<T>) {
            return static_cast<T>(static_cast<int>(bits % 17) - 8);
        } else {
            return static_cast<T>(bits);
        }
    }
};

/// One quarter zeros, the rest like Summand.
template <typename T>
struct KeepThreeInFour {
    std::uint64_t seed;
    __host__ __device__ T operator()(std::size_t i) const {
        return randomBits(~seed, i) % 4 == 0 ? T{} : Summand<T>{seed}(i);
    }
};

/// Any bit pattern: all integers, and all floating-point numbers including both zeros and NaNs. NaNs are positive,
/// because libraries sort negative ones differently.
template <typename T>
struct AnyBits {
    std::uint64_t seed;
    __host__ __device__ T operator()(std::size_t i) const {
        const std::uint64_t bits = randomBits(seed, i);
        T value;
        memcpy(&value, &bits, sizeof(T));
        if constexpr (std::is_floating_point_v<T>) {
            return value == value ? value : std::fabs(value);
        }
        return value;
    }
};

/// The same for any type of up to 16 bytes.
template <typename T>
struct AnyBytes {
    std::uint64_t seed;
    __host__ __device__ T operator()(std::size_t i) const {
        const std::uint64_t words[2] = {randomBits(seed, i), randomBits(~seed, i)};
        T value;
        memcpy(&value, words, sizeof(T));
        return value;
    }
};

template <typename Value>
[[nodiscard]] auto hostArray(std::size_t n, Value value) {
    std::vector<decltype(value(0))> array(n);
    std::ranges::generate(array, [&, i = std::size_t{0}]() mutable { return value(i++); });
    return array;
}

template <typename T, typename Value>
__global__ void kernTabulate(std::size_t n, T* array, Value value) {
    const std::size_t i = Common::globalThreadIndex();
    if (i < n) {
        array[i] = value(i);
    }
}

template <typename Value>
[[nodiscard]] auto deviceArray(std::size_t n, Value value) {
    DeviceBuffer<decltype(value(0))> array(n);
    kernTabulate<<<Common::blocksFor(n, 256), 256>>>(n, array.data(), value);
    Common::checkLaunch("kernTabulate");
    return array;
}

/// Scratch of exactly `bytes` bytes, `offset` bytes after an aligned address. In the end nothing may have been written
/// past it.
class UsedScratch {
  public:
    UsedScratch() = default;
    UsedScratch(std::size_t bytes, int byte, std::size_t offset) : offset_(offset), memory_(offset + bytes + guard) {
        Common::checkCUDAError(cudaMemset(memory_.data(), byte, memory_.size()), "cudaMemset");
        const std::vector<std::uint8_t> zone(guard, guardByte);
        Common::checkCUDAError(cudaMemcpy(data() + bytes, zone.data(), guard, cudaMemcpyHostToDevice), "cudaMemcpy");
    }
    ~UsedScratch() {
        if (memory_.size() > 0) {
            std::vector<std::uint8_t> zone(guard);
            EXPECT_EQ(cudaMemcpy(zone.data(), data() + size(), guard, cudaMemcpyDeviceToHost), cudaSuccess);
            EXPECT_EQ(zone, std::vector<std::uint8_t>(guard, guardByte)) << "written past the scratch";
        }
    }
    UsedScratch(UsedScratch&& other) noexcept { *this = std::move(other); }
    UsedScratch& operator=(UsedScratch&& other) noexcept {
        std::swap(offset_, other.offset_);
        std::swap(memory_, other.memory_);
        return *this;
    }

    [[nodiscard]] std::byte* data() { return memory_.data() + offset_; }
    [[nodiscard]] std::size_t size() const { return memory_.size() - offset_ - guard; }
    [[nodiscard]] Scratch bytes() { return {data(), size()}; }

    /// What the first array in it begins with.
    template <typename T>
    [[nodiscard]] T first() const {
        T value{};
        Common::checkCUDAError(
            cudaMemcpy(&value, memory_.data() + alignedForScratch(offset_), sizeof(T), cudaMemcpyDeviceToHost),
            "cudaMemcpy");
        return value;
    }

  private:
    static constexpr std::uint8_t guardByte = 0xA5;
    static constexpr std::size_t guard = 64;

    std::size_t offset_ = 0;
    DeviceBuffer<std::byte> memory_;
};

/// Scratch that is not cleared, as an earlier call may leave it. It has no alignment.
[[nodiscard]] inline UsedScratch usedScratch(std::size_t bytes, int byte = 0x55, std::size_t offset = 1) {
    return {bytes, byte, offset};
}

/// Regular inputs, which are edge cases of scans, compactions and sorts. Their sums are exact in a float.
template <typename T>
[[nodiscard]] std::vector<std::vector<T>> patterns(std::size_t n) {
    std::vector<T> ascending(n);
    std::vector<T> alternating(n);
    std::vector<T> oneNonzero(n);
    for (std::size_t i = 0; i < n; ++i) {
        ascending[i] = static_cast<T>(i % 100);
        alternating[i] = static_cast<T>(i % 2);
    }
    std::ranges::sort(ascending);
    oneNonzero[n / 2] = 1;
    std::vector<T> descending(ascending.rbegin(), ascending.rend());
    return {std::vector<T>(n, T{0}), std::vector<T>(n, T{1}), ascending, descending, alternating, oneNonzero};
}

/// Device memory for up to `capacity` elements between two guard zones, all filled with poison. It detects a kernel
/// that writes outside its n elements or leaves one out.
template <typename T>
class GuardedArray {
  public:
    explicit GuardedArray(std::size_t capacity, std::size_t misalignment = 0)
        : before_(guard + misalignment), memory_(before_ + capacity + guard) {
        poison(capacity, nullptr);
    }

    [[nodiscard]] T* data() { return memory_.data() + before_; }

    /// Poisons the first n elements and the guards around them.
    void poison(std::size_t n, cudaStream_t stream) {
        Common::checkCUDAError(cudaMemsetAsync(memory_.data(), poisonByte, (before_ + n + guard) * sizeof(T), stream),
                               "cudaMemsetAsync");
    }

    void write(std::span<const T> elements) {
        Common::checkCUDAError(cudaMemcpy(data(), elements.data(), elements.size_bytes(), cudaMemcpyHostToDevice),
                               "cudaMemcpy");
    }

    /// Whether the guards around the first n elements are unchanged.
    [[nodiscard]] bool guardsIntact(std::size_t n) const {
        std::vector<T> zone(guard);
        memory_.copyTo(zone);
        const bool front = isPoison(zone);
        const auto copyBehind =
            cudaMemcpy(zone.data(), memory_.data() + before_ + n, guard * sizeof(T), cudaMemcpyDeviceToHost);
        Common::checkCUDAError(copyBehind, "cudaMemcpy");
        return front && isPoison(zone);
    }

    /// The first n elements. Also checks the memory around them.
    [[nodiscard]] std::vector<T> read(std::size_t n) const {
        std::vector<T> all(before_ + n + guard);
        memory_.copyTo(all);
        EXPECT_TRUE(isPoison({all.data(), before_})) << "written before the first element";
        EXPECT_TRUE(isPoison({all.data() + before_ + n, guard})) << "written past the last of " << n << " elements";
        return {all.begin() + before_, all.begin() + before_ + n};
    }

  private:
    static constexpr int poisonByte = 0xA5;
    static constexpr std::size_t guard = 64;

    [[nodiscard]] static bool isPoison(std::span<const T> elements) {
        return std::ranges::all_of(std::as_bytes(elements), [](std::byte b) { return b == std::byte{poisonByte}; });
    }

    std::size_t before_;
    DeviceBuffer<T> memory_;
};

/// Input of a test at any place that its type allows.
template <typename T>
[[nodiscard]] GuardedArray<T> placed(const std::vector<T>& elements, std::size_t misalignment) {
    GuardedArray<T> array(elements.size(), misalignment);
    array.write(elements);
    return array;
}

/// Captures the work of `enqueue(stream)` in a CUDA graph and replays it. It first waits for all earlier work, because
/// the stream does not wait for the default stream.
template <typename Enqueue>
void replay(int times, Enqueue enqueue) {
    const CudaStream stream;
    Common::checkCUDAError(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "begin capture");
    enqueue(static_cast<cudaStream_t>(stream));
    cudaGraph_t graph = nullptr;
    Common::checkCUDAError(cudaStreamEndCapture(stream, &graph), "end capture");
    cudaGraphExec_t executable = nullptr;
    Common::checkCUDAError(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
    Common::checkCUDAError(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    for (int i = 0; i < times; ++i) {
        Common::checkCUDAError(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
    }
    stream.synchronize();
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
}

/// Compares bits, so NaNs equal themselves and the two zeros differ.
template <typename T>
[[nodiscard]] testing::AssertionResult sameBits(const std::vector<T>& actual, const std::vector<T>& expected) {
    if (actual.size() != expected.size()) {
        return testing::AssertionFailure() << actual.size() << " elements, expected " << expected.size();
    }
    for (std::size_t i = 0; i < actual.size(); ++i) {
        if (std::memcmp(&actual[i], &expected[i], sizeof(T)) != 0) {
            auto failure = testing::AssertionFailure() << "first mismatch of " << actual.size() << " elements at " << i;
            if constexpr (std::is_arithmetic_v<T>) {
                failure << ": " << +actual[i] << ", expected " << +expected[i];
            }
            return failure;
        }
    }
    return testing::AssertionSuccess();
}

/// Whether the run should be short. Under a sanitizer every launch takes milliseconds.
[[nodiscard]] inline bool quick() { return isSimulated || std::getenv("STREAM_COMPACTION_QUICK_TESTS") != nullptr; }

/// Whether a test of huge arrays, which needs `bytes` bytes of device memory and some time, may run.
[[nodiscard]] inline bool hasRoomFor(std::size_t bytes) {
    std::size_t free = 0;
    std::size_t total = 0;
    Common::checkCUDAError(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return !quick() && free >= bytes + (std::size_t{1} << 30);
}

/// Counts in `wrong` the elements that differ from `expected(i)`.
template <typename T, typename Expected>
__global__ void kernCountWrong(std::size_t n, const T* actual, Expected expected, unsigned long long* wrong) {
    const std::size_t i = Common::globalThreadIndex();
    if (i < n && actual[i] != expected(i)) {
        atomicAdd(wrong, 1ULL);
    }
}

template <typename T, typename Expected>
[[nodiscard]] unsigned long long wrongElements(std::size_t n, const T* actual, Expected expected) {
    const unsigned long long none = 0;
    DeviceBuffer<unsigned long long> wrong{std::span(&none, 1)};
    kernCountWrong<<<Common::blocksFor(n, 256), 256>>>(n, actual, expected, wrong.data());
    Common::checkLaunch("kernCountWrong");
    unsigned long long result = 0;
    wrong.copyTo({&result, 1});
    return result;
}

/// Every size up to a little more than two small tiles; a sample of them if the run is quick.
[[nodiscard]] inline std::vector<std::size_t> smallSizes() {
    std::vector<std::size_t> sizes;
    for (std::size_t n = 0; n <= 4097; n += quick() ? 1 + n : 1) {
        sizes.push_back(n);
    }
    return sizes;
}

/// 2^k - 1, 2^k and 2^k + 1 from 2^13 to 2^26, and a few irregular sizes.
[[nodiscard]] inline std::vector<std::size_t> largeSizes() {
    std::vector<std::size_t> sizes{5000, 123457};
    if (quick()) {
        return sizes;
    }
    sizes.push_back(3333333);
    for (int k = 13; k <= 26; ++k) {
        const std::size_t power = std::size_t{1} << k;
        sizes.insert(sizes.end(), {power - 1, power, power + 1});
    }
    return sizes;
}

}  // namespace StreamCompaction::Testing
