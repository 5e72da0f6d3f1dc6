#pragma once

// Stand-ins for operations whose number of elements is in device memory. They run over the whole capacity.

#include "stream_compaction/multi_partition.cuh"
#include "stream_compaction/single_pass.cuh"

namespace RayCompaction {

using StreamCompaction::Scratch;
using StreamCompaction::WithIndex;

struct CountInDeviceMemory {
    const std::size_t* value;
    std::size_t capacity;
};

/// Drops elements behind the count.
template <typename Keep>
struct KeepsInFront {
    const std::size_t* count;
    Keep keep;
    template <typename T>
    __device__ bool operator()(const T& x, std::size_t i) const {
        return i < *count && keep(x);
    }
};

struct Compact : StreamCompaction::SinglePass::Compact {
    using Base = StreamCompaction::SinglePass::Compact;
    using Base::operator();
    using Base::scratchBytes;
    template <typename T, typename Keep>
    std::size_t scratchBytes(const T* in, T* out, std::size_t* count, CountInDeviceMemory n, Keep keep) const {
        return Base::scratchBytes(in, out, count, n.capacity, WithIndex{KeepsInFront<Keep>{n.value, keep}});
    }
    template <typename T, typename Keep>
    void operator()(const T* in, T* out, std::size_t* count, CountInDeviceMemory n, Keep keep, Scratch scratch,
                    cudaStream_t stream) const {
        cudaMemsetAsync(out, 0xFF, n.capacity * sizeof(T), stream);
        (*this)(in, out, count, n.capacity, WithIndex{KeepsInFront<Keep>{n.value, keep}}, scratch, stream);
    }
};

template <typename PartOf>
struct PartInFront {
    std::uint32_t parts;
    PartOf partOf;
    __device__ std::uint32_t operator()(std::uint32_t x) const { return x == 0xFFFFFFFFu ? parts : partOf(x); }
};

struct MultiPartition : StreamCompaction::Radix::MultiPartition {
    using Base = StreamCompaction::Radix::MultiPartition;
    using Base::operator();
    using Base::scratchBytes;
    template <typename T, typename PartOf>
    std::size_t scratchBytes(const T* in, T* out, std::size_t* begins, CountInDeviceMemory n, std::uint32_t parts,
                             PartOf partOf) const {
        return Base::scratchBytes(in, out, begins, n.capacity, parts + 1, PartInFront<PartOf>{parts, partOf});
    }
    template <typename T, typename PartOf>
    void operator()(const T* in, T* out, std::size_t* begins, CountInDeviceMemory n, std::uint32_t parts, PartOf partOf,
                    Scratch scratch, cudaStream_t stream) const {
        (*this)(in, out, begins, n.capacity, parts + 1, PartInFront<PartOf>{parts, partOf}, scratch, stream);
    }
};

}  // namespace RayCompaction
