#pragma once

#include <span>
#include <string>

namespace Bench {

/// `[   3  17   0 ...  12   0 ]`: the whole array when it is short, else its beginning and end. For each of AllTypes.
template <typename T>
[[nodiscard]] std::string abridged(std::span<const T> values);

}  // namespace Bench
