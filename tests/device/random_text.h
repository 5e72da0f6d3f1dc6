#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "stream_compaction/utf8/scalar.h"

namespace StreamCompaction::Testing {

using Bytes = std::vector<std::uint8_t>;

/// Characters of one to four bytes. Random bytes replace `badInAHundred` % of them.
[[nodiscard]] inline Bytes randomText(std::size_t n, unsigned seed, unsigned badInAHundred = 0) {
    std::mt19937 random(seed);
    Bytes text;
    while (text.size() < n) {
        std::uint8_t sequence[4];
        const char32_t codePoint = random() % (1u << (7 + random() % 15));
        if (random() % 100 < badInAHundred) {
            text.push_back(static_cast<std::uint8_t>(0x80 + random() % 0x80));
        } else {
            text.insert(text.end(), sequence,
                        sequence + Utf8::put(Utf8::isScalarValue(codePoint) ? codePoint : U'?', sequence));
        }
    }
    text.resize(n);
    return text;
}

}  // namespace StreamCompaction::Testing
