#pragma once

#include <cstddef>
#include <istream>
#include <optional>
#include <string>

namespace Bench {

/// The processor, as far as the system reports it.
struct CpuInfo {
    std::string model;
    int threads = 0;  ///< that this process may use at a time
};

[[nodiscard]] CpuInfo cpuInfo();

/// The line of the report.
[[nodiscard]] std::string describe(const CpuInfo& cpu);

/// The processor's name from the text of /proc/cpuinfo, if it is there.
[[nodiscard]] std::optional<std::string> cpuModel(std::istream& cpuinfo);

/// Host memory that is still available, if the system reports it.
[[nodiscard]] std::optional<std::size_t> availableHostMemory();

/// The available bytes from the text of /proc/meminfo, if they are there.
[[nodiscard]] std::optional<std::size_t> availableBytes(std::istream& meminfo);

}  // namespace Bench
