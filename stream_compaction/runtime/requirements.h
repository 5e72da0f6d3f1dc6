#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include "stream_compaction/runtime/arguments.h"

/// What operations ask of your types and functions. Each refusal is one static_assert. A check returns whether it
/// holds, so that nothing else is compiled, and no other error is printed, where it does not.
namespace StreamCompaction {

/// Refuses types that kernels cannot keep in registers or copy as bytes.
template <typename... T>
[[nodiscard]] consteval bool areElements() {
    constexpr bool canBeMade = (std::is_default_constructible_v<T> && ...);
    constexpr bool canBeCopied = (std::is_trivially_copyable_v<T> && ...);
    static_assert(canBeMade, "elements, values and sums need a default constructor");
    static_assert(canBeCopied, "elements, values and sums have to be trivially copyable");
    return canBeMade && canBeCopied;
}

/// Whether this is a lambda that only device code can call. For host code nvcc puts a type in its place whose call
/// operator is not const.
template <typename Function>
inline constexpr bool isDeviceLambda =
#if defined(__NVCC__)
    __nv_is_extended_device_lambda_closure_type(Function);
#else
    false;
#endif

/// Refuses functions that a kernel cannot call with constants of these types: kernels get a function as a constant.
template <typename Function, typename... Arguments>
[[nodiscard]] consteval bool isFunctionOf() {
    constexpr bool isCallable = isDeviceLambda<Function> || std::is_invocable_v<const Function&, const Arguments&...>;
    constexpr bool isCallableUnlessConst = !isCallable && std::is_invocable_v<Function&, const Arguments&...>;
    static_assert(!isCallableUnlessConst, "the call operator of the function has to be const");
    static_assert(isCallable || isCallableUnlessConst, "the function cannot be called with elements of these types");
    return isCallable;
}

/// Where an operation writes a number of elements: a std::size_t in device memory, or another integer of its size.
class CountPointer {
  public:
    /// The std::size_t itself. May be null where a null pointer is refused later.
    CountPointer(std::size_t* count) : count_(count) {}  // NOLINT(google-explicit-constructor): an argument

    /// Another integer of 8 bytes. Refuses all other types.
    template <typename T>
    CountPointer(T* count)  // NOLINT(google-explicit-constructor): an argument
        : count_(reinterpret_cast<std::size_t*>(const_cast<std::remove_const_t<T>*>(count))) {
        static_assert(std::integral<T> && !std::is_const_v<T> && sizeof(T) == sizeof(std::size_t),
                      "a count is a std::size_t in device memory");
    }

    /// What kernels get.
    operator std::size_t*() const { return count_; }  // NOLINT(google-explicit-constructor): it is one

  private:
    std::size_t* count_;
};

namespace Arguments {

/// The memory of n counts, which may not be null.
[[nodiscard]] inline Region array(const char* name, CountPointer counts, std::size_t n) {
    return array<std::size_t>(name, counts, n);
}

}  // namespace Arguments
}  // namespace StreamCompaction
