#include "stream_compaction/row_sum.cuh"
#include "stream_compaction/runtime/course.cuh"

namespace StreamCompaction::RowSum {

namespace {

/// Check, allocate, copy in, time the device layer, copy out.
template <typename Operation>
void sumBy(const Operation& operation, int rows, int cols, float* out, const float* in) {
    Arguments::requireHostMatrix(rows, cols, out, in);
    if (rows == 0) {
        return;
    }
    const auto m = static_cast<std::size_t>(rows);
    const auto n = static_cast<std::size_t>(cols);
    const DeviceBuffer<float> matrix(std::span(in, m * n));
    DeviceBuffer<float> sums(m);
    Course::run(timer(), operation, matrix.data(), sums.data(), m, n, n);
    sums.copyTo({out, m});
}

}  // namespace

void sum(int rows, int cols, float* out, const float* in) { sum(Rung::Adaptive, rows, cols, out, in); }

void sum(Rung rung, int rows, int cols, float* out, const float* in) {
    const auto by = [&](const auto& operation) { sumBy(operation, rows, cols, out, in); };
    switch (rung) {
        case Rung::BlockPerRow:
            return by(OneAccumulator{});
        case Rung::BlockPerRowFixed:
            return cols == 2047 ? by(CompiledFor<2047>{}) : by(CompiledFor<2048>{});
        case Rung::Ilp2:
            return by(Ilp<2>{});
        case Rung::Ilp3:
            return by(Ilp<3>{});
        case Rung::Ilp5:
            return by(Ilp<5>{});
        case Rung::Ilp10:
            return by(Ilp<10>{});
        case Rung::Shuffle:
            return by(ShuffleFinish{});
        case Rung::Vectors:
            return by(VectorLoads{});
        case Rung::Adaptive:
            return by(Adaptive{});
    }
}

}  // namespace StreamCompaction::RowSum
