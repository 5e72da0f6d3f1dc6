#include <utility>

#include "split.h"
#include "stream_compaction/single_pass.cuh"

namespace {

/// The offset behind each byte, as the element of a compaction.
struct OffsetBehind {
    __host__ __device__ std::uint32_t operator()(std::size_t i) const { return static_cast<std::uint32_t>(i) + 1; }
};

/// Whether a line ends with this character.
struct IsLineFeed {
    __device__ bool operator()(char character) const { return character == '\n'; }
};

/// Keeps the offsets behind line feeds. The text is the array of flags.
constexpr StreamCompaction::SinglePass::CompactFlagged compact;

}  // namespace

LineSplitter::LineSplitter(std::uint32_t mostBytes)
    : text_(mostBytes),
      ends_(mostBytes),
      scratch_(compact.scratchBytes(StreamCompaction::generated(OffsetBehind{}), text_.data(), ends_.data(),
                                    count_.data(), mostBytes)) {}

std::vector<std::uint32_t> LineSplitter::lineEnds(std::span<const char> text) {
    text_.copyFrom(text);
    compact(StreamCompaction::generated(OffsetBehind{}), std::as_const(text_).data(), ends_.data(), count_.data(),
            text.size(), IsLineFeed{}, scratch_.bytes(), cudaStreamLegacy);
    std::size_t count = 0;
    count_.copyTo({&count, 1});
    std::vector<std::uint32_t> ends(count);
    ends_.copyTo(ends);
    return ends;
}
