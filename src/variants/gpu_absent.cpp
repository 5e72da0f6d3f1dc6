// Replaces gpu_variants.cpp in a build without a CUDA compiler.
#include "variants/implementation.h"

namespace Bench {

Implementations gpuImplementations() { return {}; }

}  // namespace Bench
