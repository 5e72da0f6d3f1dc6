#pragma once

#include <stream_compaction/device_buffer.h>

#include <cstddef>
#include <memory>

#include "variants/gpu/run.cuh"

/// Runs of row sums.
namespace Bench {

/// A matrix and its row sums in device memory.
template <typename T>
class RowSumRun : public PreparedRun {
  public:
    explicit RowSumRun(RowSumProblem<T>& problem)
        : problem_(problem), matrix_(problem.input()), sums_(problem.rows()) {}

    void poisonOutput() override { poison(sums_); }
    void fetchResult() override { fetch(sums_, problem_.result(), sums_.size()); }

    [[nodiscard]] static std::size_t bytes(const RowSumProblem<T>& problem) {
        return problem.size() * sizeof(T) + problem.rows() * sizeof(SumOf<T>);
    }

  protected:
    [[nodiscard]] std::size_t rows() const { return problem_.rows(); }
    [[nodiscard]] std::size_t cols() const { return problem_.cols(); }
    [[nodiscard]] const T* matrix() const { return matrix_.data(); }
    [[nodiscard]] SumOf<T>* sums() { return sums_.data(); }

  private:
    RowSumProblem<T>& problem_;
    StreamCompaction::DeviceBuffer<T> matrix_;
    StreamCompaction::DeviceBuffer<SumOf<T>> sums_;
};

/// A run of an operation of the device layer.
template <typename Op, typename T>
class OperationRun final : public RowSumRun<T> {
  public:
    explicit OperationRun(RowSumProblem<T>& problem) : RowSumRun<T>(problem), scratch_(scratchBytes(problem)) {}

    void launch() override {
        Op{}(this->matrix(), this->sums(), this->rows(), this->cols(), this->cols(), scratch_.bytes(), defaultStream);
    }

    [[nodiscard]] static std::size_t deviceBytes(const RowSumProblem<T>& problem) {
        return RowSumRun<T>::bytes(problem) + scratchBytes(problem);
    }

  private:
    [[nodiscard]] static std::size_t scratchBytes(const RowSumProblem<T>& problem) {
        constexpr const T* in = nullptr;
        constexpr SumOf<T>* out = nullptr;
        return Op{}.scratchBytes(in, out, problem.rows(), problem.cols(), problem.cols());
    }

    StreamCompaction::DeviceBuffer<std::byte> scratch_;
};

template <typename Run, typename T>
[[nodiscard]] Implementation implement(std::string_view variant) {
    return {Operation::RowSum, elementTypeOf<T>(), variant,
            [](const Problem& problem, const Setting&) {
                return Run::deviceBytes(dynamic_cast<const RowSumProblem<T>&>(problem));
            },
            [](Problem& problem, const Setting&) -> std::unique_ptr<PreparedRun> {
                return std::make_unique<Run>(dynamic_cast<RowSumProblem<T>&>(problem));
            }};
}

template <typename Op, typename T>
[[nodiscard]] Implementation rowSumOf(std::string_view variant) {
    if constexpr (Absent<Op>) {
        return absent(Operation::RowSum, elementTypeOf<T>(), variant, Op::reasonForAbsence);
    } else {
        Implementation implementation = implement<OperationRun<Op, T>, T>(variant);
        implementation.runner.reasonToSkip = tooManyFor<Op, T>;
        return implementation;
    }
}

template <typename Op, typename... Ts>
[[nodiscard]] Implementations rowSum(Types<Ts...>, std::string_view variant) {
    return {rowSumOf<Op, Ts>(variant)...};
}

}  // namespace Bench
