#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

enum class KeyType { Int32, Uint32, Int64, Uint64, Float, Double };

[[nodiscard]] std::size_t keyBytes(KeyType type);

struct Order {
    KeyType type = KeyType::Int32;
    std::size_t valueBytes = 0;  ///< behind each key
    bool descending = false;

    [[nodiscard]] std::size_t recordBytes() const { return keyBytes(type) + valueBytes; }
};

struct Cards {
    std::vector<int> devices;     ///< none: the current one
    std::size_t deviceBytes = 0;  ///< 0: a part of what is free
};

/// Is told how much is done, of how much. Returns whether to go on.
using GoesOn = std::function<bool(std::size_t done, std::size_t all)>;

/// Sorts keys or records, stably. `spare` is memory that may be overwritten, as large as the input, or empty. Returns
/// false if `goesOn` did.
[[nodiscard]] bool sortOnGpu(const Order& order, const Cards& cards, std::span<const std::byte> in,
                             std::span<std::byte> out, std::span<std::byte> spare, const GoesOn& goesOn);
