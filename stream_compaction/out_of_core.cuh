#pragma once

#include <array>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

#include "stream_compaction/out_of_core/compact.cuh"
#include "stream_compaction/out_of_core/options.h"
#include "stream_compaction/out_of_core/scan.cuh"
#include "stream_compaction/out_of_core/sort.cuh"

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
/// `deviceBytes`.
///
/// Each element crosses the bus once in each direction. The chunks go to the devices in turn. One element is carried
/// from chunk to chunk, so several devices copy at the same time but scan one after the other.
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
/// Elements and predicates are those of SinglePass::Compact. A predicate of the index (WithIndex) gets the index in the
/// whole array. One of the previous element (WithPrevious) does not compile. Each element crosses the bus once, and
/// each kept one twice.
class Compact {
  public:
    /// Creates the streams. Throws std::invalid_argument for a device that does not exist.
    explicit Compact(Options options = {}, const SinglePass::Compact& onCard = {})
        : pipeline_(std::move(options)), onCard_(onCard) {}

    /// Writes the elements for which `keep` holds to the beginning of `out`, in order, and returns their number. `out`
    /// may begin where `in` does, or else shares no memory with it. Throws std::invalid_argument if it has no room for
    /// them, and then has written no element past its end.
    template <Input In, typename Predicate = IsNonzero>
    std::size_t operator()(const In& in, std::span<ElementOf<In>> out, Predicate keep = {}) {
        return compact(inputSpan(in), out, keep);
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

/// Stable sort of keys, of keys and values, or of records in host memory.
///
/// Keys, values, order and bits are those of Radix::Sort. `out` has as many elements as `in` and may be `in`.
///
///   fits on the cards    each element crosses the bus once in each direction. Chunks are sorted as they arrive, and
///                        parts of the sorted array go down as they are done. Several devices need links, over which
///                        they bring the pieces of a part together; the call enables peer access among them;
///   otherwise            it crosses the bus twice in each direction, and both directions are busy: the sorted chunks
///                        go to host memory, and parts of equal size come from there (out_of_core/sort.cuh).
///
/// The second case needs host memory for another copy of the array, `spare`. It may be the input, which then is
/// overwritten, and must share no memory with the output. Without it the call allocates pageable memory and frees it at
/// the end. Page-locked memory is faster.
///
/// Sources: Stehle and Jacobsen, "A Memory Bandwidth-Efficient Hybrid Radix Sort on GPUs", SIGMOD 2017, and
/// Maltenberger et al., "Evaluating Multi-GPU Sorting with Modern Interconnects", SIGMOD 2022, who merge the sorted
/// chunks on the CPU.
class Sort {
  public:
    /// Creates the streams. Throws std::invalid_argument for a device that does not exist.
    explicit Sort(Options options = {}, const Radix::Sort& onCard = {})
        : pipeline_(std::move(options)), onCard_(onCard) {}

    /// Sorts keys.
    template <Input Keys>
    void operator()(const Keys& in, std::span<ElementOf<Keys>> out, std::span<ElementOf<Keys>> spare = {}) {
        requireLength("out", out.size(), std::ranges::size(in));
        requireSpare("spare", spare.size(), out.size());
        sort(KeySorter<ElementOf<Keys>>{onCard_}, out.size(), {bytesOf(inputSpan(in))}, {bytesOf(out)},
             {bytesOf(spare)});
    }

    /// Sorts keys and the values that go with them.
    template <Input Keys, Input Values>
    void operator()(const Keys& keysIn, std::span<ElementOf<Keys>> keysOut, const Values& valuesIn,
                    std::span<ElementOf<Values>> valuesOut, std::span<ElementOf<Keys>> spareKeys = {},
                    std::span<ElementOf<Values>> spareValues = {}) {
        const std::size_t n = std::ranges::size(keysIn);
        requireLength("keysOut", keysOut.size(), n);
        requireLength("valuesIn", std::ranges::size(valuesIn), n);
        requireLength("valuesOut", valuesOut.size(), n);
        requireSpare("spareKeys", spareKeys.size(), n);
        requireLength("spareValues", spareValues.size(), spareKeys.size());
        sort(PairSorter<ElementOf<Keys>, ElementOf<Values>>{onCard_}, n,
             {bytesOf(inputSpan(keysIn)), bytesOf(inputSpan(valuesIn))}, {bytesOf(keysOut), bytesOf(valuesOut)},
             {bytesOf(spareKeys), bytesOf(spareValues)});
    }

    /// Sorts records of `recordBytes` bytes, each of which begins with its key. They may lie at any address.
    template <typename Key>
    void records(std::span<const std::byte> in, std::span<std::byte> out, std::size_t recordBytes,
                 std::span<std::byte> spare = {}) {
        if (recordBytes < sizeof(Key) || in.size() % recordBytes != 0) {
            throw std::invalid_argument("recordBytes: expected at least " + std::to_string(sizeof(Key)) +
                                        " and a divisor of " + std::to_string(in.size()) + ", got " +
                                        std::to_string(recordBytes));
        }
        requireLength("out", out.size(), in.size());
        requireSpare("spare", spare.size(), in.size());
        sort(RecordSorter<Key>{onCard_, recordBytes}, in.size() / recordBytes, {in.data()}, {out.data()},
             {spare.data()});
    }

  private:
    template <typename T>
    [[nodiscard]] static auto* bytesOf(std::span<T> elements) {
        using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
        return reinterpret_cast<Byte*>(elements.data());
    }

    /// Throws unless there are n elements or none.
    static void requireSpare(const char* name, std::size_t length, std::size_t n) {
        if (length != 0) {
            requireLength(name, length, n);
        }
    }

    /// `spare` is null if there is none.
    template <typename Sorter>
    void sort(const Sorter& sorter, std::size_t n, const ConstColumns<Sorter::columns>& in,
              const Columns<Sorter::columns>& out, const Columns<Sorter::columns>& spare) {
        requireColumns(sorter, n, in, out, spare);
        const auto bytes = sorter.elementBytes();
        const std::size_t elementBytes = std::accumulate(bytes.begin(), bytes.end(), std::size_t{0});

        MakeRuns<Sorter> single(sorter, in, out);
        const Plan plan = pipeline_.plan(single, n, elementBytes);
        if (plan.count <= 1) {
            run(single, plan);
            return;
        }
        if (pipeline_.connectCards()) {
            SortOnCards<Sorter> onCards(sorter, in, out, n, pipeline_.cards());
            // The cards sort parts of all chunks, so many chunks would make many small copies.
            auto both = pipeline_.planIfItFits(onCards, n, elementBytes);
            if (both && both->count <= RunStarts::mostRuns) {
                both->trips = 2;
                onCards.setRuns(*both);
                run(onCards, *both);
                return;
            }
        }
        sortInHostMemory(sorter, plan, in, out, spare);
    }

    template <typename Job>
    void run(Job& job, const Plan& plan) {
        Tally tally(pipeline_.progress(), plan.trips * plan.n);
        pipeline_.run(job, plan, tally);
    }

    template <typename Sorter>
    void sortInHostMemory(const Sorter& sorter, const Plan& plan, const ConstColumns<Sorter::columns>& in,
                          const Columns<Sorter::columns>& out, Columns<Sorter::columns> spare) {
        std::array<std::unique_ptr<std::byte[]>, Sorter::columns> memory;
        ConstColumns<Sorter::columns> runs;
        for (std::size_t c = 0; c < Sorter::columns; ++c) {
            if (spare[c] == nullptr) {
                memory[c] = std::make_unique_for_overwrite<std::byte[]>(plan.n * sorter.elementBytes()[c]);
                spare[c] = memory[c].get();
            }
            runs[c] = spare[c];
        }
        Tally tally(pipeline_.progress(), 2 * plan.n);
        MakeRuns<Sorter> first(sorter, in, spare);
        pipeline_.run(first, plan, tally);
        SortParts<Sorter> second(sorter, runs, out, plan);
        pipeline_.run(second, plan, tally);
    }

    /// Throws for bits that the key does not have, and for arrays that overlap where they may not.
    template <typename Sorter>
    static void requireColumns(const Sorter& sorter, std::size_t n, const ConstColumns<Sorter::columns>& in,
                               const Columns<Sorter::columns>& out, const Columns<Sorter::columns>& spare) {
        (void)sorter.sort.digitRange(8 * sizeof(typename Sorter::Key));
        for (std::size_t a = 0; a < Sorter::columns; ++a) {
            const std::size_t bytes = n * sorter.elementBytes()[a];
            for (std::size_t b = 0; b < Sorter::columns; ++b) {
                const std::size_t otherBytes = n * sorter.elementBytes()[b];
                const std::size_t spareBytes = spare[b] == nullptr ? 0 : otherBytes;
                Arguments::requireDisjoint(out[a], bytes, spare[b], spareBytes);
                if (a == b) {
                    Arguments::requireSameOrDisjoint(in[a], bytes, out[b], otherBytes);
                    Arguments::requireSameOrDisjoint(in[a], bytes, spare[b], spareBytes);
                } else {
                    Arguments::requireDisjoint(in[a], bytes, out[b], otherBytes);
                    Arguments::requireDisjoint(out[a], bytes, out[b], otherBytes);
                    Arguments::requireDisjoint(in[a], bytes, spare[b], spareBytes);
                    Arguments::requireDisjoint(spare[a], spare[a] == nullptr ? 0 : bytes, spare[b], spareBytes);
                }
            }
        }
    }

    Pipeline pipeline_;
    Radix::Sort onCard_;
};

}  // namespace StreamCompaction::OutOfCore
