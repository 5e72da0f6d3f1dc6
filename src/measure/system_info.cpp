#include "measure/system_info.h"

#include <fmt/format.h>
#include <tbb/task_arena.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

namespace Bench {
namespace {

/// The text after the colon in the first line that begins with `key`.
[[nodiscard]] std::optional<std::string> field(std::istream& in, std::string_view key) {
    for (std::string line; std::getline(in, line);) {
        const std::size_t colon = line.find(':');
        if (line.starts_with(key) && colon != std::string::npos) {
            const std::size_t text = line.find_first_not_of(" \t", colon + 1);
            return text == std::string::npos ? std::string() : line.substr(text);
        }
    }
    return std::nullopt;
}

/// On Windows it is in the environment.
[[nodiscard]] std::string cpuModelFromEnvironment() {
    const char* identifier = std::getenv("PROCESSOR_IDENTIFIER");
    return identifier != nullptr ? identifier : "unknown processor";
}

}  // namespace

std::optional<std::string> cpuModel(std::istream& cpuinfo) { return field(cpuinfo, "model name"); }

// TBB counts the threads of the affinity mask, where the system has one. The variants on all cores run in it.
CpuInfo cpuInfo() {
    std::ifstream cpuinfo("/proc/cpuinfo");
    return {cpuModel(cpuinfo).value_or(cpuModelFromEnvironment()), tbb::this_task_arena::max_concurrency()};
}

std::string describe(const CpuInfo& cpu) {
    return fmt::format("{}, {} {}", cpu.model, cpu.threads, cpu.threads == 1 ? "thread" : "threads");
}

std::optional<std::size_t> availableBytes(std::istream& meminfo) {
    const auto text = field(meminfo, "MemAvailable");
    if (!text) {
        return std::nullopt;
    }
    std::size_t kibibytes = 0;
    std::istringstream(*text) >> kibibytes;
    return kibibytes * 1024;
}

std::optional<std::size_t> availableHostMemory() {
    std::ifstream meminfo("/proc/meminfo");
    return availableBytes(meminfo);
}

}  // namespace Bench
