#include "world/world.h"

#include <array>
#include <cstdlib>

namespace Bench {

std::optional<std::string> World::firstText(const std::optional<std::string>& text) const {
    const std::vector<std::string> texts = gatherBytes(text.value_or(""));
    const auto first = std::ranges::find_if_not(texts, &std::string::empty);
    if (first == texts.end()) {
        return std::nullopt;
    }
    return first == texts.begin() ? *first : "rank " + std::to_string(first - texts.begin()) + ": " + *first;
}

int startedProcesses() {
    constexpr std::array variables{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};  // of Open MPI, and of MPICH and its relatives
    int started = 1;
    for (const char* variable : variables) {
        if (const char* size = std::getenv(variable)) {
            started = std::max(started, std::atoi(size));
        }
    }
    return started;
}

}  // namespace Bench
