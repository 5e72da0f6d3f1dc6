#include "stream_compaction/cpu.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_scan.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "stream_compaction/arguments.h"
#include "stream_compaction/parallel_sort.h"

namespace StreamCompaction::CPU {

namespace {

using Range = tbb::blocked_range<std::size_t>;

/// Elements a parallel task takes at least: half a typical L2 cache, so that its second pass reads from there.
constexpr std::size_t taskSize = std::size_t{1} << 16;

void requireArrays(int n, const int* odata, const int* idata) {
    Arguments::requireCount(n);
    Arguments::requireArray("odata", odata, n);
    Arguments::requireArray("idata", idata, n);
}

void requireDisjointArrays(int n, const int* odata, const int* idata) {
    requireArrays(n, odata, idata);
    const std::size_t bytes = n * sizeof(int);
    Arguments::requireDisjoint(idata, bytes, odata, bytes);
}

/// Writes the exclusive sums of `in`, which start from `sum`; returns the sum of all. Unsigned, so that sums wrap.
unsigned exclusiveSum(std::span<const int> in, int* out, unsigned sum) {
    for (const int x : in) {
        *out++ = static_cast<int>(sum);
        sum += static_cast<unsigned>(x);
    }
    return sum;
}

/// Moves the nonzero elements to the front of `out`, which has room for `kept` of them, and returns their number.
/// Each element is written and the next one overwrites it if it was zero: no branch to mispredict.
std::size_t keepNonzero(std::span<const int> in, int* out, std::size_t capacity) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < in.size() && kept < capacity; ++i) {
        out[kept] = in[i];
        kept += in[i] != 0 ? 1 : 0;
    }
    return kept;
}

}  // namespace

Common::PerformanceTimer& timer() {
    static Common::PerformanceTimer timer;
    return timer;
}

void scan(int n, int* odata, const int* idata) {
    requireArrays(n, odata, idata);
    timer().timeCpu([&] { exclusiveSum({idata, static_cast<std::size_t>(n)}, odata, 0); });
}

void parallelScan(int n, int* odata, const int* idata) {
    requireArrays(n, odata, idata);
    // In two passes over a task's elements: their sum, then, once what lies before is known, their prefix sums.
    const auto scanTask = [=](const Range& task, unsigned sum, bool isFinal) {
        const std::span<const int> in(idata + task.begin(), task.size());
        return isFinal ? exclusiveSum(in, odata + task.begin(), sum)
                       : std::transform_reduce(in.begin(), in.end(), sum, std::plus<>{},
                                               [](int x) { return static_cast<unsigned>(x); });
    };
    timer().timeCpu(
        [&] { tbb::parallel_scan(Range(0, n, taskSize), 0U, scanTask, std::plus<>{}, tbb::simple_partitioner{}); });
}

int compactWithoutScan(int n, int* odata, const int* idata) {
    requireArrays(n, odata, idata);
    std::size_t kept = 0;
    timer().timeCpu([&] { kept = keepNonzero({idata, static_cast<std::size_t>(n)}, odata, n); });
    return static_cast<int>(kept);
}

int compactWithScan(int n, int* odata, const int* idata) {
    requireDisjointArrays(n, odata, idata);
    std::vector<int> bools(n);
    std::vector<int> indices(n);
    unsigned kept = 0;
    timer().timeCpu([&] {
        std::transform(idata, idata + n, bools.begin(), [](int x) { return x != 0 ? 1 : 0; });
        kept = exclusiveSum(bools, indices.data(), 0);
        for (int i = 0; i < n; ++i) {
            if (bools[i] != 0) {
                odata[indices[i]] = idata[i];
            }
        }
    });
    return static_cast<int>(kept);
}

int parallelCompact(int n, int* odata, const int* idata) {
    requireDisjointArrays(n, odata, idata);
    const std::span<const int> in(idata, n);
    const std::size_t tasks = (in.size() + taskSize - 1) / taskSize;
    std::vector<std::size_t> firsts(tasks + 1);
    const auto elementsOf = [&](std::size_t task) {
        return in.subspan(task * taskSize, std::min(taskSize, in.size() - task * taskSize));
    };
    timer().timeCpu([&] {
        // Count what each task keeps, scan the counts, compact each task to its place.
        tbb::parallel_for(std::size_t{0}, tasks, [&](std::size_t task) {
            const auto elements = elementsOf(task);
            firsts[task] = elements.size() - std::count(elements.begin(), elements.end(), 0);
        });
        std::exclusive_scan(firsts.begin(), firsts.end(), firsts.begin(), std::size_t{0});
        tbb::parallel_for(std::size_t{0}, tasks, [&](std::size_t task) {
            keepNonzero(elementsOf(task), odata + firsts[task], firsts[task + 1] - firsts[task]);
        });
    });
    return static_cast<int>(firsts.back());
}

void sort(int n, int* odata, const int* idata) {
    requireArrays(n, odata, idata);
    std::copy_n(idata, idata == odata ? 0 : n, odata);
    timer().timeCpu([&] { std::sort(odata, odata + n); });
}

void parallelSort(int n, int* odata, const int* idata) {
    requireArrays(n, odata, idata);
    std::copy_n(idata, idata == odata ? 0 : n, odata);
    timer().timeCpu([&] { sortInPlace({odata, static_cast<std::size_t>(n)}); });
}

}  // namespace StreamCompaction::CPU
