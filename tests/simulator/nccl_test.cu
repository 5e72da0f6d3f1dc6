#include <gtest/gtest.h>
#include <nccl_device.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "simulator.h"

// Tests of several simulated devices and of NCCL on them.

namespace StreamCompaction::Testing {
namespace {

#define EXPECT_NCCL(call) EXPECT_EQ(call, ncclSuccess) << ncclGetLastError(nullptr)

void configureDevices(int devices, const std::string& others = "seed=0") {
    Simulator::configure("devices=" + std::to_string(devices) + "," + others);
}

/// An array in the memory of a device.
template <typename T>
class Array {
  public:
    Array(int device, std::vector<T> values) : size_(values.size()) {
        cudaSetDevice(device);
        ncclMemAlloc(reinterpret_cast<void**>(&data_), bytes());
        cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice);
    }
    Array(int device, std::size_t n) : Array(device, std::vector<T>(n)) {}
    Array(Array&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
    Array& operator=(Array&&) = delete;
    ~Array() { ncclMemFree(data_); }

    [[nodiscard]] T* data() const { return data_; }
    [[nodiscard]] std::size_t bytes() const { return size_ * sizeof(T); }
    [[nodiscard]] std::vector<T> values() const {
        std::vector<T> values(size_);
        cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost);
        return values;
    }

  private:
    T* data_ = nullptr;
    std::size_t size_;
};

template <typename T>
std::vector<Array<T>> arrays(int ranks, std::size_t n) {
    std::vector<Array<T>> all;
    for (int rank = 0; rank < ranks; ++rank) {
        all.emplace_back(rank, n);
    }
    return all;
}

/// The host threads that call for the ranks.
enum class Threads { One, OneWithGroup, OnePerRank };

/// A communicator of ranks in this process, each with a device and a stream.
class Ranks {
  public:
    explicit Ranks(int n) : comms(n), streams(comms.size()) {
        EXPECT_NCCL(ncclCommInitAll(comms.data(), n, nullptr));
        for (int rank = 0; rank < n; ++rank) {
            cudaSetDevice(rank);
            cudaStreamCreateWithFlags(&streams[rank], cudaStreamNonBlocking);
        }
    }
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;
    ~Ranks() {
        for (std::size_t rank = 0; rank < comms.size(); ++rank) {
            cudaStreamDestroy(streams[rank]);
            if (comms[rank] != nullptr) {
                ncclCommDestroy(comms[rank]);
            }
        }
        cudaSetDevice(0);
    }

    /// Calls run(rank) for all ranks, and waits for their streams.
    void perform(Threads threads, const std::function<void(int)>& run) const {
        if (threads == Threads::OnePerRank) {
            std::vector<std::thread> hosts;
            for (int rank = 0; rank < count(); ++rank) {
                hosts.emplace_back([&, rank] {
                    cudaSetDevice(rank);
                    run(rank);
                    cudaStreamSynchronize(stream(rank));
                });
            }
            for (std::thread& host : hosts) {
                host.join();
            }
            return;
        }
        if (threads == Threads::OneWithGroup) {
            EXPECT_NCCL(ncclGroupStart());
        }
        for (int rank = 0; rank < count(); ++rank) {
            cudaSetDevice(rank);
            run(rank);
        }
        if (threads == Threads::OneWithGroup) {
            EXPECT_NCCL(ncclGroupEnd());
        }
        synchronize();
    }
    void synchronize() const {
        for (const cudaStream_t stream : streams) {
            cudaStreamSynchronize(stream);
        }
    }

    [[nodiscard]] int count() const { return static_cast<int>(comms.size()); }
    [[nodiscard]] ncclComm_t comm(int rank) const { return comms[rank]; }
    [[nodiscard]] cudaStream_t stream(int rank) const { return streams[rank]; }

