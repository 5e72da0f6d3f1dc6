#pragma once

#include "variants/gpu/run.cuh"

namespace Bench {

/// An array in, one out, and the number of elements that are kept: for a compaction, or a partition that puts the
/// others behind.
template <typename T>
class CountedMemory {
  public:
    using Element = T;

    explicit CountedMemory(std::span<const T> input) : input_(input), output_(input.size()) {}

    template <typename Op>
    [[nodiscard]] static std::size_t scratchBytes(const Op& op, std::size_t n) {
        using StreamCompaction::noArray;
        return op.scratchBytes(noArray<T>, noArray<T>, noArray<std::size_t>, n);
    }
    [[nodiscard]] static std::size_t bytes(std::size_t n) { return 2 * n * sizeof(T) + KeptCount::bytes; }

    template <typename Op>
    void call(const Op& op, StreamCompaction::Scratch scratch) {
        op(std::as_const(input_).data(), output_.data(), count_.data(), input_.size(), scratch, defaultStream);
    }
    void poison() {
        Bench::poison(output_);
        count_.poison();
    }

  protected:
    [[nodiscard]] const StreamCompaction::DeviceBuffer<T>& output() const { return output_; }
    [[nodiscard]] std::size_t fetchCount() const { return count_.fetchOf(input_.size()); }

  private:
    StreamCompaction::DeviceBuffer<T> input_;
    StreamCompaction::DeviceBuffer<T> output_;
    KeptCount count_;
};

}  // namespace Bench
