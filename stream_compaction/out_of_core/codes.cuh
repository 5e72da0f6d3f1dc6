#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "stream_compaction/primitives/key_coding.cuh"
#include "stream_compaction/radix_sort.cuh"

namespace StreamCompaction::OutOfCore {

/// The codes of an array's keys. A radix sort puts keys in the ascending order of their codes. A key is at the
/// beginning of each element, at any address.
template <typename K>
class Codes {
    using Bits = BitsOf<K>;

  public:
    /// Throws std::invalid_argument for bits that the key does not have.
    Codes(const Radix::Sort& sort, const std::byte* elements, std::size_t elementBytes)
        : coding_(KeyCoding<Bits>::template of<K>(sort.descending)), elements_(elements), elementBytes_(elementBytes) {
        constexpr int keyBits = 8 * sizeof(K);
        const DigitRange bits = sort.digitRange(keyBits);
        beginBit_ = bits.begin;
        if (bits.count() > 0) {  // a shift by all bits is undefined
            most_ = static_cast<Bits>(static_cast<Bits>(~Bits{0}) >> (keyBits - (bits.end - bits.begin)));
        }
    }

    [[nodiscard]] __host__ __device__ std::uint64_t operator()(std::size_t i) const {
        Bits key;
        memcpy(&key, elements_ + i * elementBytes_, sizeof(K));
        return static_cast<Bits>(coding_.encode(key) >> beginBit_) & most_;
    }
    /// The codes of the keys of another array.
    [[nodiscard]] __host__ __device__ Codes of(const std::byte* elements) const {
        Codes codes = *this;
        codes.elements_ = elements;
        return codes;
    }
    /// The highest code of any key.
    [[nodiscard]] __host__ __device__ std::uint64_t most() const { return most_; }

  private:
    KeyCoding<Bits> coding_;
    int beginBit_ = 0;
    Bits most_ = 0;
    const std::byte* elements_;
    std::size_t elementBytes_;
};

}  // namespace StreamCompaction::OutOfCore
