#pragma once

#include <cstddef>

namespace StreamCompaction {

/// The row of a table that applies to a card: the last one whose `multiprocessors` the card has. Rows ascend by
/// `multiprocessors`, and the first row has 0.
template <typename Row, std::size_t rows>
[[nodiscard]] constexpr const Row& rowFor(std::size_t multiprocessors, const Row (&table)[rows]) {
    const Row* found = table;
    for (const Row& row : table) {
        found = row.multiprocessors <= multiprocessors ? &row : found;
    }
    return *found;
}

}  // namespace StreamCompaction
