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
#include <tuple>
#include <type_traits>
#include <utility>

#include "variants/gpu/run.cuh"

/// The device memory of each operation: its arguments, how it is called with them and how its result is fetched.
///
/// An argument is made for a problem. `get()` is what the operation gets. `none(problem)` stands for it where only its
/// type matters, and `bytes(problem)` is its device memory.
namespace Bench {

struct AsItIs {
    template <typename T>
    [[nodiscard]] std::span<const T> operator()(std::span<const T> in) const {
        return in;
    }
};

/// An array that an operation reads. `Make{}(in)` makes it.
template <typename T, typename Make = AsItIs>
class Input {
  public:
    template <typename SomeProblem>
    explicit Input(const SomeProblem& problem) : buffer_(std::span<const T>(Make{}(problem.input()))) {}

    [[nodiscard]] static const T* none(const Problem& /*problem*/) { return StreamCompaction::noArray<const T>; }
    [[nodiscard]] static std::size_t bytes(const Problem& problem) { return problem.size() * sizeof(T); }
    [[nodiscard]] const T* get() const { return buffer_.data(); }
    void poison() {}

  private:
    StreamCompaction::DeviceBuffer<T> buffer_;
};

struct SizeOf {
    [[nodiscard]] std::size_t operator()(const Problem& problem) const { return problem.size(); }
};

/// An array that an operation writes, of `Room{}(problem)` elements.
template <typename T, typename Room = SizeOf>
class Output {
  public:
    explicit Output(const Problem& problem) : buffer_(Room{}(problem)) {}

    [[nodiscard]] static T* none(const Problem& /*problem*/) { return StreamCompaction::noArray<T>; }
    [[nodiscard]] static std::size_t bytes(const Problem& problem) { return Room{}(problem) * sizeof(T); }
    [[nodiscard]] T* get() { return buffer_.data(); }
    void poison() { Bench::poison(buffer_); }
    /// The first elements.
    void fetchTo(Array<T>& to, std::size_t count) const { fetch(buffer_, to, count); }
    void fetchTo(Array<T>& to) const { fetchTo(to, buffer_.size()); }

  private:
    StreamCompaction::DeviceBuffer<T> buffer_;
};

/// The number of kept elements, in device memory.
class KeptCount {
  public:
    explicit KeptCount(const Problem& /*problem*/) : KeptCount() {}
    KeptCount() = default;

    [[nodiscard]] static std::size_t* none(const Problem& /*problem*/) {
        return StreamCompaction::noArray<std::size_t>;
    }
    [[nodiscard]] static std::size_t bytes(const Problem& /*problem*/) { return sizeof(std::size_t); }
    [[nodiscard]] std::size_t* get() { return count_.data(); }
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

/// A number: `Of{}(problem)`.
template <typename Of>
class Number {
  public:
    explicit Number(const Problem& problem) : number_(none(problem)) {}

    [[nodiscard]] static auto none(const Problem& problem) { return Of{}(problem); }
    [[nodiscard]] static std::size_t bytes(const Problem& /*problem*/) { return 0; }
    [[nodiscard]] auto get() const { return number_; }
    void poison() {}

  private:
    std::invoke_result_t<Of, const Problem&> number_;
};
using Size = Number<SizeOf>;

template <auto value>
struct Constant {
    [[nodiscard]] auto operator()(const Problem& /*problem*/) const { return value; }
};

/// The arrays of a result.
template <typename T>
[[nodiscard]] auto arraysOf(Array<T>& array) {
    return std::tie(array);
}
template <typename K>
[[nodiscard]] auto arraysOf(Pairs<K>& pairs) {
    return std::tie(pairs.keys, pairs.values);
}

/// The arguments of an operation in their order, without scratch and stream.
template <typename ProblemOfOp, typename... Arguments>
class Memory {
  public:
    using SomeProblem = ProblemOfOp;
    using In = typename decltype(std::declval<SomeProblem&>().input())::value_type;
    using Element = In;

    explicit Memory(const SomeProblem& problem) : n_(problem.size()), arguments_(Arguments(problem)...) {}

