#include "../device/device_fixture.cuh"
#include "stream_compaction/primitives/packed_registers.cuh"

namespace StreamCompaction::Testing {
namespace {

/// Each thread packs `count` numbers, then writes them back.
template <typename Small, int count>
__global__ void kernPackAndUnpack(const std::uint32_t* in, std::uint32_t* out) {
    PackedRegisters<Small, count> packed;
    const auto at = [](int i) { return i * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x); };
#pragma unroll
    for (int i = 0; i < count; ++i) {
        packed.set(i, in[at(i)]);
    }
#pragma unroll
    for (int i = 0; i < count; ++i) {
        out[at(i)] = packed[i];
    }
}

class PackedRegistersTest : public DeviceTest {
  protected:
    template <typename Small, int count>
    static void expectKept() {
        constexpr int threads = 64;
        const auto numbers = hostArray(threads * count, [](std::size_t i) -> std::uint32_t {
            return i % 5 == 0 ? static_cast<Small>(~Small{0}) : static_cast<Small>(randomBits(count, i));
        });
        const DeviceBuffer<std::uint32_t> in{std::span<const std::uint32_t>(numbers)};
        GuardedArray<std::uint32_t> out(numbers.size());
        kernPackAndUnpack<Small, count><<<1, threads>>>(in.data(), out.data());
        Common::checkLaunch("kernPackAndUnpack");
        EXPECT_TRUE(sameBits(out.read(numbers.size()), numbers)) << count << " of " << sizeof(Small) << " bytes";
    }
};

TEST_F(PackedRegistersTest, KeepEachNumber) {
    expectKept<std::uint8_t, 1>();
    expectKept<std::uint8_t, 4>();
    expectKept<std::uint8_t, 7>();
    expectKept<std::uint16_t, 2>();
    expectKept<std::uint16_t, 5>();
    expectKept<std::uint32_t, 3>();
}

}  // namespace
}  // namespace StreamCompaction::Testing
