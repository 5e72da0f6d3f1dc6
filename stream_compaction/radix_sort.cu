#include "stream_compaction/radix_sort.cuh"
#include "stream_compaction/radix_sort.h"
#include "stream_compaction/runtime/course.cuh"
#include "stream_compaction/shared_mem.cuh"
#include "stream_compaction/split_sort.cuh"

namespace StreamCompaction::Radix {

namespace {
SharedMem::Scan classic;  // the options that the course layer's calls share
}  // namespace

void setBlockSize(int blockSize) { Course::setBlockSize(classic, blockSize); }

int blockSize() { return classic.blockSize; }

void sort(int n, int* odata, const int* idata) { Course::transform(timer(), Sort{}, n, odata, idata); }

void sort(int n, int* odata, const int* idata, int bits) {
    Arguments::requireBits(bits);
    Course::transform(timer(), Sort{.endBit = bits}, n, odata, idata);
}

void splitSort(int n, int* odata, const int* idata) { Course::transform(timer(), SplitSort{classic}, n, odata, idata); }

void splitSort(int n, int* odata, const int* idata, int bits) {
    Arguments::requireBits(bits);
    Course::transform(timer(), SplitSort{classic, bits}, n, odata, idata);
}

}  // namespace StreamCompaction::Radix
