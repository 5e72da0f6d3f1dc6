#include <stream_compaction/cuda_stream.h>
#include <stream_compaction/pinned_array.h>
#include <stream_compaction/utf8.h>
#include <stream_compaction/utf8/scalar.h>

#include <algorithm>
#include <stream_compaction/shared_mem.cuh>
#include <stream_compaction/utf8.cuh>

#include "measure/gpu_noise.h"
#include "problems/problems.h"
#include "variants/gpu/ladder.cuh"
#include "variants/gpu/run.cuh"
#include "variants/implementation.h"

namespace Bench {
namespace {

namespace Utf8 = StreamCompaction::Utf8;
using StreamCompaction::CudaStream;
using StreamCompaction::DeviceBuffer;
using StreamCompaction::noArray;
using StreamCompaction::PinnedArray;
using StreamCompaction::Common::checkCUDAError;

/// The result, in device memory.
class ResultMemory {
  public:
    static constexpr std::size_t bytes = sizeof(Utf8::Result);

    [[nodiscard]] Utf8::Result* data() { return result_.data(); }
    void poison() { Bench::poison(result_); }

    /// Throws when more are counted than there is room for.
    [[nodiscard]] Utf8::Result fetch(std::size_t mostElements) const {
        Utf8::Result result{};
        result_.copyTo(std::span(&result, 1));
        if (result.count > mostElements) {
            throw std::runtime_error("it counts " + std::to_string(result.count) + " elements of at most " +
                                     std::to_string(mostElements));
        }
        return result;
    }

  private:
    DeviceBuffer<Utf8::Result> result_{1};
};

/// Text in, text out.
template <typename From, typename To>
class ConversionMemory {
  public:
    using SomeProblem = ConversionProblem<From, To>;
    using Element = std::int32_t;  // which text is listed under
    static_assert(elementTypeOf<Element>() == listedTypeOfText);

    explicit ConversionMemory(std::span<const From> input)
        : input_(input), output_(input.size() * Utf8::mostElements<From, To>) {}

    template <typename Op>
    [[nodiscard]] static std::size_t scratchBytes(const Op& op, std::size_t n) {
        return op.scratchBytes(noArray<From>, noArray<To>, noArray<Utf8::Result>, n);
    }
    [[nodiscard]] static std::size_t bytes(std::size_t n) {
        return n * (sizeof(From) + Utf8::mostElements<From, To> * sizeof(To)) + ResultMemory::bytes;
    }

    template <typename Op>
    void call(const Op& op, StreamCompaction::Scratch scratch) {
        op(std::as_const(input_).data(), output_.data(), result_.data(), input_.size(), scratch, defaultStream);
    }
    void poison() {
        Bench::poison(output_);
        result_.poison();
    }
    void fetchTo(Converted<To>& to) const {
        to.result = result_.fetch(output_.size());
        fetch(output_, to.elements, to.result.count);
    }

  private:
    DeviceBuffer<From> input_;
    DeviceBuffer<To> output_;
    ResultMemory result_;
};

/// Text in, nothing but the result out.
class ValidationMemory {
  public:
    using SomeProblem = ValidationProblem;
    using Element = std::int32_t;

    explicit ValidationMemory(std::span<const std::uint8_t> input) : input_(input) {}

    template <typename Op>
    [[nodiscard]] static std::size_t scratchBytes(const Op& op, std::size_t n) {
        return op.scratchBytes(noArray<std::uint8_t>, noArray<Utf8::Result>, n);
    }
    [[nodiscard]] static std::size_t bytes(std::size_t n) { return n + ResultMemory::bytes; }

    template <typename Op>
    void call(const Op& op, StreamCompaction::Scratch scratch) {
        op(std::as_const(input_).data(), result_.data(), input_.size(), scratch, defaultStream);
    }
    void poison() { result_.poison(); }
    void fetchTo(Utf8::Result& to) const { to = result_.fetch(input_.size()); }

  private:
    DeviceBuffer<std::uint8_t> input_;
    ResultMemory result_;
};

struct DecodeFromHost {};

/// Text in host memory, decoded in chunks: what the bus lets through.
class HostMemory {
  public:
    using SomeProblem = ConversionProblem<std::uint8_t, char32_t>;
    using Element = std::int32_t;

