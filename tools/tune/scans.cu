#include "tune/candidates.cuh"

namespace Bench::Tune {
namespace {

using SinglePass::Scan;

template <typename In, typename T>
void tuneScan(Tuner& tuner, std::string_view type, std::size_t largest) {
    DeviceBuffer<In> in(largest);
    DeviceBuffer<T> out(largest);
    DeviceBuffer<T> expected(largest);
    DeviceBuffer<std::byte> memory(scratchFor(Scan{}.scratchBytes(noArray<In>, noArray<T>, largest)));
    const Scratch scratch = memory.bytes();
    const ScratchArena arena(scratch, 0);
    fill(in, SmallNumber<In>{});
    const auto source = sourceOf(std::as_const(in).data());
    forEachSize(largest, [&](std::size_t n) {
        const auto candidates = candidatesFor(
            n,
            [&, n](auto shape) {
                return Scan{}.scanResident(shape, source, out.data(), n, Sum{}, T{}, arena, defaultStream);
            },
            [&, n](auto shape, TileOrder order) {
                Scan{.order = order}.scanByLookBack(shape, source, out.data(), n, Sum{}, T{}, arena, defaultStream);
            });
        const auto choose = [&] { Scan{}(std::as_const(in).data(), out.data(), n, scratch, defaultStream); };
        choose();
        copy(expected, out, n);
        tuner.run({"scan", type, n, n * (sizeof(In) + sizeof(T)), [&] { poison(out); },
                   [&] { return areEqual(out, expected, n); }, choose},
                  candidates);
    });
}

}  // namespace

void tuneScans(Tuner& tuner) {
    tuneScan<int, int>(tuner, "int32", std::size_t{1} << 28);
    tuneScan<std::int64_t, std::int64_t>(tuner, "int64", std::size_t{1} << 28);
    tuneScan<double, double>(tuner, "double", std::size_t{1} << 28);
    tuneScan<std::int8_t, int>(tuner, "int8->int32", std::size_t{1} << 28);
}

}  // namespace Bench::Tune
