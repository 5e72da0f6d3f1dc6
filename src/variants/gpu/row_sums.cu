#ifdef STREAM_COMPACTION_HAS_CUBLAS
#include <cublas_v2.h>
#endif

#include <memory>
#include <optional>
#include <stream_compaction/row_sum.cuh>
#include <string>
#include <vector>

#include "variants/gpu/memory.cuh"
#include "variants/implementation.h"

namespace Bench {
namespace {

[[nodiscard]] std::optional<std::string> wantsShorterRows(const Problem& problem) {
    constexpr std::size_t mostCols = std::size_t{1} << 16;
    return problem.shape()->cols > mostCols
               ? std::optional("rounds too much with more than " + std::to_string(mostCols) + " columns")
               : std::nullopt;
}

template <typename Op, typename Elements>
[[nodiscard]] Implementations rowSum(Elements types, std::string_view variant) {
    return implementEach<RowSumMemory>(types, Operation::RowSum, variant, fixed<Op>);
}

/// A variant of the study. It is skipped for rows that are too long for one block.
template <typename Op>
[[nodiscard]] Implementations step(std::string_view variant) {
    Implementations implementations = rowSum<Op>(IntsAndFloats{}, variant);
    for (Implementation& implementation : implementations) {
        implementation.runner.reasonToSkip = wantsShorterRows;
    }
    return implementations;
}

/// The two kernels that are compiled for 2047 and for 2048 columns, as one variant.
struct CompiledForTheseColumns {
    template <typename In, typename T>
    [[nodiscard]] std::size_t scratchBytes(const In* /*in*/, T* /*out*/, std::size_t /*rows*/, std::size_t /*cols*/,
                                           std::size_t /*pitch*/) const {
        return 0;
    }
    template <typename In, typename T>
    void operator()(const In* in, T* out, std::size_t rows, std::size_t cols, std::size_t pitch,
                    StreamCompaction::Scratch scratch, cudaStream_t stream) const {
        using namespace StreamCompaction::RowSum;
        if (cols == 2047) {
            CompiledFor<2047>{}(in, out, rows, cols, pitch, scratch, stream);
        } else {
            CompiledFor<2048>{}(in, out, rows, cols, pitch, scratch, stream);
        }
    }
};

[[nodiscard]] Implementations compiledForTheseColumns(std::string_view variant) {
    Implementations implementations = rowSum<CompiledForTheseColumns>(IntsAndFloats{}, variant);
    for (Implementation& implementation : implementations) {
        implementation.runner.reasonToSkip = [](const Problem& problem) -> std::optional<std::string> {
            const std::size_t cols = problem.shape()->cols;
            return cols == 2047 || cols == 2048 ? std::nullopt
                                                : std::optional<std::string>("is compiled for 2047 and 2048 columns");
        };
    }
    return implementations;
}

#ifdef STREAM_COMPACTION_HAS_CUBLAS

void checkCublas(cublasStatus_t status, std::string_view call) {
    if (status != CUBLAS_STATUS_SUCCESS) {
        throw StreamCompaction::CudaError(std::string(call) + ": " + cublasGetStatusString(status), cudaErrorUnknown);
    }
}

/// Such as `cuBLAS 13.0.2`.
[[nodiscard]] std::string cublasVersion() {
    const auto part = [](libraryPropertyType property) {
        int value = 0;
        checkCublas(cublasGetProperty(property, &value), "cublasGetProperty");
        return std::to_string(value);
    };
    return "cuBLAS " + part(MAJOR_VERSION) + "." + part(MINOR_VERSION) + "." + part(PATCH_LEVEL);
}

class CublasHandle {
  public:
    CublasHandle() { checkCublas(cublasCreate(&handle_), "cublasCreate"); }
    ~CublasHandle() { cublasDestroy(handle_); }
    CublasHandle(const CublasHandle&) = delete;
    CublasHandle& operator=(const CublasHandle&) = delete;
    [[nodiscard]] cublasHandle_t get() const { return handle_; }

