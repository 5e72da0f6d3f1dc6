#pragma once

#include <cstddef>

namespace StreamCompaction {

/// The row of a table that holds for a card: the last one that asks for no more multiprocessors than the card has. The
/// rows ascend by what they ask for, and the first asks for none.
template <typename Row, std::size_t rows>
[[nodiscard]] constexpr const Row& rowFor(std::size_t multiprocessors, const Row (&table)[rows]) {
    const Row* found = table;
    for (const Row& row : table) {
        found = row.multiprocessors <= multiprocessors ? &row : found;
    }
    return *found;
}

}  // namespace StreamCompaction
