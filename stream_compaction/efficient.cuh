#pragma once

#include <algorithm>

#include "stream_compaction/common.cuh"
#include "stream_compaction/efficient.h"
#include "stream_compaction/runtime/chevrons.h"

/// Work-efficient scan (Blelloch, "Prefix Sums and Their Applications", 1990; GPU Gems 3, ch. 39.2.2).
///
/// A balanced binary tree lies over the array. A node keeps its value in the last place of its range. The upsweep adds
/// each left child into its parent; then every node holds the sum of its leaves. The downsweep starts with a zero at
/// the root. It gives each left child its parent's value, and each right child that value plus the left child's sum.
/// Then every node holds the sum of everything before its range.
///
/// Work O(n), steps O(log n). Strides double from level to level. Up to a stride of 64 bytes, a level touches every
/// DRAM sector of the array. So each of the four lowest levels of either sweep moves about as many bytes as a scan.
/// The top levels have fewer nodes than the card has cores. Counted in whole sectors, the textbook's kernels move 92
/// bytes per int. The remapped kernels move 76, because the lowest level also reads the input and writes the result.
/// The limit is DRAM sectors of which few bytes are used, then launches.
namespace StreamCompaction::Efficient {

/// A node of the level whose children span `half` elements each.
template <typename T>
struct Node {
    T& left;
    T& right;  ///< also the place of the node's own value

    __device__ Node(T* data, std::size_t first, std::size_t half)
        : left(data[first + half - 1]), right(data[first + 2 * half - 1]) {}

    __device__ void addLeftToRight() const { right = Common::wrappingAdd(left, right); }

    __device__ void passDown() const {
        const T leftSum = left;
        left = right;
        right = Common::wrappingAdd(right, leftSum);
    }
};

/// Copies the input to the leaves and pads them with zeros to a full tree.
template <typename In, typename T>
__global__ void kernPad(std::size_t n, std::size_t paddedSize, T* odata, const In* idata) {
    const std::size_t i = Common::globalThreadIndex();
    if (i < paddedSize) {
        odata[i] = i < n ? static_cast<T>(idata[i]) : T{};
    }
}

/// One level of the upsweep as in the textbook: one thread per element, of which one in 2 * half has a node.
template <typename T>
__global__ void kernUpSweep(std::size_t paddedSize, std::size_t half, T* data) {
    const std::size_t i = Common::globalThreadIndex();
    if (i < paddedSize && i % (2 * half) == 0) {
        Node<T>(data, i, half).addLeftToRight();
    }
}

/// One level of the downsweep, likewise.
template <typename T>
__global__ void kernDownSweep(std::size_t paddedSize, std::size_t half, T* data) {
    const std::size_t i = Common::globalThreadIndex();
    if (i < paddedSize && i % (2 * half) == 0) {
        Node<T>(data, i, half).passDown();
    }
}

/// The lowest level of the upsweep, remapped (thread k works on node k) and fused with reading the input.
template <typename In, typename T>
__global__ void kernReadAndUpSweep(std::size_t n, T* data, const In* idata) {
    const std::size_t first = 2 * Common::globalThreadIndex();
    if (first < n) {
        const T left = static_cast<T>(idata[first]);
        const T right = first + 1 < n ? static_cast<T>(idata[first + 1]) : T{};
        data[first] = left;
        data[first + 1] = Common::wrappingAdd(left, right);
    }
}

/// A higher level of the upsweep, remapped. A right child without leaves was never written; it counts as zero.
template <typename T>
__global__ void kernRemappedUpSweep(std::size_t n, std::size_t half, T* data) {
    const std::size_t first = 2 * half * Common::globalThreadIndex();
    if (first < n) {
        const Node<T> node(data, first, half);
        if (first + half < n) {
            node.addLeftToRight();
        } else {
            node.right = node.left;
        }
    }
}

/// A higher level of the downsweep, remapped.
template <typename T>
__global__ void kernRemappedDownSweep(std::size_t n, std::size_t half, T* data) {
    const std::size_t first = 2 * half * Common::globalThreadIndex();
    if (first < n) {
        Node<T>(data, first, half).passDown();
    }
}

/// The lowest level of the downsweep, remapped and fused with writing the result.
template <typename T>
__global__ void kernDownSweepAndWrite(std::size_t n, T* odata, const T* data) {
    const std::size_t first = 2 * Common::globalThreadIndex();
    if (first < n) {
        odata[first] = data[first + 1];
    }
    if (first + 1 < n) {
        odata[first + 1] = Common::wrappingAdd(data[first + 1], data[first]);
    }
}

/// The number of leaves of the smallest full tree over n elements that has at least one level.
[[nodiscard]] constexpr std::size_t treeSize(std::size_t n) {
    return std::max<std::size_t>(2, std::size_t{1} << Common::ilog2ceil(n));
}

/// Sets the root to zero, the sum of everything before the array.
template <typename T>
void clearRoot(T* data, std::size_t leaves, cudaStream_t stream) {
    Common::checkCUDAError(cudaMemsetAsync(data + leaves - 1, 0, sizeof(T), stream), "cudaMemsetAsync of the root");
}

/// Device layer, as in the textbook: each of the 2 log2(n) levels launches one thread per element. `out` may be `in`.
/// Scratch: n elements rounded up to a power of two.
struct TextbookScan {
    static constexpr bool mayRunInPlace = true;  ///< whether the output may be the input