    explicit HostMemory(std::span<const std::uint8_t> input) : input_(input.size()), output_(input.size()) {
        std::ranges::copy(input, input_.elements().begin());
    }

    [[nodiscard]] static std::size_t scratchBytes(const DecodeFromHost&, std::size_t) { return 0; }
    /// What the copies take that it is compared with, or after them the three chunks.
    [[nodiscard]] static std::size_t bytes(std::size_t n) {
        return std::max(n, 3 * Utf8::ChunkDecoder::defaultChunkBytes) * (1 + sizeof(char32_t));
    }

    void call(const DecodeFromHost&, StreamCompaction::Scratch) {
        result_ = decoder_.decode(input_.elements(), output_.elements());
    }
    void poison() {
        std::ranges::fill(output_.elements(), char32_t{0xCDCDCDCD});
        result_ = {};
    }
    void fetchTo(Converted<char32_t>& to) const {
        to.result = result_;
        const auto written = output_.elements().first(result_.count);
        to.elements.assign(written.begin(), written.end());
    }

  private:
    PinnedArray<std::uint8_t> input_;
    PinnedArray<char32_t> output_;
    Utf8::ChunkDecoder decoder_;
    Utf8::Result result_{};
};

/// Copies over the bus, so many bytes each way at the same time.
class BusCopy {
  public:
    BusCopy(std::size_t toDevice, std::size_t toHost)
        : hostIn_(toDevice), hostOut_(toHost), deviceIn_(toDevice), deviceOut_(toHost) {
        std::ranges::fill(hostIn_.elements(), std::byte{0x47});
        fillWithNoise(deviceOut_.bytes());
    }

    /// Between what is on the default stream before and behind.
    void enqueue() {
        checkCUDAError(cudaMemcpyAsync(deviceIn_.data(), hostIn_.elements().data(), deviceIn_.byteCount(),
                                       cudaMemcpyHostToDevice, toDevice_),
                       "cudaMemcpyAsync to the device");
        checkCUDAError(cudaMemcpyAsync(hostOut_.elements().data(), deviceOut_.data(), deviceOut_.byteCount(),
                                       cudaMemcpyDeviceToHost, toHost_),
                       "cudaMemcpyAsync to the host");
    }

  private:
    PinnedArray<std::byte> hostIn_;
    PinnedArray<std::byte> hostOut_;
    DeviceBuffer<std::byte> deviceIn_;
    DeviceBuffer<std::byte> deviceOut_;
    CudaStream toDevice_{cudaStreamDefault};
    CudaStream toHost_{cudaStreamDefault};
};

/// The conversion of text in host memory, compared with copies over the bus.
[[nodiscard]] Implementation fromHost() {
    Implementation implementation =
        implement<HostMemory>(Operation::Utf8ToUtf32, "single-pass-from-host", fixed<DecodeFromHost>);
    implementation.runner.prepareCopy = [](const Problem& problem) -> Work {
        const std::size_t toDevice = problem.size();
        return [copy = std::make_shared<BusCopy>(toDevice, problem.bytesMoved() - toDevice)] { copy->enqueue(); };
    };
    return implementation;
}

[[nodiscard]] Utf8::TextbookDecode<StreamCompaction::SharedMem::Scan> textbook(int blockSize) {
    return {.scan = sharedScan(blockSize)};
}

}  // namespace

Implementations gpuConversions() {
    using Operation::Utf8ToUtf32;
    return {
        implement<ConversionMemory<std::uint8_t, char32_t>>(Utf8ToUtf32, "textbook", textbook),
        implement<ConversionMemory<std::uint8_t, char32_t>>(Utf8ToUtf32, "single-pass", fixed<Utf8::Decode>),
        fromHost(),
        implement<ConversionMemory<std::uint8_t, char16_t>>(Operation::Utf8ToUtf16, "single-pass", fixed<Utf8::Decode>),
        implement<ValidationMemory>(Operation::Utf8Validate, "single-pass", fixed<Utf8::Validate>),
        implement<ConversionMemory<char32_t, std::uint8_t>>(Operation::Utf32ToUtf8, "single-pass", fixed<Utf8::Encode>),
        implement<ConversionMemory<char16_t, std::uint8_t>>(Operation::Utf16ToUtf8, "single-pass", fixed<Utf8::Encode>),
    };
}

}  // namespace Bench
