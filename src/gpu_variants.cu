#include <stream_compaction/cuda_check.h>
#include <stream_compaction/device_buffer.h>

#include <stdexcept>
#include <stream_compaction/cub.cuh>
#include <stream_compaction/efficient.cuh>
#include <stream_compaction/map_scan_scatter.cuh>
#include <stream_compaction/naive.cuh>
#include <stream_compaction/radix_sort.cuh>
#include <stream_compaction/shared_mem.cuh>
#include <stream_compaction/single_pass.cuh>
#include <stream_compaction/split_sort.cuh>
#include <stream_compaction/thrust.cuh>
#include <string>
#include <utility>

#include "gpu_variants.h"

namespace Bench {
namespace {

using namespace StreamCompaction;

constexpr cudaStream_t defaultStream = nullptr;

/// An operation of the device layer on device memory of its own.
template <typename Op>
class GpuRun final : public PreparedRun {
  public:
    GpuRun(Op op, std::span<const int> input)
        : op_(std::move(op)),
          input_(input),
          output_(input.size()),
          count_(1),
          scratch_(op_.template scratchBytes<int>(input.size())) {}

    void poisonOutput() override {
        poison(output_);
        poison(count_);
    }

    void launch() override {
        const std::size_t n = input_.size();
        if constexpr (CompactOperation<Op>) {
            op_(input_.data(), output_.data(), count_.data(), n, scratch_.bytes(), defaultStream);
        } else {
            op_(input_.data(), output_.data(), n, scratch_.bytes(), defaultStream);
        }
    }

    [[nodiscard]] std::span<const int> result() override {
        hostOutput_.resize(resultSize());
        output_.copyTo(hostOutput_);
        return hostOutput_;
    }

    [[nodiscard]] static std::size_t deviceBytes(const Op& op, std::size_t n) {
        return 2 * n * sizeof(int) + sizeof(std::size_t) + op.template scratchBytes<int>(n);
    }

  private:
    template <typename T>
    static void poison(DeviceBuffer<T>& buffer) {
        Common::checkCUDAError(cudaMemset(buffer.data(), 0xCD, buffer.byteCount()), "cudaMemset");
    }

    [[nodiscard]] std::size_t resultSize() const {
        if constexpr (CompactOperation<Op>) {
            std::size_t count = 0;
            count_.copyTo(std::span(&count, 1));
            if (count > input_.size()) {
                throw std::runtime_error("it counts " + std::to_string(count) + " elements to keep of " +
                                         std::to_string(input_.size()));
            }
            return count;
        } else {
            return output_.size();
        }
    }

    Op op_;
    DeviceBuffer<int> input_;
    DeviceBuffer<int> output_;
    DeviceBuffer<std::size_t> count_;
    DeviceBuffer<std::byte> scratch_;
    std::vector<int> hostOutput_;
};

/// `makeOp` turns a block size into the operation to run.
template <typename MakeOp>
[[nodiscard]] GpuImplementation implement(Operation operation, std::string_view variant, MakeOp makeOp) {
    using Run = GpuRun<decltype(makeOp(0))>;
    return {operation, variant,
            [makeOp](std::size_t n, int blockSize) { return Run::deviceBytes(makeOp(blockSize), n); },
            [makeOp](std::span<const int> input, int blockSize) -> std::unique_ptr<PreparedRun> {
                return std::make_unique<Run>(makeOp(blockSize), input);
            }};
}

[[nodiscard]] Naive::Scan naiveScan(int blockSize) { return {.blockSize = blockSize}; }
[[nodiscard]] Efficient::TextbookScan textbookScan(int blockSize) { return {.blockSize = blockSize}; }
[[nodiscard]] Efficient::OptimizedScan optimizedScan(int blockSize) { return {.blockSize = blockSize}; }
[[nodiscard]] SharedMem::Scan sharedScan(int blockSize) { return {.blockSize = blockSize}; }
[[nodiscard]] SharedMem::Scan sharedScanWithConflicts(int blockSize) {
    return {.blockSize = blockSize, .avoidBankConflicts = false};
}

/// Map-scan-scatter compaction and the one-bit split sort over a scan.
template <typename MakeScan>
[[nodiscard]] auto compactionOver(MakeScan makeScan) {
    return [makeScan](int blockSize) {
        return MapScanScatter<decltype(makeScan(0))>{.scan = makeScan(blockSize), .blockSize = blockSize};
    };
}
template <typename MakeScan>
[[nodiscard]] auto sortOver(MakeScan makeScan) {
    return [makeScan](int blockSize) {
        return SplitSort<decltype(makeScan(0))>{.scan = makeScan(blockSize), .blockSize = blockSize};
    };
}

/// For the operations that choose their own block size.
template <typename Op>
[[nodiscard]] Op fixed(int /*blockSize*/) {
    return {};
}

}  // namespace

std::vector<GpuImplementation> gpuImplementations() {
    return {
        implement(Operation::Scan, "naive", naiveScan),
        implement(Operation::Scan, "efficient", textbookScan),
        implement(Operation::Scan, "efficient-optimized", optimizedScan),
        implement(Operation::Scan, "shared", sharedScan),
        implement(Operation::Scan, "shared-conflicts", sharedScanWithConflicts),
        implement(Operation::Scan, "single-pass", fixed<SinglePass::Scan>),
        implement(Operation::Scan, "thrust", fixed<Thrust::Scan>),
        implement(Operation::Scan, "cub", fixed<Cub::Scan>),

        implement(Operation::Compact, "naive", compactionOver(naiveScan)),
        implement(Operation::Compact, "efficient", compactionOver(textbookScan)),
        implement(Operation::Compact, "efficient-optimized", compactionOver(optimizedScan)),
        implement(Operation::Compact, "shared", compactionOver(sharedScan)),
        implement(Operation::Compact, "single-pass", fixed<SinglePass::Compact>),
        implement(Operation::Compact, "thrust", fixed<Thrust::Compact>),
        implement(Operation::Compact, "cub", fixed<Cub::Compact>),

        implement(Operation::Sort, "naive", sortOver(naiveScan)),
        implement(Operation::Sort, "efficient", sortOver(optimizedScan)),
        implement(Operation::Sort, "radix-split", sortOver(sharedScan)),
        implement(Operation::Sort, "radix", fixed<Radix::Sort>),
        implement(Operation::Sort, "thrust", fixed<Thrust::Sort>),
        implement(Operation::Sort, "cub", fixed<Cub::Sort>),
    };
}

}  // namespace Bench
