#include "stream_compaction/cpu/vector_sum.h"

// Highway compiles the code between its namespace macros once for each kind of vectors, and picks one at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stream_compaction/cpu/vector_sum_highway.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <array>

#include "stream_compaction/common.h"

HWY_BEFORE_NAMESPACE();
namespace StreamCompaction::CPU::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Four accumulators in turn. Elements that fill no vector are added one by one.
template <typename T>
T sum(std::span<const T> elements) {
    const hn::ScalableTag<T> tag;
    const std::size_t lanes = hn::Lanes(tag);
    const std::size_t n = elements.size();
    auto a = hn::Zero(tag);
    auto b = hn::Zero(tag);
    auto c = hn::Zero(tag);
    auto d = hn::Zero(tag);
    std::size_t i = 0;
    for (; i + 4 * lanes <= n; i += 4 * lanes) {
        a = hn::Add(a, hn::LoadU(tag, elements.data() + i));
        b = hn::Add(b, hn::LoadU(tag, elements.data() + i + lanes));
        c = hn::Add(c, hn::LoadU(tag, elements.data() + i + 2 * lanes));
        d = hn::Add(d, hn::LoadU(tag, elements.data() + i + 3 * lanes));
    }
    for (; i + lanes <= n; i += lanes) {
        a = hn::Add(a, hn::LoadU(tag, elements.data() + i));
    }
    T rest{};
    for (; i < n; ++i) {
        rest = Common::wrappingAdd(rest, elements[i]);
    }
    const auto all = hn::Add(hn::Add(a, b), hn::Add(c, d));
    if constexpr (std::is_integral_v<T>) {
        // SumOfLanes may overflow.
        std::array<T, HWY_MAX_BYTES / sizeof(T)> lane{};
        hn::StoreU(all, tag, lane.data());
        for (std::size_t k = 0; k < lanes; ++k) {
            rest = Common::wrappingAdd(rest, lane[k]);
        }
        return rest;
    } else {
        return Common::wrappingAdd(hn::GetLane(hn::SumOfLanes(tag, all)), rest);
    }
}

float sumFloats(std::span<const float> elements) { return sum(elements); }
double sumDoubles(std::span<const double> elements) { return sum(elements); }
std::int32_t sumInts(std::span<const std::int32_t> elements) { return sum(elements); }

}  // namespace StreamCompaction::CPU::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace StreamCompaction::CPU {

HWY_EXPORT(sumFloats);
HWY_EXPORT(sumDoubles);
HWY_EXPORT(sumInts);

float vectorSum(std::span<const float> elements) { return HWY_DYNAMIC_DISPATCH(sumFloats)(elements); }
double vectorSum(std::span<const double> elements) { return HWY_DYNAMIC_DISPATCH(sumDoubles)(elements); }
std::int32_t vectorSum(std::span<const std::int32_t> elements) { return HWY_DYNAMIC_DISPATCH(sumInts)(elements); }

}  // namespace StreamCompaction::CPU
#endif
