// Stands in for cub.cu in a build without CUB: one without CUDA, or a simulated one.
#include "stream_compaction/cub.h"
#include "stream_compaction/runtime/stand_in.h"

namespace StreamCompaction::Cub {

namespace {
int refuse(int n, const int* odata, const int* idata) {
    const std::string reason = Common::cudaUnavailableReason().value_or("CUB is not simulated");
    return StandIn::refuse(reason, n, odata, idata);
}
}  // namespace

void scan(int n, int* odata, const int* idata) { refuse(n, odata, idata); }
int compact(int n, int* odata, const int* idata) { return refuse(n, odata, idata); }
void sort(int n, int* odata, const int* idata) { refuse(n, odata, idata); }

}  // namespace StreamCompaction::Cub