    std::vector<ncclComm_t> comms;
    std::vector<cudaStream_t> streams;
};

/// Adds up arrays of eight elements in place, by one rank's call.
ncclResult_t reduce(const Ranks& all, const std::vector<Array<int>>& data, int rank, std::size_t n = 8) {
    int* const array = data[rank].data();
    return ncclAllReduce(array, array, n, ncclInt, ncclSum, all.comm(rank), all.stream(rank));
}

class NcclTest : public testing::Test {
  protected:
    NcclTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
    void TearDown() override {
        cudaSetDevice(0);
        Simulator::configure("devices=1,links=peer,patience=60,seed=0,memory=4294967296");
    }
};

// Devices.

__global__ void kernAdd(unsigned* to, unsigned x) { to[threadIdx.x] += x; }

class DevicesTest : public NcclTest {};

TEST_F(DevicesTest, AreAsManyAsAskedFor) {
    int count = 0;
    cudaGetDeviceCount(&count);
    EXPECT_EQ(count, 1);
    configureDevices(3);
    cudaGetDeviceCount(&count);
    EXPECT_EQ(count, 3);
    EXPECT_EQ(cudaSetDevice(2), cudaSuccess);
    EXPECT_EQ(cudaSetDevice(3), cudaErrorInvalidDevice);
    EXPECT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
    int device = 0;
    cudaGetDevice(&device);
    EXPECT_EQ(device, 2);
    std::thread([] {
        int device = 1;
        cudaGetDevice(&device);
        EXPECT_EQ(device, 0) << "a device is chosen per thread";
    }).join();
    for (const char* const text : {"devices=0", "devices=65", "links=all", "patience=0"}) {
        EXPECT_THROW(Simulator::configure(text), std::invalid_argument) << text;
    }
}

TEST_F(DevicesTest, HaveTheirOwnMemory) {
    configureDevices(3, "memory=1048576");  // tests before this one may have left arrays on device 0
    void* first = nullptr;
    void* second = nullptr;
    cudaSetDevice(1);
    EXPECT_EQ(cudaMalloc(&first, 1 << 20), cudaSuccess);
    EXPECT_EQ(cudaMalloc(&second, 1), cudaErrorMemoryAllocation);
    cudaSetDevice(2);
    EXPECT_EQ(cudaMalloc(&second, 1 << 20), cudaSuccess);
    std::size_t free = 1;
    std::size_t total = 0;
    cudaMemGetInfo(&free, &total);
    EXPECT_EQ(free, 0U);
    EXPECT_EQ(cudaFree(first), cudaSuccess) << "of another device";
    cudaMemGetInfo(&free, &total);
    EXPECT_EQ(free, 0U);
    cudaFree(second);
    cudaGetLastError();
}

TEST_F(DevicesTest, RefuseWorkInAnotherDevicesStream) {
    configureDevices(2);
    const Array<unsigned> array(0, 32);
    cudaStream_t stream = nullptr;
    cudaStreamCreate(&stream);
    cudaEvent_t event = nullptr;
    cudaSetDevice(1);
    cudaEventCreate(&event);
    EXPECT_EQ(cudaEventRecord(event, stream), cudaErrorInvalidResourceHandle);
    cudaGetLastError();
    kernAdd<<<1, 32, 0, stream>>>(array.data(), 1);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
    EXPECT_STREQ(cudaGetErrorName(cudaErrorInvalidResourceHandle), "cudaErrorInvalidResourceHandle");
    EXPECT_EQ(cudaMemsetAsync(array.data(), 1, 4, stream), cudaSuccess) << "only launches are refused";
    cudaEventDestroy(event);
    cudaStreamDestroy(stream);
    EXPECT_EQ(array.values()[0], 0x01010101U);
}

TEST_F(DevicesTest, WaitForThemselvesOnly) {
    configureDevices(2);
    const auto words = arrays<unsigned>(2, 32);
    for (int device = 0; device < 2; ++device) {
        cudaSetDevice(device);
        kernAdd<<<1, 32>>>(words[device].data(), 7);
    }
    cudaDeviceSynchronize();
    EXPECT_EQ(*words[0].data(), 0U);
    EXPECT_EQ(*words[1].data(), 7U);
    cudaSetDevice(0);
    cudaMemcpyAsync(words[1].data(), words[0].data(), 4, cudaMemcpyDeviceToDevice);
    cudaDeviceSynchronize();
    EXPECT_EQ(*words[1].data(), 7U) << "copied from the other device, which had done its kernel first";
}

TEST_F(DevicesTest, OrderTheLegacyStreamWithBlockingStreams) {
    configureDevices(2);
    const Array<unsigned> word(1, 32);
    cudaStream_t blocking = nullptr;
    cudaStreamCreate(&blocking);
    kernAdd<<<1, 32, 0, blocking>>>(word.data(), 1);
    cudaMemcpyAsync(word.data() + 1, word.data(), 4, cudaMemcpyDeviceToDevice, nullptr);
    kernAdd<<<1, 32, 0, blocking>>>(word.data(), 10);
    EXPECT_EQ(*word.data(), 0U) << "enqueueing does no work";
    cudaStreamSynchronize(blocking);
    EXPECT_EQ(word.values()[0], 11U);
    EXPECT_EQ(word.values()[1], 11U);
    cudaStreamDestroy(blocking);
}

// Collectives. The tests of the library's distributed operations find calls that give wrong results.

class CollectiveTest : public NcclTest, public testing::WithParamInterface<std::tuple<int, Threads, int>> {
  protected:
    CollectiveTest() {
        const auto [n, threads, seed] = GetParam();
        configureDevices(n, "seed=" + std::to_string(seed));
    }
    [[nodiscard]] static int ranks() { return std::get<0>(GetParam()); }
    [[nodiscard]] static Threads threads() { return std::get<1>(GetParam()); }
};

template <typename T>
void testAllReduce(const Ranks& all, Threads threads, ncclDataType_t type) {
    constexpr std::size_t n = 40;
    std::vector<Array<T>> data;
    std::vector<T> expected(n);
    for (int rank = 0; rank < all.count(); ++rank) {
        std::vector<T> values(n);
        for (std::size_t i = 0; i < n; ++i) {
            values[i] = static_cast<T>((rank * 31 + static_cast<int>(i) * 7) % 100);
            expected[i] += values[i];
        }
        data.emplace_back(rank, values);
    }
    const auto out = arrays<T>(all.count(), n);
    for (const bool isInPlace : {false, true}) {
        all.perform(threads, [&](int rank) {
            EXPECT_NCCL(ncclAllReduce(data[rank].data(), (isInPlace ? data : out)[rank].data(), n, type, ncclSum,
                                      all.comm(rank), all.stream(rank)));
        });
    }
    for (std::size_t rank = 0; rank < data.size(); ++rank) {
        EXPECT_EQ(out[rank].values(), expected) << "type " << type;
        EXPECT_EQ(data[rank].values(), expected) << "in place, type " << type;
    }
}

TEST_P(CollectiveTest, AllReduce) {
    const Ranks all(ranks());
    testAllReduce<std::int32_t>(all, threads(), ncclInt32);
    testAllReduce<std::uint32_t>(all, threads(), ncclUint32);
    testAllReduce<std::int64_t>(all, threads(), ncclInt64);
    testAllReduce<std::uint64_t>(all, threads(), ncclUint64);
    testAllReduce<float>(all, threads(), ncclFloat32);
    testAllReduce<double>(all, threads(), ncclFloat64);
}

TEST_P(CollectiveTest, ManyCallsInAGroup) {
    constexpr std::size_t n = 77;
    const Ranks all(ranks());
    std::vector<std::vector<unsigned>> values(ranks(), std::vector<unsigned>(n));
    std::vector<unsigned> sums(n);
    std::vector<unsigned> everything;
    std::vector<Array<unsigned>> in;
    std::vector<Array<unsigned>> gathered;
    for (int rank = 0; rank < ranks(); ++rank) {
        std::iota(values[rank].begin(), values[rank].end(), 1000U * rank);
        std::ranges::transform(sums, values[rank], sums.begin(), std::plus{});
        everything.insert(everything.end(), values[rank].begin(), values[rank].end());
        in.emplace_back(rank, values[rank]);
        std::vector<unsigned> own(n * ranks());
        std::ranges::copy(values[rank], own.begin() + n * rank);
        gathered.emplace_back(rank, own);
    }
    const auto sum = arrays<unsigned>(ranks(), n);
    const auto next = arrays<unsigned>(ranks(), n);
    all.perform(threads(), [&](int rank) {
        const unsigned* const from = in[rank].data();
        const ncclComm_t comm = all.comm(rank);
        const cudaStream_t stream = all.stream(rank);
        EXPECT_NCCL(ncclGroupStart());
        EXPECT_NCCL(ncclRecv(next[rank].data(), n, ncclUint32, (rank + 1) % ranks(), comm, stream));
        EXPECT_NCCL(ncclAllReduce(from, sum[rank].data(), n, ncclUint32, ncclSum, comm, stream));
        EXPECT_NCCL(ncclAllGather(gathered[rank].data() + n * rank, gathered[rank].data(), n, ncclUint32, comm, stream))
            << "in place";
        EXPECT_NCCL(ncclSend(from, n, ncclUint32, (rank + ranks() - 1) % ranks(), comm, stream));
        EXPECT_NCCL(ncclGroupEnd());
    });
    for (int rank = 0; rank < ranks(); ++rank) {
        EXPECT_EQ(sum[rank].values(), sums);
        EXPECT_EQ(gathered[rank].values(), everything);
        EXPECT_EQ(next[rank].values(), values[(rank + 1) % ranks()]);
    }
}

[[nodiscard]] std::string nameOf(const testing::TestParamInfo<std::tuple<int, Threads, int>>& info) {
    const auto [ranks, threads, seed] = info.param;
    return std::to_string(ranks) + "Ranks" +
           (threads == Threads::One            ? "OneThread"
            : threads == Threads::OneWithGroup ? "Group"
                                               : "ThreadPerRank") +
           "Seed" + std::to_string(seed);
}
INSTANTIATE_TEST_SUITE_P(Ranks, CollectiveTest,
                         testing::Combine(testing::Values(1, 3, 8),
                                          testing::Values(Threads::One, Threads::OneWithGroup, Threads::OnePerRank),
                                          testing::Values(0, 1)),
                         nameOf);

// Communicators.

class CommunicatorTest : public NcclTest {};

void expectRank(ncclComm_t comm, int ranks, int rank, int device) {
    int value = -1;
    EXPECT_NCCL(ncclCommCount(comm, &value));
    EXPECT_EQ(value, ranks);
    EXPECT_NCCL(ncclCommUserRank(comm, &value));
    EXPECT_EQ(value, rank);
    EXPECT_NCCL(ncclCommCuDevice(comm, &value));
    EXPECT_EQ(value, device);
    ncclResult_t error = ncclInternalError;
    EXPECT_NCCL(ncclCommGetAsyncError(comm, &error));
    EXPECT_EQ(error, ncclSuccess);
}

TEST_F(CommunicatorTest, IsMadeOfRanksOnAnyDevices) {
    configureDevices(4);
    int version = 0;
    EXPECT_NCCL(ncclGetVersion(&version));
    EXPECT_EQ(version, NCCL_VERSION_CODE);

    ncclComm_t comms[3];
    const int devices[] = {3, 0, 2};
    EXPECT_NCCL(ncclCommInitAll(comms, 3, devices));
    for (int rank = 0; rank < 3; ++rank) {
        expectRank(comms[rank], 3, rank, devices[rank]);
        EXPECT_NCCL(ncclCommDestroy(comms[rank]));
    }
}

TEST_F(CommunicatorTest, IsMadeByAThreadPerRank) {
    constexpr int n = 4;
    configureDevices(n);
    ncclUniqueId id;
    EXPECT_NCCL(ncclGetUniqueId(&id));
    std::vector<std::thread> hosts;
    for (int rank = 0; rank < n; ++rank) {
        hosts.emplace_back([rank, id] {
            cudaSetDevice(n - 1 - rank);
            ncclComm_t comm = nullptr;
            EXPECT_NCCL(ncclCommInitRank(&comm, n, id, rank));
            expectRank(comm, n, rank, n - 1 - rank);
            EXPECT_NCCL(ncclCommDestroy(comm));
        });
    }
    for (std::thread& host : hosts) {
        host.join();
    }
}

TEST_F(CommunicatorTest, NeedsAGroupInOneThread) {
    configureDevices(2, "patience=1");
    ncclUniqueId id;
    EXPECT_NCCL(ncclGetUniqueId(&id));
    ncclComm_t comm = nullptr;
    EXPECT_DEATH(ncclCommInitRank(&comm, 2, id, 0), "rank 0 waits for ever for rank 1; in one thread it needs a group");
}

TEST_F(CommunicatorTest, HasADevicePerRank) {
    configureDevices(2);
    ncclUniqueId id;
    EXPECT_NCCL(ncclGetUniqueId(&id));
    ncclComm_t comms[2];
    EXPECT_NCCL(ncclGroupStart());
    EXPECT_NCCL(ncclCommInitRank(&comms[0], 2, id, 0));
    EXPECT_NCCL(ncclCommInitRank(&comms[1], 2, id, 1));
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
    EXPECT_STREQ(ncclGetLastError(nullptr), "Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 0");
    EXPECT_EQ(comms[0], nullptr);
    EXPECT_EQ(comms[1], nullptr);

    constexpr int twice[] = {1, 1};
    EXPECT_EQ(ncclCommInitAll(comms, 2, twice), ncclInvalidUsage);
    constexpr int missing[] = {1, 2};
    EXPECT_EQ(ncclCommInitAll(comms, 2, missing), ncclInvalidArgument);
    EXPECT_EQ(ncclCommInitAll(comms, 3, nullptr), ncclUnhandledCudaError);
    EXPECT_EQ(ncclCommInitAll(comms, -1, nullptr), ncclInvalidArgument);
    EXPECT_EQ(ncclCommInitAll(nullptr, 1, nullptr), ncclInvalidArgument);
    EXPECT_EQ(ncclCommInitRank(nullptr, 1, id, 0), ncclInvalidArgument);
    EXPECT_EQ(ncclCommInitRank(comms, 1, id, 1), ncclInvalidArgument);
    EXPECT_STREQ(ncclGetLastError(nullptr), "Invalid rank requested : 1/1");
    EXPECT_EQ(ncclCommInitRank(comms, 0, id, 0), ncclInvalidArgument);
    EXPECT_EQ(ncclCommInitRank(comms, 1, {}, 0), ncclInvalidArgument);
    EXPECT_EQ(ncclGetUniqueId(nullptr), ncclInvalidArgument);
}

// Arguments.

TEST_F(CommunicatorTest, ChecksArguments) {
    configureDevices(2);
    const Ranks all(2);
    const Array<int> array(0, 8);
    int* const data = array.data();
    const ncclComm_t comm = all.comm(0);
    const cudaStream_t stream = all.stream(0);
    const auto type = [](int value) { return static_cast<ncclDataType_t>(value); };
    const auto operation = [](int value) { return static_cast<ncclRedOp_t>(value); };

    EXPECT_EQ(ncclAllGather(data, data, 1, ncclInt, nullptr, stream), ncclInvalidArgument);
    EXPECT_STREQ(ncclGetLastError(nullptr), "AllGather : comm argument is NULL");
    EXPECT_EQ(ncclAllGather(data, data, 1, type(-1), comm, stream), ncclInvalidArgument);
    EXPECT_EQ(ncclAllGather(data, data, 1, ncclNumTypes, comm, stream), ncclInvalidArgument);
    EXPECT_STREQ(ncclGetLastError(comm), "AllGather : invalid type 12");
    EXPECT_EQ(ncclAllGather(nullptr, data, 1, ncclInt, comm, stream), ncclInvalidArgument);
    EXPECT_EQ(ncclAllGather(data, nullptr, 1, ncclInt, comm, stream), ncclInvalidArgument);
    EXPECT_EQ(ncclAllReduce(data, data, 1, ncclInt, operation(-1), comm, stream), ncclInvalidArgument);
    EXPECT_EQ(ncclAllReduce(data, data, 1, ncclInt, ncclNumOps, comm, stream), ncclInvalidArgument);
    EXPECT_EQ(ncclAllReduce(data, data, 1, ncclFloat16, ncclSum, comm, stream), ncclInvalidArgument);
    EXPECT_EQ(ncclAllReduce(data, data, 1, ncclInt, ncclAvg, comm, stream), ncclInvalidArgument);
    EXPECT_EQ(ncclSend(data, 1, ncclInt, -1, comm, stream), ncclInvalidArgument);
    EXPECT_STREQ(ncclGetLastError(comm), "Send : invalid peer -1 of 2 ranks");
    EXPECT_EQ(ncclRecv(data, 1, ncclInt, 2, comm, stream), ncclInvalidArgument);
    EXPECT_EQ(ncclSend(nullptr, 1, ncclInt, 1, comm, stream), ncclInvalidArgument);
    EXPECT_EQ(ncclRecv(nullptr, 1, ncclInt, 1, comm, stream), ncclInvalidArgument);
    EXPECT_EQ(ncclSend(data, 1, ncclInt, 1, comm, all.stream(1)), ncclUnhandledCudaError);
    EXPECT_STREQ(ncclGetLastError(comm), "Cuda failure 400 'invalid resource handle'");

    int value = 0;
    EXPECT_EQ(ncclCommCount(nullptr, &value), ncclInvalidArgument);
    EXPECT_EQ(ncclCommCount(comm, nullptr), ncclInvalidArgument);
    EXPECT_EQ(ncclCommUserRank(comm, nullptr), ncclInvalidArgument);
    EXPECT_EQ(ncclCommCuDevice(comm, nullptr), ncclInvalidArgument);
    EXPECT_EQ(ncclCommGetAsyncError(comm, nullptr), ncclInvalidArgument);
    EXPECT_EQ(ncclCommDestroy(nullptr), ncclInvalidArgument);
    EXPECT_EQ(ncclCommAbort(nullptr), ncclInvalidArgument);
    EXPECT_EQ(ncclGetVersion(nullptr), ncclInvalidArgument);
    EXPECT_STREQ(ncclGetErrorString(ncclInvalidArgument), "invalid argument (run with NCCL_DEBUG=WARN for details)");

    EXPECT_NCCL(ncclAllGather(nullptr, nullptr, 0, ncclInt, comm, stream)) << "nothing to do";
    all.synchronize();
}

__global__ void kernStoreToPeers(ncclWindow_t window, std::size_t offset, int ranks) {
    for (int peer = 0; peer < ranks; ++peer) {
        static_cast<unsigned*>(ncclGetLsaPointer(window, offset, peer))[threadIdx.x] = 1;
    }
}

TEST_F(CommunicatorTest, ChecksWindows) {
    configureDevices(1);
    const Ranks all(1);
    const Array<int> array(0, 4096);
    ncclWindow_t window = nullptr;
    const auto registered = [&](void* memory, std::size_t bytes, int flags = NCCL_WIN_COLL_SYMMETRIC) {
        return ncclCommWindowRegister(all.comm(0), memory, bytes, &window, flags);
    };
    EXPECT_EQ(registered(nullptr, 4), ncclInvalidArgument);
    EXPECT_EQ(registered(array.data(), 0), ncclUnhandledCudaError);
    EXPECT_EQ(registered(array.data(), array.bytes() + 1), ncclUnhandledCudaError);
    EXPECT_EQ(registered(array.data() + 1, 4), ncclInvalidArgument);
    EXPECT_STREQ(ncclGetLastError(nullptr), "Window address must be suitably aligned.");
    EXPECT_EQ(registered(array.data(), 4, 2), ncclInvalidArgument);
    void* plain = nullptr;
    cudaMalloc(&plain, 4096);
    EXPECT_EQ(registered(plain, 4096), ncclUnhandledCudaError) << "memory of cudaMalloc";
    EXPECT_EQ(ncclMemFree(plain), ncclUnhandledCudaError);
    cudaFree(plain);
    EXPECT_EQ(ncclCommWindowRegister(nullptr, array.data(), 4, &window, 0), ncclInvalidArgument);
    EXPECT_EQ(ncclCommWindowRegister(all.comm(0), array.data(), 4, nullptr, 0), ncclInvalidArgument);
    EXPECT_EQ(ncclMemAlloc(nullptr, 4), ncclInvalidArgument);
    EXPECT_EQ(ncclMemAlloc(&plain, std::size_t{1} << 41), ncclUnhandledCudaError);
    EXPECT_NCCL(ncclMemFree(nullptr));

    EXPECT_NCCL(registered(array.data() + 1024, 4096));
    EXPECT_DEATH(ncclGetLsaPointer(window, 0, 0), "only kernels may call it");
    const auto store = [&](std::size_t offset) {
        kernStoreToPeers<<<1, 32, 0, all.stream(0)>>>(window, offset, 2);
        all.synchronize();
    };
    EXPECT_DEATH(store(4096), "no offset 4096 of rank 1 in a window of 1 ranks and 4096 bytes");
    EXPECT_DEATH(store(4097), "no offset 4097 of rank 0");
    EXPECT_NCCL(ncclCommWindowDeregister(all.comm(0), window));
    EXPECT_DEATH(store(0), "the window does not exist");
    EXPECT_EQ(ncclCommWindowDeregister(all.comm(0), window), ncclInvalidArgument);
}

TEST_F(CommunicatorTest, NeedsEqualWindows) {
    configureDevices(2);
    const Ranks all(2);
    const auto data = arrays<int>(2, 8);
    ncclWindow_t windows[2];
    EXPECT_NCCL(ncclGroupStart());
    EXPECT_NCCL(ncclCommWindowRegister(all.comm(0), data[0].data(), 32, &windows[0], NCCL_WIN_COLL_SYMMETRIC));
    EXPECT_NCCL(ncclCommWindowRegister(all.comm(1), data[1].data(), 16, &windows[1], NCCL_WIN_COLL_SYMMETRIC));
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
    EXPECT_STREQ(ncclGetLastError(nullptr), "CommWindowRegister : rank 0 registers 32 bytes, rank 1 16");
}

TEST_F(CommunicatorTest, GroupsFailAsAWhole) {
    configureDevices(2);
    const Ranks all(2);
    const auto data = arrays<int>(2, 8);
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
    EXPECT_NCCL(ncclGroupStart());
    EXPECT_NCCL(ncclSend(data[0].data(), 1, ncclInt, 1, all.comm(0), all.stream(0)));
    EXPECT_EQ(ncclSend(data[0].data(), 1, ncclInt, 2, all.comm(0), all.stream(0)), ncclInvalidArgument);
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
    all.synchronize();  // nothing waits for a receiver
    EXPECT_NCCL(ncclGroupStart());
    EXPECT_NCCL(ncclGroupStart());
    EXPECT_NCCL(ncclGroupEnd());
    EXPECT_NCCL(ncclGroupEnd());
}

TEST_F(CommunicatorTest, FailsWhenATestAsksForIt) {
    configureDevices(2);
    const Ranks all(2);
    const auto data = arrays<int>(2, 8);
    Simulator::failNextCollective();
    EXPECT_EQ(reduce(all, data, 0), ncclSystemError);
    EXPECT_NCCL(reduce(all, data, 0));
    Simulator::failNextCollective(1);
    EXPECT_NCCL(reduce(all, data, 1));
    EXPECT_EQ(reduce(all, data, 1), ncclSystemError);
    all.synchronize();
}

// Ranks that wait.

class MeetingTest : public CommunicatorTest {
  protected:
    MeetingTest() { configureDevices(3, "patience=1"); }
};

TEST_F(MeetingTest, OnlyTheRanksOfASendTakePart) {
    const Ranks all(3);
    const auto data = arrays<int>(3, 8);
    cudaMemset(data[2].data(), 1, 32);
    cudaDeviceSynchronize();
    all.perform(Threads::One, [&](int rank) {
        int* const array = data[rank].data();
        if (rank == 2) {
            EXPECT_NCCL(ncclSend(array, 4, ncclInt, 1, all.comm(2), all.stream(2)));
            EXPECT_NCCL(ncclSend(array, 2, ncclInt, 1, all.comm(2), all.stream(2)));
        } else if (rank == 1) {
            EXPECT_NCCL(ncclRecv(array, 4, ncclInt, 2, all.comm(1), all.stream(1)));
            EXPECT_NCCL(ncclRecv(array + 6, 2, ncclInt, 2, all.comm(1), all.stream(1)));
        }
    });
    constexpr int one = 0x01010101;
    EXPECT_EQ(data[1].values(), (std::vector<int>{one, one, one, one, 0, 0, one, one}));
}

TEST_F(MeetingTest, TheLegacyStreamIsThatOfTheCommunicatorsDevice) {
    const Ranks all(3);
    const auto data = arrays<unsigned>(3, 32);
    for (int rank = 0; rank < 3; ++rank) {
        cudaSetDevice(rank);
        kernAdd<<<1, 32>>>(data[rank].data(), 1U + static_cast<unsigned>(rank));
    }
    cudaSetDevice(1);
    EXPECT_NCCL(ncclGroupStart());
    for (int rank = 0; rank < 3; ++rank) {
        unsigned* const array = data[rank].data();
        EXPECT_NCCL(ncclAllReduce(array, array, 32, ncclUint32, ncclSum, all.comm(rank), nullptr));
    }
    EXPECT_NCCL(ncclGroupEnd());
    cudaDeviceSynchronize();
    EXPECT_EQ(*data[1].data(), 6U);
}

TEST_F(MeetingTest, AnEventDoesNotWaitForLaterCalls) {
    const Ranks all(3);
    const auto data = arrays<int>(3, 32);
    cudaSetDevice(0);
    cudaEvent_t event = nullptr;
    cudaEventCreate(&event);
    cudaMemsetAsync(data[0].data(), 1, 4, all.stream(0));
    cudaEventRecord(event, all.stream(0));
    EXPECT_NCCL(reduce(all, data, 0));
    cudaEventSynchronize(event);
    EXPECT_EQ(*data[0].data(), 0x01010101);
    EXPECT_NCCL(reduce(all, data, 1));
    EXPECT_NCCL(reduce(all, data, 2));
    all.synchronize();
    EXPECT_EQ(*data[1].data(), 0x01010101);
    cudaEventDestroy(event);
}

TEST_F(MeetingTest, AnAbortEndsARegistration) {
    Ranks all(3);
    const auto data = arrays<int>(3, 8);
    const ncclComm_t aborted = std::exchange(all.comms[0], nullptr);
    std::thread waiting([&] {
        ncclWindow_t window = nullptr;
        EXPECT_EQ(ncclCommWindowRegister(aborted, data[0].data(), 32, &window, NCCL_WIN_COLL_SYMMETRIC),
                  ncclRemoteError);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_NCCL(ncclCommAbort(aborted));
    waiting.join();
}

TEST_F(MeetingTest, ACallThatNobodyMakesIsNamed) {
    const Ranks all(3);
    const auto data = arrays<int>(3, 8);
    EXPECT_DEATH(
        {
            reduce(all, data, 0);
            reduce(all, data, 2);
            cudaStreamSynchronize(all.stream(2));
        },
        "a stream of device 2 waits for ever(.|\n)*AllReduce of 8 elements of type ncclInt32 by operation 0, "
        "called by ranks 0, 2 but not by rank 1");
    EXPECT_DEATH(
        {
            ncclRecv(data[0].data(), 8, ncclInt, 1, all.comm(0), all.stream(0));
            cudaStreamSynchronize(all.stream(0));
        },
        "Recv of 8 elements of type ncclInt32, called by rank 0 but not by rank 1");
}

TEST_F(MeetingTest, CommunicatorsInDifferentOrdersWaitForEver) {
    const Ranks one(2);
    const Ranks other(2);
    const auto data = arrays<int>(2, 8);
    const auto reduce = [&](const Ranks& all, int rank) {
        int* const array = data[rank].data();
        ncclAllReduce(array, array, 8, ncclInt, ncclSum, all.comm(rank), one.stream(rank));
    };
    EXPECT_DEATH(
        {
            reduce(one, 0);
            reduce(other, 0);
            reduce(other, 1);
            reduce(one, 1);
            cudaStreamSynchronize(one.stream(0));
        },
        "device 0: AllReduce .*, called by ranks 0, 1\n.*device 1: AllReduce .*, called by ranks 0, 1\n");
}

TEST_F(MeetingTest, CallsThatDifferAreNamed) {
    const Ranks all(3);
    const auto data = arrays<int>(3, 8);
    EXPECT_DEATH(all.perform(Threads::One, [&](int rank) { reduce(all, data, rank, rank == 2 ? 3 : 5); }),
                 "ranks differ: rank 0 calls AllReduce of 5 elements(.|\n)*, rank 2 calls AllReduce of 3 elements");
    EXPECT_DEATH(
        {
            ncclSend(data[0].data(), 3, ncclInt, 1, all.comm(0), all.stream(0));
            ncclRecv(data[1].data(), 4, ncclInt, 0, all.comm(1), all.stream(1));
            all.synchronize();
        },
        "rank 0 calls Send of 3 elements of type ncclInt32, rank 1 calls Recv of 4 elements");
    EXPECT_DEATH(all.perform(Threads::One,
                             [&](int rank) {
                                 int* const array = data[rank].data();
                                 ncclAllReduce(array, array + 1, 2, ncclInt, ncclSum, all.comm(rank), all.stream(rank));
                             }),
                 "the buffers of rank 0 overlap in AllReduce of 2 elements");
}

TEST_F(MeetingTest, AnAbortedCommunicatorIsNotWaitedFor) {
    Ranks all(3);
    const auto data = arrays<int>(3, 8);
    std::thread waiting([&] {
        EXPECT_NCCL(reduce(all, data, 0));
        EXPECT_EQ(cudaStreamSynchronize(all.stream(0)), cudaSuccess);
        EXPECT_EQ(reduce(all, data, 0), ncclRemoteError);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_NCCL(ncclCommAbort(std::exchange(all.comms[1], nullptr)));
    waiting.join();
    ncclResult_t error = ncclSuccess;
    EXPECT_NCCL(ncclCommGetAsyncError(all.comm(2), &error));
    EXPECT_EQ(error, ncclRemoteError);
    EXPECT_EQ(reduce(all, data, 2), ncclRemoteError);
    EXPECT_NCCL(ncclCommAbort(std::exchange(all.comms[2], nullptr)));
}

// Seeds.

class OrderTest : public CommunicatorTest {
  protected:
    /// Calls run() with many seeds. Returns the number of different results.
    template <typename Run>
    static std::size_t differentResults(int devices, const Run& run) {
        std::set<decltype(run())> results;
        for (int seed = 1; seed <= 30; ++seed) {
            configureDevices(devices, "seed=" + std::to_string(seed));
            const auto result = run();
            results.insert(result);
            configureDevices(devices, "seed=" + std::to_string(seed));
            EXPECT_EQ(run(), result) << "a seed repeats its order";
        }
        return results.size();
    }
};

__global__ void kernCopy(unsigned* to, const unsigned* from) { *to = *from; }

TEST_F(OrderTest, AMissingBarrierBetweenRanksIsFound) {
    // Rank 1 stores into the memory of rank 0, which reads it without having waited for rank 1.
    EXPECT_EQ(differentResults(2,
                               [] {
                                   const auto data = arrays<unsigned>(2, 2);
                                   cudaSetDevice(0);
                                   kernCopy<<<1, 1>>>(data[0].data() + 1, data[0].data());
                                   cudaSetDevice(1);
                                   kernAdd<<<1, 1>>>(data[0].data(), 1);
                                   cudaDeviceSynchronize();
                                   cudaSetDevice(0);
                                   cudaDeviceSynchronize();
                                   return data[0].values()[1];
                               }),
              2U);
}

TEST_F(OrderTest, ASumIsInAnyOrderAndTheSameOnAllRanks) {
    EXPECT_GT(differentResults(3,
                               [] {
                                   const Ranks all(3);
                                   std::vector<Array<float>> data;
                                   for (const float value : {1e8F, 1.0F, -1e8F}) {
                                       data.emplace_back(static_cast<int>(data.size()), std::vector<float>{value});
                                   }
                                   all.perform(Threads::One, [&](int rank) {
                                       float* const sum = data[rank].data();
                                       ncclAllReduce(sum, sum, 1, ncclFloat, ncclSum, all.comm(rank), all.stream(rank));
                                   });
                                   EXPECT_EQ(data[1].values(), data[0].values());
                                   EXPECT_EQ(data[2].values(), data[0].values());
                                   return data[0].values()[0];
                               }),
              1U);
}

TEST_F(OrderTest, AReceiveIntoWhatIsStillSentIsFound) {
    EXPECT_GT(differentResults(2,
                               [] {
                                   const Ranks all(2);
                                   const Array<int> first(0, std::vector<int>(8, 1));
                                   const Array<int> second(1, std::vector<int>(8, 2));
                                   all.perform(Threads::One, [&](int rank) {
                                       int* const data = rank == 0 ? first.data() : second.data();
                                       ncclGroupStart();
                                       ncclSend(data, 8, ncclInt, 1 - rank, all.comm(rank), all.stream(rank));
                                       ncclRecv(data, 8, ncclInt, 1 - rank, all.comm(rank), all.stream(rank));
                                       ncclGroupEnd();
                                   });
                                   return std::pair(first.values(), second.values());
                               }),
              1U);
}

}  // namespace
}  // namespace StreamCompaction::Testing
