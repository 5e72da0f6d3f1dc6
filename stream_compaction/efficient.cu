#include "stream_compaction/efficient.cuh"
#include "stream_compaction/map_scan_scatter.cuh"
#include "stream_compaction/runtime/course.cuh"
#include "stream_compaction/split_sort.cuh"

namespace StreamCompaction::Efficient {

namespace {
OptimizedScan classic;  // the options that the course layer's calls share
}

void setBlockSize(int blockSize) { Course::setBlockSize(classic, blockSize); }

int blockSize() { return classic.blockSize; }

void scan(int n, int* odata, const int* idata) {
    Course::transform(timer(), TextbookScan{classic.blockSize}, n, odata, idata);
}

void optimizedScan(int n, int* odata, const int* idata) { Course::transform(timer(), classic, n, odata, idata); }

int compact(int n, int* odata, const int* idata) {
    const TextbookScan textbook{classic.blockSize};
    return Course::compact(timer(), MapScanScatter{textbook}, n, odata, idata);
}

int optimizedCompact(int n, int* odata, const int* idata) {
    return Course::compact(timer(), MapScanScatter{classic}, n, odata, idata);
}

void sort(int n, int* odata, const int* idata) { Course::transform(timer(), SplitSort{classic}, n, odata, idata); }

}  // namespace StreamCompaction::Efficient
