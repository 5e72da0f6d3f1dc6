#include "stream_compaction/course.cuh"
#include "stream_compaction/radix.h"
#include "stream_compaction/radix_sort.cuh"
#include "stream_compaction/shared_mem.cuh"
#include "stream_compaction/split_sort.cuh"

namespace StreamCompaction::Radix {

namespace {
SharedMem::Scan classic;  // the options that the course layer's calls share

/// Of none at all the device layer would make all.
void requireBits(int bits) {
    if (bits < 1) {
        throw std::invalid_argument("bits: expected 1 to 32, got " + std::to_string(bits));
    }
}
}  // namespace

Common::PerformanceTimer& timer() {
    static Common::PerformanceTimer timer;
    return timer;
}

void setBlockSize(int blockSize) {
    requireBlockSize(blockSize);
    classic.blockSize = blockSize;
}

int blockSize() { return classic.blockSize; }

void sort(int n, int* odata, const int* idata) { Course::transform(timer(), Sort{}, n, odata, idata); }

void sort(int n, int* odata, const int* idata, int bits) {
    requireBits(bits);
    Course::transform(timer(), Sort{.endBit = bits}, n, odata, idata);
}

void splitSort(int n, int* odata, const int* idata) {
    Course::transform(timer(), SplitSort{.scan = classic, .blockSize = classic.blockSize}, n, odata, idata);
}

void splitSort(int n, int* odata, const int* idata, int bits) {
    requireBits(bits);
    Course::transform(timer(), SplitSort{classic, bits, classic.blockSize}, n, odata, idata);
}

}  // namespace StreamCompaction::Radix
