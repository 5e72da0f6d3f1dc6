#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "problems/array.h"
#include "problems/inputs.h"

/// Text for the conversions between encodings.
namespace Bench {

/// As many elements of text as the largest of the sizes, of UTF-8, UTF-16 or UTF-32: the same on every platform, on all
/// cores. Well-formed but for the pattern that says otherwise, and so are its first elements, as many as any of the
/// sizes: characters end there. Throws UsageError for a pattern that is not of text.
template <typename Element>
[[nodiscard]] Array<Element> makeText(InputPattern pattern, std::span<const std::size_t> sizes, std::uint64_t seed);

/// The first n bytes of a file; where it has fewer, those again and again. Throws UsageError when it cannot be read or
/// is empty.
[[nodiscard]] Array<std::uint8_t> readText(const std::filesystem::path& path, std::size_t n);

/// The beginning as the report shows it: `"Some text ..."`.
template <typename Element>
[[nodiscard]] std::string abridgedText(std::span<const Element> text);

}  // namespace Bench
