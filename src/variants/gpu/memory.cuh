#pragma once

#include <stream_compaction/device_buffer.h>
#include <stream_compaction/runtime/arguments.h>
#include <stream_compaction/runtime/scratch.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <stdexcept>
#include <stream_compaction/segments.cuh>
#include <string>
#include <type_traits>
#include <utility>

#include "variants/gpu/run.cuh"

/// The device memory of each operation: its arrays, how an operation is called with them and how its result is fetched.
namespace Bench {

/// The number of kept elements, in device memory.
class KeptCount {
  public:
    static constexpr std::size_t bytes = sizeof(std::size_t);

    [[nodiscard]] std::size_t* data() { return count_.data(); }
    void poison() { Bench::poison(count_); }

    /// Throws if the count exceeds `n`.
    [[nodiscard]] std::size_t fetchOf(std::size_t n) const {
        std::size_t count = 0;
        count_.copyTo(std::span(&count, 1));
        if (count > n) {
            throw std::runtime_error("it counts " + std::to_string(count) + " elements to keep of " +
                                     std::to_string(n));
        }
        return count;
    }

  private:
    StreamCompaction::DeviceBuffer<std::size_t> count_{1};
};

/// Memory of an operation with n elements in and n out: a scan or a sort.
template <typename In, typename Out>
class TransformMemory {
  public:
    using Element = In;
    using SomeProblem = ProblemOn<In, Array<Out>>;

    explicit TransformMemory(std::span<const In> input) : input_(input), output_(input.size()) {}

    template <typename Op>
    [[nodiscard]] static std::size_t scratchBytes(const Op& op, std::size_t n) {
        return op.scratchBytes(StreamCompaction::noArray<In>, StreamCompaction::noArray<Out>, n);
    }
    [[nodiscard]] static std::size_t bytes(std::size_t n) { return n * (sizeof(In) + sizeof(Out)); }

    template <typename Op>
    void call(const Op& op, StreamCompaction::Scratch scratch) {
        op(std::as_const(input_).data(), output_.data(), input_.size(), scratch, defaultStream);
    }
    void poison() { Bench::poison(output_); }
    void fetchTo(Array<Out>& result) const { fetch(output_, result, output_.size()); }

  private:
    StreamCompaction::DeviceBuffer<In> input_;
    StreamCompaction::DeviceBuffer<Out> output_;
};

template <typename T>
using ScanMemory = TransformMemory<T, SumOf<T>>;

template <typename T>
using SortMemory = TransformMemory<T, T>;

/// Memory of an operation with one array in, one array out and the number of kept elements: a compaction, or a
/// partition that appends the rejected elements.
template <typename T>
class CountedMemory {
  public:
    using Element = T;

    explicit CountedMemory(std::span<const T> input) : input_(input), output_(input.size()) {}

    template <typename Op>
    [[nodiscard]] static std::size_t scratchBytes(const Op& op, std::size_t n) {
        using StreamCompaction::noArray;
        return op.scratchBytes(noArray<T>, noArray<T>, noArray<std::size_t>, n);
    }
    [[nodiscard]] static std::size_t bytes(std::size_t n) { return 2 * n * sizeof(T) + KeptCount::bytes; }

    template <typename Op>
    void call(const Op& op, StreamCompaction::Scratch scratch) {
        op(std::as_const(input_).data(), output_.data(), count_.data(), input_.size(), scratch, defaultStream);
    }
    void poison() {
        Bench::poison(output_);
        count_.poison();
    }

  protected:
    [[nodiscard]] const StreamCompaction::DeviceBuffer<T>& output() const { return output_; }
    [[nodiscard]] std::size_t fetchCount() const { return count_.fetchOf(input_.size()); }

  private:
    StreamCompaction::DeviceBuffer<T> input_;
    StreamCompaction::DeviceBuffer<T> output_;
    KeptCount count_;
};

template <typename T>
class CompactMemory : public CountedMemory<T> {
  public:
    using SomeProblem = CompactProblem<T>;
    using CountedMemory<T>::CountedMemory;

    void fetchTo(Array<T>& result) const { fetch(this->output(), result, this->fetchCount()); }
};

/// Memory of a compaction of records by flags.
template <typename T>
class FlaggedMemory {
  public:
    using Element = T;
    using SomeProblem = CompactFlaggedProblem<T>;

