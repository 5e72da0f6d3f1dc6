#pragma once

#include <cstdint>

/// Elements of sizes that no integer has.
namespace StreamCompaction::Testing {

struct ThreeBytes {
    std::uint8_t bytes[3];
};
struct TwelveBytes {
    std::uint32_t words[3];
};
struct SixteenBytes {
    std::uint64_t words[2];
};

}  // namespace StreamCompaction::Testing
