#pragma once

#include "stream_compaction/common.cuh"
#include "stream_compaction/row_sum.h"
#include "stream_compaction/row_sum/plan.h"
#include "stream_compaction/row_sum/short_rows.cuh"
#include "stream_compaction/row_sum/study.cuh"
#include "stream_compaction/runtime/launch.cuh"

/// Row sums of a matrix in device memory, `pitch` elements from one row to the next, accumulated in the type of `out`,
/// which may be wider than that of the elements: int8 into int, __half and __nv_bfloat16 into float. Integers wrap;
/// rows without columns sum to 0. Not in place; a pitch of less than the columns and a matrix larger than memory throw
/// std::invalid_argument.
namespace StreamCompaction::RowSum {

/// A step of the study. It computes any shape, also those for which a block a row makes no sense, of up to 2^31 - 1
/// rows; more throw std::invalid_argument, as do columns other than those it is compiled for. Uses no scratch.
template <typename Step>
struct BlockPerRow {
    template <typename T, typename In = T>
    [[nodiscard]] std::size_t scratchBytes(std::size_t rows, std::size_t cols) const {
        requireMatrixSize<T>(Matrix<In>{nullptr, rows, cols, cols});
        return 0;
    }

    template <typename In, typename Acc>
    void operator()(const In* in, Acc* out, std::size_t rows, std::size_t cols, std::size_t pitch, Scratch /*scratch*/,
                    cudaStream_t stream) const {
        const Matrix<In> matrix{in, rows, cols, pitch};
        requireMatrix(matrix, out);
        if constexpr (Step::cols > 0) {
            if (cols != Step::cols) {
                throw std::invalid_argument("cols: expected " + std::to_string(Step::cols) + ", got " +
                                            std::to_string(cols));
            }
        }
        if (!isDoneWithoutColumns(matrix, out, stream)) {
            launch<kernSumByBlock<Step, In, Acc>>(
                {.blocks = rows, .threads = studyThreads, .carveout = cudaSharedmemCarveoutDefault}, stream, matrix,
                out);
        }
    }
};

using OneAccumulator = BlockPerRow<Steps<>>;
template <std::size_t cols>
using CompiledFor = BlockPerRow<Steps<1, Finish::SharedTree, Loads::Elements, cols>>;
template <int accumulators>
using Ilp = BlockPerRow<Steps<accumulators>>;
using ShuffleFinish = BlockPerRow<Steps<2, Finish::Shuffles>>;
using VectorLoads = BlockPerRow<Steps<2, Finish::Shuffles, Loads::Vectors>>;

/// What the current device is to a plan.
[[nodiscard]] inline Card currentCard() {
    const DeviceProperties device = currentDevice();
    return {device.multiprocessors, device.l2Bytes};
}

using EightLanes = TeamShape<8, 4, 128>;
using OneWarp = TeamShape<32, 8, 128>;
using SmallBlock = TeamShape<128, 4, 128>;
using OneBlock = TeamShape<256, 2, 256>;
using WideBlock = TeamShape<512, 4, 512>;

/// Adds up the parts of rows.
using PartsBlock = TeamShape<1024, 2, 1024>;

/// The sums of all rows, whatever the shape, in one launch where rows are no longer than 256 KiB or, if there are fewer
/// of them than multiprocessors, than planFor() leaves to a block each; else in two, the second of which begins early.
/// Nothing is allocated, the scratch may hold anything; can be captured in a graph.
///
/// Rounding: a sum of n terms whose additions form a tree of depth d is off by at most d epsilon / 2 times the sum of
/// the absolute values, and d <= 4 log2 n, for which 2 log2 n epsilon stands, holds for every mapping:
///   a thread      n / 4 + 1 for up to 96 columns, and never more than n - 1;
///   a team        3 of a turn's tree, 3 of the places in a vector, 5 + 4 of warp and block, one for the row's ends and
///                 one a turn, of which there are 32 for rows of 2^14 vectors: 48 <= 4 * 15, even for doubles; where
///                 rows are few, longer ones take no more turns of a wide block (row_sum_plan_test.cpp);
///   several blocks  the same twice over, with at most 16 and 64 turns for as many elements as memory holds
///                 (row_sum_plan_test.cpp).
struct Adaptive {
    template <typename T, typename In = T>
    [[nodiscard]] std::size_t scratchBytes(std::size_t rows, std::size_t cols) const {
        requireMatrixSize<T>(Matrix<In>{nullptr, rows, cols, cols});
        if (rows == 0 || cols == 0) {
            return 0;
        }
        const Plan plan = planFor({rows, cols, cols, sizeof(In)}, currentCard());
        return plan.parts > 1 ? scratchBytesFor<T>(rows * plan.parts) : 0;
    }

