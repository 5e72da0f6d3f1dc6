#include "stream_compaction/runtime/course.cuh"
#include "stream_compaction/thrust.cuh"

namespace StreamCompaction::Thrust {

void scan(int n, int* odata, const int* idata) { Course::transform(timer(), Scan{}, n, odata, idata); }

int compact(int n, int* odata, const int* idata) { return Course::compact(timer(), Compact{}, n, odata, idata); }

void sort(int n, int* odata, const int* idata) { Course::transform(timer(), Sort{}, n, odata, idata); }

}  // namespace StreamCompaction::Thrust