  private:
    cublasHandle_t handle_ = nullptr;
};

[[nodiscard]] cublasStatus_t gemv(cublasHandle_t handle, std::int64_t cols, std::int64_t rows, const float* matrix,
                                  const float* vector, float* product) {
    const float one = 1;
    const float zero = 0;
    return cublasSgemv_64(handle, CUBLAS_OP_T, cols, rows, &one, matrix, cols, vector, 1, &zero, product, 1);
}
[[nodiscard]] cublasStatus_t gemv(cublasHandle_t handle, std::int64_t cols, std::int64_t rows, const double* matrix,
                                  const double* vector, double* product) {
    const double one = 1;
    const double zero = 0;
    return cublasDgemv_64(handle, CUBLAS_OP_T, cols, rows, &one, matrix, cols, vector, 1, &zero, product, 1);
}

/// The product of the matrix with a vector of ones. cuBLAS stores matrices by columns, so to cuBLAS ours is the
/// transpose.
template <typename T>
class CublasRun final : public PreparedRun {
  public:
    explicit CublasRun(RowSumProblem<T>& problem)
        : problem_(problem), memory_(problem), ones_(std::span<const T>(std::vector<T>(problem.cols(), T{1}))) {}

    void poisonOutput() override { memory_.poison(); }
    void launch() override {
        const auto multiply = [this](const T* matrix, T* sums, std::size_t rows, std::size_t cols,
                                     std::size_t /*pitch*/, StreamCompaction::Scratch /*scratch*/,
                                     cudaStream_t /*stream*/) {
            checkCublas(gemv(handle_.get(), static_cast<std::int64_t>(cols), static_cast<std::int64_t>(rows), matrix,
                             ones_.data(), sums),
                        "cublas gemv");
        };
        memory_.call(multiply, {});
    }
    void fetchResult() override { memory_.fetchTo(problem_.result()); }

  private:
    RowSumProblem<T>& problem_;
    RowSumMemory<T> memory_;
    CublasHandle handle_;
    StreamCompaction::DeviceBuffer<T> ones_;
};

template <typename T>
[[nodiscard]] Implementation productWithOnes() {
    return {Operation::RowSum,
            elementTypeOf<T>(),
            "cublas",
            {.deviceBytes =
                 [](const Problem& problem, const Setting&) {
                     return RowSumMemory<T>::bytes(problem) + problem.shape()->cols * sizeof(T);
                 },
             .prepare = [](Problem& problem, const Setting&) -> std::unique_ptr<PreparedRun> {
                 return std::make_unique<CublasRun<T>>(dynamic_cast<RowSumProblem<T>&>(problem));
             },
             .library = cublasVersion()}};
}

[[nodiscard]] Implementations productsWithOnes() { return {productWithOnes<float>(), productWithOnes<double>()}; }

#else

[[nodiscard]] Implementations productsWithOnes() {
    constexpr std::string_view reason = "built without cuBLAS";
    return {absent(Operation::RowSum, ElementType::Float, "cublas", reason),
            absent(Operation::RowSum, ElementType::Double, "cublas", reason)};
}

#endif

}  // namespace

Implementations gpuRowSums() {
    using namespace StreamCompaction;
    return joined({
        step<RowSum::OneAccumulator>("block-per-row"),
        compiledForTheseColumns("block-per-row-fixed"),
        step<RowSum::Ilp<2>>("ilp-2"),
        step<RowSum::Ilp<3>>("ilp-3"),
        step<RowSum::Ilp<5>>("ilp-5"),
        step<RowSum::Ilp<10>>("ilp-10"),
        step<RowSum::ShuffleFinish>("shuffle"),
        step<RowSum::VectorLoads>("vectors"),
        rowSum<RowSum::Adaptive>(AllTypes{}, "adaptive"),
        productsWithOnes(),
    });
}

}  // namespace Bench