    /// The matrix begins at any address that its type allows. Elements and sums are of 1, 2, 4, 8 or 16 bytes and
    /// aligned to as many: no struct of two floats, unless it is alignas(8).
    template <typename In, typename Acc>
    void operator()(const In* in, Acc* out, std::size_t rows, std::size_t cols, std::size_t pitch, Scratch scratch,
                    cudaStream_t stream) const {
        const Matrix<In> matrix{in, rows, cols, pitch};
        requireMatrix(matrix, out);
        ScratchArena arena(scratch, scratchBytes<Acc, In>(rows, cols));
        if (isDoneWithoutColumns(matrix, out, stream)) {
            return;
        }
        sumBy(planFor({rows, cols, pitch, sizeof(In)}, currentCard()), matrix, out, arena, stream);
    }

    /// As the plan has it.
    template <typename In, typename Acc>
    void sumBy(const Plan& plan, const Matrix<In>& matrix, Acc* out, ScratchArena arena, cudaStream_t stream) const {
        switch (plan.mapping) {
            case Mapping::Thread:
                return sumByTile(matrix, out, stream);
            case Mapping::EightLanes:
                return sumByTeam<EightLanes>(plan, matrix, out, Begin::Normal, stream);
            case Mapping::Warp:
                return sumByTeam<OneWarp>(plan, matrix, out, Begin::Normal, stream);
            case Mapping::SmallBlock:
                return sumByTeam<SmallBlock>(plan, matrix, out, Begin::Normal, stream);
            case Mapping::Block:
                return sumByTeam<OneBlock>(plan, matrix, out, Begin::Normal, stream);
            case Mapping::WideBlock:
                return sumByTeam<WideBlock>(plan, matrix, out, Begin::Normal, stream);
            case Mapping::Blocks:
                break;
        }
        Acc* const sums = plan.parts > 1 ? arena.take<Acc>(matrix.rows * plan.parts) : out;
        sumByTeam<WideBlock>(plan, matrix, sums, Begin::Normal, stream);
        if (plan.parts > 1) {
            sumByTeam<PartsBlock>({}, Matrix<Acc>{sums, matrix.rows, plan.parts, plan.parts}, out, Begin::Programmatic,
                                  stream);
        }
    }

  private:
    template <typename In, typename Acc>
    static void sumByTile(const Matrix<In>& matrix, Acc* out, cudaStream_t stream) {
        constexpr auto kernel = kernSumByTile<In, Acc>;
        const std::size_t rowBytes = matrix.cols * sizeof(In);
        const std::size_t rows = std::min(rowsATile(rowBytes), matrix.rows);
        const std::size_t blocks = Common::divideRoundUp(matrix.rows, rows);
        constexpr std::size_t mostSharedBytes =
            RunLoader<In>::sharedBytes(std::max(tileBytes, tileThreads * mostBytesAThread));
        if (onCurrentDevice<kernel>(tileThreads, mostSharedBytes).residentBlocks == 0) {
            throw CudaError("kernSumByTile: the card has too little shared memory");
        }
        launch<kernel>({blocks, tileThreads, RunLoader<In>::sharedBytes(rows * rowBytes)}, stream, matrix,
                       static_cast<unsigned>(rows), out);
    }

    template <typename Shape, typename In, typename Acc>
    static void sumByTeam(const Plan& plan, const Matrix<In>& matrix, Acc* out, Begin begin, cudaStream_t stream) {
        const std::size_t blocks = Common::divideRoundUp(matrix.rows * plan.parts, Shape::rowsABlock);
        const LaunchShape shape{.blocks = blocks,
                                .threads = Shape::threads,
                                .begin = begin,
                                .carveout = cudaSharedmemCarveoutDefault};  // loads pass through the first-level cache
        const auto launchReading = [&]<bool readOnce>(std::bool_constant<readOnce>) {
            launch<kernSumByTeam<Shape, readOnce, In, Acc>>(shape, stream, matrix, static_cast<unsigned>(plan.parts),
                                                            plan.partVectors, out);
        };
        plan.readOnce ? launchReading(std::true_type{}) : launchReading(std::false_type{});
    }
};

}  // namespace StreamCompaction::RowSum
