#pragma once

#include <cstddef>
#include <istream>
#include <optional>
#include <string>

namespace Bench {

/// The processor's name and number of threads, as far as this system tells.
[[nodiscard]] std::string cpuDescription();

/// The processor's name in the words of /proc/cpuinfo, if it is there.
[[nodiscard]] std::optional<std::string> cpuModel(std::istream& cpuinfo);

/// Host memory that can still be used, where the system tells.
[[nodiscard]] std::optional<std::size_t> availableHostMemory();

/// The bytes available in the words of /proc/meminfo, if they are there.
[[nodiscard]] std::optional<std::size_t> availableBytes(std::istream& meminfo);

}  // namespace Bench
