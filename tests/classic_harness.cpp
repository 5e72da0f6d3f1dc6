// The calls of the classic course harness, in plain C++ with only the headers that it includes. They must compile and
// link unchanged. If there is a device, every result must match the CPU's. Exit status 0 if all match.
#include <stream_compaction/cpu.h>
#include <stream_compaction/efficient.h>
#include <stream_compaction/naive.h>
#include <stream_compaction/thrust.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

const int SIZE = 1 << 8;
const int NPOT = SIZE - 3;

bool allMatch = true;

void printCmpResult(const char* what, int n, const std::vector<int>& expected, const std::vector<int>& actual) {
    const bool same = std::equal(expected.begin(), expected.begin() + n, actual.begin());
    std::printf("%-40s %s\n", what, same ? "passed" : "FAIL VALUE");
    allMatch = allMatch && same;
}

void printCmpLenResult(const char* what, int n, int expected, const std::vector<int>& a, const std::vector<int>& b) {
    if (n != expected) {
        std::printf("%-40s FAIL COUNT: expected %d, got %d\n", what, expected, n);
        allMatch = false;
        return;
    }
    printCmpResult(what, n, a, b);
}

}  // namespace

int main() {
    std::vector<int> a(SIZE);
    std::vector<int> b(SIZE);
    std::vector<int> c(SIZE);
    std::generate(a.begin(), a.end(), [] { return std::rand() % 50; });
    a[SIZE - 1] = 0;

    StreamCompaction::CPU::scan(SIZE, b.data(), a.data());
    std::printf("%fms\n", StreamCompaction::CPU::timer().getCpuElapsedTimeForPreviousOperation());
    StreamCompaction::CPU::scan(NPOT, c.data(), a.data());
    printCmpResult("cpu scan, non-power-of-two", NPOT, b, c);

    const int expectedCount = StreamCompaction::CPU::compactWithoutScan(SIZE, b.data(), a.data());
    printCmpLenResult("cpu compact with scan", StreamCompaction::CPU::compactWithScan(SIZE, c.data(), a.data()),
                      expectedCount, b, c);

    if (const auto reason = StreamCompaction::Common::cudaUnavailableReason()) {
        std::printf("GPU part skipped: %s\n", reason->c_str());
        return allMatch ? 0 : 1;
    }

    const auto checkScan = [&](const char* what, void (*scan)(int, int*, const int*), auto& timer) {
        StreamCompaction::CPU::scan(SIZE, b.data(), a.data());
        for (const int n : {SIZE, NPOT}) {
            std::fill(c.begin(), c.end(), 0);
            scan(n, c.data(), a.data());
            std::printf("%fms\n", timer.getGpuElapsedTimeForPreviousOperation());
            printCmpResult(what, n, b, c);
        }
    };
    checkScan("naive scan", StreamCompaction::Naive::scan, StreamCompaction::Naive::timer());
    checkScan("work-efficient scan", StreamCompaction::Efficient::scan, StreamCompaction::Efficient::timer());
    checkScan("thrust scan", StreamCompaction::Thrust::scan, StreamCompaction::Thrust::timer());

    for (const int n : {SIZE, NPOT}) {
        const int expected = StreamCompaction::CPU::compactWithoutScan(n, b.data(), a.data());
        printCmpLenResult("work-efficient compact", StreamCompaction::Efficient::compact(n, c.data(), a.data()),
                          expected, b, c);
    }
    return allMatch ? 0 : 1;
}
