#pragma once

#include "stream_compaction/segments/source.cuh"
#include "stream_compaction/single_pass.cuh"

namespace StreamCompaction {

/// Prefix sums that restart in each segment: `scan(in, heads, out, n, [op, [initial,]] scratch, stream)`.
///
/// `heads` says where segments begin. Either it is a flag per element: an array of flags or a function of its elements
/// or of the index (primitives/source.cuh), whose results convert to bool. The function may be called twice per
/// element. Or it is `segmentsAt(begins, count)`. The first element begins a segment in any case. `initial`, by default
/// the identity, comes before the first element of each segment.
///
/// The scan is SinglePass::Scan with the segmented operator on pairs of a flag and a sum. The pairs exist in registers
/// alone. With flags of a byte it reads 5 bytes and writes 4 bytes per int. With offsets it reads 4 bytes per int and
/// each offset once, and each tile of the array searches the offsets for its begin. DRAM bandwidth is the bound. Small
/// arrays take one launch, large arrays two.
///
/// `in`, `out`, `op` and the scratch are as for SinglePass::Scan: elements and sums of 1 to 16 bytes, any associative
/// operator with an identity. `out` may be `in`. It may be the array of flags, too, if the sizes of the elements are
/// equal. It may not overlap the offsets. The last places of floating-point sums may differ from call to call, unless
/// `reproducible` is set. Neither allocates nor synchronises. Throws what common.cuh says.
struct SegmentedScan {
    static constexpr bool mayRunInPlace = true;  ///< whether the output may be the input

    SinglePass::ScanKind kind = SinglePass::ScanKind::Exclusive;  ///< whether a sum includes its own element

    bool reproducible = false;                ///< as for SinglePass::Scan
    TileOrder order = TileOrder::BlockIndex;  ///< how the blocks of large scans get their tiles

    /// The bytes of scratch that a call with these arguments needs.
    template <typename In, typename Heads, typename T, ElementCount N, typename... Functions>
    [[nodiscard]] std::size_t scratchBytes(const In& /*in*/, const Heads& /*heads*/, T* /*out*/, N n,
                                           const Functions&... /*functions*/) const {
        return SinglePass::Scan::scratchBytesForSums<OpenRun<T, bool>, SourceOf<In>, T>(capacityOf(n));
    }

    /// Scans by Sum.
    template <typename In, typename Heads, typename T, ElementCount N>
    void operator()(const In& in, const Heads& heads, T* out, N n, Scratch scratch, cudaStream_t stream) const {
        (*this)(in, heads, out, n, Sum{}, scratch, stream);
    }

    /// Scans by any operator.
    template <typename In, typename Heads, typename T, ElementCount N, typename Op>
    void operator()(const In& in, const Heads& heads, T* out, N n, Op op, Scratch scratch, cudaStream_t stream) const {
        if constexpr (isOperatorFor<T, Op>()) {
            (*this)(in, heads, out, n, op, op.template identity<T>(), scratch, stream);
        }
    }

    /// Scans from an initial value.
    template <typename In, typename Heads, typename T, ElementCount N, typename Op>
    void operator()(const In& in, const Heads& heads, T* out, N n, Op op, std::type_identity_t<T> initial,
                    Scratch scratch, cudaStream_t stream) const {
        const SourceOf<Heads> headSource = sourceOf(heads);
        requireHeads(headSource, out, countOf(n));
        if constexpr (isOperatorFor<T, Op>() && areElements<Stored<SourceOf<In>>, T>()) {
            const Segments::SegmentedOperator<T, Op> segmented{{op}, initial};
            const Segments::SegmentedSource<SourceOf<In>, SourceOf<Heads>, T, Op> source{sourceOf(in), headSource,
                                                                                         segmented};
            SinglePass::Scan{kind, reproducible, order}.scanSource(source, out, countOf(n), segmented,
                                                                   OpenRun<T, bool>{false, initial}, scratch, stream);
        }
    }

  private:
    template <typename Offset, typename T, typename Count>
    static void requireHeads(const SegmentsAt<Offset>& segments, T* out, Count n) {
        requireApart(n, {Segments::arrayOf(segments)}, {Arguments::array("out", out, capacityOf(n))});
    }
    template <typename Flags, typename T, typename Count>
    static void requireHeads(const Flags& flags, T* out, Count n) {
        requireSource<true>(flags, out, capacityOf(n), "heads");
        requireApart(n, {arrayOf("heads", flags, capacityOf(n))}, {});
    }
};

}  // namespace StreamCompaction
