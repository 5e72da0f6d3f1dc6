#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "stream_compaction/cuda_stream.h"
#include "stream_compaction/device_buffer.h"
#include "stream_compaction/pinned_array.h"
#include "stream_compaction/utf8/chunk_decoder.h"
#include "stream_compaction/utf8/decode.cuh"
#include "stream_compaction/utf8/unit.h"

namespace StreamCompaction::Utf8 {

template void Decode::decode(const TextInMemory&, const std::uint8_t*, char32_t*, Result*, std::size_t, Scratch,
                             cudaStream_t) const;

namespace {

/// Stores a result in page-locked memory. A copy would wait for the long copy of the previous chunk.
__global__ void kernTell(const Result* result, Result* told) { *told = *result; }

/// The offsets at which the chunks of a text begin, and the end of the last one. No sequence is cut in two.
[[nodiscard]] std::vector<std::size_t> bordersOf(std::span<const std::uint8_t> text, std::size_t chunkBytes) {
    std::vector<std::size_t> borders{0};
    while (borders.back() < text.size()) {
        const auto rest = text.subspan(borders.back());
        borders.push_back(borders.back() +
                          (rest.size() <= chunkBytes ? rest.size() : completeBytes(rest.first(chunkBytes))));
    }
    return borders;
}

}  // namespace

/// A stream, and the memory of the chunk that is on it.
class ChunkDecoder::Slot {
  public:
    explicit Slot(std::size_t chunkBytes)
        : in_(chunkBytes),
          out_(chunkBytes),
          scratch_(Decode{}.scratchBytes(in_.data(), out_.data(), result_.data(), chunkBytes)) {}

    [[nodiscard]] std::size_t chunkBytes() const { return in_.size(); }

    /// Enqueues the decoding of a chunk behind the slot's earlier work.
    void decode(std::span<const std::uint8_t> chunk, const Decode& operation) {
        Common::checkCUDAError(cudaMemcpyAsync(in_.data(), chunk.data(), chunk.size(), cudaMemcpyHostToDevice, stream_),
                               "cudaMemcpyAsync to the device");
        operation(in_.data(), out_.data(), result_.data(), chunk.size(), scratch_.bytes(), stream_);
        launch<kernTell>(plainShape(1, 1), stream_, result_.data(), told_.elements().data());
    }
    /// Waits for the decoding.
    [[nodiscard]] Result result() const {
        stream_.synchronize();
        return told_.elements().front();
    }
    void fetch(std::span<char32_t> to) {
        Common::checkCUDAError(
            cudaMemcpyAsync(to.data(), out_.data(), to.size_bytes(), cudaMemcpyDeviceToHost, stream_),
            "cudaMemcpyAsync to the host");
    }
    void wait() const { stream_.synchronize(); }
    /// Waits and ignores errors, because an exception may already have been thrown.
    void waitWhatever() const noexcept { cudaStreamSynchronize(stream_); }

  private:
    DeviceBuffer<std::uint8_t> in_;
    DeviceBuffer<char32_t> out_;
    DeviceBuffer<Result> result_{1};
    DeviceBuffer<std::byte> scratch_;  // after the arrays, because they determine its size
    PinnedArray<Result> told_{1};
    CudaStream stream_;  // last, so that it is waited for before its memory is freed
};

ChunkDecoder::ChunkDecoder(std::size_t chunkBytes) {
    if (chunkBytes < 4) {
        throw std::invalid_argument("chunkBytes: expected at least 4, got " + std::to_string(chunkBytes));
    }
    Arguments::requireAtMost("chunkBytes", chunkBytes, Arguments::mostElements<char32_t>);
    for (auto& slot : slots_) {
        slot = std::make_unique<Slot>(chunkBytes);
    }
}

ChunkDecoder::~ChunkDecoder() = default;

Result ChunkDecoder::decode(std::span<const std::uint8_t> in, std::span<char32_t> out, Errors errors, Bom bom) {
    if (out.size() < in.size()) {
        throw std::invalid_argument("out: expected room for " + std::to_string(in.size()) + " elements, got " +
                                    std::to_string(out.size()));
    }
    // Copies to and from the caller's memory must not outlive the call, not even when it throws.
    struct WaitAtTheEnd {
        const std::array<std::unique_ptr<Slot>, 3>& slots;
        ~WaitAtTheEnd() {
            for (const auto& slot : slots) {
                slot->waitWhatever();
            }
        }
    };
    const WaitAtTheEnd waitAtTheEnd{slots_};

    const std::vector<std::size_t> borders = bordersOf(in, slots_.front()->chunkBytes());
    const std::size_t chunks = borders.size() - 1;
    const auto slotOf = [this](std::size_t chunk) -> Slot& { return *slots_[chunk % slots_.size()]; };
    const auto enqueue = [&](std::size_t chunk) {
        slotOf(chunk).decode(in.subspan(borders[chunk], borders[chunk + 1] - borders[chunk]),
                             {errors, chunk == 0 ? bom : Bom::Keep});
    };

    // While a chunk is decoded, the next one is copied in and the one before is copied out. The place of a chunk in
    // `out` is known only when the earlier chunks are decoded.
    const std::size_t ahead = slots_.size() - 1;
    for (std::size_t chunk = 0; chunk < std::min(chunks, ahead); ++chunk) {
        enqueue(chunk);
    }
    Result all{0, Result::noError};
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
        if (chunk + ahead < chunks) {
            enqueue(chunk + ahead);
        }
        const Result result = slotOf(chunk).result();
        slotOf(chunk).fetch(out.subspan(all.count, result.count));
        all.count += result.count;
        if (all.isWellFormed() && !result.isWellFormed()) {
            all.firstError = Result::errorAt(borders[chunk] + result.errorOffset(), result.errorKind());
            if (errors == Errors::Strict) {
                break;
            }
        }
    }
    for (const auto& slot : slots_) {
        slot->wait();
    }
    return all;
}

}  // namespace StreamCompaction::Utf8
