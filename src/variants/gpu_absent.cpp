// In a build without a CUDA compiler this file stands in for gpu_variants.cpp.
#include "variants/implementation.h"

namespace Bench {

Implementations gpuImplementations() { return {}; }

}  // namespace Bench
