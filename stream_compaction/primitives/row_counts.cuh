#pragma once

#include <cstdint>

#include "stream_compaction/primitives/warp.cuh"

namespace StreamCompaction {

/// One count per row of a warp, scanned over its lanes. A word holds the counts of several rows, each in a field of
/// `bits` bits. So one scan serves all of them. A field holds the sum of all lanes. If `bits` is 11, the last of a
/// word's three fields has 10 bits. It holds the sum of the lanes before, but `total` of that row may be wrong.
template <int bits>
struct RowCounts {
    static constexpr int rowsPerWord = 33 / bits;

    std::uint32_t mine;    ///< of this lane
    std::uint32_t upTo;    ///< of the lanes up to and including this one
    std::uint32_t totals;  ///< of all lanes

    /// The word of one count.
    [[nodiscard]] __device__ static constexpr std::uint32_t wordOf(int row, std::uint32_t count) {
        return count << bits * row;
    }
    /// Called by all lanes.
    [[nodiscard]] __device__ static RowCounts scanned(std::uint32_t mine) {
        const std::uint32_t upTo = Warp::inclusiveScan(mine, Sum{});
        return {mine, upTo, Warp::broadcast(upTo, Warp::lanes - 1)};
    }

    /// The count, in a row, of the lanes before this one.
    [[nodiscard]] __device__ std::uint32_t before(int row) const { return field(upTo - mine, row); }
    [[nodiscard]] __device__ std::uint32_t total(int row) const { return field(totals, row); }

  private:
    [[nodiscard]] __device__ static constexpr std::uint32_t field(std::uint32_t word, int row) {
        return word >> bits * row & ((1u << bits) - 1);
    }
};

}  // namespace StreamCompaction