    explicit FlaggedMemory(std::span<const T> input)
        : flags_(input.size()), records_(input.size()), out_(input.size()) {
        std::vector<Flag> flags(input.size());
        std::ranges::transform(input, flags.begin(), [](T x) -> Flag { return x != T{} ? 1 : 0; });
        flags_.copyFrom(flags);
        std::vector<Record> records(input.size());
        std::ranges::generate(records, [i = std::uint64_t{0}]() mutable { return recordAt(i++); });
        records_.copyFrom(records);
    }

    template <typename Op>
    [[nodiscard]] static std::size_t scratchBytes(const Op& op, std::size_t n) {
        using StreamCompaction::noArray;
        return op.scratchBytes(noArray<Record>, noArray<Flag>, noArray<Record>, noArray<std::size_t>, n);
    }
    [[nodiscard]] static std::size_t bytes(std::size_t n) {
        return n * (sizeof(Flag) + 2 * sizeof(Record)) + KeptCount::bytes;
    }

    template <typename Op>
    void call(const Op& op, StreamCompaction::Scratch scratch) {
        op(std::as_const(records_).data(), std::as_const(flags_).data(), out_.data(), count_.data(), flags_.size(),
           scratch, defaultStream);
    }
    void poison() {
        Bench::poison(out_);
        count_.poison();
    }
    void fetchTo(Array<Record>& result) const { fetch(out_, result, count_.fetchOf(flags_.size())); }

  private:
    StreamCompaction::DeviceBuffer<Flag> flags_;
    StreamCompaction::DeviceBuffer<Record> records_;
    StreamCompaction::DeviceBuffer<Record> out_;
    KeptCount count_;
};

/// Both parts in one array.
template <typename T>
class JoinedMemory : public CountedMemory<T> {
  public:
    using SomeProblem = PartitionProblem<T>;
    using CountedMemory<T>::CountedMemory;

    void fetchTo(Parts<T>& result) const {
        const std::size_t kept = this->fetchCount();
        fetch(this->output(), result.kept, this->output().size());
        result.rejected.assign(result.kept.begin() + kept, result.kept.end());
        result.kept.resize(kept);
    }
};

/// The same for an operation that writes the rejected elements in reverse order.
template <typename T>
class ReversedMemory : public JoinedMemory<T> {
  public:
    using JoinedMemory<T>::JoinedMemory;

    void fetchTo(Parts<T>& result) const {
        JoinedMemory<T>::fetchTo(result);
        std::ranges::reverse(result.rejected);
    }
};

/// Each part in an array of its own.
template <typename T>
class ApartMemory {
  public:
    using Element = T;
    using SomeProblem = PartitionProblem<T>;

    explicit ApartMemory(std::span<const T> input) : input_(input), kept_(input.size()), rejected_(input.size()) {}

    template <typename Op>
    [[nodiscard]] static std::size_t scratchBytes(const Op& op, std::size_t n) {
        using StreamCompaction::noArray;
        return op.scratchBytes(noArray<T>, noArray<T>, noArray<T>, noArray<std::size_t>, n);
    }
    [[nodiscard]] static std::size_t bytes(std::size_t n) { return 3 * n * sizeof(T) + KeptCount::bytes; }

    template <typename Op>
    void call(const Op& op, StreamCompaction::Scratch scratch) {
        op(std::as_const(input_).data(), kept_.data(), rejected_.data(), count_.data(), input_.size(), scratch,
           defaultStream);
    }
    void poison() {
        Bench::poison(kept_);
        Bench::poison(rejected_);
        count_.poison();
    }
    void fetchTo(Parts<T>& result) const {
        const std::size_t kept = count_.fetchOf(input_.size());
        fetch(kept_, result.kept, kept);
        fetch(rejected_, result.rejected, input_.size() - kept);
    }

  private:
    StreamCompaction::DeviceBuffer<T> input_;
    StreamCompaction::DeviceBuffer<T> kept_;
    StreamCompaction::DeviceBuffer<T> rejected_;
    KeptCount count_;
};

/// Memory of a histogram.
template <typename T, std::size_t bins>
class HistogramMemory {
  public:
    using Element = T;
    using SomeProblem = HistogramProblem<T, bins>;

    explicit HistogramMemory(std::span<const T> input) : input_(input) {}

    template <typename Op>
    [[nodiscard]] static std::size_t scratchBytes(const Op& op, std::size_t n) {
        using StreamCompaction::noArray;
        return op.scratchBytes(noArray<T>, noArray<BinCount>, n, bins, firstBin<T>);
    }
    [[nodiscard]] static std::size_t bytes(std::size_t n) { return n * sizeof(T) + bins * sizeof(BinCount); }

