// Stands in for distributed.cu in a build without NCCL, and for all variants of this folder in a build for one GPU.
#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "variants/implementation.h"

namespace Bench {
namespace {

#ifdef STREAM_COMPACTION_SEVERAL_GPUS
constexpr std::string_view reason = "this build has no NCCL";
#else
constexpr std::string_view reason = "needs scripts/run.sh --gpus N";
#endif

[[nodiscard]] Implementations absentEach(std::string_view variant, std::initializer_list<Operation> operations) {
    Implementations implementations;
    std::ranges::transform(operations, std::back_inserter(implementations), [variant](Operation operation) {
        return absent(operation, ElementType::Int32, variant, reason);
    });
    return implementations;
}

}  // namespace

Implementations gpuDistributed() {
    using enum Operation;
    return absentEach("distributed", {Scan, Compact, Partition, Sort, SortPairs, Utf8ToUtf32, Utf8ToUtf16, Utf8Validate,
                                      Utf32ToUtf8, Utf16ToUtf8});
}

#ifndef STREAM_COMPACTION_SEVERAL_GPUS
Implementations gpuOutOfCore() {
    using enum Operation;
    return absentEach("out-of-core", {Scan, Compact, Sort, SortPairs});
}

Implementations gpuGathered() {
    using enum Operation;
    return absentEach("gather-to-one", {Scan, Compact, Sort});
}
#endif

}  // namespace Bench
