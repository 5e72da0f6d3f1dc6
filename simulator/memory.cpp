#include "memory.h"

#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

#include "annotations.h"
#include "executor.h"
#include "simulator.h"

namespace Simulator {

namespace {

struct Allocation {
    std::size_t bytes;
    int device;
};
std::map<const std::byte*, Allocation, std::less<>>& allocations() {
    static auto& known = *new std::map<const std::byte*, Allocation,
                                       std::less<>>;  // never destroyed, because statics may free memory at exit
    return known;
}

}  // namespace

void* allocate(std::size_t bytes, int device, std::size_t alignment) {
    if (bytes > freeBytes(device)) {
        return nullptr;
    }
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    auto* const memory = static_cast<std::byte*>(std::aligned_alloc(alignment, rounded));
    if (memory == nullptr) {
        return nullptr;
    }
    constexpr int poison = 0xA5;
    std::memset(memory, poison, bytes);
    allowAccess(memory, bytes, rounded);
    allocations()[memory] = {bytes, device};
    return memory;
}

bool release(void* memory) {
    const auto known = allocations().find(static_cast<const std::byte*>(memory));
    if (known == allocations().end()) {
        return false;
    }
    allocations().erase(known);
    std::free(memory);
    return true;
}

std::size_t freeBytes(int device) {
    std::size_t free = card().memory;
    for (const auto& [begin, allocation] : allocations()) {
        free -= allocation.device == device ? std::min(free, allocation.bytes) : 0;
    }
    return free;
}

namespace {

struct Extent {
    const std::byte* begin = nullptr;
    const std::byte* end = nullptr;
    int device = -1;
    [[nodiscard]] bool contains(const void* address) const {
        const std::less<> before;
        return !before(address, begin) && before(address, end);
    }
};
thread_local Extent sharedArrays{};

Extent allocationOf(const void* address) {
    const auto behind = allocations().upper_bound(static_cast<const std::byte*>(address));
    if (behind == allocations().begin()) {
        return {};
    }
    const auto& [begin, allocation] = *std::prev(behind);
    return {begin, begin + allocation.bytes, allocation.device};
}
Extent dynamicShared() { return {dynamicSharedMemory(), dynamicSharedMemory() + dynamicSharedBytes()}; }

}  // namespace

void findSharedMemory() {
    dl_iterate_phdr(
        [](dl_phdr_info* module, std::size_t, void*) {
            for (int i = 0; i < module->dlpi_phnum; ++i) {
                if (module->dlpi_phdr[i].p_type == PT_TLS && module->dlpi_tls_data != nullptr) {
                    const auto* const begin = static_cast<const std::byte*>(module->dlpi_tls_data);
                    sharedArrays = {begin, begin + module->dlpi_phdr[i].p_memsz};
                    break;
                }
            }
            return 1;  // the first module is the program
        },
        nullptr);
}

bool isAllocated(const void* address) { return allocationOf(address).contains(address); }
int deviceOf(const void* address) { return isAllocated(address) ? allocationOf(address).device : -1; }

Space spaceOf(const void* address) {
    return sharedArrays.contains(address) || dynamicShared().contains(address) ? Space::Shared
           : isAllocated(address)                                              ? Space::Global
                                                                               : Space::Other;
}

std::size_t offsetOf(const void* address) {
    const Extent extent = sharedArrays.contains(address)      ? sharedArrays
                          : dynamicShared().contains(address) ? dynamicShared()
                                                              : allocationOf(address);
    return static_cast<std::size_t>(static_cast<const std::byte*>(address) - extent.begin);
}

namespace {

constexpr std::size_t dynamicBegin = std::size_t{1} << 30;  // in 32-bit addresses; the static part is below

}  // namespace

std::size_t sharedAddress(const void* pointer) {
    return offsetOf(pointer) + (dynamicShared().contains(pointer) ? dynamicBegin : 0);
}
void* sharedPointer(std::size_t address) {
    const std::byte* const pointer =
        address < dynamicBegin ? sharedArrays.begin + address : dynamicShared().begin + (address - dynamicBegin);
    return const_cast<std::byte*>(pointer);
}

void StoreBuffer::exchange(Write& write) {
    // Without memcpy, because the race detector watches it.
    for (std::size_t i = 0; i < write.bytes; ++i) {
        std::swap(write.address[i], write.other[i]);
    }
}

void StoreBuffer::add(void* address, std::size_t bytes) {
    auto* at = static_cast<std::byte*>(address);
    while (bytes > 0) {
        const std::size_t piece = std::min(bytes, place - reinterpret_cast<std::uintptr_t>(at) % place);
        Write& write = writes_.emplace_back(Write{at, static_cast<std::uint8_t>(piece), {}});
        std::memcpy(write.other.data(), at, piece);
        at += piece;
        bytes -= piece;
    }
}

void StoreBuffer::park() {
    std::for_each(writes_.rbegin(), writes_.rend(), exchange);
    isParked_ = true;
}

void StoreBuffer::unpark() {
    std::for_each(writes_.begin(), writes_.end(), exchange);
    isParked_ = false;
}

void StoreBuffer::commitAll() {
    if (isParked_) {
        std::for_each(writes_.begin(), writes_.end(), exchange);
    }
    writes_.clear();
}

void StoreBuffer::commit(const void* address, std::size_t bytes) {
    const auto* const begin = static_cast<const std::byte*>(address);
    const std::less<> before;
    std::erase_if(writes_, [&](const Write& write) {
        return before(write.address, begin + bytes) && before(begin, write.address + write.bytes);
    });
}

void StoreBuffer::commitSome(const std::function<bool()>& isChosen) {
    // Writes to the same place become visible together and in order.
    std::unordered_map<std::uintptr_t, bool> places;
    std::erase_if(writes_, [&](Write& write) {
        const auto [at, isNew] = places.try_emplace(placeOf(write.address));
        if (isNew) {
            at->second = isChosen();
        }
        if (at->second) {
            exchange(write);
        }
        return at->second;
    });
}

}  // namespace Simulator
