#include <stream_compaction/utf8.h>
#include <stream_compaction/utf8/scalar.h>

#include <algorithm>
#include <stream_compaction/shared_mem.cuh>
#include <stream_compaction/utf8.cuh>

#include "problems/problems.h"
#include "variants/gpu/bus_copy.h"
#include "variants/gpu/host_array.h"
#include "variants/gpu/ladder.cuh"
#include "variants/gpu/memory.cuh"
#include "variants/implementation.h"

namespace StreamCompaction::Utf8 {

// The library has compiled its kernels for ChunkDecoder.
extern template void Decode::decode(const TextInMemory&, const std::uint8_t*, char32_t*, Result*, std::size_t, Scratch,
                                    cudaStream_t) const;

}  // namespace StreamCompaction::Utf8

namespace Bench {
namespace {

namespace Utf8 = StreamCompaction::Utf8;

/// The result, in device memory.
class ResultMemory {
  public:
    explicit ResultMemory(const Problem& /*problem*/) {}

    [[nodiscard]] static Utf8::Result* none(const Problem& /*problem*/) {
        return StreamCompaction::noArray<Utf8::Result>;
    }
    [[nodiscard]] static std::size_t bytes(const Problem& /*problem*/) { return sizeof(Utf8::Result); }
    [[nodiscard]] Utf8::Result* get() { return result_.data(); }
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
    StreamCompaction::DeviceBuffer<Utf8::Result> result_{1};
};

/// Room for the longest result of a conversion.
template <typename From, typename To>
struct MostElements {
    [[nodiscard]] std::size_t operator()(const Problem& problem) const {
        return problem.size() * Utf8::mostElements<From, To>;
    }
};

/// Device memory of a conversion.
template <typename From, typename To>
class ConversionMemory
    : public Memory<ConversionProblem<From, To>, Input<From>, Output<To, MostElements<From, To>>, ResultMemory, Size> {
  public:
    using ConversionMemory::Memory::Memory;
    using Element = std::int32_t;  // the type under which text is listed
    static_assert(elementTypeOf<Element>() == listedTypeOfText);

    void fetchTo(Converted<To>& to) const {
        to.result = this->template argument<ResultMemory>().fetch(this->size() * Utf8::mostElements<From, To>);
        std::get<0>(this->outputs()).fetchTo(to.elements, to.result.count);
    }
};

/// Device memory of a validation.
class ValidationMemory : public Memory<ValidationProblem, Input<std::uint8_t>, ResultMemory, Size> {
  public:
    using Memory::Memory;
    using Element = std::int32_t;

    void fetchTo(Utf8::Result& to) const { to = argument<ResultMemory>().fetch(size()); }
};

struct DecodeFromHost {};

/// Text in host memory, decoded in chunks. The bus limits the speed.
class HostMemory {
  public:
    using SomeProblem = ConversionProblem<std::uint8_t, char32_t>;
    using Element = std::int32_t;

    explicit HostMemory(const SomeProblem& problem) : input_(problem.input()), output_(problem.size()) {}

    [[nodiscard]] static std::size_t scratchBytes(const DecodeFromHost&, const Problem&) { return 0; }
    /// Device memory of the copies for comparison, or of the decoder's three chunks, which are allocated later.
    [[nodiscard]] static std::size_t bytes(const Problem& problem) {
        return std::max(problem.size(), 3 * Utf8::ChunkDecoder::defaultChunkBytes) * (1 + sizeof(char32_t));
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
