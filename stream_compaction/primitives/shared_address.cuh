#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

/// Addresses in shared memory as 32-bit numbers, for inner loops. With a pointer, the compiler adds the start of shared
/// memory to every offset anew.
namespace StreamCompaction::SharedAddress {

[[nodiscard]] __device__ inline std::uint32_t of(const void* pointer) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

[[nodiscard]] __device__ inline std::uint32_t loadWord(std::uint32_t address) {
    std::uint32_t word;
#if defined(__CUDA_ARCH__)
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(address) : "memory");
#else
    memcpy(&word, __cvta_shared_to_generic(address), sizeof(word));
#endif
    return word;
}

/// Two words at an address that is a multiple of 8.
[[nodiscard]] __device__ inline uint2 loadTwoWords(std::uint32_t address) {
    uint2 words;
#if defined(__CUDA_ARCH__)
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(words.x), "=r"(words.y) : "r"(address) : "memory");
#else
    memcpy(&words, __cvta_shared_to_generic(address), sizeof(words));
#endif
    return words;
}

/// Stores the lowest byte.
__device__ inline void storeByte(std::uint32_t address, std::uint32_t byte) {
#if defined(__CUDA_ARCH__)
    asm volatile("st.shared.u8 [%0], %1;" ::"r"(address), "r"(byte) : "memory");
#else
    *static_cast<std::uint8_t*>(__cvta_shared_to_generic(address)) = static_cast<std::uint8_t>(byte);
#endif
}

/// Adds 1 to a word, atomically. Lanes that meet at one word are counted in one step from compute capability 8.0 on.
__device__ inline void increment(std::uint32_t address) {
#if defined(__CUDA_ARCH__)
    asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(address) : "memory");
#else
    atomicAdd(static_cast<std::uint32_t*>(__cvta_shared_to_generic(address)), 1u);
#endif
}

}  // namespace StreamCompaction::SharedAddress
