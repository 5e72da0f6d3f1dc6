// Stands in, in a simulated build, for the peers that only a card runs: calls of their course layer throw CudaError
// with the reason.
#include "stream_compaction/cub.h"
#include "stream_compaction/thrust.h"

namespace StreamCompaction {

namespace Cub {
Common::PerformanceTimer& timer() {
    static Common::PerformanceTimer timer;
    return timer;
}
void scan(int, int*, const int*) { throw CudaError("CUB is not simulated"); }
int compact(int, int*, const int*) { throw CudaError("CUB is not simulated"); }
void sort(int, int*, const int*) { throw CudaError("CUB is not simulated"); }
}  // namespace Cub

#if !defined(STREAM_COMPACTION_HAS_THRUST)
namespace Thrust {
Common::PerformanceTimer& timer() {
    static Common::PerformanceTimer timer;
    return timer;
}
void scan(int, int*, const int*) { throw CudaError("Thrust is not simulated: its headers were not found"); }
int compact(int, int*, const int*) { throw CudaError("Thrust is not simulated: its headers were not found"); }
void sort(int, int*, const int*) { throw CudaError("Thrust is not simulated: its headers were not found"); }
}  // namespace Thrust
#endif

}  // namespace StreamCompaction
