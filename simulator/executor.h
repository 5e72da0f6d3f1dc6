#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

/// Runs kernels on the host. A thread of a kernel is a fiber; a block is a thread of the host, so that `thread_local`
/// is its shared memory. One fiber runs at a time: the blocks hand on a baton, so a run repeats itself.
namespace Simulator {

/// A kernel on its way: its shape, and what each of its threads does.
struct Grid {
    unsigned blocks;
    unsigned threads;
    std::size_t sharedBytes = 0;
    bool isTogether = false;  ///< all blocks at once, so that the grid, or the cluster that it is, has a barrier
    bool isEarly = false;     ///< may begin when all blocks of the one before have begun and let it
    std::function<void()> thread;
    const char* name = "a kernel";
};

/// Runs grids that follow one another in a stream, all of which but the first may begin early. Returns when all have
/// ended.
void run(const std::vector<Grid>& grids);

// What a thread of a kernel may do. Each is one step of the thread: others may run before it returns.

/// Waits for all threads of the block that have not ended; returns how many of them said yes.
unsigned syncBlock(bool yes = true);
unsigned threadsNotEnded();

/// Arrives at the barrier of the grid or cluster, and waits there.
unsigned arriveAtGrid();
void waitForGrid(unsigned arrival);

/// Waits until the grid before this one in the stream has ended; lets the one behind it begin.
void waitForEarlierGrid();
void letLaterGridBegin();

/// For whoever polls: lets others run.
void poll();

/// Makes all writes of the block visible to the others, in the order of a fence.
void fence();

/// Ahead of an atomic operation on global memory: what the block has written there is seen. `isRead` says that nothing
/// changes, so that the thread may be polling.
void beforeAtomic(const void* address, std::size_t bytes, bool isRead, const char* operation);
/// Ahead of an atomic store that orders nothing: it may be seen late, like any other.
void beforeRelaxedStore(void* address, std::size_t bytes);

/// The copy engine: a barrier in shared memory that awaits arrivals and bytes, and copies that end when somebody asks
/// the barrier whether its phase `parity` is over.
void beginBarrier(std::uint64_t* barrier, std::uint32_t arrivals);
std::uint64_t arriveExpecting(std::uint64_t* barrier, std::uint32_t bytes);
void copyInBulk(void* to, const void* from, std::uint32_t bytes, std::uint64_t* barrier);
[[nodiscard]] bool hasTurned(const std::uint64_t* barrier, std::uint32_t parity);

/// Copies of this thread, which are carried out when it waits for them.
void copyLater(void* to, const void* from, std::size_t bytes);
void finishCopies();

/// The launch that the thread belongs to; they count from 1.
struct Launch {
    unsigned long long number;
    const char* name;
};
Launch currentLaunch();

/// Dynamic shared memory of the block.
std::byte* dynamicSharedMemory();
std::size_t dynamicSharedBytes();

/// An address in shared memory as a number of 32 bits, and back.
std::size_t sharedAddress(const void* pointer);
void* sharedPointer(std::size_t address);

/// What the lanes of a warp bring to where they meet.
struct Meeting {
    std::uint32_t mask = 0;
    std::uint32_t nonzero = 0;  ///< lanes that brought something else than 0
    std::array<std::uint64_t, 32> values;
};
/// Returns when all lanes of the mask have come.
Meeting arrive(std::uint32_t mask, std::uint64_t value, const char* operation, bool ordersMemory);

/// All lanes of the mask bring a value; what each reads of them, by read(valueOf, meeting), is its result.
template <typename T, typename Read>
auto exchange(std::uint32_t mask, T value, const char* operation, const Read& read) {
    static_assert(sizeof(T) <= sizeof(std::uint64_t));
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    const Meeting meeting = arrive(mask, bits, operation, false);
    const auto valueOf = [&meeting](unsigned lane) {
        T theirs;
        std::memcpy(&theirs, &meeting.values[lane], sizeof(T));
        return theirs;
    };
    return read(valueOf, meeting);
}

}  // namespace Simulator
