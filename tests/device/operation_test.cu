// The tests that every scan, compaction and sort of the device layer must pass, for each element type. The references
// are the standard library on the host for small arrays and Thrust on the device for large ones.
#include <array>
#include <compare>
#include <memory>

#include "operation_under_test.cuh"

namespace StreamCompaction::Testing {
namespace {

/// Elements that suit the operation: exact sums for a scan, a quarter zeros for a compaction, any bits for a sort.
template <typename T>
[[nodiscard]] std::vector<T> randomInput(Kind kind, std::size_t n, std::uint64_t seed) {
    switch (kind) {
        case Kind::Scan:
            return hostArray(n, Summand<T>{seed});
        case Kind::Compact:
            return hostArray(n, KeepThreeInFour<T>{seed});
        case Kind::Sort:
            return hostArray(n, AnyBits<T>{seed});
    }
    return {};
}

/// The expected result by the standard library, with floating-point keys in IEEE 754's total order.
template <typename T>
[[nodiscard]] std::vector<T> expectedResult(Kind kind, std::span<const T> in) {
    std::vector<T> result;
    switch (kind) {
        case Kind::Scan:
            return expectedScan<T>(in);
        case Kind::Compact:
            std::ranges::copy_if(in, std::back_inserter(result), [](T x) { return x != T{}; });
            return result;
        case Kind::Sort:
            result.assign(in.begin(), in.end());
            std::ranges::stable_sort(result, [](T a, T b) { return std::strong_order(a, b) < 0; });
            return result;
    }
    return result;
}

/// The same by Thrust. Returns the number of elements.
template <typename T>
[[nodiscard]] std::size_t runOracle(Kind kind, const T* in, T* out, std::size_t n) {
    switch (kind) {
        case Kind::Scan:
            Oracle::scan(in, out, n);
            return n;
        case Kind::Compact:
            return Oracle::compact(in, out, n);
        case Kind::Sort:
            Oracle::sort(in, out, n);
            return n;
    }
    return 0;
}

/// The memory of one call at a time: scratch that holds garbage, and room for the count.
struct Workspace {
    UsedScratch scratch;
    DeviceBuffer<std::size_t> count{1};

