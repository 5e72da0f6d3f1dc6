#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <type_traits>

#include "stream_compaction/common.cuh"
#include "stream_compaction/runtime/clear_words.cuh"
#include "stream_compaction/utf8/element.h"
#include "stream_compaction/utf8/types.h"

/// Initialises the result of a conversion in device memory, and reports to it.
namespace StreamCompaction::Utf8 {

/// Initialises a result; for clearWords().
struct BeginResult {
    Result* result;
    std::uint64_t count;

    __device__ void operator()() const { *result = {count, Result::noError}; }
};

/// Initialises a result if there is no scratch to clear.
inline void beginResult(Result* result, std::uint64_t count, cudaStream_t stream) {
    clearWords(nullptr, 0, stream, BeginResult{result, count});
}

/// The initial count of a result. In strict mode the smallest reported count is kept.
[[nodiscard]] __host__ __device__ constexpr std::uint64_t countAtBegin(Errors errors) {
    return errors == Errors::Strict ? Result::noError : 0;
}

/// The earliest error that has been reported by now.
[[nodiscard]] __device__ inline std::uint64_t reportedError(Result* result) {
    return __nv_atomic_load_n(&result->firstError, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
}

/// Keeps the earliest of the reported errors. `kindOf()` is asked for the kind only if this one is the earliest so far.
/// All reports compete for the same word, so only one thread per tile should report.
template <typename KindOf>
__device__ void reportError(Result* result, std::size_t offset, const KindOf& kindOf) {
    if (Result::errorAt(offset, ErrorKind::None) < reportedError(result)) {
        atomicMin(reinterpret_cast<unsigned long long*>(&result->firstError), Result::errorAt(offset, kindOf()));
    }
}

/// Keeps the smallest of the reported counts.
__device__ inline void reportCount(Result* result, std::uint64_t count) {
    atomicMin(reinterpret_cast<unsigned long long*>(&result->count), count);
}

/// Called by one thread of the last tile. Reports the number of elements, unless an error ends the text earlier.
template <Errors errors>
__device__ void reportEnd(Result* result, std::uint64_t count) {
    if constexpr (errors == Errors::Strict) {
        reportCount(result, count);
    } else {
        result->count = count;
    }
}

/// Checks the arrays of a conversion that writes at most `maxOut` elements.
template <typename From, typename To, typename Count>
void requireConversionArrays(const From* in, const To* out, const Result* result, const Count& n,
                             std::size_t maxOut = noLimit) {
    const std::size_t most = capacityOf(n);
    requireApart(n, {Arguments::array("in", in, most)},
                 {Arguments::array("out", out, std::min(most * mostElements<From, To>, maxOut)),
                  Arguments::array("result", result, 1)});
}

/// Calls `work` with the errors as a type, Always<errors>.
template <typename Work>
void withErrors(Errors errors, Work&& work) {
    switch (errors) {
        case Errors::Replace:
            return work(Always<Errors::Replace>{});
        case Errors::Skip:
            return work(Always<Errors::Skip>{});
        case Errors::Strict:
            return work(Always<Errors::Strict>{});
    }
    throw std::invalid_argument("errors: expected Replace, Skip or Strict");
}
template <Errors always, typename Work>
void withErrors(Always<always> errors, Work&& work) {
    work(errors);
}

}  // namespace StreamCompaction::Utf8
