#pragma once

#include <cstddef>

/// Tells the sanitizers about kernels. ThreadSanitizer learns that each thread of a kernel is a thread, and what orders
/// their accesses to memory. AddressSanitizer learns which memory may be accessed. The executor itself is compiled
/// without them.
namespace Simulator {

#if defined(STREAM_COMPACTION_SIMULATED_RACES)

extern "C" {
void* __tsan_get_current_fiber();
void* __tsan_create_fiber(unsigned flags);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}

inline constexpr bool watchesRaces = true;

/// Accesses before release() are ordered before accesses after a later acquire().
struct Order {
    void release() { __tsan_release(this); }
    void acquire() { __tsan_acquire(this); }
};

/// A thread, as the race detector sees it.
class Watched {
  public:
    static Watched current() { return Watched(__tsan_get_current_fiber()); }
    static Watched create() { return Watched(__tsan_create_fiber(0)); }
    void enter() const {
        constexpr unsigned withoutOrder = 1;
        __tsan_switch_to_fiber(fiber_, withoutOrder);
    }

  private:
    explicit Watched(void* fiber) : fiber_(fiber) {}
    void* fiber_;
};

#else

inline constexpr bool watchesRaces = false;
struct Order {
    void release() {}
    void acquire() {}
};
struct Watched {
    static Watched current() { return {}; }
    static Watched create() { return {}; }
    void enter() const {}
};

#endif

#if defined(STREAM_COMPACTION_SIMULATED_ADDRESSES)

extern "C" {
void __asan_poison_memory_region(const volatile void* address, std::size_t size);
void __asan_unpoison_memory_region(const volatile void* address, std::size_t size);
}

/// Only the first `bytes` bytes of the `of` bytes from `begin` may be accessed.
inline void allowAccess(const std::byte* begin, std::size_t bytes, std::size_t of) {
    __asan_unpoison_memory_region(begin, bytes);
    __asan_poison_memory_region(begin + bytes, of - bytes);
}

#else

inline void allowAccess(const std::byte*, std::size_t, std::size_t) {}

#endif

}  // namespace Simulator
