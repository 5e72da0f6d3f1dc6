#pragma once

#include "stream_compaction/common.cuh"
#include "stream_compaction/primitives/source.cuh"
#include "stream_compaction/row_sum.h"
#include "stream_compaction/row_sum/plan.h"
#include "stream_compaction/row_sum/short_rows.cuh"
#include "stream_compaction/row_sum/study.cuh"
#include "stream_compaction/runtime/launch.cuh"

/// Row sums of a matrix in device memory: out[r] is the sum of the `cols` elements from in[r * pitch] on. `pitch` is in
/// elements.
///
/// Sums are accumulated in the type of `out`, which may be wider than that of the elements: int8 into int, __half and
/// __nv_bfloat16 into float. Integers wrap. The sum of bools is true if any of them is. Rows without columns sum to 0.
/// May not run in place. `Adaptive` also takes `transformed(in, function)` for `in`; it then adds up `function` of each
/// element. `Adaptive` takes a count in device memory as `rows`, too (CountInDeviceMemory). A pitch of less than `cols`
/// and a matrix larger than memory throw std::invalid_argument. Neither allocates nor synchronises.
namespace StreamCompaction::RowSum {

/// A step of the study: one block per row, for any shape. Uses no scratch. Throws std::invalid_argument for more than
/// 2^31 - 1 rows, and for columns other than those that the step is compiled for.
template <typename Step>
struct BlockPerRow {
    static constexpr bool mayRunInPlace = false;  ///< whether the output may be the input

    /// The bytes of scratch that a call with these arguments needs.
    template <typename In, typename Acc>
    [[nodiscard]] std::size_t scratchBytes(const In* in, Acc* /*out*/, std::size_t rows, std::size_t cols,
                                           std::size_t pitch) const {
        requireMatrixSize<Acc>(Matrix<In>{in, rows, cols, pitch});
        return 0;
    }

    /// Adds up the rows of a matrix.
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

/// The variant `block-per-row`.
using OneAccumulator = BlockPerRow<Steps<>>;
/// The variant `block-per-row-fixed`.
template <std::size_t cols>
using CompiledFor = BlockPerRow<Steps<1, Finish::SharedTree, Loads::Elements, cols>>;
/// The variants `ilp-2` to `ilp-10`.
template <int accumulators>
using Ilp = BlockPerRow<Steps<accumulators>>;
/// The variant `shuffle`.
using ShuffleFinish = BlockPerRow<Steps<2, Finish::Shuffles>>;
/// The variant `vectors`.
using VectorLoads = BlockPerRow<Steps<2, Finish::Shuffles, Loads::Vectors>>;

/// The properties of the current device on which a plan depends.
[[nodiscard]] inline Card currentCard() {
    const DeviceProperties device = currentDevice();
    return {device.multiprocessors, device.l2Bytes};
}

/// Eight lanes per row.
using EightLanes = TeamShape<8, 4, 128>;
/// A warp per row.
using OneWarp = TeamShape<32, 8, 128>;
/// A block of 128 threads per row.
using SmallBlock = TeamShape<128, 4, 128>;
/// A block of 256 threads per row.
using OneBlock = TeamShape<256, 2, 256>;
/// A block of 512 threads per row.
using WideBlock = TeamShape<512, 4, 512>;

/// Adds up the parts of rows.
using PartsBlock = TeamShape<1024, 2, 1024>;

/// Row sums of a matrix of any shape, by the mapping that planFor() chooses. One launch, or two if rows are split into
/// parts. The second launch begins early. The scratch may hold anything. A CUDA graph can capture the call.
///
/// Rounding: if the additions of n terms form a tree of depth d, the sum is off by at most d epsilon / 2 times the sum
/// of the absolute values. row_sum.h promises 2 log2 n epsilon, that is, d <= 4 log2 n. It holds for every mapping:
///   a thread        n / 4 + 1 for up to 96 columns, and never more than n - 1;
///   a team          3 for the tree of a turn, 3 for the places in a vector, 5 + 4 for warp and block, 1 for the
///                   row's edges, and 1 per turn. Rows of 2^14 vectors take 32 turns: 48 <= 4 * 15, even for doubles.
///                   With few rows, longer rows take no more turns of a wide block (row_sum_plan_test.cpp);
///   several blocks  the same twice, with at most 16 and 64 turns for the longest row that memory holds
///                   (row_sum_plan_test.cpp).
struct Adaptive {
    static constexpr bool mayRunInPlace = false;  ///< whether the output may be the input

    /// Enough for any card.
    template <typename In, typename Acc, ElementCount N>
    [[nodiscard]] std::size_t scratchBytes(const In* in, Acc* /*out*/, N rows, std::size_t cols,
                                           std::size_t pitch) const {
        return scratchOf<Acc>(Matrix<In>{in, capacityOf(rows), cols, pitch});
    }
    /// The bytes of scratch that a call with these arguments needs.
    template <typename In, typename Function, typename Acc, ElementCount N>
    [[nodiscard]] std::size_t scratchBytes(const TransformedSource<In, Function>& in, Acc* out, N rows,
                                           std::size_t cols, std::size_t pitch) const {
        return scratchBytes(in.elements, out, rows, cols, pitch);
    }

