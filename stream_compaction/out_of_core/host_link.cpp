#include "stream_compaction/out_of_core/host_link.h"

#include <algorithm>

#include "stream_compaction/common.h"
#include "stream_compaction/out_of_core/host_copy.h"
#include "stream_compaction/runtime/cuda_check.h"

namespace StreamCompaction::OutOfCore {

namespace {

[[nodiscard]] bool isPageLocked(const void* address) {
    cudaPointerAttributes attributes{};
    Common::checkCUDAError(cudaPointerGetAttributes(&attributes, address), "cudaPointerGetAttributes");
    return attributes.type != cudaMemoryTypeUnregistered;
}

[[nodiscard]] bool isPageLocked(const void* memory, std::size_t bytes) {
    return isPageLocked(memory) && isPageLocked(static_cast<const std::byte*>(memory) + bytes - 1);
}

/// Piece `index` of a copy.
[[nodiscard]] Copy pieceOf(const Copy& copy, std::size_t index, std::size_t pieceBytes) {
    const std::size_t offset = index * pieceBytes;
    return {static_cast<std::byte*>(copy.to) + offset, static_cast<const std::byte*>(copy.from) + offset,
            std::min(pieceBytes, copy.bytes - offset)};
}

}  // namespace

HostLink::Pieces& HostLink::pieces() {
    if (!pieces_) {
        pieces_ = std::make_unique<Pieces>();
    }
    return *pieces_;
}

void HostLink::enqueue(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    Common::checkCUDAError(cudaMemcpyAsync(to, from, bytes, kind, stream_), "cudaMemcpyAsync");
}

void HostLink::up(const Copy& copy) {
    if (copy.bytes == 0) {
        return;
    }
    if (isPageLocked(copy.from, copy.bytes)) {
        enqueue(copy.to, copy.from, copy.bytes, cudaMemcpyHostToDevice);
        return;
    }
    for (std::size_t i = 0; i < Common::divideRoundUp(copy.bytes, pieceBytes); ++i) {
        const Copy part = pieceOf(copy, i, pieceBytes);
        Piece& piece = pieces()[next_++ % 2];
        piece.isDone.synchronize();
        copyOnHost(piece.memory.elements().data(), part.from, part.bytes);
        enqueue(part.to, piece.memory.elements().data(), part.bytes, cudaMemcpyHostToDevice);
        piece.isDone.record(stream_);
    }
}

void HostLink::down(const Copy& copy) {
    if (copy.bytes == 0) {
        return;
    }
    if (isPageLocked(copy.to, copy.bytes)) {
        enqueue(copy.to, copy.from, copy.bytes, cudaMemcpyDeviceToHost);
        return;
    }
    const std::size_t parts = Common::divideRoundUp(copy.bytes, pieceBytes);
    for (std::size_t i = 0; i <= parts; ++i) {
        if (i < parts) {
            const Copy part = pieceOf(copy, i, pieceBytes);
            Piece& piece = pieces()[i % 2];
            enqueue(piece.memory.elements().data(), part.from, part.bytes, cudaMemcpyDeviceToHost);
            piece.isDone.record(stream_);
        }
        if (i > 0) {
            const Copy part = pieceOf(copy, i - 1, pieceBytes);
            const Piece& piece = pieces()[(i - 1) % 2];
            piece.isDone.synchronize();
            copyOnHost(part.to, piece.memory.elements().data(), part.bytes);
        }
    }
}

}  // namespace StreamCompaction::OutOfCore
