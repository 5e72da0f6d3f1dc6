#include "stream_compaction/distributed/rank.h"

#include <nccl_device.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

namespace StreamCompaction::Distributed {

void checkNccl(ncclResult_t status, std::string_view call, ncclComm_t comm, std::source_location where) {
    if (status == ncclSuccess) {
        return;
    }
    std::string message = std::string(call) + ": " + ncclGetErrorString(status);
    if (const char* const last = ncclGetLastError(comm); last != nullptr && *last != '\0') {
        message += std::string(" (") + last + ')';
    }
    throw NcclError(message + " [" + where.file_name() + ':' + std::to_string(where.line()) + ']');
}

Rank::Rank(ncclComm_t comm) : comm_(std::make_shared<std::atomic<ncclComm_t>>(comm)) {
    checkNccl(ncclCommUserRank(comm, &index_), "ncclCommUserRank", comm);
    checkNccl(ncclCommCount(comm, &count_), "ncclCommCount", comm);
    checkNccl(ncclCommCuDevice(comm, &device_), "ncclCommCuDevice", comm);
    if (count_ > mostRanks) {
        throw std::invalid_argument("comm: expected at most " + std::to_string(mostRanks) + " ranks, got " +
                                    std::to_string(count_));
    }
    int version = 0;
    checkNccl(ncclGetVersion(&version), "ncclGetVersion");
    if (version < NCCL_VERSION_CODE) {
        throw NcclError("NCCL: expected version " + std::to_string(NCCL_VERSION_CODE) + " or newer, got " +
                        std::to_string(version));
    }
    // NCCL makes no window for one rank.
    reachesAllRanks_ = count_ > 1 && ncclTeamLsa(comm).nRanks == count_;
    const DeviceScope here(device_);
    exchange_ = std::make_unique<Exchange>(
        Exchange{DeviceBuffer<std::byte>(mostBytesTold()), DeviceBuffer<std::byte>(mostBytesTold() * count_),
                 DeviceBuffer<std::byte>(stateBytes), DeviceBuffer<std::uint32_t>(1), DeviceBuffer<std::uint32_t>(1)});
    Common::checkCUDAError(cudaMemset(mine<std::byte>(), 0, mostBytesTold()), "cudaMemset");
    Common::checkCUDAError(cudaMemset(failure(), 0, sizeof(*failure())), "cudaMemset");
    Common::checkCUDAError(cudaMemset(finishedBlocks(), 0, sizeof(*finishedBlocks())), "cudaMemset");
    Common::checkCUDAError(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

void Rank::requireHealthy() const {
    ncclResult_t state = ncclSuccess;
    checkNccl(ncclCommGetAsyncError(comm(), &state), "ncclCommGetAsyncError", comm());
    checkNccl(state, "the communicator", comm());
}

void Rank::abort() const {
    if (ncclComm_t comm = comm_->exchange(nullptr); comm != nullptr) {
        checkNccl(ncclCommAbort(comm), "ncclCommAbort");
    }
}

void Rank::exchange(std::size_t bytes, cudaStream_t stream) const {
    checkNccl(ncclAllGather(mine<std::byte>(), exchange_->all.data(), bytes, ncclUint8, comm(), stream),
              "ncclAllGather", comm());
}

void Rank::waitFor(cudaStream_t stream) const {
    const DeviceScope here(device_);
    for (;;) {
        const cudaError_t status = cudaStreamQuery(stream);
        if (status != cudaErrorNotReady) {
            Common::checkCUDAError(status, "cudaStreamQuery");
            break;
        }
        if (cudaPeekAtLastError() == cudaErrorNotReady) {
            cudaGetLastError();  // clears what is no failure, and nothing else
        }
        requireHealthy();
        std::this_thread::sleep_for(std::chrono::microseconds(10));
    }
    requireHealthy();
}

void Rank::synchronize(cudaStream_t stream) const {
    waitFor(stream);
    const DeviceScope here(device_);
    std::uint32_t failed = 0;
    Common::checkCUDAError(cudaMemcpyAsync(&failed, failure(), sizeof(failed), cudaMemcpyDeviceToHost, stream),
                           "cudaMemcpyAsync");
    Common::checkCUDAError(cudaMemsetAsync(failure(), 0, sizeof(failed), stream), "cudaMemsetAsync");
    Common::checkCUDAError(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    if (failed != 0) {
        throw std::invalid_argument("rank " + std::to_string(failed - 1) + " was called with invalid arguments");
    }
}

std::vector<SharedBuffer> SharedBuffer::allocate(std::span<const Rank> ranks, std::size_t bytes) {
    std::vector<SharedBuffer> buffers;
    for (const Rank& rank : ranks) {
        buffers.push_back(SharedBuffer(rank, bytes));
    }
    if (!ranks.front().reachesAllRanks()) {
        return buffers;
    }
    inGroup([&] {
        for (SharedBuffer& buffer : buffers) {
            const DeviceScope here(buffer.device_);
            checkNccl(ncclCommWindowRegister(*buffer.comm_, buffer.memory_, buffer.bytes_, &buffer.window_,
                                             NCCL_WIN_COLL_SYMMETRIC),
                      "ncclCommWindowRegister", *buffer.comm_);
        }
    });
    std::ranges::for_each(buffers, &SharedBuffer::requireReachable);
    return buffers;
}

SharedBuffer::SharedBuffer(const Rank& rank, std::size_t bytes)
    : comm_(rank.comm_),
      device_(rank.device()),
      bytes_(Common::divideRoundUp(std::max<std::size_t>(bytes, 1), NCCL_WIN_REQUIRED_ALIGNMENT) *
             NCCL_WIN_REQUIRED_ALIGNMENT) {
    const DeviceScope here(device_);
    checkNccl(ncclMemAlloc(&memory_, bytes_), "ncclMemAlloc", *comm_);
}

/// NCCL's windows are in device memory. Where kernels cannot reach the other ranks, it returns another handle.
void SharedBuffer::requireReachable() const {
    cudaPointerAttributes attributes{};
    Common::checkCUDAError(cudaPointerGetAttributes(&attributes, window_), "cudaPointerGetAttributes");
    if (attributes.type != cudaMemoryTypeDevice) {
        throw NcclError("ncclCommWindowRegister: kernels cannot reach the memory of the other ranks");
    }
}

SharedBuffer::~SharedBuffer() {
    if (memory_ == nullptr) {
        return;
    }
    int before = 0;
    cudaGetDevice(&before);
    cudaSetDevice(device_);
    cudaDeviceSynchronize();
    // An abort has ended the windows of its communicator.
    if (ncclComm_t comm = *comm_; comm != nullptr && window_ != nullptr) {
        (void)ncclCommWindowDeregister(comm, window_);
    }
    (void)ncclMemFree(memory_);
    cudaSetDevice(before);
}

SharedBuffer::SharedBuffer(SharedBuffer&& other) noexcept
    : comm_(std::move(other.comm_)),
      device_(other.device_),
      memory_(std::exchange(other.memory_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      window_(std::exchange(other.window_, nullptr)) {}

SharedBuffer& SharedBuffer::operator=(SharedBuffer&& other) noexcept {
    std::swap(comm_, other.comm_);
    std::swap(device_, other.device_);
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    std::swap(window_, other.window_);
    return *this;
}

}  // namespace StreamCompaction::Distributed