    template <typename Op>
    [[nodiscard]] static std::size_t scratchBytes(const Op& op, const Problem& problem) {
        return op.scratchBytes(Arguments::none(problem)...);
    }
    [[nodiscard]] static std::size_t bytes(const Problem& problem) { return (Arguments::bytes(problem) + ...); }

    template <typename Op>
    void call(const Op& op, StreamCompaction::Scratch scratch) {
        std::apply([&](auto&... arguments) { op(arguments.get()..., scratch, defaultStream); }, arguments_);
    }
    void poison() {
        std::apply([](auto&... arguments) { (arguments.poison(), ...); }, arguments_);
    }
    /// The arrays of the result are the outputs in their order.
    template <typename Result>
    void fetchTo(Result& result) const {
        const auto all = outputs();
        const auto arrays = arraysOf(result);
        constexpr std::size_t size = std::tuple_size_v<decltype(all)>;
        fetchEach(all, arrays, std::make_index_sequence<size>());
    }

  protected:
    [[nodiscard]] std::size_t size() const { return n_; }
    template <typename Argument>
    [[nodiscard]] const Argument& argument() const {
        return std::get<Argument>(arguments_);
    }
    [[nodiscard]] std::size_t count() const { return argument<KeptCount>().fetchOf(n_); }
    /// References to the outputs.
    [[nodiscard]] auto outputs() const {
        return std::apply([](const auto&... arguments) { return std::tuple_cat(ifOutput(arguments)...); }, arguments_);
    }

  private:
    template <typename T, typename Room>
    [[nodiscard]] static auto ifOutput(const Output<T, Room>& output) {
        return std::tie(output);
    }
    template <typename Argument>
    [[nodiscard]] static std::tuple<> ifOutput(const Argument& /*other*/) {
        return {};
    }

    template <typename Outputs, typename Arrays, std::size_t... i>
    void fetchEach(const Outputs& outputs, const Arrays& arrays, std::index_sequence<i...>) const {
        if constexpr ((std::is_same_v<Arguments, KeptCount> || ...)) {
            const std::size_t kept = count();
            (std::get<i>(outputs).fetchTo(std::get<i>(arrays), kept), ...);
        } else {
            (std::get<i>(outputs).fetchTo(std::get<i>(arrays)), ...);
        }
    }

    std::size_t n_;
    std::tuple<Arguments...> arguments_;
};

/// A scan or a sort.
template <typename T>
using ScanMemory = Memory<ScanProblem<T>, Input<T>, Output<SumOf<T>>, Size>;
template <typename T>
using SortMemory = Memory<SortProblem<T>, Input<T>, Output<T>, Size>;

template <typename T>
using CompactMemory = Memory<CompactProblem<T>, Input<T>, Output<T>, KeptCount, Size>;

struct RecordsOf {
    template <typename T>
    [[nodiscard]] Array<Record> operator()(std::span<const T> in) const {
        Array<Record> records(in.size());
        std::ranges::generate(records, [i = std::uint64_t{0}]() mutable { return recordAt(i++); });
        return records;
    }
};
struct FlagsOf {
    template <typename T>
    [[nodiscard]] Array<Flag> operator()(std::span<const T> in) const {
        Array<Flag> flags(in.size());
        std::ranges::transform(in, flags.begin(), [](T x) -> Flag { return x != T{} ? 1 : 0; });
        return flags;
    }
};
/// A compaction of records by flags.
template <typename T>
using FlaggedMemory =
    Memory<CompactFlaggedProblem<T>, Input<Record, RecordsOf>, Input<Flag, FlagsOf>, Output<Record>, KeptCount, Size>;

/// A partition with both parts in one array.
template <typename T>
class JoinedMemory : public Memory<PartitionProblem<T>, Input<T>, Output<T>, KeptCount, Size> {
  public:
    using Memory<PartitionProblem<T>, Input<T>, Output<T>, KeptCount, Size>::Memory;

