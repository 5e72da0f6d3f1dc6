#pragma once

#include <cuda_runtime.h>

#include <concepts>
#include <cuda/std/limits>
#include <limits>
#include <type_traits>
#include <utility>

#include "stream_compaction/common.h"
#include "stream_compaction/runtime/requirements.h"

/// Operators of a scan.
///
/// An operator is associative: `op(op(a, b), c)` equals `op(a, op(b, c))`. It has an identity: `op(identity, a)` and
/// `op(a, identity)` equal a. It need not commute. If it does, it may say so by `isCommutative`, and a scan may then
/// combine neighbours in the order that suits it.
namespace StreamCompaction {

/// The part of these requirements that a compiler can check, for elements of type T.
template <typename Op, typename T>
concept OperatorOn = std::is_copy_constructible_v<Op> && requires(const Op op, const T& a, const T& b) {
    { op(a, b) } -> std::convertible_to<T>;
    { op.template identity<T>() } -> std::convertible_to<T>;
};

/// Refuses operators that scans of sums of type T cannot take.
template <typename T, typename Op>
[[nodiscard]] consteval bool isOperatorFor() {
    if constexpr (!isFunctionOf<Op, T, T>()) {
        return false;
    } else {
        static_assert(OperatorOn<Op, T>,
                      "an operator needs an identity, even beside an initial value: AssociativeOperator(identity, op)");
        return OperatorOn<Op, T>;
    }
}

/// Addition. Integers wrap around. The sum of bools is true if any of them is true.
struct Sum {
    static constexpr bool isCommutative = true;  ///< whether a scan may swap neighbours

    /// The value that changes no other.
    template <typename T>
    [[nodiscard]] __host__ __device__ constexpr T identity() const {
        return T{};
    }
    /// The result of two values.
    template <typename T>
    __host__ __device__ constexpr T operator()(const T& a, const T& b) const {
        return Common::wrappingAdd(a, b);
    }
};

/// The numeric limits of T: CUDA's, whose functions device code may call. Those of a type of yours are the standard
/// library's, with functions that are `__host__ __device__`.
template <typename T>
using Limits = std::conditional_t<cuda::std::numeric_limits<T>::is_specialized, cuda::std::numeric_limits<T>,
                                  std::numeric_limits<T>>;

/// Whether Max and Min have an identity among the values of T.
template <typename T>
inline constexpr bool hasLimits = Limits<T>::is_specialized;

/// Whether `a` is a NaN. False for types that have none.
template <typename T>
[[nodiscard]] __host__ __device__ constexpr bool isNan(const T& a) {
    if constexpr (Limits<T>::has_quiet_NaN) {
        return a != a;
    } else {
        return false;
    }
}

/// The greater of two values. A NaN is greater than all other values, as in `maximum` of IEEE 754-2019. The result is
/// NaN if any element is, which keeps the operator associative. -0 and +0 are equal, and the result may be either.
///
/// From compute capability 8.0 on, the card has an instruction for floats. It always returns the same NaN.
///
/// The identity is minus infinity, or the lowest value of a type without infinities. A type without numeric limits does
/// not compile.
struct Max {
    static constexpr bool isCommutative = true;  ///< whether a scan may swap neighbours

    /// The value that changes no other.
    template <typename T>
    [[nodiscard]] __host__ __device__ constexpr T identity() const {
        static_assert(hasLimits<T>, "no identity: specialise std::numeric_limits, or use AssociativeOperator");
        if constexpr (Limits<T>::has_infinity) {
            return -Limits<T>::infinity();
        } else {
            return Limits<T>::lowest();
        }
    }
    /// The result of two values.
    template <typename T>
    __host__ __device__ constexpr T operator()(const T& a, const T& b) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
        if constexpr (std::is_same_v<T, float>) {
            float result;
            asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
            return result;
        }
#endif
        return a < b || isNan(b) ? b : a;
    }
};

/// The lesser of two values. A NaN is less than all other values, as in `minimum` of IEEE 754-2019. The identity is
/// infinity, or the greatest value of a type without infinities. Otherwise like Max.
struct Min {
    static constexpr bool isCommutative = true;  ///< whether a scan may swap neighbours

    /// The value that changes no other.
    template <typename T>
    [[nodiscard]] __host__ __device__ constexpr T identity() const {
        static_assert(hasLimits<T>, "no identity: specialise std::numeric_limits, or use AssociativeOperator");
        if constexpr (Limits<T>::has_infinity) {
            return Limits<T>::infinity();
        } else {
            return Limits<T>::max();
        }
    }
    /// The result of two values.
    template <typename T>
    __host__ __device__ constexpr T operator()(const T& a, const T& b) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
        if constexpr (std::is_same_v<T, float>) {
            float result;
            asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
            return result;
        }
#endif
        return b < a || isNan(b) ? b : a;
    }
};

static_assert(OperatorOn<Sum, bool> && OperatorOn<Max, float> && OperatorOn<Min, int>);

/// An operator made of a function, such as a lambda, and its identity.
template <typename Value, typename Function>
class AssociativeOperator {
  public:
    /// The caller vouches that the function is associative and that the identity changes no value.
    AssociativeOperator(Value identity, Function function) : identity_(identity), function_(std::move(function)) {}

    /// The value that changes no other.
    template <typename T>
    [[nodiscard]] __host__ __device__ T identity() const {
        return identity_;
    }
    /// The result of two values.
    __host__ __device__ Value operator()(const Value& a, const Value& b) const { return function_(a, b); }

  private:
    Value identity_;
    Function function_;
};

/// Whether an operator says that it commutes.
template <typename Op>
[[nodiscard]] consteval bool isCommutative() {
    if constexpr (requires { Op::isCommutative; }) {
        return Op::isCommutative;
    } else {
        return false;
    }
}

}  // namespace StreamCompaction
