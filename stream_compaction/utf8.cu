#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "stream_compaction/cuda_stream.h"
#include "stream_compaction/device_buffer.h"
#include "stream_compaction/pinned_array.h"
#include "stream_compaction/shared_mem.cuh"
#include "stream_compaction/utf8.cuh"
#include "stream_compaction/utf8.h"
#include "stream_compaction/utf8_serial.h"

namespace StreamCompaction::Utf8 {

namespace {

[[nodiscard]] Result fetch(const DeviceBuffer<Result>& from) {
    Result result{};
    from.copyTo({&result, 1});
    return result;
}

template <typename To>
void fetch(const DeviceBuffer<To>& from, std::span<To> to, std::size_t count) {
    if (to.size() < count) {
        throw std::invalid_argument("out: expected room for " + std::to_string(count) + " elements, got " +
                                    std::to_string(to.size()));
    }
    from.copyTo(to.first(count));
}

/// Copies in, times `convert(in, out, result, scratch)`, copies out.
template <typename From, typename To, typename Convert>
Result onDevice(std::span<const From> in, std::span<To> out, std::size_t mostOut, std::size_t scratchBytes,
                const Convert& convert) {
    const DeviceBuffer<From> deviceIn(in);
    DeviceBuffer<To> deviceOut(mostOut);
    DeviceBuffer<Result> deviceResult(1);
    DeviceBuffer<std::byte> scratch(scratchBytes);
    timer().timeGpu([&] { convert(deviceIn.data(), deviceOut.data(), deviceResult.data(), scratch.bytes()); });
    const Result result = fetch(deviceResult);
    fetch(deviceOut, out, result.count);
    return result;
}

template <typename To>
Result decodeInto(std::span<const std::uint8_t> in, std::span<To> out, Errors errors, Bom bom) {
    const Decode operation{errors, bom};
    return onDevice(in, out, in.size(), operation.scratchBytes(in.size()),
                    [&](const std::uint8_t* from, To* to, Result* result, Scratch scratch) {
                        operation(from, to, result, in.size(), scratch, cudaStreamLegacy);
                    });
}

template <typename From>
Result encodeFrom(std::span<const From> in, std::span<std::uint8_t> out, Errors errors) {
    const Encode operation{errors};
    return onDevice(in, out, in.size() * mostElements<From, std::uint8_t>, operation.scratchBytes<From>(in.size()),
                    [&](const From* from, std::uint8_t* to, Result* result, Scratch scratch) {
                        operation(from, to, result, in.size(), scratch, cudaStreamLegacy);
                    });
}

/// Stores a result in page-locked memory. A copy would wait for the longer one of the chunk before.
__global__ void kernTell(const Result* result, Result* told) { *told = *result; }

/// A stream, and the memory of the chunk that is on it.
class Slot {
  public:
    /// `told` is page-locked.
    Slot(std::size_t chunkBytes, std::size_t scratchBytes, Result& told)
        : in_(chunkBytes), out_(chunkBytes), scratch_(scratchBytes), told_(told) {}

    /// Behind what the slot was used for before.
    void decode(std::span<const std::uint8_t> chunk, const Decode& operation) {
        Common::checkCUDAError(cudaMemcpyAsync(in_.data(), chunk.data(), chunk.size(), cudaMemcpyHostToDevice, stream_),
                               "cudaMemcpyAsync to the device");
        operation(in_.data(), out_.data(), result_.data(), chunk.size(), scratch_.bytes(), stream_);
        kernTell<<<1, 1, 0, stream_>>>(result_.data(), &told_);
        Common::checkCUDAError("kernTell");
    }
    /// Waits for the decoding.
    [[nodiscard]] Result result() const {
        stream_.synchronize();
        return told_;
    }
    void fetch(std::span<char32_t> to) {
        Common::checkCUDAError(
            cudaMemcpyAsync(to.data(), out_.data(), to.size_bytes(), cudaMemcpyDeviceToHost, stream_),
            "cudaMemcpyAsync to the host");
    }
    void wait() const { stream_.synchronize(); }

