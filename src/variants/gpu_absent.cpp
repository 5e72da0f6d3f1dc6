// In a build without a CUDA compiler this file stands in for gpu_variants.cpp.
#include "variants/gpu_variants.h"

namespace Bench {

Implementations gpuImplementations() { return {}; }

}  // namespace Bench
