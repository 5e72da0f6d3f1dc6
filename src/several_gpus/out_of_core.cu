#include <stream_compaction/runtime/device_scope.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <stream_compaction/out_of_core.cuh>
#include <string>
#include <vector>

#include "several_gpus/records.cuh"
#include "variants/gpu/bus_copy.h"
#include "variants/gpu/compact_kernels.cuh"
#include "variants/gpu/host_array.h"
#include "variants/gpu/sort_kernels.cuh"
#include "variants/implementation.h"

/// Operations on arrays in page-locked host memory. The bus limits their speed.
namespace Bench {
namespace {

namespace OutOfCore = StreamCompaction::OutOfCore;
using StreamCompaction::Radix::hasValues;
using StreamCompaction::Radix::NoValue;

[[nodiscard]] OutOfCore::Options optionsFor(const Setting& setting) {
    OutOfCore::Options options;
    options.devices.resize(setting.gpus);
    std::iota(options.devices.begin(), options.devices.end(), StreamCompaction::currentDeviceIndex());
    options.deviceBytes = setting.deviceBytes;
    return options;
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
    void fetchTo(Array<SumOf<T>>& result) const { output_.fetchTo(result); }

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

/// Sorts keys, with their indices as values or without.
template <typename K, typename V>
class HostSort : public SortOf<K, V> {
  public:
    using Element = K;

    HostSort(std::span<const K> keys, const Setting& setting)
        : in_{HostArray<K>(keys), HostArray<V>(std::span<const V>(valuesOf<V>(keys.size())))},
          out_(room(keys.size())),
          spare_(room(keys.size())),
          sort_(optionsFor(setting)) {}

    void call() {
        afterDefaultStream([this] {
            if constexpr (hasValues<V>) {
                sort_(in_.keys.elements(), out_.keys.elements(), in_.values.elements(), out_.values.elements(),
                      spare_.keys.elements(), spare_.values.elements());
            } else {
                sort_(in_.keys.elements(), out_.keys.elements(), spare_.keys.elements());
            }
        });
    }
    void poison() { out_.poison(); }
    template <typename Result>
    void fetchTo(Result& result) const {
        out_.fetchTo(result);
    }

  private:
    using HostRecords = Records<HostArray, K, V>;

    [[nodiscard]] static HostRecords room(std::size_t n) {
        return {HostArray<K>(n), HostArray<V>(hasValues<V> ? n : 0)};
    }

    HostRecords in_;
    HostRecords out_;
    HostRecords spare_;
    OutOfCore::Sort sort_;
};

/// An operation whose limit of device memory may leave no room for one element.
template <typename Memory>
class Limited : public Memory {
  public:
    using Memory::Memory;

    void call() {
        try {
            Memory::call();
        } catch (const std::invalid_argument& error) {
            const std::string what = error.what();
            const std::string parameter = "deviceBytes";
            if (!what.starts_with(parameter)) {
                throw;
            }
            throw CannotTakeInput("--gpu-memory" + what.substr(parameter.size()));
        }
    }
};

/// An operation on host memory. It is compared with copies over the bus. It takes what device memory is free.
template <typename Memory>
[[nodiscard]] Implementation outOfCore() {
    return {Memory::operation,
            elementTypeOf<typename Memory::Element>(),
            "out-of-core",
            {.deviceBytes = [](const Problem&, const Setting&) { return std::size_t{0}; },
             .prepare = [](Problem& problem, const Setting& setting) -> std::unique_ptr<PreparedRun> {
                 return std::make_unique<RunInParts<Limited<Memory>>>(
                     dynamic_cast<typename Memory::SomeProblem&>(problem), setting);
             },
             .prepareCopy = busCopyFor<Memory::elementBytes>}};
}

}  // namespace

Implementations gpuOutOfCore() {
    return {outOfCore<HostScan<std::int32_t>>(), outOfCore<HostCompact<std::int32_t>>(),
            outOfCore<HostSort<std::int32_t, NoValue>>(), outOfCore<HostSort<std::int32_t, PairValue>>()};
}

}  // namespace Bench
