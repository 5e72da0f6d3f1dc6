#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

/// Global memory of the card.
namespace Simulator {

/// Memory of so many bytes, aligned as that of cudaMalloc and filled with a poison; nullptr when the card has no more.
[[nodiscard]] void* allocate(std::size_t bytes);
/// False for what has not been allocated.
[[nodiscard]] bool release(void* memory);
[[nodiscard]] std::size_t allocatedBytes();
[[nodiscard]] bool isAllocated(const void* address);

enum class Space { Global, Shared, Other };

/// Where an address of a running block lies, and how far from the beginning of its allocation or shared memory.
[[nodiscard]] Space spaceOf(const void* address);
[[nodiscard]] std::size_t offsetOf(const void* address);

/// Notes where the shared arrays of this thread of the host are.
void findSharedMemory();

/// Writes of one block that the others do not see yet. While the block runs they are in memory; while it is parked the
/// old contents are there instead. So whoever runs sees the writes of its own block and those that have been committed.
class StoreBuffer {
  public:
    /// To be called before the write.
    void add(void* address, std::size_t bytes);

    /// Takes the writes out of memory when the block is parked, and puts them back when it goes on.
    void park();
    void unpark();

    /// Makes writes visible for good: all, those to an address, or, of a parked block, those to the places that
    /// `isChosen()` draws. Places of 8 bytes are seen as a whole; otherwise writes are seen in any order.
    void commitAll();
    void commit(const void* address, std::size_t bytes);
    void commitSome(const std::function<bool()>& isChosen);

    [[nodiscard]] bool isParked() const { return isParked_; }

    unsigned lateness = 1;  ///< some writes are seen once in so many turns of others

  private:
    static constexpr std::size_t place = 8;
    struct Write {
        std::byte* address;
        std::uint8_t bytes;
        std::array<std::byte, place> other;  ///< the old contents while the block runs, the new ones while it is parked
    };
    static void exchange(Write& write);
    [[nodiscard]] static std::uintptr_t placeOf(const void* address) {
        return reinterpret_cast<std::uintptr_t>(address) / place;
    }

    std::vector<Write> writes_;
    bool isParked_ = false;
};

}  // namespace Simulator
