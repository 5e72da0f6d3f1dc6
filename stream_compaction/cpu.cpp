#include "stream_compaction/cpu.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "stream_compaction/cpu/parallel_sort.h"
#include "stream_compaction/runtime/arguments.h"

namespace StreamCompaction::CPU {

namespace {

/// An array cut into tasks, which run in parallel.
class Tasks {
  public:
    explicit Tasks(std::span<const int> elements) : elements_(elements) {}

    [[nodiscard]] std::size_t count() const { return Common::divideRoundUp(elements_.size(), taskSize); }

    /// Calls `work(task, elements of the task)` for each task, on all cores.
    template <typename Work>
    void forEach(const Work& work) const {
        tbb::parallel_for(std::size_t{0}, count(), [&](std::size_t task) {
            const std::size_t first = task * taskSize;
            work(task, elements_.subspan(first, std::min(taskSize, elements_.size() - first)));
        });
    }

  private:
    /// Elements per task: few enough that the second pass finds them in the cache, many enough to be worth a task.
    static constexpr std::size_t taskSize = std::size_t{1} << 14;

    std::span<const int> elements_;
};

void requireDisjointArrays(int n, const int* odata, const int* idata) {
    Arguments::requireHostArrays(n, odata, idata);
    const std::size_t bytes = n * sizeof(int);
    Arguments::requireDisjoint(idata, bytes, odata, bytes);
}

/// Writes the exclusive sums of `in`, which start from `sum`, and returns `sum` plus all elements. Unsigned, so that
/// sums wrap.
unsigned exclusiveSum(std::span<const int> in, int* out, unsigned sum) {
    for (const int x : in) {
        *out++ = static_cast<int>(sum);
        sum += static_cast<unsigned>(x);
    }
    return sum;
}

unsigned sum(std::span<const int> elements) {
    return std::accumulate(elements.begin(), elements.end(), 0U,
                           [](unsigned sum, int x) { return sum + static_cast<unsigned>(x); });
}

/// Copies the nonzero elements to `out`, which has room for `capacity` elements, and returns their number. Every
/// element is written, and the next one overwrites a zero: there is no branch to mispredict.
std::size_t keepNonzero(std::span<const int> in, int* out, std::size_t capacity) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < in.size() && kept < capacity; ++i) {
        out[kept] = in[i];
        kept += in[i] != 0 ? 1 : 0;
    }
    return kept;
}

}  // namespace

void scan(int n, int* odata, const int* idata) {
    Arguments::requireHostArrays(n, odata, idata);
    timer().timeCpu([&] { exclusiveSum({idata, static_cast<std::size_t>(n)}, odata, 0); });
}

void parallelScan(int n, int* odata, const int* idata) {
    Arguments::requireHostArrays(n, odata, idata);
    const Tasks tasks({idata, static_cast<std::size_t>(n)});
    std::vector<unsigned> sumsBefore(tasks.count() + 1);
    timer().timeCpu([&] {
        // Add up each task's elements, scan the sums, and scan each task starting from its sum.
        tasks.forEach([&](std::size_t task, std::span<const int> elements) { sumsBefore[task] = sum(elements); });
        std::exclusive_scan(sumsBefore.begin(), sumsBefore.end(), sumsBefore.begin(), 0U);
        tasks.forEach([&](std::size_t task, std::span<const int> elements) {
            exclusiveSum(elements, odata + (elements.data() - idata), sumsBefore[task]);
        });
    });
}

int compactWithoutScan(int n, int* odata, const int* idata) {
    Arguments::requireHostArrays(n, odata, idata);
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
    const Tasks tasks({idata, static_cast<std::size_t>(n)});
    std::vector<std::size_t> keptBefore(tasks.count() + 1);
    timer().timeCpu([&] {
        // Count the elements that each task keeps, scan the counts, and compact each task to its place.
        tasks.forEach([&](std::size_t task, std::span<const int> elements) {
            keptBefore[task] = elements.size() - std::count(elements.begin(), elements.end(), 0);
        });
        std::exclusive_scan(keptBefore.begin(), keptBefore.end(), keptBefore.begin(), std::size_t{0});
        tasks.forEach([&](std::size_t task, std::span<const int> elements) {
            keepNonzero(elements, odata + keptBefore[task], keptBefore[task + 1] - keptBefore[task]);
        });
    });
    return static_cast<int>(keptBefore.back());
}

void sort(int n, int* odata, const int* idata) {
    Arguments::requireHostArrays(n, odata, idata);
    std::copy_n(idata, idata == odata ? 0 : n, odata);
    timer().timeCpu([&] { std::sort(odata, odata + n); });
}

void parallelSort(int n, int* odata, const int* idata) {
    Arguments::requireHostArrays(n, odata, idata);
    std::copy_n(idata, idata == odata ? 0 : n, odata);
    timer().timeCpu([&] { sortInPlace({odata, static_cast<std::size_t>(n)}); });
}

}  // namespace StreamCompaction::CPU
