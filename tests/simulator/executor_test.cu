#include <cooperative_groups.h>

#include <numeric>
#include <stdexcept>

#include "seeds.cuh"
#include "stream_compaction/primitives/target.cuh"
#include "stream_compaction/runtime/chevrons.h"
#include "stream_compaction/runtime/launch.cuh"

// Tests of the simulated card: what it guarantees, what it leaves open, and what it refuses.

namespace StreamCompaction::Testing {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool watchesRaces = true;
#else
constexpr bool watchesRaces = false;
#endif

#if defined(STREAM_COMPACTION_SIMULATED_ADDRESSES)
constexpr bool watchesAddresses = true;
#else
constexpr bool watchesAddresses = false;
#endif

__device__ void publish(unsigned* flag) { __nv_atomic_store_n(flag, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE); }
__device__ void await(unsigned* flag) {
    while (__nv_atomic_load_n(flag, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE) == 0) {
    }
}

class ExecutorTest : public SeededTest {
  protected:
    ExecutorTest() {
        // A forked process lacks the host threads on which blocks run.
        GTEST_FLAG_SET(death_test_style, "threadsafe");
    }

    /// The number of seeds, out of 100, with which enqueue(result) changes `*result`, which is 0 at first.
    template <typename Enqueue>
    static int seedsThatFind(Enqueue enqueue) {
        int found = 0;
        for (int seed = 1; seed <= 100; ++seed) {
            Simulator::configure("seed=" + std::to_string(seed));
            auto result = zeros<unsigned>(1);
            enqueue(result.data());
            cudaDeviceSynchronize();
            found += firstOf(result) != 0 ? 1 : 0;
        }
        return found;
    }

