#pragma once

#include <functional>
#include <set>

#include "tune/candidates.cuh"

/// Operations with their number of elements in device memory, beside the same call with the number from the host. The
/// capacity is the number itself for the library's choice, and a hundred times that for a candidate.
namespace Bench::Tune {

inline constexpr std::size_t largestCount = std::size_t{1} << 28;
inline constexpr std::size_t sparseness = 100;

/// An operation that takes a count.
struct Counted {
    std::string_view operation;
    std::string_view type;
    double bytesPerElement;  ///< bytes read and written
    std::size_t largest = largestCount;
};

/// Measures operations that write to the same arrays. An operation uses some of them.
class CountTuner {
  public:
    explicit CountTuner(Tuner& tuner) : tuner_(tuner) {}

    /// An output of 1 GiB.
    template <typename T>
    [[nodiscard]] T* out() {
        return reinterpret_cast<T*>(outputs_.out.data());
    }
    /// Another one.
    template <typename T>
    [[nodiscard]] T* otherOut() {
        return reinterpret_cast<T*>(outputs_.otherOut.data());
    }
    /// An output for counts, the begins of up to 256 parts, or the result of a conversion.
    template <typename T = std::size_t>
    [[nodiscard]] T* totals() {
        return reinterpret_cast<T*>(outputs_.totals.data());
    }

    /// Measures an operation. `call(n, use)` returns `use(...)` of the operation's arguments up to the scratch.
    template <typename Operation, typename Call>
    void run(const Counted& counted, const Operation& operation, Call call) {
        const auto scratchBytes = [&](auto n) {
            return call(n, [&](const auto&... arguments) { return operation.scratchBytes(arguments...); });
        };
        const std::size_t largest = counted.largest;
        DeviceBuffer<std::byte> memory(std::max(scratchBytes(largest), scratchBytes(count(largest))));
        const auto launch = [&](auto n) {
            call(n, [&](const auto&... arguments) { operation(arguments..., memory.bytes(), defaultStream); });
        };
        std::set<std::size_t> sizes{largest / sparseness, largest};
        for (const int exponent : {10, 14, 17, 20, 24}) {
            sizes.insert(std::size_t{1} << exponent);
        }
        sizes.erase(sizes.upper_bound(largest), sizes.end());
        for (const std::size_t n : sizes) {
            compare(
                counted, n, [&] { launch(n); }, [&](std::size_t capacity) { launch(count(capacity)); });
        }
    }

  private:
    struct Outputs {
        DeviceBuffer<std::uint32_t> out{largestCount};
        DeviceBuffer<std::uint32_t> otherOut{largestCount};
        DeviceBuffer<std::size_t> totals{257};
    };

    [[nodiscard]] CountInDeviceMemory count(std::size_t capacity) const { return {number_.data(), capacity}; }

    /// Measures n elements. `byHost` launches the operation with the number from the host, `byDevice(capacity)` with
    /// that in device memory.
    void compare(const Counted& counted, std::size_t n, const std::function<void()>& byHost,
                 const std::function<void(std::size_t capacity)>& byDevice);

    Tuner& tuner_;
    Outputs outputs_;
    Outputs expected_;
    DeviceBuffer<std::size_t> number_{1};
};

void tuneCountsOfPasses(CountTuner& tuner);
void tuneCountsOfSorts(CountTuner& tuner);
void tuneCountsOfText(CountTuner& tuner);

}  // namespace Bench::Tune
