#include <stream_compaction/row_sum.cuh>

#include "cli/values.h"
#include "tune/candidates.cuh"

namespace Bench::Tune {
namespace {

using RowSum::Mapping;
using RowSum::MatrixShape;
using RowSum::Plan;

/// Rows of many lengths, in matrices that fill the card and in matrices that do not.
[[nodiscard]] std::vector<Shape> shapesToTry() {
    std::vector<Shape> shapes;
    for (const std::size_t elements : {std::size_t{1} << 22, std::size_t{1} << 28}) {
        for (const std::size_t cols :
             {1,    3,    7,    8,    16,   32,   48,   64,   80,   96,    128,   192,   256,     384,     512,    768,
              1024, 1280, 1536, 1792, 2047, 2048, 3072, 4096, 8192, 16384, 32768, 65536, 1 << 18, 1 << 20, 1 << 22}) {
            shapes.push_back({elements / cols, cols});
        }
    }
    for (const std::size_t rows : {1, 4, 16, 64}) {
        for (const std::size_t cols : {1 << 14, 1 << 15, 1 << 16, 1 << 17, 1 << 18}) {
            shapes.push_back({rows, cols});
        }
    }
    for (const Shape shape : {Shape{3000, 2048},
                              {24000, 2048},
                              {48000, 2048},
                              {96000, 2048},
                              {132, 16384},
                              {264, 16384},
                              {528, 16384},
                              {1056, 16384},
                              {7, 38347922},
                              {1, std::size_t{1} << 28}}) {
        shapes.push_back(shape);
    }
    return shapes;
}

[[nodiscard]] std::string_view name(Mapping mapping) {
    switch (mapping) {
        case Mapping::Thread:
            return "thread";
        case Mapping::EightLanes:
            return "eight-lanes";
        case Mapping::Warp:
            return "warp";
        case Mapping::SmallBlock:
            return "small-block";
        case Mapping::Block:
            return "block";
        case Mapping::WideBlock:
            return "wide-block";
        case Mapping::Blocks:
            return "blocks";
    }
    throw std::logic_error("name: no such mapping");
}

/// Every plan that may suit a matrix of this shape.
[[nodiscard]] std::vector<Plan> plansFor(const Shape& shape, const RowSum::Card& card) {
    const std::size_t vectors = StreamCompaction::Common::divideRoundUp(shape.cols * sizeof(int), 16);
    std::vector<Plan> plans;
    const auto tryMapping = [&](Mapping mapping, std::size_t least, std::size_t most) {
        if (vectors >= least && vectors <= most) {
            plans.push_back({.mapping = mapping});
        }
    };
    tryMapping(Mapping::Thread, 1, RowSum::mostBytesPerThread / RowSum::planVectorBytes);
    tryMapping(Mapping::EightLanes, 8, 256);
    tryMapping(Mapping::Warp, 24, 1024);
    tryMapping(Mapping::SmallBlock, 192, 4096);
    tryMapping(Mapping::Block, 256, std::size_t{1} << 16);
    tryMapping(Mapping::WideBlock, 512, std::size_t{1} << 16);
    if (vectors >= 1024) {
        plans.push_back(RowSum::splitRows({}, shape.rows, vectors, card));
    }
    return plans;
}

}  // namespace

void tuneRowSums(Tuner& tuner) {
    const std::vector<Shape> shapes = shapesToTry();
    DeviceBuffer<int> in(std::ranges::max(shapes, {}, &Shape::size).size());
    DeviceBuffer<int> out(std::ranges::max(shapes, {}, &Shape::rows).rows);
    DeviceBuffer<int> expected(out.size());
    DeviceBuffer<std::byte> scratch(std::size_t{64} << 20);
    fill(in, SmallNumber<int>{});
    const RowSum::Card card = RowSum::currentCard();
    for (const Shape shape : shapes) {
        const RowSum::Matrix<int> matrix{in.data(), shape.rows, shape.cols, shape.cols};
        std::vector<Candidate> candidates;
        for (Plan plan : plansFor(shape, card)) {
            for (const bool readOnce : {false, true}) {
                plan.readOnce = readOnce;
                candidates.push_back({std::string(name(plan.mapping)), 1, static_cast<int>(plan.parts),
                                      readOnce ? "once" : "plain", [&, plan] {
                                          RowSum::Adaptive{}.sumBy(plan, matrix, out.data(),
                                                                   ScratchArena(scratch.bytes(), 0), defaultStream);
                                          return true;
                                      }});
            }
        }
        const auto choose = [&] {
            RowSum::Adaptive{}(std::as_const(in).data(), out.data(), shape.rows, shape.cols, shape.cols,
                               scratch.bytes(), defaultStream);
        };
        choose();
        copy(expected, out, shape.rows);
        const std::string operation = "row-sum " + toString(shape);
        tuner.run({operation, "int32", shape.size(), (shape.size() + shape.rows) * sizeof(int), [&] { poison(out); },
                   [&] { return areEqual(out, expected, shape.rows); }, choose},
                  candidates);
    }
}

}  // namespace Bench::Tune