    template <typename T>
    [[nodiscard]] static DeviceBuffer<T> zeros(std::size_t n) {
        return DeviceBuffer<T>{std::span<const T>(std::vector<T>(n))};
    }
};

// Orders.

constexpr unsigned schedule = 3;  // tickets per thread

__global__ void kernTakeTickets(unsigned* next, unsigned* order) {
    for (unsigned i = 0; i < schedule; ++i) {
        order[atomicAdd(next, 1)] = blockIdx.x * blockDim.x + threadIdx.x;
        __syncthreads();
    }
}

/// The order that enqueue(next, order) writes to `order`. `*next` is 0 at first.
template <typename Enqueue>
[[nodiscard]] std::vector<unsigned> orderUnder(const std::string& settings, std::size_t n, const Enqueue& enqueue) {
    Simulator::configure(settings);
    const unsigned zero = 0;
    DeviceBuffer<unsigned> next{std::span(&zero, 1)};
    DeviceBuffer<unsigned> deviceOrder(n);
    enqueue(next.data(), deviceOrder.data());
    std::vector<unsigned> order(n);
    deviceOrder.copyTo(order);
    return order;
}

TEST_F(ExecutorTest, ASeedRepeatsItsOrderAndOthersHaveOthers) {
    const auto orderOf = [](const std::string& settings) {
        constexpr unsigned blocks = 6;
        constexpr unsigned threads = 64;
        return orderUnder(settings, blocks * threads * schedule,
                          [](unsigned* next, unsigned* order) { kernTakeTickets<<<blocks, threads>>>(next, order); });
    };
    std::vector<std::vector<unsigned>> orders;
    for (int seed = 0; seed < 20; ++seed) {
        const std::string settings = "order=any,seed=" + std::to_string(seed);
        const auto order = orderOf(settings);
        EXPECT_EQ(orderOf(settings), order) << settings;
        for (const auto& other : orders) {
            EXPECT_NE(order, other) << settings;
        }
        orders.push_back(order);
    }
}

__global__ void kernNoteBegin(unsigned* next, unsigned* order) {
    if (threadIdx.x == 0) {
        order[atomicAdd(next, 1)] = blockIdx.x;
    }
    __syncthreads();
}

TEST_F(ExecutorTest, BlocksBeginInTheOrderOfTheCard) {
    // One block is resident at a time, so the order in which blocks begin is visible.
    constexpr unsigned blocks = 40;
    const auto orderOf = [](const std::string& settings) {
        return orderUnder("multiprocessors=1," + settings, blocks, [](unsigned* next, unsigned* order) {
            launch<kernNoteBegin>({blocks, 32, 200 << 10}, nullptr, next, order);
        });
    };
    std::vector<unsigned> byIndex(blocks);
    std::iota(byIndex.begin(), byIndex.end(), 0U);
    const std::vector<unsigned> reversed(byIndex.rbegin(), byIndex.rend());
    EXPECT_EQ(orderOf("order=index,seed=1"), byIndex);
    EXPECT_NE(orderOf("order=any,seed=1"), byIndex);
    EXPECT_EQ(orderOf("order=any,seed=0"), byIndex);
    EXPECT_EQ(orderOf("order=reverse,seed=0"), reversed);
    EXPECT_EQ(orderOf("order=reverse,seed=1"), reversed);
}

// Memory.

constexpr unsigned blockThreads = 64;

/// Threads pass numbers to one another, different ones in each run and block.
template <bool hasBarrier>
__global__ void kernReverseInBlock(unsigned run, unsigned* wrong) {
    __shared__ unsigned shared[blockThreads];
    const unsigned first = (run * gridDim.x + blockIdx.x) * blockThreads;
    shared[threadIdx.x] = first + threadIdx.x;
    if (hasBarrier) {
        __syncthreads();
    }
    if (shared[blockThreads - 1 - threadIdx.x] != first + blockThreads - 1 - threadIdx.x) {
        atomicAdd(wrong, 1);
    }
}

/// Passes a number from the first block to the second.
template <bool hasFence>
__global__ void kernPassOn(unsigned* flag, unsigned* number, unsigned* wrong) {
    if (blockIdx.x == 0) {
        *number = 1;
        if (hasFence) {
            __threadfence();
        }
        publish(flag);
    } else {
        await(flag);
        if (hasFence) {
            __threadfence();
        }
        *wrong = *number == 1 ? 0 : 1;
    }
}

/// A number stored twice, in one word or in two.
struct OneWord {
    std::uint64_t word;
    static __device__ OneWord of(unsigned i) { return {std::uint64_t{i} << 32 | i}; }
    [[nodiscard]] __device__ bool isTorn() const { return word >> 32 != (word & 0xFFFFFFFF); }
};
struct alignas(16) TwoWords {
    std::uint64_t first;
    std::uint64_t second;
    static __device__ TwoWords of(unsigned i) { return {i, i}; }
    [[nodiscard]] __device__ bool isTorn() const { return first != second; }
};

/// One block stores while the other reads. Notes whether the reader sees parts of different stores.
template <typename T>
__global__ void kernReadWhileWritten(T* shared, unsigned* torn) {
    for (unsigned i = 1; i <= 20; ++i) {
        if (blockIdx.x == 0) {
            *shared = T::of(i);
        } else if (const T now = *shared; now.isTorn()) {
            *torn = 1;
        }
        __syncthreads();
    }
}

/// Begins early and copies what the previous kernel writes.
template <bool waits>
__global__ void kernCopyAfter(const unsigned* from, unsigned* wrong) {
    if (waits) {
        cudaGridDependencySynchronize();
    }
    if (from[threadIdx.x] != 1) {
        *wrong = 1;
    }
}
__global__ void kernWriteOnes(unsigned* to) {
    cudaTriggerProgrammaticLaunchCompletion();
    to[threadIdx.x] = 1;
}

[[nodiscard]] cudaLaunchConfig_t configOf(unsigned blocks, unsigned threads) {
    cudaLaunchConfig_t config{};
    config.gridDim = blocks;
    config.blockDim = threads;
    return config;
}
[[nodiscard]] cudaLaunchAttribute beginEarly() {
    cudaLaunchAttribute early{};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    return early;
}

// These kernels have races on purpose. The race detector would end the program.
class WeakMemoryTest : public ExecutorTest {
  protected:
    void SetUp() override {
        if (watchesRaces) {
            GTEST_SKIP() << "these kernels have races";
        }
        if (watchesAddresses) {
            GTEST_SKIP() << "writes are not watched, and so not seen late";
        }
    }
    template <bool hasBarrier>
    static int seedsThatReadBeforeOthersWrite() {
        return seedsThatFind(
            [run = 0U](unsigned* wrong) mutable { kernReverseInBlock<hasBarrier><<<2, blockThreads>>>(++run, wrong); });
    }
    template <bool hasFence>
    static int seedsThatMissTheNumber() {
        return seedsThatFind([](unsigned* wrong) {
            auto flag = zeros<unsigned>(1);
            auto number = zeros<unsigned>(1);
            kernPassOn<hasFence><<<2, 1>>>(flag.data(), number.data(), wrong);
            cudaDeviceSynchronize();
        });
    }
    template <typename T>
    static int seedsThatTear() {
        return seedsThatFind([](unsigned* torn) {
            auto shared = zeros<T>(1);
            kernReadWhileWritten<T><<<2, 1>>>(shared.data(), torn);
            cudaDeviceSynchronize();
        });
    }
    template <bool waits>
    static int seedsThatReadTooEarly() {
        return seedsThatFind([](unsigned* wrong) {
            auto ones = zeros<unsigned>(32);
            cudaLaunchAttribute early = beginEarly();
            cudaLaunchConfig_t config = configOf(1, 32);
            cudaLaunchKernelEx(&config, kernWriteOnes, ones.data());
            config.attrs = &early;
            config.numAttrs = 1;
            cudaLaunchKernelEx(&config, kernCopyAfter<waits>, static_cast<const unsigned*>(ones.data()), wrong);
            cudaDeviceSynchronize();
        });
    }
};

TEST_F(WeakMemoryTest, AMissingBarrierIsFound) {
    EXPECT_GT(seedsThatReadBeforeOthersWrite<false>(), 50);
    EXPECT_EQ(seedsThatReadBeforeOthersWrite<true>(), 0);
}

TEST_F(WeakMemoryTest, WritesAreSeenLateAndOutOfOrderUnlessFenced) {
    EXPECT_GT(seedsThatMissTheNumber<false>(), 10);
    EXPECT_EQ(seedsThatMissTheNumber<true>(), 0);
}

TEST_F(WeakMemoryTest, EightBytesAreSeenAsAWholeAndSixteenAreNot) {
    EXPECT_EQ(seedsThatTear<OneWord>(), 0);
    EXPECT_GT(seedsThatTear<TwoWords>(), 10);
}

TEST_F(WeakMemoryTest, AMissingWaitForTheEarlierKernelIsFound) {
    EXPECT_GT(seedsThatReadTooEarly<false>(), 10);
    EXPECT_EQ(seedsThatReadTooEarly<true>(), 0);
}

// Addresses.

enum class Memory { Global, StaticShared, DynamicShared };

/// Reads element `at` of an array of 32 elements in the given kind of memory.
template <Memory memory>
__global__ void kernReadAt(int at, const unsigned* global, unsigned* out) {
    __shared__ unsigned before[32];
    __shared__ unsigned array[32];
    __shared__ unsigned behind[32];
    before[threadIdx.x] = array[threadIdx.x] = behind[threadIdx.x] = threadIdx.x;
    __syncthreads();
    const unsigned* const from = memory == Memory::Global         ? global
                                 : memory == Memory::StaticShared ? static_cast<const unsigned*>(array)
                                                                  : &dynamicShared<unsigned>();
    out[threadIdx.x] = from[at] + before[31 - threadIdx.x] + behind[31 - threadIdx.x];
}

class AddressTest : public ExecutorTest {
  protected:
    void SetUp() override {
        if (!watchesAddresses) {
            GTEST_SKIP() << "nobody watches addresses";
        }
    }
    template <Memory memory>
    static void readAt(int at) {
        const DeviceBuffer<unsigned> global(32);
        DeviceBuffer<unsigned> out(32);
        constexpr std::size_t sharedBytes = 32 * sizeof(unsigned);
        kernReadAt<memory><<<1, 32, sharedBytes>>>(at, global.data(), out.data());
        cudaDeviceSynchronize();
    }
    template <Memory memory>
    static void expectGuarded() {
        readAt<memory>(0);
        readAt<memory>(31);
        EXPECT_DEATH(readAt<memory>(32), "AddressSanitizer|runtime error");
        EXPECT_DEATH(readAt<memory>(-1), "AddressSanitizer|runtime error");
    }
};

TEST_F(AddressTest, AllMemoryIsGuarded) {
    expectGuarded<Memory::Global>();
    expectGuarded<Memory::StaticShared>();
    expectGuarded<Memory::DynamicShared>();
}

// Races.

enum class Between { Nothing, Ballot, Shuffle, SyncWarp, SyncThreads };

template <Between between>
__global__ void kernReverseInWarp(unsigned* out) {
    __shared__ unsigned shared[32];
    shared[threadIdx.x] = threadIdx.x;
    unsigned lane = 31 - threadIdx.x;
    if constexpr (between == Between::Ballot) {
        lane += __ballot_sync(~0U, false);
    } else if constexpr (between == Between::Shuffle) {
        lane = __shfl_sync(~0U, lane, static_cast<int>(threadIdx.x));
    } else if constexpr (between == Between::SyncWarp) {
        __syncwarp();
    } else if constexpr (between == Between::SyncThreads) {
        __syncthreads();
    }
    out[threadIdx.x] = shared[lane];
}

class RaceTest : public ExecutorTest {
  protected:
    void SetUp() override {
        if (!watchesRaces) {
            GTEST_SKIP() << "nobody watches for races";
        }
    }
    template <Between between>
    static void reverse() {
        DeviceBuffer<unsigned> out(32);
        kernReverseInWarp<between><<<1, 32>>>(out.data());
        cudaDeviceSynchronize();
    }
};

TEST_F(RaceTest, OnlyBarriersOrderMemory) {
    EXPECT_DEATH(reverse<Between::Nothing>(), "data race");
    EXPECT_DEATH(reverse<Between::Ballot>(), "data race");
    EXPECT_DEATH(reverse<Between::Shuffle>(), "data race");
    reverse<Between::SyncWarp>();
    reverse<Between::SyncThreads>();
}

template <bool hasFence>
void passOn() {
    DeviceBuffer<unsigned> flag{std::span<const unsigned>(std::vector<unsigned>(3))};
    kernPassOn<hasFence><<<2, 1>>>(flag.data(), flag.data() + 1, flag.data() + 2);
    cudaDeviceSynchronize();
}

TEST_F(RaceTest, AFenceOrdersMemory) {
    EXPECT_DEATH(passOn<false>(), "data race");
    passOn<true>();
}

// Waits that never end.

using ForEverTest = ExecutorTest;

__global__ void kernShuffleByHalfOfAWarp(unsigned* out) {
    if (threadIdx.x < 16) {
        *out = __shfl_sync(~0U, threadIdx.x, 0);
    } else {
        __syncthreads();
    }
}
__global__ void kernShuffleByALaneThatIsNotNamed(unsigned* out) { *out = __shfl_sync(1, threadIdx.x, 0); }
__global__ void kernMeetDifferently(unsigned* out) {
    if (threadIdx.x % 2 == 0) {
        *out = __shfl_sync(~0U, threadIdx.x, 0);
    } else {
        *out = __ballot_sync(~0U, true);
    }
}
__global__ void kernSyncGridWithoutTheLast(unsigned*) {
    if (blockIdx.x + 1 < gridDim.x) {
        cooperative_groups::this_grid().sync();
    }
}
__global__ void kernAwait(unsigned* flag) { await(flag); }

void runFor(void (*kernel)(unsigned*), unsigned blocks, bool together = false) {
    auto word = DeviceBuffer<unsigned>{std::span<const unsigned>(std::vector<unsigned>(1))};
    cudaLaunchAttribute cooperative{};
    cooperative.id = cudaLaunchAttributeCooperative;
    cudaLaunchConfig_t config = configOf(blocks, 32);
    config.attrs = &cooperative;
    config.numAttrs = together ? 1 : 0;
    cudaLaunchKernelEx(&config, kernel, word.data());
    cudaDeviceSynchronize();
}

TEST_F(ForEverTest, LanesThatDoNotMeet) {
    EXPECT_DEATH(runFor(kernShuffleByHalfOfAWarp, 1),
                 "waits for ever(.|\n)*16 wait at a barrier of the block(.|\n)*__shfl_sync of lanes ffffffff, to which "
                 "only 0000ffff came");
    EXPECT_DEATH(runFor(kernShuffleByALaneThatIsNotNamed, 1), "its mask does not name");
    EXPECT_DEATH(runFor(kernMeetDifferently, 1), "meets");
}

TEST_F(ForEverTest, ABarrierThatNotAllBlocksComeTo) {
    EXPECT_DEATH(runFor(kernSyncGridWithoutTheLast, 3, true), "waits for ever(.|\n)*32 at one of the grid");
}

TEST_F(ForEverTest, APollInVain) { EXPECT_DEATH(runFor(kernAwait, 1), "polls for ever"); }

TEST_F(ForEverTest, TheSeedIsNamed) {
    Simulator::configure("seed=17");
    EXPECT_DEATH(runFor(kernShuffleByHalfOfAWarp, 1), "STREAM_COMPACTION_SIMULATOR=seed=17");
}

// The host.

__global__ void kernFill(unsigned* to) { to[blockIdx.x * blockDim.x + threadIdx.x] = 7; }

TEST_F(ExecutorTest, AHostThatDoesNotWaitReadsWhatWasThere) {
    auto array = zeros<unsigned>(32);
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    kernFill<<<1, 32, 0, stream>>>(array.data());
    EXPECT_EQ(firstOf(array), 0U);
    cudaStreamSynchronize(stream);
    EXPECT_EQ(firstOf(array), 7U);
    cudaStreamDestroy(stream);
}

[[nodiscard]] cudaError_t launched(unsigned blocks, unsigned threads, std::size_t sharedBytes = 0,
                                   const cudaLaunchAttribute* attribute = nullptr) {
    static auto& array = *new DeviceBuffer<unsigned>(1 << 14);
    cudaLaunchConfig_t config = configOf(blocks, threads);
    config.dynamicSmemBytes = sharedBytes;
    config.attrs = const_cast<cudaLaunchAttribute*>(attribute);
    config.numAttrs = attribute != nullptr ? 1 : 0;
    const cudaError_t status = cudaLaunchKernelEx(&config, kernFill, array.data());
    EXPECT_EQ(cudaGetLastError(), status);
    cudaDeviceSynchronize();
    return status;
}

TEST_F(ExecutorTest, LaunchesThatAreRefused) {
    EXPECT_EQ(launched(1, 1024), cudaSuccess);
    EXPECT_EQ(launched(1, 1025), cudaErrorInvalidConfiguration);
    EXPECT_EQ(launched(0, 32), cudaErrorInvalidConfiguration);
    EXPECT_EQ(launched(1, 0), cudaErrorInvalidConfiguration);

    cudaLaunchAttribute cooperative{};
    cooperative.id = cudaLaunchAttributeCooperative;
    EXPECT_EQ(launched(8, 1024, 0, &cooperative), cudaSuccess);
    EXPECT_EQ(launched(9, 1024, 0, &cooperative), cudaErrorCooperativeLaunchTooLarge);
    Simulator::configure("available=3");
    EXPECT_EQ(launched(6, 1024, 0, &cooperative), cudaSuccess);
    EXPECT_EQ(launched(7, 1024, 0, &cooperative), cudaErrorCooperativeLaunchTooLarge);
    EXPECT_EQ(launched(7, 1024), cudaSuccess);

    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {2, 1, 1};
    const cudaLaunchAttribute early = beginEarly();
    EXPECT_EQ(launched(7, 1024, 0, &cluster), cudaErrorInvalidConfiguration);
    cluster.val.clusterDim = {7, 1, 1};
    EXPECT_EQ(launched(7, 1024, 0, &cluster), cudaErrorInvalidClusterSize);
    Simulator::configure("available=256");
    EXPECT_EQ(launched(7, 1024, 0, &cluster), cudaSuccess);
    cluster.val.clusterDim = {2, 1, 1};

    EXPECT_EQ(launched(1, 32, 64 << 10), cudaErrorInvalidConfiguration) << "more than 48 KiB have to be asked for";
    ASSERT_EQ(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernFill), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   227 << 10),
              cudaSuccess);
    for (const bool hasThem : {true, false}) {
        Simulator::configure(hasThem ? "capability=9.0" : "capability=7.5");
        EXPECT_EQ(launched(2, 32, 0, &cluster), hasThem ? cudaSuccess : cudaErrorInvalidConfiguration);
        EXPECT_EQ(launched(1, 32, 0, &early), hasThem ? cudaSuccess : cudaErrorInvalidConfiguration);
        EXPECT_EQ(launched(1, 32, 227 << 10), hasThem ? cudaSuccess : cudaErrorInvalidConfiguration);
        EXPECT_EQ(launched(1, 32, 64 << 10), cudaSuccess);
    }
}

