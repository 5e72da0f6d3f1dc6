#pragma once

#include <string>

#include "stream_compaction/common.h"
#include "stream_compaction/runtime/arguments.h"

/// Stand-ins for variants that a build leaves out. Everything links, and calls throw the reason why they cannot run.
namespace StreamCompaction::StandIn {

/// The body of an operation on arrays: checks the arguments, returns 0 if there is nothing to do, and otherwise throws
/// CudaError with the reason.
inline int refuse(const std::string& reason, int n, const int* odata, const int* idata) {
    Arguments::requireHostArrays(n, odata, idata);
    if (n > 0) {
        throw CudaError(reason, CudaError::notSupported);
    }
    return 0;
}

}  // namespace StreamCompaction::StandIn
