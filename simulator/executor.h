#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

/// Runs kernels on the host. A thread of a kernel is a fiber. A block is a host thread, so its `thread_local` variables
/// are the block's shared memory. One fiber runs at a time, in an order that only the seed decides, so runs can be
/// repeated.
namespace Simulator {

/// A launched kernel: its shape, and the function that each thread runs.
struct Grid {
    unsigned blocks;
    unsigned threads;
    std::size_t sharedBytes = 0;
    bool isTogether = false;  ///< all blocks are resident, so the grid (or cluster) has a barrier
    bool isEarly = false;     ///< may begin once all blocks of the previous grid have begun and allow it
    std::function<void()> thread;
    const char* name = "a kernel";
};

/// Runs consecutive grids of a stream. All but the first may begin early. Returns when all have ended.
void run(const std::vector<Grid>& grids);

/// Ends the program, and says how to repeat what it did.
[[noreturn]] void giveUp();

// The operations of a kernel's thread. Each is one step: other threads may run before it returns.

/// Waits for all threads of the block that have not ended. Returns how many of them passed true.
unsigned syncBlock(bool yes = true);
unsigned threadsNotEnded();

/// Arrive at the barrier of the grid or cluster, and wait there.
unsigned arriveAtGrid();
void waitForGrid(unsigned arrival);

/// Wait until the previous grid of the stream has ended; let the next one begin.
void waitForEarlierGrid();
void letLaterGridBegin();

/// Lets others run while a thread polls.
void poll();

/// A fence: makes all earlier writes of the block visible.
void fence();

/// Call before an atomic operation on global memory: makes the block's writes to that address visible. `isRead` means
/// that the operation changes nothing, so the thread may be polling.
void beforeAtomic(const void* address, std::size_t bytes, bool isRead, const char* operation);
/// Call before an atomic store without ordering. It may become visible late, like any other store.
void beforeRelaxedStore(void* address, std::size_t bytes);

/// The copy engine. A barrier in shared memory awaits arrivals and bytes. Copies are carried out when a thread asks
/// whether phase `parity` of the barrier is over.
void beginBarrier(std::uint64_t* barrier, std::uint32_t arrivals);
void arriveExpecting(std::uint64_t* barrier, std::uint32_t bytes);
void copyInBulk(void* to, const void* from, std::uint32_t bytes, std::uint64_t* barrier);
[[nodiscard]] bool hasTurned(const std::uint64_t* barrier, std::uint32_t parity);

/// The launch that the thread belongs to. Launches count from 1.
struct Launch {
    unsigned long long number;
    const char* name;
};
Launch currentLaunch();

/// Dynamic shared memory of the block; none while no block runs.
std::byte* dynamicSharedMemory();
std::size_t dynamicSharedBytes();

/// Converts between addresses in shared memory and 32-bit numbers.
std::size_t sharedAddress(const void* pointer);
void* sharedPointer(std::size_t address);

/// The values that the lanes of a warp exchange in one operation. Its functions are compiled with the executor, which
/// the race detector does not watch.
class Meeting {
  public:
    /// Whether the lane takes part.
    [[nodiscard]] bool has(unsigned lane) const;
    [[nodiscard]] std::uint64_t valueOf(unsigned lane) const;
    /// The lanes whose value is not 0.
    [[nodiscard]] std::uint32_t nonzero() const;

  protected:
    std::uint32_t mask_ = 0;
    std::uint32_t nonzero_ = 0;
    std::array<std::uint64_t, 32> values_;
};
/// Returns when all lanes of the mask have arrived. The result is valid until the thread waits again.
const Meeting& arrive(std::uint32_t mask, std::uint64_t value, const char* operation, bool ordersMemory);

/// Every lane of the mask contributes a value. Its result is read(valueOf, meeting), which must not wait.
template <typename T, typename Read>
auto exchange(std::uint32_t mask, T value, const char* operation, const Read& read) {
    static_assert(sizeof(T) <= sizeof(std::uint64_t));
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    const Meeting& meeting = arrive(mask, bits, operation, false);
    const auto valueOf = [&meeting](unsigned lane) {
        const std::uint64_t theirBits = meeting.valueOf(lane);
        T theirs;
        std::memcpy(&theirs, &theirBits, sizeof(T));
        return theirs;
    };
    return read(valueOf, meeting);
}

}  // namespace Simulator
