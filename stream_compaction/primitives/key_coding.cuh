#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace StreamCompaction {

/// The unsigned integer as wide as T.
template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 1, std::uint8_t,
                                  std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                                     std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

/// Maps keys to unsigned integers that have the same order, and back, so that a radix sort only handles unsigned
/// integers. A signed integer gets its sign bit inverted. A negative float gets all bits inverted, any other float the
/// sign bit (Herf, "Radix Tricks", 2001). This is the total order of IEEE 754: -0 comes before +0, and NaNs lie beyond
/// the infinity of their sign. Subtracting the number of negative NaNs rotates these from the lowest codes to the
/// highest, so that all NaNs are last. Descending order inverts all bits once more, and rotates the other way.
template <typename Bits>
struct KeyCoding {
    static constexpr bool isIdentity = false;

    Bits inverted;             ///< bits inverted in every key
    Bits invertedInNegatives;  ///< bits also inverted in keys whose sign bit is set
    Bits rotation;             ///< added afterwards

    template <typename Key>
    [[nodiscard]] __host__ __device__ static constexpr KeyCoding of(bool descending = false) {
        static_assert(std::is_arithmetic_v<Key> && sizeof(Key) == sizeof(Bits));
        const Bits inverted = std::is_signed_v<Key> ? signBit : Bits{0};
        const Bits rotation = negativeNans<Key>();
        return {static_cast<Bits>(descending ? ~inverted : inverted),
                static_cast<Bits>(std::is_floating_point_v<Key> ? ~signBit : 0),
                static_cast<Bits>(descending ? rotation : 0 - rotation)};
    }

    /// Whether codes are the keys with `inverted` inverted. So it is for integers.
    [[nodiscard]] __host__ __device__ constexpr bool onlyInverts() const {
        return invertedInNegatives == 0 && rotation == 0;
    }

    [[nodiscard]] __host__ __device__ constexpr Bits encode(Bits key) const {
        return static_cast<Bits>((key ^ ofSign(key) ^ inverted) + rotation);
    }
    [[nodiscard]] __host__ __device__ constexpr Bits decode(Bits code) const {
        const Bits key = static_cast<Bits>(code - rotation) ^ inverted;
        return key ^ ofSign(key);
    }

  private:
    static constexpr Bits signBit = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));

    /// The number of NaNs of the type whose sign bit is set.
    template <typename Key>
    [[nodiscard]] __host__ __device__ static constexpr Bits negativeNans() {
        if constexpr (std::is_floating_point_v<Key>) {
            constexpr int mantissaBits = std::numeric_limits<Key>::digits - 1;
            return static_cast<Bits>((Bits{1} << mantissaBits) - 1);
        } else {
            return 0;
        }
    }

    [[nodiscard]] __host__ __device__ constexpr Bits ofSign(Bits key) const {
        return (key & signBit) != 0 ? invertedInNegatives : Bits{0};
    }
};

/// The coding of keys that are never compared.
struct NoCoding {
    static constexpr bool isIdentity = true;

    template <typename Key>
    [[nodiscard]] __host__ __device__ static constexpr const Key& encode(const Key& key) {
        return key;
    }
    template <typename Key>
    [[nodiscard]] __host__ __device__ static constexpr const Key& decode(const Key& code) {
        return code;
    }
};

/// The code of one key, for ascending order.
template <typename Key>
[[nodiscard]] __host__ __device__ BitsOf<Key> orderedBits(Key key) {
    BitsOf<Key> bits;
    memcpy(&bits, &key, sizeof(Key));
    return KeyCoding<BitsOf<Key>>::template of<Key>().encode(bits);
}

}  // namespace StreamCompaction
