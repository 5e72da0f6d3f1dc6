#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "device_fixture.cuh"
#include "oracles.h"

/// A common interface to operations of the device layer. One set of tests (operation_test.cu) is compiled once per
/// element type and run on all of them.
namespace StreamCompaction::Testing {

enum class Kind { Scan, Compact, Sort };

/// A scan, compaction or sort of elements of type T, and its abilities.
template <typename T>
struct OperationUnderTest {
    std::string name;
    Kind kind;
    std::function<std::size_t(std::size_t n)> scratchBytes;
    /// Only a compaction writes to `count`.
    std::function<void(const T* in, T* out, std::size_t* count, std::size_t n, Scratch, cudaStream_t)> enqueue;
    /// Sets the block size of later calls; empty if the library chooses it.
    std::function<void(int blockSize)> setBlockSize;
    bool inPlace = true;
    bool capturable = true;
};

using AnyOperation =
    std::variant<OperationUnderTest<int>, OperationUnderTest<unsigned>, OperationUnderTest<std::int64_t>,
                 OperationUnderTest<std::uint64_t>, OperationUnderTest<float>, OperationUnderTest<double>>;

/// Abilities that not every operation has.
struct Abilities {
    bool capturable = true;
};

template <typename T, typename Op>
[[nodiscard]] OperationUnderTest<T> underTest(const std::string& name, Kind kind, Abilities abilities) {
    const auto op = std::make_shared<Op>();
    OperationUnderTest<T> result{name, kind, {}, {}, {}, Op::mayRunInPlace, abilities.capturable};
    result.scratchBytes = [op](std::size_t n) {
        if constexpr (CompactOperation<Op>) {
            return op->scratchBytes(noArray<T>, noArray<T>, noArray<std::size_t>, n);
        } else {
            return op->scratchBytes(noArray<T>, noArray<T>, n);
        }
    };
    result.enqueue = [op](const T* in, T* out, [[maybe_unused]] std::size_t* count, std::size_t n, Scratch scratch,
                          cudaStream_t stream) {
        if constexpr (CompactOperation<Op>) {
            (*op)(in, out, count, n, scratch, stream);
        } else {
            (*op)(in, out, n, scratch, stream);
        }
    };
    if constexpr (requires { op->blockSize; }) {
        result.setBlockSize = [op](int blockSize) { op->blockSize = blockSize; };
    } else if constexpr (requires { op->scan.blockSize; }) {
        result.setBlockSize = [op](int blockSize) { op->scan.blockSize = blockSize; };
    }
    return result;
}

/// `Op` with each of the element types that every variant supports.
template <typename Op>
[[nodiscard]] std::vector<AnyOperation> withEveryType(const std::string& name, Kind kind, Abilities abilities = {}) {
    return {underTest<int, Op>(name + "_int", kind, abilities),
            underTest<unsigned, Op>(name + "_unsigned", kind, abilities),
            underTest<std::int64_t, Op>(name + "_int64", kind, abilities),
            underTest<std::uint64_t, Op>(name + "_uint64", kind, abilities),
            underTest<float, Op>(name + "_float", kind, abilities),
            underTest<double, Op>(name + "_double", kind, abilities)};
}

/// For operations whose code is the same for all element types. The simulator takes long for them, and gets two types.
template <typename Op>
[[nodiscard]] std::vector<AnyOperation> withFewTypes(const std::string& name, Kind kind, Abilities abilities = {}) {
    if constexpr (isSimulated) {
        return {underTest<int, Op>(name + "_int", kind, abilities),
                underTest<double, Op>(name + "_double", kind, abilities)};
    } else {
        return withEveryType<Op>(name, kind, abilities);
    }
}

/// The operations of each library or method.
[[nodiscard]] std::vector<AnyOperation> naiveOperations();
[[nodiscard]] std::vector<AnyOperation> efficientOperations();
[[nodiscard]] std::vector<AnyOperation> sharedMemOperations();
[[nodiscard]] std::vector<AnyOperation> fastOperations();
[[nodiscard]] std::vector<AnyOperation> thrustOperations();
[[nodiscard]] std::vector<AnyOperation> cubOperations();

template <typename... Lists>
[[nodiscard]] std::vector<AnyOperation> joined(const Lists&... lists) {
    std::vector<AnyOperation> all;
    (all.insert(all.end(), lists.begin(), lists.end()), ...);
    return all;
}

template <typename T, typename In>
[[nodiscard]] std::vector<T> expectedScan(std::span<const In> in) {
    std::vector<T> sums(in.size());
    std::transform_exclusive_scan(
        in.begin(), in.end(), sums.begin(), T{}, [](T a, T b) { return Common::wrappingAdd(a, b); },
        [](In x) { return static_cast<T>(x); });
    return sums;
}

/// Accumulates input bytes in 32 and 64 bits.
template <typename Op>
void expectBytesAccumulateWider(const Op& op) {
    for (const std::size_t n : {1, 300, 70000}) {
        const auto in = hostArray(n, Summand<std::uint8_t>{12});
        const DeviceBuffer<std::uint8_t> deviceIn{std::span<const std::uint8_t>(in)};
        const auto expectSums = [&]<typename Sum>(Sum) {
            GuardedArray<Sum> out(n);
            DeviceBuffer<std::byte> scratch(op.scratchBytes(deviceIn.data(), out.data(), n));
            op(deviceIn.data(), out.data(), n, scratch.bytes(), nullptr);
            ASSERT_TRUE(sameBits(out.read(n), expectedScan<Sum>(std::span(in))));
        };
        expectSums(std::uint32_t{});
        expectSums(std::uint64_t{});
    }
}

struct UnusedScratch {
    __device__ std::byte operator()(std::size_t) const { return std::byte{0x55}; }
};

/// A compaction or sort by a scan must refuse what the scan refuses, before anything is enqueued.
template <typename Op>
void expectScanRefusedBeforehand() {
    const std::size_t n = 5000;
    const DeviceBuffer<int> in = deviceArray(n, Summand<int>{13});
    DeviceBuffer<int> out(n);
    DeviceBuffer<std::size_t> count(1);
    const auto scratchFor = [&](const Op& op) {
        if constexpr (CompactOperation<Op>) {
            return op.scratchBytes(in.data(), out.data(), count.data(), n);
        } else {
            return op.scratchBytes(in.data(), out.data(), n);
        }
    };
    auto scratch = usedScratch(scratchFor(Op{}));
    const Op op{.scan = {.blockSize = 33}};
    const auto call = [&] {
        if constexpr (CompactOperation<Op>) {
            op(in.data(), out.data(), count.data(), n, scratch.bytes(), nullptr);
        } else {
            op(in.data(), out.data(), n, scratch.bytes(), nullptr);
        }
    };
    EXPECT_THROW(call(), std::invalid_argument);
    EXPECT_EQ(wrongElements(scratch.size(), scratch.data(), UnusedScratch{}), 0U);
}

}  // namespace StreamCompaction::Testing
