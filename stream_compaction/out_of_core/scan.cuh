#pragma once

#include <cuda_runtime.h>

#include "stream_compaction/common.cuh"
#include "stream_compaction/out_of_core/arrays.h"
#include "stream_compaction/out_of_core/pipeline.h"
#include "stream_compaction/pinned_array.h"
#include "stream_compaction/single_pass.cuh"

namespace StreamCompaction::OutOfCore {

/// The elements whose inclusive scan is the scan of a chunk, when `carry` is the sum of all elements before the chunk.
template <typename In, typename T, typename Op>
struct WithCarry {
    const In* in;
    const T* carry;  ///< is read once
    bool isInclusive;
    Op op;

    __device__ T operator()(std::size_t i) const {
        if (isInclusive) {
            return i == 0 ? op(*carry, static_cast<T>(in[0])) : static_cast<T>(in[i]);
        }
        return i == 0 ? *carry : static_cast<T>(in[i - 1]);
    }
};

/// Makes `carry` the sum of all elements up to the end of a chunk, whose scan is `out`.
template <typename In, typename T, typename Op>
__global__ void kernAdvanceCarry(const In* in, const T* out, std::size_t n, T* carry, bool isInclusive, Op op) {
    *carry = isInclusive ? out[n - 1] : op(out[n - 1], static_cast<T>(in[n - 1]));
}

/// Scans the chunks one after the other. The sum that is carried from chunk to chunk lies in page-locked memory, which
/// every card can read and write. One thread reads it and one writes it, so its latency is paid once per chunk.
template <typename In, typename T, typename Op>
class ScanJob final : public Job {
  public:
    ScanJob(const SinglePass::Scan& scan, const In* in, T* out, Op op, T* carry)
        : inclusive_(scan),
          isInclusive_(scan.kind == SinglePass::ScanKind::Inclusive),
          in_(in),
          out_(out),
          op_(op),
          carry_(carry) {
        inclusive_.kind = SinglePass::ScanKind::Inclusive;
    }

    [[nodiscard]] Footprint footprint(std::size_t elements) const override {
        return {scratchBytesFor<In>(elements) + scratchBytesFor<T>(elements),
                inclusive_.scratchBytes(source(noArray<In>), noArray<T>, elements)};
    }

    [[nodiscard]] std::vector<Copy> up(const Chunk& chunk, const Place& place) override {
        return {{arrays(chunk, place).in, in_ + chunk.begin, chunk.size * sizeof(In)}};
    }

    void work(const Chunk& chunk, const Place& place, Scratch scratch, cudaStream_t stream) override {
        const Arrays on = arrays(chunk, place);
        inclusive_(source(on.in), on.out, chunk.size, op_, scratch, stream);
        kernAdvanceCarry<<<1, 1, 0, stream>>>(static_cast<const In*>(on.in), static_cast<const T*>(on.out), chunk.size,
                                              carry_, isInclusive_, op_);
        Common::checkCUDAError("kernAdvanceCarry");
    }

    [[nodiscard]] std::vector<Copy> down(const Chunk& chunk, const Place& place) override {
        return {{out_ + chunk.begin, arrays(chunk, place).out, chunk.size * sizeof(T)}};
    }

    [[nodiscard]] bool isChained() const override { return true; }

  private:
    struct Arrays {
        In* in;
        T* out;
    };
    [[nodiscard]] static Arrays arrays(const Chunk& chunk, const Place& place) {
        ScratchArena arena(place.memory, 0);
        In* const in = arena.take<In>(chunk.size);
        return {in, arena.take<T>(chunk.size)};
    }

    [[nodiscard]] auto source(const In* in) const {
        return generated(WithCarry<In, T, Op>{in, carry_, isInclusive_, op_});
    }

    SinglePass::Scan inclusive_;
    bool isInclusive_;
    const In* in_;
    T* out_;
    Op op_;
    T* carry_;
};

}  // namespace StreamCompaction::OutOfCore