TEST_F(ExecutorTest, CardsAreWhatTheyAreConfiguredToBe) {
    Simulator::configure("capability=8.0,multiprocessors=3,memory=2097152");
    cudaDeviceProp properties{};
    cudaGetDeviceProperties(&properties, 0);
    EXPECT_EQ(properties.major, 8);
    EXPECT_EQ(properties.minor, 0);
    EXPECT_EQ(properties.multiProcessorCount, 3);
    EXPECT_EQ(properties.totalGlobalMem, 2097152U);
    int value = 1;
    cudaDeviceGetAttribute(&value, cudaDevAttrClusterLaunch, 0);
    EXPECT_EQ(value, 0);
    cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    EXPECT_EQ(value, 163 << 10);

    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, 2097153), cudaErrorMemoryAllocation);
    cudaGetLastError();
    Simulator::configure("memory=4294967296");
}

TEST_F(ExecutorTest, SettingsThatAreRefused) {
    for (const char* const text : {"capability=6.0", "multiprocessors=0", "multiprocessors=x", "memory=1", "order=none",
                                   "seed=-1", "seed=", "speed=1", "seed", "trace=/no/such/folder/file"}) {
        EXPECT_THROW(Simulator::configure(text), std::invalid_argument) << text;
    }
    EXPECT_THROW(Simulator::configure("multiprocessors=9,seed=x"), std::invalid_argument);
    EXPECT_EQ(Simulator::card().multiprocessors, 4) << "part of what was refused has been kept";
}

}  // namespace
}  // namespace StreamCompaction::Testing
