#include "../device/device_fixture.cuh"
#include "stream_compaction/primitives/element_copy.cuh"

namespace StreamCompaction::Testing {
namespace {

/// Copies a block's elements to shared memory in another order, and from there to global memory.
template <int threads, typename T>
__global__ void kernScatter(const T* in, const int* places, T* out) {
    __shared__ T shared[threads];
    if (hasElementCopy<T>()) {
        copyElement(shared[places[threadIdx.x]], in[threadIdx.x]);
        awaitElementCopies();
        __syncthreads();
        out[threadIdx.x] = shared[threadIdx.x];
    } else {
        out[places[threadIdx.x]] = in[threadIdx.x];
    }
}

class ElementCopyTest : public DeviceTest {
  protected:
    template <typename T>
    static void expectScattered() {
        constexpr int threads = 256;
        const auto in = hostArray(threads, AnyBits<std::uint64_t>{1});
        std::vector<T> elements(threads);
        std::vector<int> places(threads);
        std::vector<T> expected(threads);
        for (int i = 0; i < threads; ++i) {
            std::memcpy(&elements[i], &in[i], std::min(sizeof(T), sizeof(in[i])));
            places[i] = (i * 77 + 5) % threads;
            expected[places[i]] = elements[i];
        }
        const DeviceBuffer<T> deviceIn{std::span<const T>(elements)};
        const DeviceBuffer<int> devicePlaces{std::span<const int>(places)};
        GuardedArray<T> out(threads);
        kernScatter<threads><<<1, threads>>>(deviceIn.data(), devicePlaces.data(), out.data());
        Common::checkCUDAError("kernScatter");
        EXPECT_TRUE(sameBits(out.read(threads), expected)) << sizeof(T) << " bytes";
    }
};

TEST_F(ElementCopyTest, EverySize) {
    static_assert(isElementCopySize<float> && isElementCopySize<double> && isElementCopySize<uint4>);
    static_assert(!isElementCopySize<std::uint16_t> && !isElementCopySize<float3>);
    expectScattered<std::uint32_t>();
    expectScattered<double>();
    expectScattered<uint4>();
}

}  // namespace
}  // namespace StreamCompaction::Testing
