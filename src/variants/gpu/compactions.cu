#include <stream_compaction/map_scan_scatter.cuh>
#include <stream_compaction/single_pass/compact.cuh>

#include "variants/gpu/ladder.cuh"
#include "variants/gpu/peers.cuh"
#include "variants/gpu/run.cuh"
#include "variants/implementation.h"

namespace Bench {
namespace {

template <typename T>
class CompactMemory : public CountedMemory<T> {
  public:
    using SomeProblem = CompactProblem<T>;
    using CountedMemory<T>::CountedMemory;

    void fetchTo(Array<T>& result) const { fetch(this->output(), result, this->fetchCount()); }
};

template <typename MakeOp, typename Elements = AllTypes>
[[nodiscard]] Implementations compaction(std::string_view variant, MakeOp makeOp, Elements types = {}) {
    return implementEach<CompactMemory>(types, Operation::Compact, variant, makeOp);
}

/// Map-scan-scatter compaction by a scan.
template <typename MakeScan>
[[nodiscard]] auto over(MakeScan makeScan) {
    return [makeScan](int blockSize) {
        return StreamCompaction::MapScanScatter<decltype(makeScan(0))>{makeScan(blockSize)};
    };
}

}  // namespace

Implementations gpuCompactions() {
    using namespace StreamCompaction;
    return joined({
        compaction("naive", over(naiveScan), IntsAlone{}),
        compaction("efficient", over(textbookScan), IntsAlone{}),
        compaction("efficient-optimized", over(optimizedScan), IntsAlone{}),
        compaction("shared", over(sharedScan), IntsAlone{}),
        compaction("single-pass", fixed<SinglePass::Compact>),
        compaction("thrust", fixed<Thrust::Compact>, IntsAlone{}),
        compaction("cub", fixed<Cub::Compact>),
    });
}

namespace {

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

template <template <typename> typename MemoryOf, typename MakeOp>
[[nodiscard]] Implementations partition(std::string_view variant, MakeOp makeOp) {
    return implementEach<MemoryOf>(IntsAlone{}, Operation::Partition, variant, makeOp);
}

}  // namespace

Implementations gpuPartitions() {
    using namespace StreamCompaction;
    return joined({
        partition<JoinedMemory>("single-pass", fixed<SinglePass::Partition>),
        partition<ApartMemory>("single-pass-apart", fixed<SinglePass::Partition>),
        partition<ApartMemory>("thrust", fixed<Thrust::Partition>),
        partition<ReversedMemory>("cub", fixed<Cub::Partition>),
    });
}

}  // namespace Bench