    template <typename Op>
    void call(const Op& op, StreamCompaction::Scratch scratch) {
        op(std::as_const(input_).data(), counts_.data(), input_.size(), bins, firstBin<T>, scratch, defaultStream);
    }
    void poison() { Bench::poison(counts_); }
    void fetchTo(Array<BinCount>& result) const { fetch(counts_, result, bins); }

  private:
    StreamCompaction::DeviceBuffer<T> input_;
    StreamCompaction::DeviceBuffer<BinCount> counts_{bins};
};

template <typename T>
using NarrowHistogramMemory = HistogramMemory<T, std::size_t{1} << 8>;
template <typename T>
using WideHistogramMemory = HistogramMemory<T, std::size_t{1} << 16>;

/// The values of a sort of n pairs.
[[nodiscard]] inline Array<PairValue> indices(std::size_t n, std::size_t first = 0) {
    Array<PairValue> values(n);
    std::iota(values.begin(), values.end(), static_cast<PairValue>(first));
    return values;
}

/// The values of a sort of n keys: their indices, or none.
template <typename V>
[[nodiscard]] Array<V> valuesOf(std::size_t n, std::size_t first = 0) {
    if constexpr (std::is_same_v<V, PairValue>) {
        return indices(n, first);
    } else {
        return {};
    }
}

/// What a sort is measured as.
template <typename K, typename V>
struct SortOf {
    using SomeProblem = SortProblem<K>;
    static constexpr Operation operation = Operation::Sort;
    static constexpr std::size_t elementBytes = sizeof(K);
};
template <typename K>
struct SortOf<K, PairValue> {
    using SomeProblem = SortPairsProblem<K>;
    static constexpr Operation operation = Operation::SortPairs;
    static constexpr std::size_t elementBytes = sizeof(K) + sizeof(PairValue);
};

/// Keys and their values. Without values the second array is empty.
template <template <typename> typename ArrayOf, typename K, typename V>
struct Records {
    ArrayOf<K> keys;
    ArrayOf<V> values;

    void poison() {
        keys.poison();
        values.poison();
    }
    void fetchTo(Array<K>& to) const { keys.fetchTo(to); }
    void fetchTo(Pairs<K>& to) const {
        keys.fetchTo(to.keys);
        values.fetchTo(to.values);
    }
};

/// Memory of a sort of keys with their indices as values.
template <typename K>
class PairsMemory {
  public:
    using Element = K;
    using SomeProblem = SortPairsProblem<K>;

    explicit PairsMemory(std::span<const K> keys)
        : keysIn_(keys),
          valuesIn_(std::span<const PairValue>(indices(keys.size()))),
          keysOut_(keys.size()),
          valuesOut_(keys.size()) {}

    template <typename Op>
    [[nodiscard]] static std::size_t scratchBytes(const Op& op, std::size_t n) {
        using StreamCompaction::noArray;
        return op.scratchBytes(noArray<K>, noArray<K>, noArray<PairValue>, noArray<PairValue>, n);
    }
    [[nodiscard]] static std::size_t bytes(std::size_t n) { return 2 * n * (sizeof(K) + sizeof(PairValue)); }

    template <typename Op>
    void call(const Op& op, StreamCompaction::Scratch scratch) {
        op(std::as_const(keysIn_).data(), keysOut_.data(), std::as_const(valuesIn_).data(), valuesOut_.data(),
           keysIn_.size(), scratch, defaultStream);
    }
    void poison() {
        Bench::poison(keysOut_);
        Bench::poison(valuesOut_);
    }
    void fetchTo(Pairs<K>& result) const {
        fetch(keysOut_, result.keys, keysOut_.size());
        fetch(valuesOut_, result.values, valuesOut_.size());
    }

  private:
    StreamCompaction::DeviceBuffer<K> keysIn_;
    StreamCompaction::DeviceBuffer<PairValue> valuesIn_;
    StreamCompaction::DeviceBuffer<K> keysOut_;
    StreamCompaction::DeviceBuffer<PairValue> valuesOut_;
};

/// Segments by one byte per element: `ByteOf{}(in, i)` for element i.
template <typename ByteOf>
class SegmentBytes {
  public:
    template <typename T>
    explicit SegmentBytes(std::span<const T> in) {
        Array<std::uint8_t> bytes(in.size());
        for (std::size_t i = 0; i < in.size(); ++i) {
            bytes[i] = ByteOf{}(in, i);
        }
        bytes_ = StreamCompaction::DeviceBuffer<std::uint8_t>(std::span<const std::uint8_t>(bytes));
    }

