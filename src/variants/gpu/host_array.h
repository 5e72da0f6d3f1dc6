#pragma once

#include <stream_compaction/pinned_array.h>

#include <algorithm>
#include <cstddef>
#include <span>

#include "problems/chunks.h"
#include "problems/elements.h"

namespace Bench {

/// Copies on all cores. `to` is as long as `from`.
template <typename T>
void copyInChunks(std::span<const T> from, std::span<T> to) {
    forEachChunk(from.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
        std::ranges::copy(from.subspan(begin, end - begin), to.subspan(begin).begin());
    });
}

/// An array in page-locked host memory. All cores fill and copy it.
template <typename T>
class HostArray {
  public:
    explicit HostArray(std::size_t n) : memory_(n) {}
    explicit HostArray(std::span<const T> elements) : HostArray(elements.size()) {
        copyInChunks(elements, memory_.elements());
    }

    [[nodiscard]] std::span<T> elements() const { return memory_.elements(); }
    void poison() const {
        forEachChunk(elements().size(), [this](std::size_t, std::size_t begin, std::size_t end) {
            std::ranges::fill(std::as_writable_bytes(elements().subspan(begin, end - begin)), std::byte{0xCD});
        });
    }
    void fetchTo(Array<T>& to) const { fetchTo(to, elements().size()); }
    /// Copies the first `count` elements.
    void fetchTo(Array<T>& to, std::size_t count) const {
        to.resize(count);
        copyInChunks<T>(elements().first(count), to);
    }

  private:
    StreamCompaction::PinnedArray<T> memory_;
};

}  // namespace Bench
