#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "stream_compaction/primitives/block.cuh"
#include "stream_compaction/primitives/last_block.cuh"
#include "stream_compaction/primitives/occupancy.cuh"
#include "stream_compaction/radix_sort/onesweep.cuh"
#include "stream_compaction/radix_sort/span_sort.cuh"

/// The end of a sort in shared memory. Passes sort by the highest digits alone. Keys with the same highest bits, a
/// span, are then neighbours, and one block sorts them by the other bits.
namespace StreamCompaction::Radix {

/// What becomes of a sort that may end in spans.
struct SpanState {
    bool mayEnd;               ///< the spans are likely to be small enough
    std::uint32_t failed;      ///< 1 if a span is larger than a block can sort
    unsigned long long pairs;  ///< of keys of the sample that lie in one span
    std::size_t n;
    SpanBits bits;
    unsigned firstSpan;   ///< those before it are empty
    unsigned endSpan;     ///< this one and those behind it are empty
    unsigned sampled;     ///< blocks that have finished
    unsigned found;       ///< blocks that have finished
    std::uint64_t taken;  ///< the tickets of blocks that sort spans one after the other
};

/// Whether no span is likely to have more than `mostElements` of n keys, if `pairs` pairs of `samples` keys share a
/// span. Keys that are distributed evenly have the fewest such pairs.
[[nodiscard]] __device__ inline bool areSpansEven(double pairs, double samples, double n, double spans,
                                                  double mostElements) {
    const double even = samples * (samples - 1) / 2 / spans;
    constexpr double deviations = 5;  // hardly a span is further from the mean
    const double room = (mostElements * spans / n - 1) / deviations;
    return pairs - even <= max(room * room * even, 4 * sqrt(even));
}

/// Plans the passes of the highest digits. The last one writes codes to the spare array.
__device__ inline void planHighest(Plan& highest, SpanBits bits, bool areNeeded) {
    const auto targetOf = [&](int pass) { return (bits.passes() - pass) % 2 == 0 ? Buffer::Out : Buffer::Spare; };
    for (int pass = 0; pass < bits.passes(); ++pass) {
        const int digit = bits.firstDigit + pass;
        const bool isFirst = pass == 0;
        highest.tickets[digit] = 0;
        highest.passes[digit] = {.isNeeded = areNeeded,
                                 .isFirst = isFirst,
                                 .encodes = isFirst,
                                 .decodes = false,
                                 .order = pass,
                                 .from = isFirst ? Buffer::In : targetOf(pass - 1),
                                 .to = targetOf(pass)};
    }
}

/// Whether many keys share their highest digit. Called by all threads of a block with one per digit value.
[[nodiscard]] __device__ inline bool isHighestDigitUneven(const Plan& plan, std::size_t n, SpanBits bits) {
    constexpr std::size_t most = 32;  // of n keys, those with one digit may be n / most
    const std::uint64_t* const start = plan.starts[bits.digits - 1] + threadIdx.x;
    const std::uint64_t end = threadIdx.x + 1 < digitValues ? start[1] : n;
    return __syncthreads_or(end - *start > n / most) != 0;
}

/// How many blocks sample n keys: each thread one of 512.
[[nodiscard]] __host__ __device__ inline std::size_t samplingBlocks(std::size_t n) {
    constexpr std::size_t keysPerSampledKey = 512;
    return Common::divideRoundUp(n, keysPerSampledKey * digitValues);
}

/// Decides whether the sort ends in spans, by a sample, and plans the passes of the highest digits. `plan` is that of a
/// sort by all digits. `counts` has one counter per span. It and the state are zero before. The number of keys decides
/// how many spans there are. `firstDigit` follows from the capacity, if only the device knows the number.
///
/// Work O(samples). Latency is the limit. If many keys share their highest digit, there is no sample, because its
/// additions would wait for one another. There is none either of fewer than `leastElements` keys.
template <typename Spans, typename Count>
__global__ void __launch_bounds__(digitValues)
    kernPlanSpans(Count number, const typename Spans::Code* keys, KeyCoding<typename Spans::Code> coding,
                  std::uint32_t* counts, SpanState* state, const Plan* plan, Plan* highest, int firstDigit,
                  std::size_t leastElements) {
    using Bits = typename Spans::Code;
    const std::size_t n = numberOf(number);
    SpanBits bits = Spans::bitsFor(n);
    bits.firstDigit = firstDigit;
    if (n < leastElements || isHighestDigitUneven(*plan, n, bits)) {
        if (blockIdx.x == 0 && threadIdx.x == 0) {
            planHighest(*highest, bits, false);
        }
        return;
    }

    __shared__ unsigned long long slots[digitValues / Warp::lanes];
    const std::size_t blocks = samplingBlocks(n);
    const std::size_t samples = blocks * digitValues;
    if (blockIdx.x < blocks) {
        const std::size_t part = n / samples;
        const std::size_t thread = Common::globalThreadIndex();
        // Keys at equal distances could be alike.
        const std::size_t at = thread * part + (static_cast<std::uint32_t>(thread) * 2654435769u >> 8) % part;
        const Bits code = coding.encode(keys[at]);
        const std::uint32_t before = atomicAdd(&counts[code >> bits.shift<Bits>()], 1u);
        const unsigned long long pairs =
            Block::reduce<digitValues / Warp::lanes>(static_cast<unsigned long long>(before), slots, Sum{});
        if (threadIdx.x == 0) {
            atomicAdd(&state->pairs, pairs);
        }
    }
    if (!Block::isLastToFinish(&state->sampled)) {
        return;
    }

    for (int digit = bits.firstDigit; digit < bits.digits; ++digit) {
        highest->starts[digit][threadIdx.x] = plan->starts[digit][threadIdx.x];
    }
    if (threadIdx.x == 0) {
        int needed = 0;
        for (int digit = 0; digit < bits.digits; ++digit) {
            needed += plan->passes[digit].isNeeded ? 1 : 0;
        }
        // If a sort by all digits has only one pass more, it takes less time.
        const bool mayEnd =
            needed > bits.passes() + 1 &&
            areSpansEven(static_cast<double>(__ldcg(&state->pairs)), static_cast<double>(samples),
                         static_cast<double>(n), static_cast<double>(bits.spans()), Spans::mostElements);
        state->mayEnd = mayEnd;
        state->n = n;
        state->bits = bits;
        state->endSpan = static_cast<unsigned>(bits.spans());
        planHighest(*highest, bits, mayEnd);
    }
}

/// The number of elements of `codes` that lie in spans before `span`. Passes have sorted the codes by their highest
/// bits. If codes are distributed evenly, one tells about how far away another is. So there are three random reads
/// instead of a dozen (Peterson's interpolation search, 1957).
template <typename Bits>
[[nodiscard]] __device__ std::size_t elementsBefore(std::size_t span, const Bits* codes, std::size_t n, SpanBits bits) {
    const auto isBefore = [&](std::size_t i) { return codes[i] >> bits.shift<Bits>() < span; };
    const auto last = static_cast<double>(n);
    const double firstCode = ldexp(static_cast<double>(span), bits.shift<Bits>());
    double guess = last * static_cast<double>(span) / static_cast<double>(bits.spans());
    for (int i = 0; i < 2; ++i) {
        const auto at = static_cast<std::size_t>(min(guess, last - 1));
        const double away = firstCode - static_cast<double>(codes[at]);
        guess = max(0.0, min(last, guess + ldexp(away * last, -static_cast<int>(8 * sizeof(Bits)))));
    }

    constexpr std::size_t leastStep = 32;
    auto end = static_cast<std::size_t>(guess);
    std::size_t begin = end;
    for (std::size_t step = leastStep; begin > 0 && !isBefore(begin - 1); step *= 2) {
        begin -= min(begin, step);
    }
    for (std::size_t step = leastStep; end < n && isBefore(end); step *= 2) {
        begin = end + 1;
        end += min(n - end, step);
    }
    while (begin < end) {
        const std::size_t middle = begin + (end - begin) / 2;
        if (isBefore(middle)) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin;
}

/// Finds where the spans begin in `codes`. Warps overlap by a lane, so that each lane learns where the next span
/// begins. The last block plans the passes of all digits: none if the spans are small enough. Each pass so far has
/// cleared the statuses of the next one, so the order of these goes on.
///
/// Work and steps O(log n) per span. Latency is the limit.
template <typename Bits>
__global__ void kernFindSpans(std::size_t* begins, SpanState* state, Plan* plan, const Bits* codes, int mostElements) {
    waitForEarlierKernels();
    if (!state->mayEnd) {
        return;
    }
    const SpanBits bits = state->bits;
    const std::size_t thread = Common::globalThreadIndex();
    const std::size_t span = thread - thread / Warp::lanes;
    const std::size_t begin = elementsBefore(span, codes, state->n, bits);
    const std::size_t next = Warp::broadcast(begin, min(Warp::lane() + 1, Warp::lanes - 1));
    if (Warp::lane() < Warp::lanes - 1 && span <= bits.spans()) {
        begins[span] = begin;
        if (next - begin > static_cast<std::size_t>(mostElements)) {
            atomicOr(&state->failed, 1u);
        }
    }
    if (Block::isLastToFinish(&state->found) && threadIdx.x == 0) {
        const bool hasFailed = __ldcg(&state->failed) != 0;
        for (int digit = 0; digit < bits.digits; ++digit) {
            plan->passes[digit].isNeeded = plan->passes[digit].isNeeded && hasFailed;
            plan->passes[digit].order += bits.passes();
        }
    }
}

/// Sorts the spans. If the host knows the number of keys, each block has one, and `bits` are what the keys of a span
/// share. Otherwise a block sorts one after the other of those that there are. The output may be the input.
///
/// Work O(n), steps O(spans / resident blocks). Reads and writes each element once, 8 bytes per 4-byte key. The
/// accesses to shared memory are the limit, some 20 per 32 keys.
template <typename Spans, typename Count>
__global__ void __launch_bounds__(Spans::threads, blocksThatFit(Spans::threads, Spans::blocks))
    kernSortSpans(typename Spans::Array out, typename Spans::ConstArray in, const std::size_t* begins, SpanState* state,
                  [[maybe_unused]] int bits, KeyCoding<typename Spans::Code> coding) {
    waitForEarlierKernels();
    if (!state->mayEnd || state->failed != 0) {
        return;
    }
    auto& storage = dynamicShared<typename Spans::Storage>();
    const auto sort = [&](unsigned span, int shared) {
        const std::size_t begin = begins[span];
        const int size = static_cast<int>(begins[span + 1] - begin);
        Spans::template sort<isOnDevice<Count>>(storage, size, out.behind(begin), in.behind(begin), span, shared,
                                                coding);
    };
    if constexpr (isOnDevice<Count>) {
        __shared__ int sharedSpan;
        const int spanBits = state->bits.bits;
        const unsigned first = state->firstSpan;
        forEachTileInAnyOrder<Count>(static_cast<int>(state->endSpan - first), &state->taken, sharedSpan,
                                     [&](int span) { sort(first + static_cast<unsigned>(span), spanBits); });
    } else {
        sort(blockIdx.x, bits);
    }
}

}  // namespace StreamCompaction::Radix
