#include "stream_compaction/runtime/course.cuh"
#include "stream_compaction/single_pass.cuh"

namespace StreamCompaction::SinglePass {

void scan(int n, int* odata, const int* idata) { Course::transform(timer(), Scan{}, n, odata, idata); }

int compact(int n, int* odata, const int* idata) { return Course::compact(timer(), Compact{}, n, odata, idata); }

}  // namespace StreamCompaction::SinglePass
