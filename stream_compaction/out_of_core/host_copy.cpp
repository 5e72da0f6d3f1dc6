#include "stream_compaction/out_of_core/host_copy.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <cstring>

namespace StreamCompaction::OutOfCore {

void copyOnHost(void* to, const void* from, std::size_t bytes) {
    constexpr std::size_t grain = std::size_t{1} << 18;
    if (bytes <= grain) {
        std::memcpy(to, from, bytes);
        return;
    }
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, bytes, grain), [=](const auto& range) {
        std::memcpy(static_cast<std::byte*>(to) + range.begin(), static_cast<const std::byte*>(from) + range.begin(),
                    range.size());
    });
}

}  // namespace StreamCompaction::OutOfCore
