#pragma once

#include <cuda_runtime.h>

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

/// The greater of two; its identity is the least value of the type, minus infinity where there is one.
struct Max {
    static constexpr bool isCommutative = true;

    template <typename T>
    [[nodiscard]] __host__ __device__ constexpr T identity() const {
        using Limits = std::numeric_limits<T>;
        return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    }
    template <typename T>
    __host__ __device__ constexpr T operator()(const T& a, const T& b) const {
        return a < b ? b : a;
    }
};

/// The lesser of two; its identity is the greatest value of the type, infinity where there is one.
struct Min {
    static constexpr bool isCommutative = true;

    template <typename T>
    [[nodiscard]] __host__ __device__ constexpr T identity() const {
        using Limits = std::numeric_limits<T>;
        return Limits::has_infinity ? Limits::infinity() : Limits::max();
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