  private:
    DeviceBuffer<std::uint8_t> in_;
    DeviceBuffer<char32_t> out_;
    DeviceBuffer<Result> result_{1};
    DeviceBuffer<std::byte> scratch_;
    Result& told_;
    CudaStream stream_;  // last, so that it is waited for before its memory is freed
};

}  // namespace

Common::PerformanceTimer& timer() {
    static Common::PerformanceTimer timer;
    return timer;
}

Result decode(std::span<const std::uint8_t> in, std::span<char32_t> out, Errors errors, Bom bom) {
    return decodeInto(in, out, errors, bom);
}

Result decode(std::span<const std::uint8_t> in, std::span<char16_t> out, Errors errors, Bom bom) {
    return decodeInto(in, out, errors, bom);
}

Result encode(std::span<const char32_t> in, std::span<std::uint8_t> out, Errors errors) {
    return encodeFrom(in, out, errors);
}

Result encode(std::span<const char16_t> in, std::span<std::uint8_t> out, Errors errors) {
    return encodeFrom(in, out, errors);
}

Result validate(std::span<const std::uint8_t> in) {
    const Validate operation;
    const DeviceBuffer<std::uint8_t> deviceIn(in);
    DeviceBuffer<Result> result(1);
    DeviceBuffer<std::byte> scratch(operation.scratchBytes(in.size()));
    timer().timeGpu([&] { operation(deviceIn.data(), result.data(), in.size(), scratch.bytes(), cudaStreamLegacy); });
    return fetch(result);
}

Result decodeInChunks(std::span<const std::uint8_t> in, std::span<char32_t> out, Errors errors, Bom bom,
                      std::size_t chunkBytes) {
    if (chunkBytes < 4) {
        throw std::invalid_argument("chunkBytes: expected at least 4, got " + std::to_string(chunkBytes));
    }
    if (out.size() < in.size()) {
        throw std::invalid_argument("out: expected room for " + std::to_string(in.size()) + " elements, got " +
                                    std::to_string(out.size()));
    }
    const std::size_t largest = std::min(chunkBytes, in.size());
    const std::size_t scratchBytes = Decode{}.scratchBytes(largest);
    constexpr std::size_t slotCount = 3;
    const PinnedArray<Result> told(slotCount);
    Slot slots[slotCount] = {{largest, scratchBytes, told.elements()[0]},
                             {largest, scratchBytes, told.elements()[1]},
                             {largest, scratchBytes, told.elements()[2]}};

    // Where the chunks begin: none cuts a sequence in two.
    std::vector<std::size_t> begins{0};
    while (begins.back() < in.size()) {
        const auto chunk = in.subspan(begins.back(), std::min(chunkBytes, in.size() - begins.back()));
        const bool isLast = begins.back() + chunk.size() == in.size();
        begins.push_back(begins.back() + (isLast ? chunk.size() : completeBytes(chunk)));
    }
    const std::size_t chunks = begins.size() - 1;
    const auto enqueue = [&](std::size_t chunk) {
        slots[chunk % slotCount].decode(in.subspan(begins[chunk], begins[chunk + 1] - begins[chunk]),
                                        {errors, chunk == 0 ? bom : Bom::Keep});
    };

    // While a chunk is decoded the next is copied in and the one before copied out, to where its length tells.
    Result all{0, Result::noError};
    for (std::size_t chunk = 0; chunk < std::min(chunks, slotCount - 1); ++chunk) {
        enqueue(chunk);
    }
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
        Slot& slot = slots[chunk % slotCount];
        if (chunk + slotCount - 1 < chunks) {
            enqueue(chunk + slotCount - 1);
        }
        const Result result = slot.result();
        slot.fetch(out.subspan(all.count, result.count));
        all.count += result.count;
        if (all.isWellFormed() && !result.isWellFormed()) {
            all.firstError = Result::errorAt(begins[chunk] + result.errorOffset(), result.errorKind());
            if (errors == Errors::Strict) {
                break;
            }
        }
    }
    for (const Slot& slot : slots) {
        slot.wait();
    }
    return all;
}

}  // namespace StreamCompaction::Utf8
