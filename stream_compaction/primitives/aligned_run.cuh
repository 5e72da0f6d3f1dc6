#pragma once

#include <cstddef>
#include <cstdint>

/// The aligned pieces of a run of bytes that begins and ends anywhere.
namespace StreamCompaction {

/// A run as addresses: the head up to `bulkBegin`, whole pieces of 16 bytes up to `bulkEnd`, and the tail. Pieces may
/// reach beyond the run on either side; the head or the tail is then empty. Where there is no piece, all is tail.
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

/// The pieces that lie in the run.
[[nodiscard]] constexpr AlignedRun alignedRun(std::uintptr_t begin, std::uintptr_t end) {
    const std::uintptr_t from = roundUpToPiece(begin);
    const std::uintptr_t to = roundDownToPiece(end);
    return from < to ? AlignedRun{begin, from, to, end} : AlignedRun{begin, begin, begin, end};
}

/// The pieces that hold bytes of the run and lie in the array around it. They may hold neighbours of the run.
[[nodiscard]] constexpr AlignedRun alignedRun(std::uintptr_t begin, std::uintptr_t end, std::uintptr_t arrayBegin,
                                              std::uintptr_t arrayEnd) {
    const std::uintptr_t down = roundDownToPiece(begin);
    const std::uintptr_t up = roundUpToPiece(end);
    const std::uintptr_t from = down >= arrayBegin ? down : down + AlignedRun::width;
    const std::uintptr_t to = up <= arrayEnd ? up : up - AlignedRun::width;
    return from < to ? AlignedRun{begin, from, to, end} : AlignedRun{begin, begin, begin, end};
}

}  // namespace StreamCompaction
