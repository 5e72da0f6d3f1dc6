#include <stream_compaction/pinned_array.h>
#include <stream_compaction/runtime/device_scope.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <span>
#include <stream_compaction/out_of_core.cuh>
#include <vector>

#include "problems/chunks.h"
#include "variants/gpu/bus_copy.h"
#include "variants/gpu/memory.cuh"
#include "variants/implementation.h"

/// Operations on arrays in page-locked host memory. The bus limits their speed.
namespace Bench {
namespace {

namespace OutOfCore = StreamCompaction::OutOfCore;
using StreamCompaction::Common::checkCUDAError;

/// Copies on all cores. `to` is as long as `from`.
template <typename T>
void copyInChunks(std::span<const T> from, std::span<T> to) {
    forEachChunk(from.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
        std::ranges::copy(from.subspan(begin, end - begin), to.subspan(begin).begin());
    });
}

/// An array in page-locked host memory.
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
    /// Copies the first `count` elements.
    void fetchTo(Array<T>& to, std::size_t count) const {
        to.resize(count);
        copyInChunks<T>(elements().first(count), to);
    }

  private:
    StreamCompaction::PinnedArray<T> memory_;
};

[[nodiscard]] OutOfCore::Options optionsFor(const Setting& setting) {
    OutOfCore::Options options;
    options.devices.resize(setting.gpus);
    std::iota(options.devices.begin(), options.devices.end(), StreamCompaction::currentDeviceIndex());
    options.deviceBytes = setting.deviceBytes;
    return options;
}

/// Calls `op()`, which does not use the default stream, after the work that is on it.
template <typename Op>
void afterDefaultStream(const Op& op) {
    checkCUDAError(cudaStreamSynchronize(defaultStream), "cudaStreamSynchronize");
    op();
}

template <typename T>
class HostScan {
  public:
    using Element = T;
    using SomeProblem = ScanProblem<T>;
    static constexpr Operation operation = Operation::Scan;
    static constexpr std::size_t elementBytes = sizeof(T);

    HostScan(std::span<const T> input, const Setting& setting)
        : input_(input), output_(input.size()), scan_(optionsFor(setting)) {}

    void call() {
        afterDefaultStream([this] { scan_(input_.elements(), output_.elements()); });
    }
    void poison() { output_.poison(); }
    void fetchTo(Array<SumOf<T>>& result) const { output_.fetchTo(result, output_.elements().size()); }

  private:
    HostArray<T> input_;
    HostArray<SumOf<T>> output_;
    OutOfCore::Scan scan_;
};

template <typename T>
class HostCompact {
  public:
    using Element = T;
    using SomeProblem = CompactProblem<T>;
    static constexpr Operation operation = Operation::Compact;
    static constexpr std::size_t elementBytes = sizeof(T);

    HostCompact(std::span<const T> input, const Setting& setting)
        : input_(input), output_(input.size()), compact_(optionsFor(setting)) {}

    void call() {
        afterDefaultStream([this] { kept_ = compact_(input_.elements(), output_.elements()); });
    }
    void poison() {
        output_.poison();
        kept_ = 0;
    }
    void fetchTo(Array<T>& result) const { output_.fetchTo(result, kept_); }

  private:
    HostArray<T> input_;
    HostArray<T> output_;
    OutOfCore::Compact compact_;
    std::size_t kept_ = 0;
};

template <typename K>
class HostSort {
  public:
    using Element = K;
    using SomeProblem = SortProblem<K>;
    static constexpr Operation operation = Operation::Sort;
    static constexpr std::size_t elementBytes = sizeof(K);

    HostSort(std::span<const K> input, const Setting& setting)
        : keysIn_(input), keysOut_(input.size()), spare_(input.size()), sort_(optionsFor(setting)) {}

    void call() {
        afterDefaultStream([this] { sort_(keysIn_.elements(), keysOut_.elements(), spare_.elements()); });
    }
    void poison() { keysOut_.poison(); }
    void fetchTo(Array<K>& result) const { keysOut_.fetchTo(result, keysOut_.elements().size()); }

  private:
    HostArray<K> keysIn_;
    HostArray<K> keysOut_;
    HostArray<K> spare_;
    OutOfCore::Sort sort_;
};

/// Sorts keys with their indices as values.
template <typename K>
class HostSortPairs {
  public:
    using Element = K;
    using SomeProblem = SortPairsProblem<K>;
    static constexpr Operation operation = Operation::SortPairs;
    static constexpr std::size_t elementBytes = sizeof(K) + sizeof(PairValue);

    HostSortPairs(std::span<const K> keys, const Setting& setting)
        : keysIn_(keys),
          keysOut_(keys.size()),
          spareKeys_(keys.size()),
          valuesIn_(std::span<const PairValue>(indices(keys.size()))),
          valuesOut_(keys.size()),
          spareValues_(keys.size()),
          sort_(optionsFor(setting)) {}

    void call() {
        afterDefaultStream([this] {
            sort_(keysIn_.elements(), keysOut_.elements(), valuesIn_.elements(), valuesOut_.elements(),
                  spareKeys_.elements(), spareValues_.elements());
        });
    }
    void poison() {
        keysOut_.poison();
        valuesOut_.poison();
    }
    void fetchTo(Pairs<K>& result) const {
        keysOut_.fetchTo(result.keys, keysOut_.elements().size());
        valuesOut_.fetchTo(result.values, valuesOut_.elements().size());
    }

  private:
    HostArray<K> keysIn_;
    HostArray<K> keysOut_;
    HostArray<K> spareKeys_;
    HostArray<PairValue> valuesIn_;
    HostArray<PairValue> valuesOut_;
    HostArray<PairValue> spareValues_;
    OutOfCore::Sort sort_;
};

/// An operation on host memory. It is compared with copies over the bus. It takes what device memory is free.
template <typename Memory>
[[nodiscard]] Implementation outOfCore() {
    return {Memory::operation,
            elementTypeOf<typename Memory::Element>(),
            "out-of-core",
            {.deviceBytes = [](const Problem&, const Setting&) { return std::size_t{0}; },
             .prepare = [](Problem& problem, const Setting& setting) -> std::unique_ptr<PreparedRun> {
                 return std::make_unique<RunInParts<Memory>>(dynamic_cast<typename Memory::SomeProblem&>(problem),
                                                             setting);
             },
             .prepareCopy = busCopyFor<Memory::elementBytes>}};
}

}  // namespace

Implementations gpuOutOfCore() {
    return {outOfCore<HostScan<std::int32_t>>(), outOfCore<HostCompact<std::int32_t>>(),
            outOfCore<HostSort<std::int32_t>>(), outOfCore<HostSortPairs<std::int32_t>>()};
}

}  // namespace Bench