    /// The matrix may begin at any address that its type allows. Elements and sums have 1, 2, 4, 8 or 16 bytes and are
    /// aligned to their size: a struct of two floats has to be alignas(8).
    template <typename In, typename Acc, ElementCount N>
    void operator()(const In* in, Acc* out, N rows, std::size_t cols, std::size_t pitch, Scratch scratch,
                    cudaStream_t stream) const {
        sum(Matrix<In, Unchanged, CountFor<N>>{in, countOf(rows), cols, pitch}, out, scratch, stream);
    }
    /// Adds up a function of the elements of each row.
    template <typename In, typename Function, typename Acc, ElementCount N>
    void operator()(const TransformedSource<In, Function>& in, Acc* out, N rows, std::size_t cols, std::size_t pitch,
                    Scratch scratch, cudaStream_t stream) const {
        sum(Matrix<In, Function, CountFor<N>>{in.elements, countOf(rows), cols, pitch, in.function}, out, scratch,
            stream);
    }

    /// Sums by a given plan.
    template <typename In, typename Function, typename Rows, typename Acc>
    void sumBy(const Plan& plan, const Matrix<In, Function, Rows>& matrix, Acc* out, ScratchArena arena,
               cudaStream_t stream) const {
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
        Acc* const sums = plan.parts > 1 ? arena.take<Acc>(matrix.mostRows() * plan.parts) : out;
        sumByTeam<WideBlock>(plan, matrix, sums, Begin::Normal, stream);
        if (plan.parts > 1) {
            sumByTeam<PartsBlock>({}, Matrix<Acc, Unchanged, Rows>{sums, matrix.rows, plan.parts, plan.parts}, out,
                                  Begin::Programmatic, stream);
        }
    }

  private:
    template <typename Acc, typename In, typename Function, typename Rows>
    [[nodiscard]] static std::size_t scratchOf(const Matrix<In, Function, Rows>& matrix) {
        requireMatrixSize<Acc>(matrix);
        const bool isEmpty = matrix.mostRows() == 0 || matrix.cols == 0;
        const std::size_t parts = isEmpty ? 1 : mostPartsOf({matrix.mostRows(), matrix.cols, matrix.pitch, sizeof(In)});
        return parts > 1 ? scratchBytesFor<Acc>(matrix.mostRows() * parts) : 0;
    }

    template <typename In, typename Function, typename Rows, typename Acc>
    void sum(const Matrix<In, Function, Rows>& matrix, Acc* out, Scratch scratch, cudaStream_t stream) const {
        requireMatrix(matrix, out);
        ScratchArena arena(scratch, scratchOf<Acc>(matrix));
        if (!isDoneWithoutColumns(matrix, out, stream)) {
            const Plan plan = planFor({matrix.mostRows(), matrix.cols, matrix.pitch, sizeof(In)}, currentCard());
            if constexpr (areElements<In, Acc>() && isFunctionOf<Function, In>()) {
                sumBy(plan, matrix, out, arena, stream);
            }
        }
    }

    template <typename In, typename Function, typename Rows, typename Acc>
    static void sumByTile(const Matrix<In, Function, Rows>& matrix, Acc* out, cudaStream_t stream) {
        constexpr auto kernel = kernSumByTile<In, Function, Rows, Acc>;
        const std::size_t rowBytes = matrix.cols * sizeof(In);
        const std::size_t rows = std::min(rowsPerTile(rowBytes), matrix.mostRows());
        const std::size_t blocks = Common::divideRoundUp(matrix.mostRows(), rows);
        constexpr std::size_t mostSharedBytes =
            RunLoader<In>::sharedBytes(std::max(tileBytes, tileThreads * mostBytesPerThread));
        if (onCurrentDevice<kernel>(tileThreads, mostSharedBytes).residentBlocks == 0) {
            Common::throwTooLittleSharedMemory("row sum");
        }
        const std::size_t sharedBytes = RunLoader<In>::sharedBytes(rows * rowBytes);
        launch<kernel>({blocksForTiles<kernel, Rows>(blocks, tileThreads, sharedBytes), tileThreads, sharedBytes},
                       stream, matrix, static_cast<unsigned>(rows), out);
    }

    template <typename Shape, typename In, typename Function, typename Rows, typename Acc>
    static void sumByTeam(const Plan& plan, const Matrix<In, Function, Rows>& matrix, Acc* out, Begin begin,
                          cudaStream_t stream) {
        const std::size_t blocks = Common::divideRoundUp(matrix.mostRows() * plan.parts, Shape::rowsPerBlock);
        const auto launchReading = [&]<bool readOnce>(std::bool_constant<readOnce>) {
            constexpr auto kernel = kernSumByTeam<Shape, readOnce, In, Function, Rows, Acc>;
            launch<kernel>({.blocks = blocksForTiles<kernel, Rows>(blocks, Shape::threads),
                            .threads = Shape::threads,
                            .begin = begin,
                            .carveout = cudaSharedmemCarveoutDefault},  // loads pass through the first-level cache
                           stream, matrix, static_cast<unsigned>(plan.parts), plan.partVectors, out);
        };
        plan.readOnce ? launchReading(std::true_type{}) : launchReading(std::false_type{});
    }
};

}  // namespace StreamCompaction::RowSum
