#pragma once

// The functions that kernels call. Each thread of a kernel is a fiber (executor.h). Names and meanings are CUDA's.

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "cuda_runtime_api.h"
#include "executor.h"
#include "simulator.h"

// The built-in variables of the running thread. One thread runs at a time.
inline uint3 threadIdx{};
inline uint3 blockIdx{};
inline dim3 blockDim{};
inline dim3 gridDim{};
inline constexpr int warpSize = 32;
#ifndef __clang__
#define __builtin_assume(...)
#endif

// The block.
inline void __syncthreads() { Simulator::syncBlock(); }
inline int __syncthreads_or(int predicate) { return static_cast<int>(Simulator::syncBlock(predicate != 0) > 0); }
inline int __syncthreads_and(int predicate) { return static_cast<int>(Simulator::syncBlock(predicate == 0) == 0); }

// The warp. Only __syncwarp orders memory.
inline void __syncwarp(std::uint32_t mask = ~0U) { Simulator::arrive(mask, 0, "__syncwarp", true); }
inline std::uint32_t __ballot_sync(std::uint32_t mask, int predicate) {
    return Simulator::arrive(mask, predicate != 0 ? 1 : 0, "__ballot_sync", false).nonzero();
}
inline int __any_sync(std::uint32_t mask, int predicate) {
    return static_cast<int>(__ballot_sync(mask, predicate) != 0);
}
inline int __all_sync(std::uint32_t mask, int predicate) {
    return static_cast<int>(__ballot_sync(mask, static_cast<int>(predicate == 0)) == 0);
}

namespace Simulator {

/// The value of lane `from` if it takes part, otherwise the thread's own.
template <typename T>
T shuffle(std::uint32_t mask, T value, unsigned from, const char* operation) {
    return exchange(mask, value, operation, [=](const auto& valueOf, const Meeting& meeting) {
        return from < 32 && meeting.has(from) ? valueOf(from) : value;
    });
}
inline unsigned lane() { return threadIdx.x % 32; }

}  // namespace Simulator

template <typename T>
T __shfl_sync(std::uint32_t mask, T value, int from) {
    return Simulator::shuffle(mask, value, static_cast<unsigned>(from) % 32, "__shfl_sync");
}
template <typename T>
T __shfl_up_sync(std::uint32_t mask, T value, unsigned distance) {
    return Simulator::shuffle(mask, value, Simulator::lane() - distance, "__shfl_up_sync");
}
template <typename T>
T __shfl_down_sync(std::uint32_t mask, T value, unsigned distance) {
    return Simulator::shuffle(mask, value, Simulator::lane() + distance, "__shfl_down_sync");
}
template <typename T>
T __shfl_xor_sync(std::uint32_t mask, T value, int lanes) {
    return Simulator::shuffle(mask, value, Simulator::lane() ^ static_cast<unsigned>(lanes), "__shfl_xor_sync");
}
/// A card has the instruction from compute capability 8.0 on.
template <typename T>
T __reduce_add_sync(std::uint32_t mask, T value) {
    return Simulator::exchange(mask, value, "__reduce_add_sync",
                               [](const auto& valueOf, const Simulator::Meeting& meeting) {
                                   T sum{};
                                   for (unsigned lane = 0; lane < warpSize; ++lane) {
                                       sum += meeting.has(lane) ? valueOf(lane) : T{};
                                   }
                                   return sum;
                               });
}

// Memory.
inline void __nanosleep(unsigned) { Simulator::poll(); }
inline void __threadfence() { Simulator::fence(); }
inline void __threadfence_system() { Simulator::fence(); }
template <typename T>
T __ldcg(const T* from) {
    return *from;
}
template <typename T>
T __ldcs(const T* from) {
    return *from;
}
template <typename T>
void __stcg(T* to, std::type_identity_t<T> value) {
    *to = value;
}
inline bool __isGlobal(const void*) { return true; }

inline std::size_t __cvta_generic_to_shared(const void* pointer) { return Simulator::sharedAddress(pointer); }
inline void* __cvta_shared_to_generic(std::size_t address) { return Simulator::sharedPointer(address); }

// Launches that begin early.
inline void cudaGridDependencySynchronize() { Simulator::waitForEarlierGrid(); }
inline void cudaTriggerProgrammaticLaunchCompletion() { Simulator::letLaterGridBegin(); }

// Loops in graphs.
void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value);

// Atomic operations. They act on memory itself and bypass writes of the block that are not visible yet.

namespace Simulator {

template <typename T, typename Change>
[[gnu::no_sanitize("kernel-address")]] T changeAtomically(T* at, const Change& change) {
    T old = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(at, &old, change(old), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return old;
}

}  // namespace Simulator

constexpr int __NV_ATOMIC_RELAXED = __ATOMIC_RELAXED;
enum { __NV_THREAD_SCOPE_BLOCK, __NV_THREAD_SCOPE_DEVICE };
template <typename T>
[[gnu::no_sanitize("kernel-address")]] T __nv_atomic_load_n(T* from, int order, int) {
    Simulator::beforeAtomic(from, sizeof(T), true, "atomic load");
    return __atomic_load_n(from, order);
}
template <typename T>
[[gnu::no_sanitize("kernel-address")]] void __nv_atomic_store_n(T* to, std::type_identity_t<T> value, int order, int) {
    Simulator::beforeRelaxedStore(to, sizeof(T));
    __atomic_store_n(to, value, order);
}
template <typename T>
T atomicAdd(T* to, std::type_identity_t<T> x) {
    Simulator::beforeAtomic(to, sizeof(T), x == T{}, "atomicAdd");
    return Simulator::changeAtomically(to, [x](T old) { return static_cast<T>(old + x); });
}
template <typename T>
T atomicMin(T* to, std::type_identity_t<T> x) {
    Simulator::beforeAtomic(to, sizeof(T), false, "atomicMin");
    return Simulator::changeAtomically(to, [x](T old) { return std::min(old, x); });
}
template <typename T>
T atomicOr(T* to, std::type_identity_t<T> x) {
    Simulator::beforeAtomic(to, sizeof(T), x == T{}, "atomicOr");
    return Simulator::changeAtomically(to, [x](T old) { return static_cast<T>(old | x); });
}

// Arithmetic.
template <typename T>
constexpr T min(T a, T b) {
    return b < a ? b : a;
}
template <typename T>
constexpr T max(T a, T b) {
    return a < b ? b : a;
}
inline int __popc(unsigned x) { return std::popcount(x); }
inline int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return std::countl_zero(static_cast<unsigned long long>(x)); }
inline int __ffs(int x) { return x == 0 ? 0 : std::countr_zero(static_cast<unsigned>(x)) + 1; }
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((std::uint64_t{high} << 32 | low) >> (shift & 31));
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((std::uint64_t{high} << 32 | low) << (shift & 31) >> 32);
}
inline unsigned __vmaxu2(unsigned a, unsigned b) {
    return std::max(a >> 16, b >> 16) << 16 | std::max(a & 0xFFFF, b & 0xFFFF);
}
inline unsigned __vminu2(unsigned a, unsigned b) {
    return std::min(a >> 16, b >> 16) << 16 | std::min(a & 0xFFFF, b & 0xFFFF);
}
