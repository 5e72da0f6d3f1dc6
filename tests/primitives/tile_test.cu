#include "../device/device_fixture.cuh"
#include "noncommutative.cuh"
#include "stream_compaction/primitives/aligned_run.cuh"
#include "stream_compaction/primitives/run_copy.cuh"
#include "stream_compaction/primitives/tile_loader.cuh"

namespace StreamCompaction::Testing {
namespace {

/// Copies an array, one tile per block, through registers or through shared memory.
template <typename Shape, typename T>
__global__ void kernCopyByRegisters(std::size_t n, T* out, const T* in) {
    Vector<T, Shape::vectorLength> rows[Shape::rows];
    loadRows<Shape>(rows, Shape::tileOf(in, blockIdx.x, n));
    const auto target = Shape::tileOf(out, blockIdx.x, n);
    for (int row = 0; row < Shape::rows; ++row) {
        storeVector(target, Shape::offset(row), rows[row]);
    }
}

template <typename Shape, typename T>
__global__ void kernCopyByLoader(std::size_t n, T* out, const T* in) {
    __shared__ typename TileLoader<T, Shape>::Storage storage;
    TileLoader<T, Shape> loader(storage, in, n);
    const int tile = static_cast<int>(blockIdx.x);
    if (threadIdx.x == 0) {
        loader.start(tile);
    }
    __syncthreads();
    loader.finish(tile);
    const auto target = Shape::tileOf(out, tile, n);
    for (int row = 0; row < Shape::rows; ++row) {
        storeVector(target, Shape::offset(row), loader.row(row));
    }
}

/// Copies elements [first, first + count) of a tile from shared memory to `out`.
template <typename T>
__global__ void kernCopyRun(T* out, const T* in, int n, unsigned first, unsigned count) {
    __shared__ __align__(16) std::byte shared[4096];
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        reinterpret_cast<T*>(shared)[i] = in[i];
    }
    __syncthreads();
    copyRun(out, shared, first, count);
}

struct ThreeFloats {
    float x, y, z;
};

struct ThreeBytes {
    std::uint8_t x, y, z;
};

template <typename T>
struct AnyBytes {
    std::uint64_t seed;
    __host__ __device__ T operator()(std::size_t i) const {
        T value;
        for (std::size_t byte = 0; byte < sizeof(T); ++byte) {
            reinterpret_cast<std::uint8_t*>(&value)[byte] = static_cast<std::uint8_t>(randomBits(seed, i * 16 + byte));
        }
        return value;
    }
};

template <typename T>
class TileTest : public DeviceTest {
  protected:
    template <typename Copy>
    static void expectCopies(std::size_t n, Copy copy) {
        for (std::size_t inOffset = 0; inOffset < 4; ++inOffset) {
            for (std::size_t outOffset = 0; outOffset < 4; ++outOffset) {
                const auto in = hostArray(n + inOffset, AnyBytes<T>{5});
                const DeviceBuffer<T> deviceIn{std::span<const T>(in)};
                GuardedArray<T> out(n, outOffset);
                out.poison(n, nullptr);
                copy(n, out.data(), deviceIn.data() + inOffset);
                Common::checkLaunch("copy");
                ASSERT_TRUE(sameBits(out.read(n), std::vector<T>(in.begin() + inOffset, in.end())))
                    << "n = " << n << ", offsets " << inOffset << " and " << outOffset;
            }
        }
    }
};

using Types = testing::Types<std::uint8_t, std::uint16_t, ThreeBytes, int, double, ThreeFloats, Matrix>;
TYPED_TEST_SUITE(TileTest, Types);

TYPED_TEST(TileTest, AtEveryAlignmentAndSize) {
    using Shape = TileShape<64, 3, vectorLength<TypeParam>>;
    for (const std::size_t n : {1, 15, 64, 1000, Shape::elements, Shape::elements + 1, 5 * Shape::elements - 1}) {
        const auto tiles = static_cast<unsigned>(Common::divideRoundUp(n, Shape::elements));
        this->expectCopies(n, [tiles](std::size_t n, TypeParam* out, const TypeParam* in) {
            kernCopyByRegisters<Shape><<<tiles, Shape::threads>>>(n, out, in);
        });
        this->expectCopies(n, [tiles](std::size_t n, TypeParam* out, const TypeParam* in) {
            kernCopyByLoader<Shape><<<tiles, Shape::threads>>>(n, out, in);
        });
    }
}

TYPED_TEST(TileTest, RunsOfEveryPlaceAndLength) {
    const int n = 200;
    const auto in = hostArray(n, AnyBytes<TypeParam>{6});
    const DeviceBuffer<TypeParam> deviceIn{std::span<const TypeParam>(in)};
    for (std::size_t offset = 0; offset < 16; offset += quick() ? 5 : 1) {
        for (unsigned first = 0; first < 17; first += quick() ? 7 : 1) {
            for (const unsigned count : {0, 1, 2, 15, 16, 17, 33, 150}) {
                GuardedArray<TypeParam> out(count, offset);
                out.poison(count, nullptr);
                kernCopyRun<<<1, 64>>>(out.data(), deviceIn.data(), n, first, count);
                Common::checkLaunch("kernCopyRun");
                const std::vector<TypeParam> expected(in.begin() + first, in.begin() + first + count);
                ASSERT_TRUE(sameBits(out.read(count), expected)) << offset << ", " << first << ", " << count;
            }
        }
    }
}

using Address = std::uintptr_t;
constexpr auto inside = piecesInside<Address>(0x1003, 0x1035);
static_assert(inside.bulkBegin == 0x1010 && inside.bulkEnd == 0x1030 && inside.bulkBytes() == 0x20);
constexpr auto beforeTheOrigin = piecesInside(-7, 40);
static_assert(beforeTheOrigin.bulkBegin == 0 && beforeTheOrigin.bulkEnd == 32);
constexpr auto headAndTail = piecesInside<Address>(0x1003, 0x1015);
static_assert(headAndTail.bulkBytes() == 0 && headAndTail.bulkBegin == 0x1010);
constexpr auto headOnly = piecesInside<Address>(0x1003, 0x1007);
static_assert(headOnly.bulkBytes() == 0 && headOnly.bulkBegin == 0x1007);
constexpr auto withNeighbours = piecesAround<Address>(0x1003, 0x1035, 0x1000, 0x1040);
static_assert(withNeighbours.bulkBegin == 0x1000 && withNeighbours.bulkEnd == 0x1040);
constexpr auto atTheEnds = piecesAround<Address>(0x1003, 0x1035, 0x1002, 0x103f);
static_assert(atTheEnds.bulkBegin == 0x1010 && atTheEnds.bulkEnd == 0x1030);
constexpr auto withoutPiece = piecesAround<Address>(0x1003, 0x1015, 0x1003, 0x1015);
static_assert(withoutPiece.bulkBytes() == 0 && withoutPiece.bulkEnd == 0x1003);

}  // namespace
}  // namespace StreamCompaction::Testing
