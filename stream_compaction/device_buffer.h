#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "stream_compaction/runtime/cuda_check.h"

namespace StreamCompaction {

/// Owns `size()` elements of device memory, uninitialised. Move-only.
template <typename T>
class DeviceBuffer {
    static_assert(std::is_trivially_copyable_v<T>, "device memory holds plain data");

  public:
    DeviceBuffer() = default;

    /// Allocates, which synchronises the device. Throws CudaError with the numbers of bytes asked for and free if
    /// memory does not suffice.
    explicit DeviceBuffer(std::size_t size) : size_(size) {
        if (size == 0) {
            return;
        }
        constexpr std::size_t mostBytes = static_cast<std::size_t>(-1);
        const std::size_t bytes = size > mostBytes / sizeof(T) ? mostBytes : byteCount();
        void* memory = nullptr;
        const cudaError_t status = bytes == mostBytes ? cudaErrorMemoryAllocation : cudaMalloc(&memory, bytes);
        if (status == cudaErrorMemoryAllocation) {
            throwOutOfMemory(bytes);
        }
        Common::checkCUDAError(status, "cudaMalloc");
        data_ = static_cast<T*>(memory);
    }

    /// Allocates a copy of `source`, which is in host memory. Synchronises.
    explicit DeviceBuffer(std::span<const T> source) : DeviceBuffer(source.size()) { copyFrom(source); }

    ~DeviceBuffer() { cudaFree(data_); }
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
    /// Takes the memory; `other` is empty afterwards.
    DeviceBuffer(DeviceBuffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    /// Swaps the memories: `other` frees what this one had.
    DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }

    /// The first element, in device memory.
    [[nodiscard]] T* data() { return data_; }
    /// The first element, in device memory.
    [[nodiscard]] const T* data() const { return data_; }
    /// The number of elements.
    [[nodiscard]] std::size_t size() const { return size_; }
    /// Their size in bytes.
    [[nodiscard]] std::size_t byteCount() const { return size_ * sizeof(T); }

    /// The memory, to be lent to an operation as scratch.
    [[nodiscard]] std::span<std::byte> bytes() { return {reinterpret_cast<std::byte*>(data_), byteCount()}; }

    /// Copies `source`, in host memory, to the first elements. Waits for the default stream, but not for a CudaStream.
    /// Throws std::invalid_argument if the span is longer.
    void copyFrom(std::span<const T> source) {
        requireFits(source.size());
        Common::checkCUDAError(cudaMemcpy(data_, source.data(), source.size_bytes(), cudaMemcpyHostToDevice),
                               "cudaMemcpy to the device");
        // A copy from pageable memory returns when the data is in a staging buffer, before it is on the device.
        Common::checkCUDAError(cudaStreamSynchronize(cudaStreamLegacy), "cudaStreamSynchronize");
    }
    /// Copies the first elements to `destination`, in host memory. Waits for the default stream, but not for a
    /// CudaStream. Throws std::invalid_argument if the span is longer.
    void copyTo(std::span<T> destination) const {
        requireFits(destination.size());
        Common::checkCUDAError(cudaMemcpy(destination.data(), data_, destination.size_bytes(), cudaMemcpyDeviceToHost),
                               "cudaMemcpy to the host");
    }

  private:
    void requireFits(std::size_t n) const {
        if (n > size_) {
            throw std::invalid_argument("DeviceBuffer: expected a span of at most " + std::to_string(size_) +
                                        " elements, got " + std::to_string(n));
        }
    }

    [[noreturn]] static void throwOutOfMemory(std::size_t bytes) {
        cudaGetLastError();  // clears the error, which the exception reports
        std::size_t free = 0;
        std::size_t total = 0;
        Common::checkCUDAError(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
        throw CudaError("out of device memory: asked for " + std::to_string(bytes) + " bytes, " + std::to_string(free) +
                            " bytes are free",
                        cudaErrorMemoryAllocation);
    }

    T* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace StreamCompaction