    int blockSize = defaultBlockSize;  ///< threads per block

    /// The bytes of scratch that a call with these arguments needs.
    template <typename In, typename T>
    [[nodiscard]] std::size_t scratchBytes(const In* /*in*/, T* /*out*/, std::size_t n) const {
        Arguments::requireSize<T, In>(n);
        Common::requireGrid(treeSize(n), blockSize);
        return n == 0 ? 0 : scratchBytesFor<T>(treeSize(n));
    }

    /// Scans n elements.
    template <typename In, typename T>
    void operator()(const In* in, T* out, std::size_t n, Scratch scratch, cudaStream_t stream) const {
        requireSameOrDisjointArrays(in, out, n);
        ScratchArena arena(scratch, scratchBytes(in, out, n));
        if (n == 0) {
            return;
        }
        const std::size_t leaves = treeSize(n);
        const unsigned blocks = Common::blocksFor(leaves, blockSize);
        T* data = arena.take<T>(leaves);

        kernPad<<<blocks, blockSize, 0, stream>>>(n, leaves, data, in);
        Common::checkLaunch("kernPad");
        for (std::size_t half = 1; half < leaves; half *= 2) {
            kernUpSweep<<<blocks, blockSize, 0, stream>>>(leaves, half, data);
            Common::checkLaunch("kernUpSweep");
        }
        clearRoot(data, leaves, stream);
        for (std::size_t half = leaves / 2; half >= 1; half /= 2) {
            kernDownSweep<<<blocks, blockSize, 0, stream>>>(leaves, half, data);
            Common::checkLaunch("kernDownSweep");
        }
        Common::checkCUDAError(cudaMemcpyAsync(out, data, n * sizeof(T), cudaMemcpyDeviceToDevice, stream),
                               "cudaMemcpyAsync of the result");
    }
};

/// Device layer, remapped: each level launches one thread per node that has leaves. So the grid shrinks from level to
/// level, and at the top the block. The lowest level reads the input and writes the result. `out` may be `in`. Scratch:
/// n elements rounded up to a power of two.
struct OptimizedScan {
    static constexpr bool mayRunInPlace = true;  ///< whether the output may be the input

    int blockSize = defaultBlockSize;  ///< threads per block

    /// The bytes of scratch that a call with these arguments needs.
    template <typename In, typename T>
    [[nodiscard]] std::size_t scratchBytes(const In* in, T* out, std::size_t n) const {
        return TextbookScan{blockSize}.scratchBytes(in, out, n);
    }

    /// Scans n elements.
    template <typename In, typename T>
    void operator()(const In* in, T* out, std::size_t n, Scratch scratch, cudaStream_t stream) const {
        requireSameOrDisjointArrays(in, out, n);
        ScratchArena arena(scratch, scratchBytes(in, out, n));
        if (n == 0) {
            return;
        }
        const std::size_t leaves = treeSize(n);
        T* data = arena.take<T>(leaves);
        const auto launchLevel = [&](std::size_t half, const char* name, auto kernel, auto... arguments) {
            const std::size_t nodes = Common::divideRoundUp(n, 2 * half);
            const int threads =
                static_cast<int>(std::min<std::size_t>(blockSize, Common::divideRoundUp(nodes, 32) * 32));
            kernel<<<Common::blocksFor(nodes, threads), threads, 0, stream>>>(n, arguments...);
            Common::checkLaunch(name);
        };

        launchLevel(1, "kernReadAndUpSweep", kernReadAndUpSweep<In, T>, data, in);
        for (std::size_t half = 2; half < leaves; half *= 2) {
            launchLevel(half, "kernRemappedUpSweep", kernRemappedUpSweep<T>, half, data);
        }
        clearRoot(data, leaves, stream);
        for (std::size_t half = leaves / 2; half >= 2; half /= 2) {
            launchLevel(half, "kernRemappedDownSweep", kernRemappedDownSweep<T>, half, data);
        }
        launchLevel(1, "kernDownSweepAndWrite", kernDownSweepAndWrite<T>, out, data);
    }
};

/// The rung's scan under the name that the other variants give theirs.
using Scan = OptimizedScan;

}  // namespace StreamCompaction::Efficient
