#pragma once

#include <cuda_runtime.h>

#include <cuda/std/limits>
#include <limits>
#include <type_traits>
#include <utility>

#include "stream_compaction/common.h"

/// Operators of a scan. An operator is associative: `op(op(a, b), c)` equals `op(a, op(b, c))`. It has an identity,
/// `op.template identity<T>()`, and need not commute unless it says so by `isCommutative`, which lets a scan add up
/// what lies side by side in the order that suits it.
namespace StreamCompaction {

/// Addition; integers wrap around.
struct Sum {
    static constexpr bool isCommutative = true;

    template <typename T>
    [[nodiscard]] __host__ __device__ constexpr T identity() const {
        return T{};
    }
    template <typename T>
    __host__ __device__ constexpr T operator()(const T& a, const T& b) const {
        return Common::wrappingAdd(a, b);
    }
};

/// The numeric limits of T: the standard library's or, as for __half and __nv_bfloat16, CUDA's.
template <typename T>
using Limits =
    std::conditional_t<std::numeric_limits<T>::is_specialized, std::numeric_limits<T>, cuda::std::numeric_limits<T>>;

/// Whether Max and Min have an identity among the values of T.
template <typename T>
inline constexpr bool hasLimits = Limits<T>::is_specialized;

/// The greater of two. Its identity is the least value of the type, minus infinity where there is one; a type without
/// numeric limits does not compile.
///
/// The input must hold no NaN: every comparison with a NaN is false, so that Max and Min are not associative then, and
/// which elements the result leaves out is unspecified. Of -0 and +0, which are equal, either may come out.
struct Max {
    static constexpr bool isCommutative = true;

    template <typename T>
    [[nodiscard]] __host__ __device__ constexpr T identity() const {
        static_assert(hasLimits<T>, "no identity: specialise std::numeric_limits, or use AssociativeOperator");
        if constexpr (Limits<T>::has_infinity) {
            return -Limits<T>::infinity();
        } else {
            return Limits<T>::lowest();
        }
    }
    template <typename T>
    __host__ __device__ constexpr T operator()(const T& a, const T& b) const {
        return a < b ? b : a;
    }
};

/// The lesser of two, like Max in everything else; its identity is the greatest value of the type, infinity where there
/// is one.
struct Min {
    static constexpr bool isCommutative = true;

    template <typename T>
    [[nodiscard]] __host__ __device__ constexpr T identity() const {
        static_assert(hasLimits<T>, "no identity: specialise std::numeric_limits, or use AssociativeOperator");
        if constexpr (Limits<T>::has_infinity) {
            return Limits<T>::infinity();
        } else {
            return Limits<T>::max();
        }
    }
    template <typename T>
    __host__ __device__ constexpr T operator()(const T& a, const T& b) const {
        return b < a ? b : a;
    }
};

/// An operator made of a function, such as a lambda, and its identity.
template <typename Value, typename Function>
class AssociativeOperator {
  public:
    AssociativeOperator(Value identity, Function function) : identity_(identity), function_(std::move(function)) {}

    template <typename T>
    [[nodiscard]] __host__ __device__ T identity() const {
        return identity_;
    }
    __host__ __device__ Value operator()(const Value& a, const Value& b) const { return function_(a, b); }

  private:
    Value identity_;
    Function function_;
};

template <typename Op>
[[nodiscard]] constexpr bool isCommutative() {
    if constexpr (requires { Op::isCommutative; }) {
        return Op::isCommutative;
    } else {
        return false;
    }
}

}  // namespace StreamCompaction