    [[nodiscard]] static const std::uint8_t* none(std::size_t /*n*/) {
        return StreamCompaction::noArray<const std::uint8_t>;
    }
    [[nodiscard]] static std::size_t bytes(std::size_t n) { return n; }
    [[nodiscard]] const std::uint8_t* get() const { return bytes_.data(); }

  private:
    StreamCompaction::DeviceBuffer<std::uint8_t> bytes_;
};

/// A flag at each head.
struct HeadFlag {
    template <typename T>
    [[nodiscard]] std::uint8_t operator()(std::span<const T> in, std::size_t i) const {
        return beginsSegment(in, i) ? 1 : 0;
    }
};
/// A key that neighbouring segments do not share.
struct SegmentKey {
    template <typename T>
    [[nodiscard]] std::uint8_t operator()(std::span<const T> in, std::size_t i) const {
        return static_cast<std::uint8_t>(in[i] & 1);
    }
};

/// The offsets of the segments, and n behind them.
class SegmentOffsets {
  public:
    template <typename T>
    explicit SegmentOffsets(std::span<const T> in) {
        Array<std::int32_t> offsets;
        for (std::size_t i = 0; i < in.size(); ++i) {
            if (beginsSegment(in, i)) {
                offsets.push_back(static_cast<std::int32_t>(i));
            }
        }
        offsets.push_back(static_cast<std::int32_t>(in.size()));
        offsets_ = StreamCompaction::DeviceBuffer<std::int32_t>(std::span<const std::int32_t>(offsets));
    }

    /// As many as there may be.
    [[nodiscard]] static auto none(std::size_t n) {
        return StreamCompaction::segmentsAt(StreamCompaction::noArray<const std::int32_t>, n + 1);
    }
    [[nodiscard]] static std::size_t bytes(std::size_t n) { return (n + 1) * sizeof(std::int32_t); }
    [[nodiscard]] auto get() const { return StreamCompaction::segmentsAt(offsets_.data(), offsets_.size()); }

  private:
    StreamCompaction::DeviceBuffer<std::int32_t> offsets_;
};

/// Memory of an operation on the segments of an array.
template <typename In, typename Out, typename Segments>
class SegmentedMemory {
  public:
    using Element = In;
    using SomeProblem = ProblemOn<In, Array<Out>>;

    explicit SegmentedMemory(std::span<const In> input) : input_(input), segments_(input), output_(input.size()) {}

    template <typename Op>
    [[nodiscard]] static std::size_t scratchBytes(const Op& op, std::size_t n) {
        using StreamCompaction::noArray;
        return op.scratchBytes(noArray<const In>, Segments::none(n), noArray<Out>, n);
    }
    [[nodiscard]] static std::size_t bytes(std::size_t n) {
        return n * (sizeof(In) + sizeof(Out)) + Segments::bytes(n);
    }

    template <typename Op>
    void call(const Op& op, StreamCompaction::Scratch scratch) {
        op(std::as_const(input_).data(), segments_.get(), output_.data(), input_.size(), scratch, defaultStream);
    }
    void poison() { Bench::poison(output_); }
    void fetchTo(Array<Out>& result) const { fetch(output_, result, output_.size()); }

  private:
    StreamCompaction::DeviceBuffer<In> input_;
    Segments segments_;
    StreamCompaction::DeviceBuffer<Out> output_;
};

template <typename T>
using ScanByFlagsMemory = SegmentedMemory<T, SumOf<T>, SegmentBytes<HeadFlag>>;
template <typename T>
using ScanByKeysMemory = SegmentedMemory<T, SumOf<T>, SegmentBytes<SegmentKey>>;
template <typename T>
using ScanByOffsetsMemory = SegmentedMemory<T, SumOf<T>, SegmentOffsets>;
template <typename T>
using SegmentedSortMemory = SegmentedMemory<T, T, SegmentOffsets>;

/// Memory of a selection.
template <typename T>
class TopKMemory {
  public:
    using Element = T;
    using SomeProblem = TopKProblem<T>;

