#include <stream_compaction/utf8.h>
#include <stream_compaction/utf8/scalar.h>

#include <algorithm>
#include <stream_compaction/shared_mem.cuh>
#include <stream_compaction/utf8.cuh>

#include "problems/problems.h"
#include "variants/gpu/bus_copy.h"
#include "variants/gpu/host_array.h"
#include "variants/gpu/ladder.cuh"
#include "variants/gpu/run.cuh"
#include "variants/implementation.h"

namespace StreamCompaction::Utf8 {

// The library has compiled its kernels for ChunkDecoder.
extern template void Decode::decode(const TextInMemory&, const std::uint8_t*, char32_t*, Result*, std::size_t, Scratch,
                                    cudaStream_t) const;

}  // namespace StreamCompaction::Utf8

namespace Bench {
namespace {

namespace Utf8 = StreamCompaction::Utf8;
using StreamCompaction::DeviceBuffer;
using StreamCompaction::noArray;

/// The result, in device memory.
class ResultMemory {
  public:
    static constexpr std::size_t bytes = sizeof(Utf8::Result);

    [[nodiscard]] Utf8::Result* data() { return result_.data(); }
    void poison() { Bench::poison(result_); }

    /// Throws if the count exceeds `mostElements`.
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

/// Device memory of a conversion.
template <typename From, typename To>
class ConversionMemory {
  public:
    using SomeProblem = ConversionProblem<From, To>;
    using Element = std::int32_t;  // the type under which text is listed
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

/// Device memory of a validation.
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

/// Text in host memory, decoded in chunks. The bus limits the speed.
class HostMemory {
  public:
    using SomeProblem = ConversionProblem<std::uint8_t, char32_t>;
    using Element = std::int32_t;

    explicit HostMemory(std::span<const std::uint8_t> input) : input_(input), output_(input.size()) {}

    [[nodiscard]] static std::size_t scratchBytes(const DecodeFromHost&, std::size_t) { return 0; }
    /// Device memory of the copies for comparison, or of the decoder's three chunks, which are allocated later.
    [[nodiscard]] static std::size_t bytes(std::size_t n) {
        return std::max(n, 3 * Utf8::ChunkDecoder::defaultChunkBytes) * (1 + sizeof(char32_t));
    }

    void call(const DecodeFromHost&, StreamCompaction::Scratch) {
        afterDefaultStream([this] { result_ = decoder_.decode(input_.elements(), output_.elements()); });
    }
    void poison() {
        output_.poison();
        result_ = {};
    }
    void fetchTo(Converted<char32_t>& to) const {
        to.result = result_;
        output_.fetchTo(to.elements, result_.count);
    }

  private:
    HostArray<std::uint8_t> input_;
    HostArray<char32_t> output_;
    Utf8::ChunkDecoder decoder_;
    Utf8::Result result_{};
};

/// The conversion of text in host memory. It is compared with copies over the bus.
[[nodiscard]] Implementation fromHost() {
    Implementation implementation =
        implement<HostMemory>(Operation::Utf8ToUtf32, "single-pass-from-host", fixed<DecodeFromHost>);
    implementation.runner.prepareCopy = busCopyFor<sizeof(std::uint8_t)>;
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
        implement<ConversionMemory<std::uint8_t, char16_t>>(Operation::Utf8ToUtf16, "single-pass",
                                                            fixed<Utf8::DecodeWith<Replaced>>),
        implement<ValidationMemory>(Operation::Utf8Validate, "single-pass", fixed<Utf8::ValidateWith<Replaced>>),
        implement<ConversionMemory<char32_t, std::uint8_t>>(Operation::Utf32ToUtf8, "single-pass",
                                                            fixed<Utf8::EncodeWith<Replaced>>),
        implement<ConversionMemory<char16_t, std::uint8_t>>(Operation::Utf16ToUtf8, "single-pass",
                                                            fixed<Utf8::EncodeWith<Replaced>>),
    };
}

}  // namespace Bench
