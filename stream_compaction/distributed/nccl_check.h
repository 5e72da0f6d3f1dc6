#pragma once

#include <nccl.h>

#include <source_location>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace StreamCompaction::Distributed {

/// A failed NCCL call. The message has the call, its place and NCCL's own words.
class NcclError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Throws NcclError if `status` is a failure. `call` names the call that returned `status`, and `where` is its place.
/// NCCL keeps the last message of `comm`.
void checkNccl(ncclResult_t status, std::string_view call, ncclComm_t comm = nullptr,
               std::source_location where = std::source_location::current());

/// Calls `work()`. What it asks of NCCL begins together, so that one thread may call for several ranks.
template <typename Work>
void inGroup(const Work& work) {
    checkNccl(ncclGroupStart(), "ncclGroupStart");
    try {
        work();
    } catch (...) {
        (void)ncclGroupEnd();
        throw;
    }
    checkNccl(ncclGroupEnd(), "ncclGroupEnd");
}

}  // namespace StreamCompaction::Distributed
