#pragma once

#include <cstddef>
#include <cstdint>

/// Splits a run of bytes, which may begin and end at any address, into aligned pieces.
namespace StreamCompaction {

/// The addresses that split a run: the head ends at `bulkBegin`, the whole pieces of 16 bytes end at `bulkEnd`, and the
/// rest is the tail. If the pieces reach beyond an end of the run, the head or the tail there is empty. If there is no
/// piece, the whole run is the tail.
struct AlignedRun {
    static constexpr std::uintptr_t width = 16;  ///< of a piece, and its alignment

    std::uintptr_t begin;
    std::uintptr_t bulkBegin;
    std::uintptr_t bulkEnd;
    std::uintptr_t end;

    [[nodiscard]] constexpr std::size_t bulkBytes() const { return bulkEnd - bulkBegin; }
};

[[nodiscard]] constexpr std::uintptr_t roundDownToPiece(std::uintptr_t address) {
    return address / AlignedRun::width * AlignedRun::width;
}
[[nodiscard]] constexpr std::uintptr_t roundUpToPiece(std::uintptr_t address) {
    return roundDownToPiece(address + AlignedRun::width - 1);
}

/// All pieces that overlap the run and lie inside the array around it. The outer pieces may also hold neighbours of the
/// run.
[[nodiscard]] constexpr AlignedRun alignedRun(std::uintptr_t begin, std::uintptr_t end, std::uintptr_t arrayBegin,
                                              std::uintptr_t arrayEnd) {
    const std::uintptr_t down = roundDownToPiece(begin);
    const std::uintptr_t up = roundUpToPiece(end);
    const std::uintptr_t from = down >= arrayBegin ? down : down + AlignedRun::width;
    const std::uintptr_t to = up <= arrayEnd ? up : up - AlignedRun::width;
    return from < to ? AlignedRun{begin, from, to, end} : AlignedRun{begin, begin, begin, end};
}

}  // namespace StreamCompaction
