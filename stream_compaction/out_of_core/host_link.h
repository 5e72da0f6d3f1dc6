#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <memory>

#include "stream_compaction/cuda_event.h"
#include "stream_compaction/cuda_stream.h"
#include "stream_compaction/pinned_array.h"

namespace StreamCompaction::OutOfCore {

/// Bytes to be copied from one place to another.
struct Copy {
    void* to;
    const void* from;
    std::size_t bytes;
};

/// Copies between host memory and a device, in one direction, on a stream of its own.
///
/// Page-locked memory is copied directly. Pageable memory goes through two page-locked pieces: all cores copy one while
/// the bus carries the other. Registering the caller's memory (cudaHostRegister) would lock all its pages, which takes
/// longer than copying them once, and files that are mapped into memory may refuse it.
class HostLink {
  public:
    /// On the current device. Allocates the pieces when pageable memory is copied for the first time.
    HostLink() = default;

    /// Enqueues a copy to the device. The host memory must stay unchanged until the copy is done if it is page-locked.
    /// Throws CudaError.
    void up(const Copy& copy);

    /// Copies from the device. Enqueues a copy to page-locked memory, and waits for a copy to pageable memory. Throws
    /// CudaError.
    void down(const Copy& copy);

    [[nodiscard]] const CudaStream& stream() const { return stream_; }

  private:
    static constexpr std::size_t pieceBytes = std::size_t{1} << 22;

    /// Page-locked memory on the way of pageable bytes, and the place in the stream where the device is done with it.
    struct Piece {
        PinnedArray<std::byte> memory{pieceBytes};
        CudaEvent isDone;
    };
    using Pieces = std::array<Piece, 2>;

    [[nodiscard]] Pieces& pieces();
    void enqueue(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);

    std::unique_ptr<Pieces> pieces_;
    std::size_t next_ = 0;  // piece on the way up, so that small copies take turns, too
    CudaStream stream_;     // last, so that it is waited for before its memory is freed
};

}  // namespace StreamCompaction::OutOfCore
