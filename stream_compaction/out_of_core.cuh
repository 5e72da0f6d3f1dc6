#pragma once

#include "stream_compaction/out_of_core/compact.cuh"
#include "stream_compaction/out_of_core/options.h"
#include "stream_compaction/out_of_core/scan.cuh"

/// Scan, compaction and sort of arrays in host memory, which may be larger than the memory of the card.
///
/// An operation is an object. It owns streams and memory on its devices, and keeps them from call to call. Only one
/// host thread at a time may use it. A call allocates if it needs more memory than earlier ones, and it synchronises:
/// the result is there when it returns. It returns or throws only when no copy to or from the caller's memory is in
/// flight.
///
/// Arrays are spans, vectors and other contiguous ranges, page-locked (pinned_array.h, cudaHostRegister) or not.
/// Page-locked ones are copied to and from the card directly. Others go through small page-locked buffers.
///
/// Throws std::invalid_argument for arrays of wrong lengths or that overlap where they may not, for a device that does
/// not exist, and for a limit of device memory that leaves no room for one element; Cancelled if `Options::progress`
/// returns false; CudaError if a call of CUDA fails. When a call throws, the contents of the output are unspecified.
namespace StreamCompaction::OutOfCore {

/// Prefix sums of an array in host memory: out[i] is the sum of the elements before i, or up to i, as `onCard` says.
///
/// Elements, operators and options are those of SinglePass::Scan; `out` may have a wider type and may be `in`. Floating
/// point sums depend on the sizes of the chunks. With `reproducible` they are the same in every run with the same
/// `deviceBytes` and number of devices.
///
/// Each byte crosses the bus once. The chunks go to the devices in turn. One element is carried from chunk to chunk, so
/// several devices copy at the same time but scan one after the other.
class Scan {
  public:
    /// Creates the streams. Throws std::invalid_argument for a device that does not exist.
    explicit Scan(Options options = {}, const SinglePass::Scan& onCard = {})
        : pipeline_(std::move(options)), onCard_(onCard) {}

    /// By `op`, beginning with its identity.
    template <Input In, Output Out, OperatorOn<ElementOf<Out>> Op = Sum>
    void operator()(const In& in, Out&& out, Op op = {}) {
        (*this)(in, out, op, op.template identity<ElementOf<Out>>());
    }

    /// By `op`, beginning with `initial`.
    template <Input In, Output Out, OperatorOn<ElementOf<Out>> Op>
    void operator()(const In& in, Out&& out, Op op, const ElementOf<Out>& initial) {
        scan(inputSpan(in), outputSpan(out), op, initial);
    }

  private:
    template <typename In, typename T, typename Op>
    void scan(std::span<const In> in, std::span<T> out, Op op, const T& initial) {
        requireLength("out", out.size(), in.size());
        requireSameOrDisjointArrays(in.data(), out.data(), in.size());
        T* const carry = reinterpret_cast<T*>(carry_.elements().data());
        *carry = initial;
        ScanJob<In, T, Op> job(onCard_, in.data(), out.data(), op, carry);
        Tally tally(pipeline_.progress(), in.size());
        pipeline_.run(job, pipeline_.plan(job, in.size(), std::max(sizeof(In), sizeof(T))), tally);
    }

    static constexpr std::size_t mostElementBytes = 16;

    PinnedArray<std::byte> carry_{mostElementBytes};
    Pipeline pipeline_;
    SinglePass::Scan onCard_;
};

/// Stable compaction of an array in host memory.
///
/// Elements and predicates are those of SinglePass::Compact; a predicate of the index (WithIndex) gets the index in the
/// whole array. Each element crosses the bus once, and each kept one twice.
class Compact {
  public:
    /// Creates the streams. Throws std::invalid_argument for a device that does not exist.
    explicit Compact(Options options = {}, const SinglePass::Compact& onCard = {})
        : pipeline_(std::move(options)), onCard_(onCard) {}

    /// Writes the elements for which `keep` holds to the beginning of `out`, in order, and returns their number. `out`
    /// may begin where `in` does, or else shares no memory with it. Throws std::invalid_argument if it has no room for
    /// them, and then has written no element past its end.
    template <Input In, Output Out, typename Predicate = IsNonzero>
    std::size_t operator()(const In& in, Out&& out, Predicate keep = {}) {
        static_assert(std::is_same_v<ElementOf<In>, ElementOf<Out>>, "the output has the elements of the input");
        return compact<ElementOf<In>>(inputSpan(in), outputSpan(out), keep);
    }

  private:
    template <typename T, typename Predicate>
    std::size_t compact(std::span<const T> in, std::span<T> out, Predicate keep) {
        if (in.data() != out.data()) {
            Arguments::requireDisjoint(in.data(), in.size_bytes(), out.data(), out.size_bytes());
        }
        CompactJob<T, Predicate> job(onCard_, in.data(), out, keep, counts_.elements());
        Tally tally(pipeline_.progress(), in.size());
        pipeline_.run(job, pipeline_.plan(job, in.size(), sizeof(T)), tally);
        return job.kept();
    }

    Pipeline pipeline_;
    SinglePass::Compact onCard_;
    PinnedArray<std::size_t> counts_{pipeline_.slots()};
};

}  // namespace StreamCompaction::OutOfCore
