#pragma once

#include <stream_compaction/device_buffer.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <span>
#include <vector>

#include "problems/elements.h"
#include "problems/share.h"
#include "variants/gpu/joined_streams.h"

/// Arrays that are spread evenly over GPUs.
namespace Bench {

/// An array whose parts lie on the GPUs.
template <typename T>
class Spread {
  public:
    /// Of n elements, uninitialised.
    Spread(const JoinedStreams& streams, std::size_t n) : streams_(streams), n_(n) {
        streams.forEach([&](int gpu) { parts_.emplace_back(share(gpu).size); });
    }
    /// Of these elements.
    Spread(const JoinedStreams& streams, std::span<const T> elements) : Spread(streams, elements.size()) {
        streams.forEach([&](int gpu) {
            const auto [begin, size] = share(gpu);
            parts_[gpu].copyFrom(elements.subspan(begin, size));
        });
    }

    [[nodiscard]] Share share(int gpu) const { return shareOf(n_, streams_.size(), gpu); }
    [[nodiscard]] T* data(int gpu) { return parts_[gpu].data(); }
    [[nodiscard]] std::size_t size(int gpu) const { return parts_[gpu].size(); }

    /// Waits for earlier work, because the streams do not wait for the GPUs' default streams, and until it is done.
    void poison() {
        streams_.synchronize();
        streams_.forEach([this](int gpu) { Bench::poison(parts_[gpu]); });
        streams_.synchronize();
    }

    /// Appends the first `count` elements of a GPU to an array.
    void appendTo(Array<T>& all, int gpu, std::size_t count) const {
        const StreamCompaction::DeviceScope here(streams_.device(gpu));
        const std::size_t before = all.size();
        all.resize(before + count);
        parts_[gpu].copyTo(std::span(all).subspan(before));
    }
    /// Makes `all` the first `counts[gpu]` elements of each GPU.
    void fetchTo(Array<T>& all, std::span<const std::size_t> counts) const {
        all.clear();
        all.reserve(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
        for (int gpu = 0; gpu < streams_.size(); ++gpu) {
            appendTo(all, gpu, counts[gpu]);
        }
    }
    /// Makes `all` the whole array.
    void fetchTo(Array<T>& all) const {
        std::vector<std::size_t> sizes;
        std::ranges::transform(parts_, std::back_inserter(sizes), &StreamCompaction::DeviceBuffer<T>::size);
        fetchTo(all, sizes);
    }

  private:
    const JoinedStreams& streams_;
    std::size_t n_;
    std::vector<StreamCompaction::DeviceBuffer<T>> parts_;
};

}  // namespace Bench
