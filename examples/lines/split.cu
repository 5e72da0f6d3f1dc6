#include "split.h"
#include "stream_compaction/single_pass.cuh"

namespace {

/// The offset behind each byte, as the element of a compaction.
struct OffsetBehind {
    __host__ __device__ std::uint32_t operator()(std::size_t i) const { return static_cast<std::uint32_t>(i) + 1; }
};

/// Whether a line ends at an offset.
struct IsLineEnd {
    const char* text;

    __device__ bool operator()(std::uint32_t offset) const { return text[offset - 1] == '\n'; }
};

constexpr StreamCompaction::SinglePass::Compact compact;

}  // namespace

LineSplitter::LineSplitter(std::uint32_t mostBytes)
    : text_(mostBytes),
      ends_(mostBytes),
      scratch_(compact.scratchBytes(StreamCompaction::generated(OffsetBehind{}), ends_.data(), count_.data(), mostBytes,
                                    IsLineEnd{})) {}

std::vector<std::uint32_t> LineSplitter::lineEnds(std::span<const char> text) {
    text_.copyFrom(text);
    compact(StreamCompaction::generated(OffsetBehind{}), ends_.data(), count_.data(), text.size(),
            IsLineEnd{text_.data()}, scratch_.bytes(), cudaStreamLegacy);
    std::size_t count = 0;
    count_.copyTo({&count, 1});
    std::vector<std::uint32_t> ends(count);
    ends_.copyTo(ends);
    return ends;
}
