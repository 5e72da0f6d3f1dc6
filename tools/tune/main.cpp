#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string_view>
#include <utility>

#include "cli/values.h"
#include "tune/tuner.h"

// Usage: tune FILE.csv [scan|compact|sort|row-sum]
int main(int argc, char* argv[]) {
    using namespace Bench;
    constexpr std::pair<std::string_view, void (*)(Tune::Tuner&)> sweeps[] = {{"scan", Tune::tuneScans},
                                                                              {"compact", Tune::tuneCompactions},
                                                                              {"sort", Tune::tuneSorts},
                                                                              {"row-sum", Tune::tuneRowSums}};
    try {
        const std::string_view only = argc == 3 ? argv[2] : "";
        const auto isChosen = [only](const auto& sweep) { return only.empty() || only == sweep.first; };
        if (argc < 2 || argc > 3 || std::ranges::none_of(sweeps, isChosen)) {
            throw UsageError(
                "expected the CSV file to write and, optionally, one operation: scan, compact, sort or row-sum");
        }
        const GpuAccess access = openGpu({});
        if (!access.gpu) {
            throw UsageError("no GPU: " + access.unavailableReason);
        }
        Tune::Tuner tuner(*access.gpu, argv[1]);
        for (const auto& sweep : sweeps) {
            if (isChosen(sweep)) {
                sweep.second(tuner);
            }
        }
        return tuner.allCorrect() ? 0 : 1;
    } catch (const UsageError& error) {
        fmt::print(stderr, "tune: {}\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        fmt::print(stderr, "tune: {}\n", error.what());
        return 1;
    }
}
