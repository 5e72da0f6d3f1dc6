#include <stdexcept>
#include <string>

#include "stream_compaction/runtime/course.cuh"
#include "stream_compaction/utf8.cuh"
#include "stream_compaction/utf8.h"
#include "stream_compaction/utf8/scalar.h"

namespace StreamCompaction::Utf8 {

namespace {

/// Check, allocate, copy in, time the device layer, copy out.
template <typename From, typename To, typename Operation>
Result convert(const Operation& operation, std::span<const From> in, std::span<To> out) {
    const DeviceBuffer<From> deviceIn(in);
    DeviceBuffer<To> deviceOut(in.size() * mostElements<From, To>);
    DeviceBuffer<Result> deviceResult(1);
    Course::run(timer(), operation, deviceIn.data(), deviceOut.data(), deviceResult.data(), in.size());
    const Result result = Course::fetch(deviceResult);
    if (out.size() < result.count) {
        throw std::invalid_argument("out: expected room for " + std::to_string(result.count) + " elements, got " +
                                    std::to_string(out.size()));
    }
    deviceOut.copyTo(out.first(result.count));
    return result;
}

}  // namespace

template <typename To>
Result decode(std::span<const std::uint8_t> in, std::span<To> out, Errors errors, Bom bom) {
    return convert(Decode{errors, bom}, in, out);
}

template <typename From>
Result encode(std::span<const From> in, std::span<std::uint8_t> out, Errors errors) {
    return convert(Encode{errors}, in, out);
}

template Result decode(std::span<const std::uint8_t>, std::span<char32_t>, Errors, Bom);
template Result decode(std::span<const std::uint8_t>, std::span<char16_t>, Errors, Bom);
template Result decode(std::span<const std::uint8_t>, std::span<BigEndian<char32_t>>, Errors, Bom);
template Result decode(std::span<const std::uint8_t>, std::span<BigEndian<char16_t>>, Errors, Bom);
template Result decode(std::span<const std::uint8_t>, std::span<Latin1>, Errors, Bom);
template Result encode(std::span<const char32_t>, std::span<std::uint8_t>, Errors);
template Result encode(std::span<const char16_t>, std::span<std::uint8_t>, Errors);
template Result encode(std::span<const BigEndian<char32_t>>, std::span<std::uint8_t>, Errors);
template Result encode(std::span<const BigEndian<char16_t>>, std::span<std::uint8_t>, Errors);
template Result encode(std::span<const Latin1>, std::span<std::uint8_t>, Errors);

Result validate(std::span<const std::uint8_t> in) {
    const DeviceBuffer<std::uint8_t> deviceIn(in);
    DeviceBuffer<Result> result(1);
    Course::run(timer(), Validate{}, deviceIn.data(), result.data(), in.size());
    return Course::fetch(result);
}

}  // namespace StreamCompaction::Utf8
