#include <stdexcept>
#include <string>

#include "stream_compaction/device_buffer.h"
#include "stream_compaction/shared_mem.cuh"
#include "stream_compaction/utf8.cuh"
#include "stream_compaction/utf8.h"
#include "stream_compaction/utf8/scalar.h"

namespace StreamCompaction::Utf8 {

namespace {

[[nodiscard]] Result fetch(const DeviceBuffer<Result>& from) {
    Result result{};
    from.copyTo({&result, 1});
    return result;
}

template <typename To>
void fetch(const DeviceBuffer<To>& from, std::span<To> to, std::size_t count) {
    if (to.size() < count) {
        throw std::invalid_argument("out: expected room for " + std::to_string(count) + " elements, got " +
                                    std::to_string(to.size()));
    }
    from.copyTo(to.first(count));
}

/// Copies in, times `convert(in, out, result, scratch)`, copies out.
template <typename From, typename To, typename Convert>
Result onDevice(std::span<const From> in, std::span<To> out, std::size_t mostOut, std::size_t scratchBytes,
                const Convert& convert) {
    const DeviceBuffer<From> deviceIn(in);
    DeviceBuffer<To> deviceOut(mostOut);
    DeviceBuffer<Result> deviceResult(1);
    DeviceBuffer<std::byte> scratch(scratchBytes);
    timer().timeGpu([&] { convert(deviceIn.data(), deviceOut.data(), deviceResult.data(), scratch.bytes()); });
    const Result result = fetch(deviceResult);
    fetch(deviceOut, out, result.count);
    return result;
}

template <typename To>
Result decodeInto(std::span<const std::uint8_t> in, std::span<To> out, Errors errors, Bom bom) {
    const Decode operation{errors, bom};
    return onDevice(in, out, in.size(), operation.scratchBytes(in.size()),
                    [&](const std::uint8_t* from, To* to, Result* result, Scratch scratch) {
                        operation(from, to, result, in.size(), scratch, cudaStreamLegacy);
                    });
}

template <typename From>
Result encodeFrom(std::span<const From> in, std::span<std::uint8_t> out, Errors errors) {
    const Encode operation{errors};
    return onDevice(in, out, in.size() * mostElements<From, std::uint8_t>, operation.scratchBytes<From>(in.size()),
                    [&](const From* from, std::uint8_t* to, Result* result, Scratch scratch) {
                        operation(from, to, result, in.size(), scratch, cudaStreamLegacy);
                    });
}

}  // namespace

Result decode(std::span<const std::uint8_t> in, std::span<char32_t> out, Errors errors, Bom bom) {
    return decodeInto(in, out, errors, bom);
}

Result decode(std::span<const std::uint8_t> in, std::span<char16_t> out, Errors errors, Bom bom) {
    return decodeInto(in, out, errors, bom);
}

Result encode(std::span<const char32_t> in, std::span<std::uint8_t> out, Errors errors) {
    return encodeFrom(in, out, errors);
}

Result encode(std::span<const char16_t> in, std::span<std::uint8_t> out, Errors errors) {
    return encodeFrom(in, out, errors);
}

Result validate(std::span<const std::uint8_t> in) {
    const Validate operation;
    const DeviceBuffer<std::uint8_t> deviceIn(in);
    DeviceBuffer<Result> result(1);
    DeviceBuffer<std::byte> scratch(operation.scratchBytes(in.size()));
    timer().timeGpu([&] { operation(deviceIn.data(), result.data(), in.size(), scratch.bytes(), cudaStreamLegacy); });
    return fetch(result);
}

}  // namespace StreamCompaction::Utf8
