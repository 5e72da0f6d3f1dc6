#include <type_traits>

#include "tune/candidates.cuh"

namespace Bench::Tune {
namespace {

/// Shapes of blocks that pack their tiles and meet.
using PackedShapes = ShapeList<BlockShape<256, 2>, BlockShape<256, 4>, BlockShape<256, 8>, BlockShape<512, 4>>;

/// Shapes of blocks that look back and pack bytes in registers. Each thread takes an odd number of vectors.
using ByteShapes = ShapeList<BlockShape<128, 3>, BlockShape<128, 5>, BlockShape<128, 7>, BlockShape<128, 9>,
                             BlockShape<128, 11>, BlockShape<256, 3>, BlockShape<256, 5>, BlockShape<256, 11>>;

using Launcher = SinglePass::CompactLauncher<SinglePass::Rejects::Dropped>;

[[nodiscard]] std::size_t read(const DeviceBuffer<std::size_t>& count) {
    std::size_t value = 0;
    count.copyTo(std::span(&value, 1));
    return value;
}

template <typename T>
void tuneCompaction(Tuner& tuner, std::string_view type, std::size_t largest) {
    DeviceBuffer<T> in(largest);
    DeviceBuffer<T> out(largest);
    DeviceBuffer<T> expected(largest);
    DeviceBuffer<std::size_t> count(1);
    DeviceBuffer<std::byte> memory(scratchFor(Launcher::scratchBytes<ArraySource<T>, T>(largest)));
    const Scratch scratch = memory.bytes();
    const ScratchArena arena(scratch, 0);
    fill(in, SmallNumber<T>{});
    const auto source = sourceOf(std::as_const(in).data());
    forEachSize(largest, [&](std::size_t n) {
        auto candidates = candidatesFor<std::conditional_t<sizeof(T) == 1, ByteShapes, LookBackShapes>>(
            n,
            [&, n](auto shape) {
                return Launcher{}.compactResident(shape, source, out.data(), noArray<T>, count.data(), n, IsNonzero{},
                                                  arena, defaultStream);
            },
            [&, n](auto shape, TileOrder order) {
                Launcher{order}.compactByLookBack(shape, source, out.data(), noArray<T>, count.data(), n, IsNonzero{},
                                                  arena, defaultStream);
            });
        if (n >= smallestLookBack && n <= largestResident) {
            forEach(PackedShapes{}, [&](auto shape) {
                candidates.push_back({"packed", shape.threads, shape.rows, "", [&, n, shape] {
                                          return Launcher{}.compactTogether(shape, source, out.data(), noArray<T>,
                                                                            count.data(), n, IsNonzero{}, arena,
                                                                            defaultStream);
                                      }});
            });
        }
        const auto choose = [&] {
            SinglePass::Compact{}(std::as_const(in).data(), out.data(), count.data(), n, scratch, defaultStream);
        };
        choose();
        copy(expected, out, n);
        const std::size_t kept = read(count);
        const auto spoil = [&] {
            poison(out);
            poison(count);
        };
        tuner.run({"compact", type, n, (n + kept) * sizeof(T), spoil,
                   [&] { return read(count) == kept && areEqual(out, expected, kept); }, choose},
                  candidates);
    });
}

}  // namespace

void tuneCompactions(Tuner& tuner) {
    tuneCompaction<int>(tuner, "int32", std::size_t{1} << 28);
    tuneCompaction<std::int64_t>(tuner, "int64", std::size_t{1} << 27);
    tuneCompaction<std::uint8_t>(tuner, "uint8", std::size_t{1} << 28);
}

}  // namespace Bench::Tune