    void fetchTo(Parts<T>& result) const {
        const std::size_t kept = this->count();
        std::get<0>(this->outputs()).fetchTo(result.kept);
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
class ApartMemory : public Memory<PartitionProblem<T>, Input<T>, Output<T>, Output<T>, KeptCount, Size> {
  public:
    using Memory<PartitionProblem<T>, Input<T>, Output<T>, Output<T>, KeptCount, Size>::Memory;

    void fetchTo(Parts<T>& result) const {
        const std::size_t kept = this->count();
        std::get<0>(this->outputs()).fetchTo(result.kept, kept);
        std::get<1>(this->outputs()).fetchTo(result.rejected, this->size() - kept);
    }
};

template <typename T, std::size_t bins>
using HistogramMemory = Memory<HistogramProblem<T, bins>, Input<T>, Output<BinCount, Constant<bins>>, Size,
                               Number<Constant<bins>>, Number<Constant<firstBin<T>>>>;
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
struct IndicesOf {
    template <typename T>
    [[nodiscard]] Array<PairValue> operator()(std::span<const T> in) const {
        return indices(in.size());
    }
};

/// A sort of keys with their indices as values.
template <typename K>
using PairsMemory =
    Memory<SortPairsProblem<K>, Input<K>, Output<K>, Input<PairValue, IndicesOf>, Output<PairValue>, Size>;
/// An argsort gets only keys and makes the indices itself.
template <typename K>
using ArgSortMemory = Memory<SortPairsProblem<K>, Input<K>, Output<K>, Output<PairValue>, Size>;

/// A byte per element tells segments apart: `ByteOf{}(in, i)` for element i.
template <typename ByteOf>
struct SegmentBytes {
    template <typename T>
    [[nodiscard]] Array<std::uint8_t> operator()(std::span<const T> in) const {
        Array<std::uint8_t> bytes(in.size());
        for (std::size_t i = 0; i < in.size(); ++i) {
            bytes[i] = ByteOf{}(in, i);
        }
        return bytes;
    }
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
    template <typename SomeProblem>
    explicit SegmentOffsets(const SomeProblem& problem) {
        const auto in = problem.input();
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
    [[nodiscard]] static auto none(const Problem& problem) {
        return StreamCompaction::segmentsAt(StreamCompaction::noArray<const std::int32_t>, problem.size() + 1);
    }
    [[nodiscard]] static std::size_t bytes(const Problem& problem) {
        return (problem.size() + 1) * sizeof(std::int32_t);
    }
    [[nodiscard]] auto get() const { return StreamCompaction::segmentsAt(offsets_.data(), offsets_.size()); }
    void poison() {}

  private:
    StreamCompaction::DeviceBuffer<std::int32_t> offsets_;
};

template <typename T, typename Segments>
using SegmentedScanMemory = Memory<SegmentedScanProblem<T>, Input<T>, Segments, Output<SumOf<T>>, Size>;
template <typename T>
using ScanByFlagsMemory = SegmentedScanMemory<T, Input<std::uint8_t, SegmentBytes<HeadFlag>>>;
template <typename T>
using ScanByKeysMemory = SegmentedScanMemory<T, Input<std::uint8_t, SegmentBytes<SegmentKey>>>;
template <typename T>
using ScanByOffsetsMemory = SegmentedScanMemory<T, SegmentOffsets>;
template <typename T>
using SegmentedSortMemory = Memory<SegmentedSortProblem<T>, Input<T>, SegmentOffsets, Output<T>, Size>;

struct ResultSizeOf {
    [[nodiscard]] std::size_t operator()(const Problem& problem) const { return problem.resultSize(); }
};
/// A selection.
template <typename T>
using TopKMemory = Memory<TopKProblem<T>, Input<T>, Output<T, ResultSizeOf>, Size, Number<ResultSizeOf>>;

struct ColsOf {
    [[nodiscard]] std::size_t operator()(const Problem& problem) const { return problem.shape()->cols; }
};
/// Row sums of a matrix, which has no gaps between its rows.
template <typename T>
using RowSumMemory = Memory<RowSumProblem<T>, Input<T>, Output<SumOf<T>, ResultSizeOf>, Number<ResultSizeOf>,
                            Number<ColsOf>, Number<ColsOf>>;

template <typename K>
using RunLengthMemory = Memory<RunsProblem<K>, Input<K>, Output<K>, Output<PairValue>, KeptCount, Size>;
/// A reduction by key, with the indices as values.
template <typename K>
using ReduceByKeyMemory =
    Memory<RunsProblem<K>, Input<K>, Input<PairValue, IndicesOf>, Output<K>, Output<PairValue>, KeptCount, Size>;

}  // namespace Bench
