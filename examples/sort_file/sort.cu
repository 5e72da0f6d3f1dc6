#include <cstdint>
#include <stdexcept>

#include "sort.h"
#include "stream_compaction/out_of_core.cuh"

namespace {

namespace OutOfCore = StreamCompaction::OutOfCore;

/// Returns `visit(K{})` for the type of the keys.
template <typename Visit>
auto withKeyType(KeyType type, const Visit& visit) {
    switch (type) {
        case KeyType::Int32:
            return visit(std::int32_t{});
        case KeyType::Uint32:
            return visit(std::uint32_t{});
        case KeyType::Int64:
            return visit(std::int64_t{});
        case KeyType::Uint64:
            return visit(std::uint64_t{});
        case KeyType::Float:
            return visit(float{});
        case KeyType::Double:
            return visit(double{});
    }
    throw std::logic_error("a type of keys without code");
}

/// Bytes, which begin at the address of a page, as keys.
template <typename K>
[[nodiscard]] std::span<K> asKeys(std::span<std::byte> bytes) {
    return {reinterpret_cast<K*>(bytes.data()), bytes.size() / sizeof(K)};
}
template <typename K>
[[nodiscard]] std::span<const K> asKeys(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const K*>(bytes.data()), bytes.size() / sizeof(K)};
}

}  // namespace

std::size_t keyBytes(KeyType type) {
    return withKeyType(type, [](auto key) { return sizeof(key); });
}

bool sortOnGpu(const Order& order, const Cards& cards, std::span<const std::byte> in, std::span<std::byte> out,
               std::span<std::byte> spare, const GoesOn& goesOn) {
    OutOfCore::Sort sort({.devices = cards.devices, .deviceBytes = cards.deviceBytes, .progress = goesOn},
                         {.descending = order.descending});
    try {
        withKeyType(order.type, [&](auto key) {
            using K = decltype(key);
            if (order.valueBytes == 0) {
                sort(asKeys<K>(in), asKeys<K>(out), asKeys<K>(spare));
            } else {
                sort.records<K>(in, out, order.recordBytes(), spare);
            }
        });
        return true;
    } catch (const OutOfCore::Cancelled&) {
        return false;
    }
}
