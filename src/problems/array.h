#pragma once

#include <memory>
#include <new>
#include <vector>

namespace Bench {

/// Leaves new elements uninitialised.
template <typename T>
struct UninitializedAllocator : std::allocator<T> {
    template <typename U>
    void construct(U* place) noexcept {
        ::new (static_cast<void*>(place)) U;
    }
};

/// A vector that is not cleared before it is filled: with a gigabyte the one takes as long as the other.
template <typename T>
using Array = std::vector<T, UninitializedAllocator<T>>;

}  // namespace Bench