    explicit Workspace(std::size_t scratchBytes) : scratch(usedScratch(scratchBytes, 0x5C)) {}
};

/// Enqueues a call with scratch of exactly the requested size.
template <typename T>
void enqueue(const OperationUnderTest<T>& op, const T* in, T* out, std::size_t n, Workspace& workspace,
             cudaStream_t stream) {
    op.enqueue(in, out, workspace.count.data(), n, workspace.scratch.bytes().first(op.scratchBytes(n)), stream);
}

template <typename T>
[[nodiscard]] std::size_t resultSize(const OperationUnderTest<T>& op, std::size_t n, const Workspace& workspace) {
    std::size_t count = n;
    if (op.kind == Kind::Compact) {
        workspace.count.copyTo({&count, 1});
    }
    return count;
}

/// The result, after the poison around it has been checked. A compaction must not write behind its kept elements.
template <typename T>
[[nodiscard]] std::vector<T> resultOf(const OperationUnderTest<T>& op, std::size_t n, const GuardedArray<T>& out,
                                      const Workspace& workspace) {
    const std::size_t size = resultSize(op, n, workspace);
    EXPECT_LE(size, n);
    return out.read(std::min(size, n));
}

template <typename T>
void expectCorrect(const OperationUnderTest<T>& op, std::span<const T> in, const T* deviceIn, GuardedArray<T>& out,
                   Workspace& workspace) {
    out.poison(in.size(), nullptr);
    enqueue(op, deviceIn, out.data(), in.size(), workspace, nullptr);
    ASSERT_TRUE(sameBits(resultOf(op, in.size(), out, workspace), expectedResult(op.kind, in))) << "n = " << in.size();
}

template <typename T>
void expectCorrect(const OperationUnderTest<T>& op, const std::vector<T>& in) {
    const DeviceBuffer<T> deviceIn{std::span<const T>(in)};
    GuardedArray<T> out(in.size());
    Workspace workspace(op.scratchBytes(in.size()));
    expectCorrect<T>(op, in, deviceIn.data(), out, workspace);
}

/// `n`, or a size that a simulated card can handle: a sort by scans takes hundreds of passes.
template <typename T>
[[nodiscard]] std::size_t sizeFor(const OperationUnderTest<T>& op, std::size_t n) {
    return sized(n, op.kind == Kind::Sort ? n / 16 + 1 : n / 4 + 1);
}

class OperationTest : public DeviceTest, public testing::WithParamInterface<AnyOperation> {
  protected:
    /// Calls `test` with the operation of the parameter's element type.
    template <typename Test>
    static void withOperation(Test test) {
        std::visit(test, GetParam());
    }
};

TEST_P(OperationTest, EverySmallSize) {
    withOperation([]<typename T>(const OperationUnderTest<T>& op) {
        const std::vector<std::size_t> sizes = smallSizes();
        const std::size_t most = sizes.back();
        const std::vector<T> in = randomInput<T>(op.kind, 2 * most, 1);
        const DeviceBuffer<T> deviceIn{std::span<const T>(in)};
        GuardedArray<T> out(most);
        Workspace workspace(op.scratchBytes(most));
        for (const std::size_t n : sizes) {
            const std::size_t first = randomBits(2, n) % most;  // other values and another alignment for each size
            expectCorrect(op, std::span(in).subspan(first, n), deviceIn.data() + first, out, workspace);
            if (HasFatalFailure()) {
                return;
            }
        }
    });
}

TEST_P(OperationTest, LargeSizes) {
    withOperation([]<typename T>(const OperationUnderTest<T>& op) {
        const std::vector<std::size_t> sizes = largeSizes();
        const std::size_t most = std::ranges::max(sizes);
        // Thrust treats -0 as +0. So floating-point keys are small integers here, without -0.
        const DeviceBuffer<T> in =
            op.kind == Kind::Compact ? deviceArray(most, KeepThreeInFour<T>{3}) : deviceArray(most, Summand<T>{3});
        GuardedArray<T> out(most);
        DeviceBuffer<T> expected(most);
        Workspace workspace(op.scratchBytes(most));
        for (const std::size_t n : sizes) {
            out.poison(n, nullptr);
            enqueue(op, in.data(), out.data(), n, workspace, nullptr);
            const std::size_t size = resultSize(op, n, workspace);
            ASSERT_EQ(size, runOracle(op.kind, in.data(), expected.data(), n)) << "n = " << n;
            ASSERT_TRUE(Oracle::equal(out.data(), expected.data(), size)) << "n = " << n;
            ASSERT_TRUE(out.guardsIntact(size)) << "n = " << n;
        }
    });
}

TEST_P(OperationTest, Patterns) {
    withOperation([]<typename T>(const OperationUnderTest<T>& op) {
        for (const std::size_t n : {std::size_t{33}, std::size_t{1000}, std::size_t{2048}, sizeFor(op, 40000)}) {
            for (const std::vector<T>& in : patterns<T>(n)) {
                expectCorrect(op, in);
            }
        }
    });
}

TEST_P(OperationTest, UnalignedPointers) {
    withOperation([]<typename T>(const OperationUnderTest<T>& op) {
        const std::size_t n = sizeFor(op, 10007);
        const std::vector<T> in = randomInput<T>(op.kind, n + 4, 4);
        const DeviceBuffer<T> deviceIn{std::span<const T>(in)};
        Workspace workspace(op.scratchBytes(n));
        for (std::size_t inOffset = 0; inOffset < 4; ++inOffset) {
            for (std::size_t outOffset = 0; outOffset < 4; ++outOffset) {
                GuardedArray<T> out(n, outOffset);
                expectCorrect(op, std::span(in).subspan(inOffset, n), deviceIn.data() + inOffset, out, workspace);
            }
        }
    });
}

TEST_P(OperationTest, InPlace) {
    withOperation([]<typename T>(const OperationUnderTest<T>& op) {
        for (const std::size_t n : {std::size_t{1}, std::size_t{2}, std::size_t{1023}, sizeFor(op, 50001)}) {
            const std::vector<T> in = randomInput<T>(op.kind, n, 5);
            GuardedArray<T> array(n);
            array.write(in);
            Workspace workspace(op.scratchBytes(n));
            if (op.inPlace) {
                enqueue(op, array.data(), array.data(), n, workspace, nullptr);
                ASSERT_TRUE(sameBits(array.read(n), expectedResult<T>(op.kind, in))) << "n = " << n;
            } else {
                EXPECT_THROW(enqueue(op, array.data(), array.data(), n, workspace, nullptr), std::invalid_argument);
                ASSERT_TRUE(sameBits(array.read(n), in)) << "touched in spite of the refusal";
            }
        }
    });
}

TEST_P(OperationTest, LeavesTheInputIntact) {
    withOperation([]<typename T>(const OperationUnderTest<T>& op) {
        const std::vector<T> in = randomInput<T>(op.kind, sizeFor(op, 30011), 6);
        const DeviceBuffer<T> deviceIn{std::span<const T>(in)};
        GuardedArray<T> out(in.size());
        Workspace workspace(op.scratchBytes(in.size()));
        expectCorrect<T>(op, in, deviceIn.data(), out, workspace);
        std::vector<T> after(in.size());
        deviceIn.copyTo(after);
        EXPECT_TRUE(sameBits(after, in));
    });
}

TEST_P(OperationTest, TwoStreamsAtOnce) {
    withOperation([]<typename T>(const OperationUnderTest<T>& op) {
        const std::size_t n = sizeFor(op, 200003);
        struct Lane {
            std::vector<T> in;
            DeviceBuffer<T> deviceIn;
            GuardedArray<T> out;
            Workspace workspace;
            CudaStream stream;

            Lane(std::vector<T> input, std::size_t scratchBytes)
                : in(std::move(input)), deviceIn(std::span<const T>(in)), out(in.size()), workspace(scratchBytes) {}
        };
        std::array<std::unique_ptr<Lane>, 2> lanes;
        for (std::uint64_t seed = 7; auto& lane : lanes) {
            lane = std::make_unique<Lane>(randomInput<T>(op.kind, n, seed++), op.scratchBytes(n));
        }
        Common::checkCUDAError(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        for (int round = 0; round < (quick() ? 2 : 3); ++round) {
            for (const auto& lane : lanes) {
                enqueue<T>(op, lane->deviceIn.data(), lane->out.data(), n, lane->workspace, lane->stream);
            }
        }
        for (const auto& lane : lanes) {
            lane->stream.synchronize();
            ASSERT_TRUE(sameBits(resultOf(op, n, lane->out, lane->workspace), expectedResult<T>(op.kind, lane->in)));
        }
    });
}

TEST_P(OperationTest, GraphReplay) {
    withOperation([]<typename T>(const OperationUnderTest<T>& op) {
        if (!op.capturable) {
            GTEST_SKIP() << "allocates inside its calls, which no capture allows";
        }
        const std::size_t n = sizeFor(op, 70001);
        const std::vector<T> in = randomInput<T>(op.kind, n, 9);
        const DeviceBuffer<T> deviceIn{std::span<const T>(in)};
        GuardedArray<T> out(n);
        Workspace workspace(op.scratchBytes(n));
        replay(3, [&](cudaStream_t stream) {
            out.poison(n, stream);
            enqueue(op, deviceIn.data(), out.data(), n, workspace, stream);
        });
        ASSERT_TRUE(sameBits(resultOf(op, n, out, workspace), expectedResult<T>(op.kind, in)));
    });
}

TEST_P(OperationTest, EveryBlockSize) {
    withOperation([]<typename T>(const OperationUnderTest<T>& op) {
        if (!op.setBlockSize) {
            GTEST_SKIP() << "the block size is the library's";
        }
        for (const int blockSize : powerOfTwoBlockSizes) {
            op.setBlockSize(blockSize);
            for (const std::size_t n : {std::size_t{1}, std::size_t{31}, std::size_t{1025}, sizeFor(op, 100000)}) {
                expectCorrect(op, randomInput<T>(op.kind, n, 10));
            }
        }
        const std::vector<T> in(5);
        for (const int blockSize : {-32, 0, 1, 33, 2048}) {
            op.setBlockSize(blockSize);
            EXPECT_THROW(expectCorrect(op, in), std::invalid_argument);
        }
        op.setBlockSize(256);
    });
}

TEST_P(OperationTest, RefusesBadArguments) {
    withOperation([]<typename T>(const OperationUnderTest<T>& op) {
        const std::size_t n = 5000;
        DeviceBuffer<T> in(2 * n);
        GuardedArray<T> out(n);
        Workspace workspace(op.scratchBytes(n));
        const auto expectRefused = [&](const T* input, T* output, Scratch scratch) {
            EXPECT_THROW(op.enqueue(input, output, workspace.count.data(), n, scratch, nullptr), std::invalid_argument);
        };
        const Scratch scratch = workspace.scratch.bytes();
        expectRefused(nullptr, out.data(), scratch);
        expectRefused(in.data(), nullptr, scratch);
        expectRefused(in.data(), in.data() + 1, scratch);
        expectRefused(in.data() + n - 1, in.data(), scratch);
        if (!scratch.empty()) {
            expectRefused(in.data(), out.data(), scratch.first(scratch.size() - 1));
        }
        EXPECT_TRUE(out.guardsIntact(0)) << "written in spite of the refusal";
        EXPECT_NO_THROW(enqueue<T>(op, nullptr, nullptr, 0, workspace, nullptr));
        EXPECT_EQ(resultSize(op, 0, workspace), 0U);
    });
}

INSTANTIATE_TEST_SUITE_P(Device, OperationTest,
                         testing::ValuesIn(joined(naiveOperations(), efficientOperations(), sharedMemOperations(),
                                                  fastOperations(), thrustOperations()
#if !defined(STREAM_COMPACTION_SIMULATED)
                                                                        ,
                                                  cubOperations()
#endif
                                                      )),
                         [](const auto& info) {
                             return std::visit([](const auto& op) { return op.name; }, info.param);
                         });

}  // namespace
}  // namespace StreamCompaction::Testing
