#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

/// Global memory of the devices.
namespace Simulator {

/// Memory of `bytes` bytes, aligned as by cudaMalloc or more, and filled with poison; nullptr if the device has no
/// more.
[[nodiscard]] void* allocate(std::size_t bytes, int device, std::size_t alignment = 256);
/// False if `memory` is not allocated.
[[nodiscard]] bool release(void* memory);
[[nodiscard]] std::size_t freeBytes(int device);
[[nodiscard]] bool isAllocated(const void* address);
/// The device whose memory has the address; -1 if it is not allocated.
[[nodiscard]] int deviceOf(const void* address);

enum class Space { Global, Shared, Other };

/// The memory that an address of the running block belongs to, and its offset in the allocation or in shared memory.
[[nodiscard]] Space spaceOf(const void* address);
[[nodiscard]] std::size_t offsetOf(const void* address);

/// Finds the shared arrays of this host thread.
void findSharedMemory();

/// Writes of one block that other blocks do not see yet. While the block runs, memory holds its writes. While it is
/// parked, memory holds the old contents. So the running block sees its own writes and all committed ones.
class StoreBuffer {
  public:
    /// Must be called before the write.
    void add(void* address, std::size_t bytes);

    /// park() takes the writes out of memory when another block runs; unpark() puts them back.
    void park();
    void unpark();

    /// Make writes visible for good: all of them, those to an address, or, of a parked block, those to the places for
    /// which `isChosen()` returns true. The 8 bytes of a place become visible together; apart from that, in any order.
    void commitAll();
    void commit(const void* address, std::size_t bytes);
    void commitSome(const std::function<bool()>& isChosen);

    [[nodiscard]] bool isParked() const { return isParked_; }

    unsigned lateness = 1;  ///< at each turn of others, some writes become visible with probability 1 / lateness

  private:
    static constexpr std::size_t place = 8;
    struct Write {
        std::byte* address;
        std::uint8_t bytes;
        std::array<std::byte, place> other;  ///< old contents while the block runs, new ones while it is parked
    };
    static void exchange(Write& write);
    [[nodiscard]] static std::uintptr_t placeOf(const void* address) {
        return reinterpret_cast<std::uintptr_t>(address) / place;
    }

    std::vector<Write> writes_;
    bool isParked_ = false;
};

}  // namespace Simulator
