// The samples of the README compile and give the right results. tests/scripts/pages_test.py checks that these are the
// README's samples, line by line.
#include <cuda_fp16.h>

#include "device_fixture.cuh"
#include "stream_compaction/map_scan_scatter.cuh"
#include "stream_compaction/out_of_core.cuh"
#include "stream_compaction/radix_sort.cuh"
#include "stream_compaction/row_sum.cuh"
#include "stream_compaction/runs.cuh"
#include "stream_compaction/segments.cuh"
#include "stream_compaction/shared_mem.cuh"
#include "stream_compaction/single_pass.cuh"
#include "stream_compaction/utf8.cuh"
#ifdef STREAM_COMPACTION_HAS_NCCL
#include "stream_compaction/distributed.cuh"
#endif

namespace StreamCompaction::Testing {
namespace {

class ReadmeTest : public DeviceTest {
  protected:
    CudaStream stream;
};

template <typename T>
[[nodiscard]] DeviceBuffer<T> onDevice(const std::vector<T>& elements) {
    return DeviceBuffer<T>(std::span<const T>(elements));
}

/// The first n elements, after the work on the stream.
template <typename T>
[[nodiscard]] std::vector<T> fetched(const CudaStream& stream, const DeviceBuffer<T>& from, std::size_t n) {
    stream.synchronize();
    std::vector<T> to(n);
    from.copyTo(to);
    return to;
}

TEST_F(ReadmeTest, CourseLayer) {
    constexpr int n = 5;
    const int idata[n] = {3, 0, 1, 0, 2};
    int odata[n] = {};
    int kept = StreamCompaction::SharedMem::compact(n, odata, idata);
    float ms = StreamCompaction::SharedMem::timer().getGpuElapsedTimeForPreviousOperation();
    EXPECT_EQ(std::vector<int>(odata, odata + kept), (std::vector<int>{3, 1, 2}));
    EXPECT_GE(ms, 0.0f);
}

struct IsNegative {
    __host__ __device__ bool operator()(int x) const { return x < 0; }
};

TEST_F(ReadmeTest, Compaction) {
    const auto input = onDevice<int>({1, -2, 3, -4});
    DeviceBuffer<int> output(4);
    DeviceBuffer<std::size_t> kept(1);
    const int* const in = input.data();
    int* const out = output.data();
    std::size_t* const count = kept.data();
    const std::size_t n = input.size();

    MapScanScatter<SharedMem::Scan> compact{.scan = {.blockSize = 512}};
    DeviceBuffer<std::byte> scratch(compact.scratchBytes(in, out, count, n, IsNegative{}));
    compact(in, out, count, n, IsNegative{}, scratch.bytes(), stream);

    EXPECT_EQ(fetched(stream, kept, 1), std::vector<std::size_t>{2});
    EXPECT_EQ(fetched(stream, output, 2), (std::vector<int>{-2, -4}));
}

TEST_F(ReadmeTest, SortOfSegments) {
    const auto keys = onDevice<int>({7, 1, 2, 5, 4});
    const auto offsets = onDevice<int>({0, 3});
    DeviceBuffer<int> sorted(5);
    const int* const keysIn = keys.data();
    const int* const begins = offsets.data();
    const std::size_t count = offsets.size();
    int* const keysOut = sorted.data();
    const std::size_t n = keys.size();

    SegmentedSort sort;
    const auto segments = segmentsAt(begins, count);
    DeviceBuffer<std::byte> scratch(sort.scratchBytes(keysIn, segments, keysOut, n));
    sort(keysIn, segments, keysOut, n, scratch.bytes(), stream);

    EXPECT_EQ(fetched(stream, sorted, 5), (std::vector<int>{1, 2, 7, 4, 5}));
}

TEST_F(ReadmeTest, ReductionByKey) {
    const auto someKeys = onDevice<int>({4, 4, 7, 4});
    const auto someValues = onDevice<int>({1, 2, 3, 4});
    DeviceBuffer<int> keysOfRuns(4);
    DeviceBuffer<int> sumsOfRuns(4);
    DeviceBuffer<std::size_t> runs(1);
    const int* const keys = someKeys.data();
    const int* const values = someValues.data();
    int* const uniqueKeys = keysOfRuns.data();
    int* const sums = sumsOfRuns.data();
    std::size_t* const count = runs.data();
    const std::size_t n = someKeys.size();

    Runs::ReduceByKey reduce;
    DeviceBuffer<std::byte> scratch(reduce.scratchBytes(keys, values, uniqueKeys, sums, count, n));
    reduce(keys, values, uniqueKeys, sums, count, n, scratch.bytes(), stream);

    EXPECT_EQ(fetched(stream, runs, 1), std::vector<std::size_t>{3});
    EXPECT_EQ(fetched(stream, keysOfRuns, 3), (std::vector<int>{4, 7, 4}));
    EXPECT_EQ(fetched(stream, sumsOfRuns, 3), (std::vector<int>{3, 3, 4}));
}

TEST_F(ReadmeTest, Sort) {
    const auto keys = onDevice<int>({2, 3, 1});
    const auto values = onDevice<int>({20, 30, 10});
    DeviceBuffer<int> sortedKeys(3);
    DeviceBuffer<int> sortedValues(3);
    const int* const keysIn = keys.data();
    const int* const valuesIn = values.data();
    int* const keysOut = sortedKeys.data();
    int* const valuesOut = sortedValues.data();
    const std::size_t n = keys.size();

    Radix::Sort sort{.descending = true};
    DeviceBuffer<std::byte> scratch(sort.scratchBytes(keysIn, keysOut, valuesIn, valuesOut, n));
    sort(keysIn, keysOut, valuesIn, valuesOut, n, scratch.bytes(), stream);

    EXPECT_EQ(fetched(stream, sortedKeys, 3), (std::vector<int>{3, 2, 1}));
    EXPECT_EQ(fetched(stream, sortedValues, 3), (std::vector<int>{30, 20, 10}));
}

struct Square {
    __host__ __device__ float operator()(float x) const { return x * x; }
};

TEST_F(ReadmeTest, ScanOfAFunction) {
    const auto input = onDevice<float>({1, 2, 3});
    DeviceBuffer<float> output(3);
    const float* const in = input.data();
    float* const sums = output.data();
    const std::size_t n = input.size();

    SinglePass::Scan scan;
    const auto squares = transformed(in, Square{});
    DeviceBuffer<std::byte> scratch(scan.scratchBytes(squares, sums, n, Sum{}, 1.0f));
    scan(squares, sums, n, Sum{}, 1.0f, scratch.bytes(), stream);

    EXPECT_EQ(fetched(stream, output, 3), (std::vector<float>{1, 2, 6}));
}

TEST_F(ReadmeTest, RowSums) {
    const std::size_t rows = 2;
    const std::size_t cols = 2;
    const std::size_t pitch = 3;
    const auto input = onDevice<__half>({1.0f, 2.0f, 100.0f, 3.0f, 4.0f, 100.0f});
    DeviceBuffer<float> output(rows);
    const __half* const matrix = input.data();
    float* const sums = output.data();

    RowSum::Adaptive sum;
    DeviceBuffer<std::byte> scratch(sum.scratchBytes(matrix, sums, rows, cols, pitch));
    sum(matrix, sums, rows, cols, pitch, scratch.bytes(), stream);

    EXPECT_EQ(fetched(stream, output, rows), (std::vector<float>{3, 7}));
}

#ifdef STREAM_COMPACTION_HAS_NCCL
TEST_F(ReadmeTest, DistributedScan) {
    const auto input = onDevice<int>({1, 2, 3});
    DeviceBuffer<int> output(3);
    const int* const in = input.data();
    int* const sums = output.data();
    const std::size_t n = input.size();
    ncclComm_t comm = nullptr;
    Distributed::checkNccl(ncclCommInitAll(&comm, 1, nullptr), "ncclCommInitAll");
    {
        Distributed::Rank rank(comm);  // once for each communicator
        Distributed::Scan scan;
        DeviceBuffer<std::byte> scratch(scan.scratchBytes(in, sums, n));
        scan(in, sums, n, Sum{}, 0, scratch.bytes(), rank, stream);
        rank.synchronize(stream);  // throws if any rank was called with invalid arguments
    }
    ncclCommDestroy(comm);

    EXPECT_EQ(fetched(stream, output, 3), (std::vector<int>{0, 1, 3}));
}
#endif

TEST_F(ReadmeTest, Utf8) {
    const auto input = onDevice<char>({'\xEF', '\xBB', '\xBF', '\xC3', '\xBC', 'a'});  // a byte order mark, "üa"
    DeviceBuffer<char32_t> output(input.size());
    DeviceBuffer<Utf8::Result> report(1);
    const char* const text = input.data();
    char32_t* const codePoints = output.data();
    Utf8::Result* const result = report.data();
    const std::size_t n = input.size();

    // In device memory: text (of char, char8_t, std::byte or std::uint8_t), char32_t* codePoints, Utf8::Result* result
    Utf8::Decode decode{.errors = Utf8::Errors::Replace, .bom = Utf8::Bom::Drop};
    DeviceBuffer<std::byte> scratch(decode.scratchBytes(text, codePoints, result, n));
    decode(text, codePoints, result, n, scratch.bytes(), stream);

    EXPECT_EQ(fetched(stream, report, 1).front().count, 2U);
    EXPECT_EQ(fetched(stream, output, 2), (std::vector<char32_t>{0xFC, U'a'}));
}

TEST_F(ReadmeTest, OutOfCoreSort) {
    const std::vector<int> keysIn{2, 3, 1};
    const std::vector<int> valuesIn{20, 30, 10};
    std::vector<int> keysOut(3);
    std::vector<int> valuesOut(3);

    OutOfCore::Sort sort({.devices = {0}, .deviceBytes = std::size_t{1} << 30}, {.descending = true});
    sort(keysIn, keysOut, valuesIn, valuesOut);

    EXPECT_EQ(keysOut, (std::vector<int>{3, 2, 1}));
    EXPECT_EQ(valuesOut, (std::vector<int>{30, 20, 10}));
}

}  // namespace
}  // namespace StreamCompaction::Testing
