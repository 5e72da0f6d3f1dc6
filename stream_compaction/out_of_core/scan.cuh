#pragma once

#include <cuda_runtime.h>

#include "stream_compaction/common.cuh"
#include "stream_compaction/out_of_core/arrays.h"
#include "stream_compaction/out_of_core/pipeline.h"
#include "stream_compaction/pinned_array.h"
#include "stream_compaction/single_pass.cuh"

namespace StreamCompaction::OutOfCore {

/// Makes `carry` the sum of all elements up to the end of a chunk, whose scan is `out`. One thread.
template <typename In, typename T, typename Op>
__global__ void kernAdvanceCarry(const In* in, const T* out, std::size_t n, T* carry, bool isInclusive, Op op) {
    *carry = isInclusive ? out[n - 1] : op(out[n - 1], static_cast<T>(in[n - 1]));
}

/// Scans the chunks one after the other. The sum that is carried from chunk to chunk lies in page-locked memory, which
/// every card can read and write.
template <typename In, typename T, typename Op>
class ScanJob final : public Job {
  public:
    ScanJob(const SinglePass::Scan& scan, const In* in, T* out, Op op, T* carry)
        : scan_(scan), in_(in), out_(out), op_(op), carry_(carry) {}

    [[nodiscard]] Footprint footprint(std::size_t elements) const override {
        return {scratchBytesFor<In>(elements) + scratchBytesFor<T>(elements),
                scan_.scratchBytes(noArray<In>, noArray<T>, elements)};
    }

    [[nodiscard]] std::vector<Copy> up(const Chunk& chunk, const Place& place) override {
        return {{arrays(chunk, place).in, in_ + chunk.begin, chunk.size * sizeof(In)}};
    }

    void work(const Chunk& chunk, const Place& place, Scratch scratch, cudaStream_t stream) override {
        const Arrays on = arrays(chunk, place);
        scan_(static_cast<const In*>(on.in), on.out, chunk.size, op_, InDeviceMemory<T>{carry_}, scratch, stream);
        launch<kernAdvanceCarry<In, T, Op>>(plainShape(1, 1), stream, static_cast<const In*>(on.in),
                                            static_cast<const T*>(on.out), chunk.size, carry_,
                                            scan_.kind == SinglePass::ScanKind::Inclusive, op_);
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

    SinglePass::Scan scan_;
    const In* in_;
    T* out_;
    Op op_;
    T* carry_;
};

}  // namespace StreamCompaction::OutOfCore
