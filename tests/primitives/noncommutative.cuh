#pragma once

#include "../device/device_fixture.cuh"
#include "stream_compaction/primitives/operators.cuh"

/// Operators that do not commute, so a wrong order gives a wrong sum.
namespace StreamCompaction::Testing {

/// The map x -> a x + b modulo 2^32: 8 bytes.
struct AffineMap {
    std::uint32_t a;
    std::uint32_t b;
};

struct Compose {
    template <typename T>
    [[nodiscard]] __host__ __device__ T identity() const {
        return {1, 0};
    }
    __host__ __device__ AffineMap operator()(const AffineMap& first, const AffineMap& second) const {
        return {first.a * second.a, first.b * second.a + second.b};
    }
};

/// A 2 x 2 matrix modulo 2^32: 16 bytes.
struct Matrix {
    std::uint32_t m[4];
};

struct Multiply {
    template <typename T>
    [[nodiscard]] __host__ __device__ T identity() const {
        return {{1, 0, 0, 1}};
    }
    __host__ __device__ Matrix operator()(const Matrix& x, const Matrix& y) const {
        return {{x.m[0] * y.m[0] + x.m[1] * y.m[2], x.m[0] * y.m[1] + x.m[1] * y.m[3],
                 x.m[2] * y.m[0] + x.m[3] * y.m[2], x.m[2] * y.m[1] + x.m[3] * y.m[3]}};
    }
};

/// Random values of a type. Floating-point values have exact sums. Maps and matrices are invertible, so products do not
/// become zero.
template <typename T>
struct RandomValue {
    std::uint64_t seed;
    __host__ __device__ T operator()(std::size_t i) const { return Summand<T>{seed}(i); }
};

template <>
struct RandomValue<AffineMap> {
    std::uint64_t seed;
    __host__ __device__ AffineMap operator()(std::size_t i) const {
        const std::uint64_t bits = randomBits(seed, i);
        return {static_cast<std::uint32_t>(bits) | 1, static_cast<std::uint32_t>(bits >> 32)};
    }
};

template <>
struct RandomValue<Matrix> {
    std::uint64_t seed;
    __host__ __device__ Matrix operator()(std::size_t i) const {
        const auto x = static_cast<std::uint32_t>(randomBits(seed, i));
        const auto y = static_cast<std::uint32_t>(randomBits(seed + 1, i));
        return {{1 + x * y, x, y, 1}};
    }
};

}  // namespace StreamCompaction::Testing
