#include <thrust/copy.h>
#include <thrust/equal.h>
#include <thrust/execution_policy.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

#include <cstdint>

#include "oracles.h"
#include "stream_compaction/common.cuh"
#include "stream_compaction/primitives/key_coding.cuh"

namespace StreamCompaction::Testing::Oracle {

template <typename T>
void scan(const T* in, T* out, std::size_t n) {
    thrust::exclusive_scan(thrust::cuda::par.on(cudaStreamLegacy), in, in + n, out, T{});
}

template <typename T>
std::size_t compact(const T* in, T* out, std::size_t n) {
    return thrust::copy_if(thrust::cuda::par.on(cudaStreamLegacy), in, in + n, out, IsNonzero{}) - out;
}

template <typename T>
void sort(const T* in, T* out, std::size_t n) {
    thrust::copy(thrust::cuda::par.on(cudaStreamLegacy), in, in + n, out);
    thrust::sort(thrust::cuda::par.on(cudaStreamLegacy), out, out + n);
}

template <typename T>
bool equal(const T* a, const T* b, std::size_t n) {
    const auto bits = [](const T* elements) { return reinterpret_cast<const BitsOf<T>*>(elements); };
    return thrust::equal(thrust::cuda::par.on(cudaStreamLegacy), bits(a), bits(a) + n, bits(b));
}

template void scan(const int*, int*, std::size_t);
template std::size_t compact(const int*, int*, std::size_t);
template void sort(const int*, int*, std::size_t);
template bool equal(const int*, const int*, std::size_t);

template void scan(const unsigned*, unsigned*, std::size_t);
template std::size_t compact(const unsigned*, unsigned*, std::size_t);
template void sort(const unsigned*, unsigned*, std::size_t);
template bool equal(const unsigned*, const unsigned*, std::size_t);

template void scan(const std::int64_t*, std::int64_t*, std::size_t);
template std::size_t compact(const std::int64_t*, std::int64_t*, std::size_t);
template void sort(const std::int64_t*, std::int64_t*, std::size_t);
template bool equal(const std::int64_t*, const std::int64_t*, std::size_t);

template void scan(const std::uint64_t*, std::uint64_t*, std::size_t);
template std::size_t compact(const std::uint64_t*, std::uint64_t*, std::size_t);
template void sort(const std::uint64_t*, std::uint64_t*, std::size_t);
template bool equal(const std::uint64_t*, const std::uint64_t*, std::size_t);

template void scan(const float*, float*, std::size_t);
template std::size_t compact(const float*, float*, std::size_t);
template void sort(const float*, float*, std::size_t);
template bool equal(const float*, const float*, std::size_t);

template void scan(const double*, double*, std::size_t);
template std::size_t compact(const double*, double*, std::size_t);
template void sort(const double*, double*, std::size_t);
template bool equal(const double*, const double*, std::size_t);

}  // namespace StreamCompaction::Testing::Oracle