    explicit TopKMemory(std::span<const T> input) : input_(input), output_(SomeProblem::firstOf(input.size())) {}

    template <typename Op>
    [[nodiscard]] static std::size_t scratchBytes(const Op& op, std::size_t n) {
        using StreamCompaction::noArray;
        return op.scratchBytes(noArray<T>, noArray<T>, n, SomeProblem::firstOf(n));
    }
    [[nodiscard]] static std::size_t bytes(std::size_t n) { return (n + SomeProblem::firstOf(n)) * sizeof(T); }

    template <typename Op>
    void call(const Op& op, StreamCompaction::Scratch scratch) {
        op(std::as_const(input_).data(), output_.data(), input_.size(), output_.size(), scratch, defaultStream);
    }
    void poison() { Bench::poison(output_); }
    void fetchTo(Array<T>& result) const { fetch(output_, result, output_.size()); }

  private:
    StreamCompaction::DeviceBuffer<T> input_;
    StreamCompaction::DeviceBuffer<T> output_;
};

/// Memory of a run-length encoding.
template <typename K>
class RunLengthMemory {
  public:
    using Element = K;
    using SomeProblem = RunsProblem<K>;

    explicit RunLengthMemory(std::span<const K> input) : input_(input), unique_(input.size()), lengths_(input.size()) {}

    template <typename Op>
    [[nodiscard]] static std::size_t scratchBytes(const Op& op, std::size_t n) {
        using StreamCompaction::noArray;
        return op.scratchBytes(noArray<K>, noArray<K>, noArray<PairValue>, noArray<std::size_t>, n);
    }
    [[nodiscard]] static std::size_t bytes(std::size_t n) {
        return n * (2 * sizeof(K) + sizeof(PairValue)) + KeptCount::bytes;
    }

    template <typename Op>
    void call(const Op& op, StreamCompaction::Scratch scratch) {
        op(std::as_const(input_).data(), unique_.data(), lengths_.data(), count_.data(), input_.size(), scratch,
           defaultStream);
    }
    void poison() {
        Bench::poison(unique_);
        Bench::poison(lengths_);
        count_.poison();
    }
    void fetchTo(Pairs<K>& result) const {
        const std::size_t runs = count_.fetchOf(input_.size());
        fetch(unique_, result.keys, runs);
        fetch(lengths_, result.values, runs);
    }

  private:
    StreamCompaction::DeviceBuffer<K> input_;
    StreamCompaction::DeviceBuffer<K> unique_;
    StreamCompaction::DeviceBuffer<PairValue> lengths_;
    KeptCount count_;
};

/// Memory of a reduction by key, with the indices as values.
template <typename K>
class ReduceByKeyMemory {
  public:
    using Element = K;
    using SomeProblem = RunsProblem<K>;

    explicit ReduceByKeyMemory(std::span<const K> keys)
        : keys_(keys),
          values_(std::span<const PairValue>(indices(keys.size()))),
          uniqueKeys_(keys.size()),
          sums_(keys.size()) {}

    template <typename Op>
    [[nodiscard]] static std::size_t scratchBytes(const Op& op, std::size_t n) {
        using StreamCompaction::noArray;
        return op.scratchBytes(noArray<K>, noArray<PairValue>, noArray<K>, noArray<PairValue>, noArray<std::size_t>, n);
    }
    [[nodiscard]] static std::size_t bytes(std::size_t n) {
        return 2 * n * (sizeof(K) + sizeof(PairValue)) + KeptCount::bytes;
    }

    template <typename Op>
    void call(const Op& op, StreamCompaction::Scratch scratch) {
        op(std::as_const(keys_).data(), std::as_const(values_).data(), uniqueKeys_.data(), sums_.data(), count_.data(),
           keys_.size(), scratch, defaultStream);
    }
    void poison() {
        Bench::poison(uniqueKeys_);
        Bench::poison(sums_);
        count_.poison();
    }
    void fetchTo(Pairs<K>& result) const {
        const std::size_t runs = count_.fetchOf(keys_.size());
        fetch(uniqueKeys_, result.keys, runs);
        fetch(sums_, result.values, runs);
    }

  private:
    StreamCompaction::DeviceBuffer<K> keys_;
    StreamCompaction::DeviceBuffer<PairValue> values_;
    StreamCompaction::DeviceBuffer<K> uniqueKeys_;
    StreamCompaction::DeviceBuffer<PairValue> sums_;
    KeptCount count_;
};

}  // namespace Bench
