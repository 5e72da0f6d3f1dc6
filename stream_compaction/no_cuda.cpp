// Stands in for the device half of the library in a build without CUDA: everything links, and a call that needs a
// device throws CudaError with the reason.
#include <span>

#include "stream_compaction/common.h"
#include "stream_compaction/efficient.h"
#include "stream_compaction/naive.h"
#include "stream_compaction/radix_sort.h"
#include "stream_compaction/row_sum.h"
#include "stream_compaction/runtime/arguments.h"
#include "stream_compaction/runtime/stand_in.h"
#include "stream_compaction/shared_mem.h"
#include "stream_compaction/single_pass.h"
#include "stream_compaction/utf8.h"

namespace StreamCompaction {

namespace {
constexpr const char* reason = "built without a CUDA compiler, 12.9 or newer";

[[noreturn]] void unavailable() { throw CudaError(reason, CudaError::notSupported); }

int refuse(int n, const int* odata, const int* idata) { return StandIn::refuse(reason, n, odata, idata); }
}  // namespace

namespace Common {

std::optional<std::string> cudaUnavailableReason() { return reason; }

struct PerformanceTimer::EventPair {};

PerformanceTimer::PerformanceTimer() = default;
PerformanceTimer::~PerformanceTimer() = default;

void PerformanceTimer::startGpuTimer() { unavailable(); }

void PerformanceTimer::endGpuTimer() { gpu_.requireRunning("GPU"); }

}  // namespace Common

namespace Naive {
void setBlockSize(int blockSize) { requireBlockSize(blockSize); }
int blockSize() { return defaultBlockSize; }
void scan(int n, int* odata, const int* idata) { refuse(n, odata, idata); }
int compact(int n, int* odata, const int* idata) { return refuse(n, odata, idata); }
void sort(int n, int* odata, const int* idata) { refuse(n, odata, idata); }
}  // namespace Naive

namespace Efficient {
void setBlockSize(int blockSize) { requireBlockSize(blockSize); }
int blockSize() { return defaultBlockSize; }
void scan(int n, int* odata, const int* idata) { refuse(n, odata, idata); }
void optimizedScan(int n, int* odata, const int* idata) { refuse(n, odata, idata); }
int compact(int n, int* odata, const int* idata) { return refuse(n, odata, idata); }
int optimizedCompact(int n, int* odata, const int* idata) { return refuse(n, odata, idata); }
void sort(int n, int* odata, const int* idata) { refuse(n, odata, idata); }
}  // namespace Efficient

namespace SharedMem {
void setBlockSize(int blockSize) { requireBlockSize(blockSize); }
int blockSize() { return defaultBlockSize; }
void setBankConflictAvoidance(bool /*avoid*/) {}
bool bankConflictAvoidance() { return true; }
void scan(int n, int* odata, const int* idata) { refuse(n, odata, idata); }
int compact(int n, int* odata, const int* idata) { return refuse(n, odata, idata); }
void sort(int n, int* odata, const int* idata) { refuse(n, odata, idata); }
}  // namespace SharedMem

namespace SinglePass {
void scan(int n, int* odata, const int* idata) { refuse(n, odata, idata); }
int compact(int n, int* odata, const int* idata) { return refuse(n, odata, idata); }
}  // namespace SinglePass

namespace Radix {
void setBlockSize(int blockSize) { requireBlockSize(blockSize); }
int blockSize() { return defaultBlockSize; }
void sort(int n, int* odata, const int* idata) { refuse(n, odata, idata); }
void sort(int n, int* odata, const int* idata, int bits) {
    Arguments::requireBits(bits);
    refuse(n, odata, idata);
}
void splitSort(int n, int* odata, const int* idata) { refuse(n, odata, idata); }
void splitSort(int n, int* odata, const int* idata, int bits) {
    Arguments::requireBits(bits);
    refuse(n, odata, idata);
}
}  // namespace Radix

namespace RowSum {
void sum(int rows, int cols, float* out, const float* in) { sum(Rung::Adaptive, rows, cols, out, in); }
void sum(Rung /*rung*/, int rows, int cols, float* out, const float* in) {
    Arguments::requireHostMatrix(rows, cols, out, in);
    if (rows > 0) {
        unavailable();
    }
}
}  // namespace RowSum

namespace Utf8 {
namespace {
/// The result for an empty text. Throws CudaError for any other.
Result refuse(std::size_t n) {
    if (n > 0) {
        unavailable();
    }
    return {0, Result::noError};
}
}  // namespace

template <typename To>
Result decode(std::span<const std::uint8_t> in, std::span<To>, Errors, Bom) {
    return refuse(in.size());
}
template <typename From>
Result encode(std::span<const From> in, std::span<std::uint8_t>, Errors) {
    return refuse(in.size());
}
template Result decode(std::span<const std::uint8_t>, std::span<char32_t>, Errors, Bom);
template Result decode(std::span<const std::uint8_t>, std::span<char16_t>, Errors, Bom);
template Result decode(std::span<const std::uint8_t>, std::span<BigEndian<char32_t>>, Errors, Bom);
template Result decode(std::span<const std::uint8_t>, std::span<BigEndian<char16_t>>, Errors, Bom);
template Result decode(std::span<const std::uint8_t>, std::span<Latin1>, Errors, Bom);
template Result encode(std::span<const char32_t>, std::span<std::uint8_t>, Errors);
template Result encode(std::span<const char16_t>, std::span<std::uint8_t>, Errors);
template Result encode(std::span<const BigEndian<char32_t>>, std::span<std::uint8_t>, Errors);
template Result encode(std::span<const BigEndian<char16_t>>, std::span<std::uint8_t>, Errors);
template Result encode(std::span<const Latin1>, std::span<std::uint8_t>, Errors);
Result validate(std::span<const std::uint8_t> in) { return refuse(in.size()); }

class ChunkDecoder::Slot {};
ChunkDecoder::ChunkDecoder(std::size_t /*chunkBytes*/) { unavailable(); }
ChunkDecoder::~ChunkDecoder() = default;
Result ChunkDecoder::decode(std::span<const std::uint8_t> in, std::span<char32_t>, Errors, Bom) {
    return refuse(in.size());
}
}  // namespace Utf8

}  // namespace StreamCompaction
