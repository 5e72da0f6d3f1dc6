#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "stream_compaction/device_buffer.h"
#include "stream_compaction/distributed/nccl_check.h"
#include "stream_compaction/runtime/device_scope.h"
#include "stream_compaction/runtime/scratch.h"

namespace StreamCompaction::Distributed {

/// The most ranks that a communicator of this library has. The tables of a sort grow with the square of their number.
inline constexpr int mostRanks = 64;

/// The first part of what a rank tells all others in an exchange.
struct alignas(16) Header {
    std::uint32_t failed;  ///< 1 if the rank was called with invalid arguments, else 0
};
/// What a rank may tell in one exchange, however many ranks there are.
inline constexpr std::size_t slotBytes = std::size_t{72} << 10;
/// What all ranks together may tell in one exchange, if that is more.
inline constexpr std::size_t allSlotBytes = std::size_t{5} << 20;
/// What operations may keep between their kernels.
inline constexpr std::size_t stateBytes = std::size_t{128} << 10;

/// One rank of the caller's communicator, with the device memory by which ranks exchange small amounts.
///
/// The communicator is a blocking one. It and its device belong to the caller and outlive the rank. The calls of one
/// rank go to one stream, or to streams that wait for one another, because they share the memory of the exchange.
///
/// If several ranks of a process have a thread each, load kernels at the start (CUDA_MODULE_LOADING=EAGER). Otherwise
/// CUDA may wait for the device when it loads a kernel, while the device waits for another rank.
///
/// After an NcclError the device may wait for other ranks for ever, and so may whatever waits for the device: freeing
/// memory, and the destructors of this class and of SharedBuffer. So catch the error where the rank and its buffers
/// still exist, and call `abort` before anything else. Then destroy them in any order.
class Rank {
  public:
    /// Allocates, on the communicator's device, and synchronises it. Other ranks need not call. Throws NcclError,
    /// CudaError, and std::invalid_argument for more than `mostRanks` ranks.
    explicit Rank(ncclComm_t comm);

    /// The caller's communicator; null after `abort`.
    [[nodiscard]] ncclComm_t comm() const { return *comm_; }
    /// This rank, from 0 on.
    [[nodiscard]] int index() const { return index_; }
    /// The number of ranks.
    [[nodiscard]] int count() const { return count_; }
    /// The device of this rank.
    [[nodiscard]] int device() const { return device_; }

    /// Whether the ranks are near enough for kernels to write to the windows of all of them, over NVLink or PCIe. False
    /// for a rank alone, which has no window.
    [[nodiscard]] bool reachesAllRanks() const { return reachesAllRanks_; }

    /// What a rank may tell in one exchange.
    [[nodiscard]] std::size_t mostBytesTold() const { return std::max(slotBytes, allSlotBytes / count_); }
    /// What this rank tells the others, in device memory. Its header is zero.
    template <typename Slot>
    [[nodiscard]] Slot* mine() const {
        static_assert(sizeof(Slot) <= slotBytes);
        return reinterpret_cast<Slot*>(exchange_->mine.bytes().data());
    }
    /// What all ranks have told in the last exchange of such slots, in device memory and in the order of the ranks.
    template <typename Slot>
    [[nodiscard]] const Slot* all() const {
        return reinterpret_cast<const Slot*>(exchange_->all.bytes().data());
    }
    /// Device memory of this rank, for what operations keep between their kernels.
    template <typename State>
    [[nodiscard]] State* state() const {
        static_assert(sizeof(State) <= stateBytes);
        return reinterpret_cast<State*>(exchange_->state.bytes().data());
    }
    /// The rank that was called with invalid arguments, plus 1; 0 if there was none. In device memory.
    [[nodiscard]] std::uint32_t* failure() const { return exchange_->failure.data(); }
    /// Counts the blocks of a kernel that have finished. Zero between kernels. In device memory.
    [[nodiscard]] std::uint32_t* finishedBlocks() const { return exchange_->finishedBlocks.data(); }

    /// Throws NcclError if NCCL has noticed a failure, or after `abort`.
    void requireHealthy() const;

    /// Aborts the caller's communicator, which is gone afterwards: the caller does not destroy it. NCCL's work on the
    /// device ends, and the results of what the rank has enqueued are undefined. A second call does nothing. Another
    /// thread may call, to end the waiting of this rank's thread. Throws NcclError.
    void abort() const;

    /// Enqueues the exchange of the first `bytes` bytes of the slots. All ranks must call. Throws NcclError.
    void exchange(std::size_t bytes, cudaStream_t stream) const;

    /// Waits for the work on the stream. Throws NcclError if NCCL notices a failure meanwhile, rather than waiting for
    /// ever.
    void waitFor(cudaStream_t stream) const;

    /// The same. Also throws std::invalid_argument if a call since the last `synchronize` had invalid arguments on any
    /// rank.
    void synchronize(cudaStream_t stream) const;

  private:
    struct Exchange {
        DeviceBuffer<std::byte> mine;
        DeviceBuffer<std::byte> all;
        DeviceBuffer<std::byte> state;
        DeviceBuffer<std::uint32_t> failure;
        DeviceBuffer<std::uint32_t> finishedBlocks;
    };

    friend class SharedBuffer;

    /// Null after an abort. The rank's shared buffers have it, too.
    std::shared_ptr<std::atomic<ncclComm_t>> comm_;
    int index_ = 0;
    int count_ = 0;
    int device_ = 0;
    bool reachesAllRanks_ = false;
    std::unique_ptr<Exchange> exchange_;
};

/// Scratch that kernels of all ranks can write to, if `Rank::reachesAllRanks`.
struct SharedScratch {
    Scratch memory;       ///< of this rank
    ncclWindow_t window;  ///< the memories of all ranks; null where kernels do not reach them
};

/// Device memory of the same size on each rank. If kernels reach all ranks, it is registered as a window.
class SharedBuffer {
  public:
    /// The buffers of at least one rank of this process, on their devices. `bytes` is the same on all ranks. All ranks
    /// must call, and may wait for one another. Throws NcclError, also if ranks that are near cannot reach the windows
    /// (no peer access, or NCCL_WIN_ENABLE=0), and CudaError.
    ///
    /// If the memory of a device does not suffice, the call for it throws before it meets the others, because NCCL
    /// registers only memory. Calls of other threads and processes then wait until their ranks are aborted.
    [[nodiscard]] static std::vector<SharedBuffer> allocate(std::span<const Rank> ranks, std::size_t bytes);

    /// Deregisters and frees the memory. Synchronises the device. The communicator must still be there, unless
    /// `Rank::abort` has ended it. The rank may be gone.
    ~SharedBuffer();
    SharedBuffer(const SharedBuffer&) = delete;
    SharedBuffer& operator=(const SharedBuffer&) = delete;
    /// Takes the memory.
    SharedBuffer(SharedBuffer&& other) noexcept;
    /// Swaps the memories.
    SharedBuffer& operator=(SharedBuffer&& other) noexcept;

    /// The memory, to be lent to an operation.
    [[nodiscard]] SharedScratch scratch() const { return {{static_cast<std::byte*>(memory_), bytes_}, window_}; }

  private:
    SharedBuffer(const Rank& rank, std::size_t bytes);
    void requireReachable() const;

    std::shared_ptr<const std::atomic<ncclComm_t>> comm_;
    int device_ = 0;
    void* memory_ = nullptr;
    std::size_t bytes_ = 0;
    ncclWindow_t window_ = nullptr;
};

}  // namespace StreamCompaction::Distributed
