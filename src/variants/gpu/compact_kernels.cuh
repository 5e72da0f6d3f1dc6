#pragma once

#include <cstdint>
#include <stream_compaction/single_pass/compact.cuh>

/// Compactions and partitions that several files use. Only compactions.cu compiles their kernels.
namespace StreamCompaction::SinglePass {

extern template void CompactLauncher<Rejects::Dropped>::operator()(const ArraySource<std::int32_t>&, std::int32_t*,
                                                                   std::int32_t*, std::size_t*, std::size_t, IsNonzero,
                                                                   Scratch, cudaStream_t) const;
extern template void CompactLauncher<Rejects::Apart>::operator()(const ArraySource<std::int32_t>&, std::int32_t*,
                                                                 std::int32_t*, std::size_t*, std::size_t, IsNonzero,
                                                                 Scratch, cudaStream_t) const;

}  // namespace StreamCompaction::SinglePass
