// Stands in for thrust.cu in a build without Thrust: one without CUDA, or a simulated one that found no headers of
// Thrust.
#include "stream_compaction/runtime/stand_in.h"
#include "stream_compaction/thrust.h"

namespace StreamCompaction::Thrust {

namespace {
int refuse(int n, const int* odata, const int* idata) {
    const std::string reason =
        Common::cudaUnavailableReason().value_or("Thrust is not simulated: its headers were not found");
    return StandIn::refuse(reason, n, odata, idata);
}
}  // namespace

void scan(int n, int* odata, const int* idata) { refuse(n, odata, idata); }
int compact(int n, int* odata, const int* idata) { return refuse(n, odata, idata); }
void sort(int n, int* odata, const int* idata) { refuse(n, odata, idata); }

}  // namespace StreamCompaction::Thrust
