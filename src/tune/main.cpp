#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string_view>

#include "tuner.h"
#include "usage_error.h"

// Usage: tune FILE.csv [scans|compactions|row-sums]
int main(int argc, char* argv[]) {
    using namespace Bench;
    try {
        if (argc != 2 && argc != 3) {
            throw UsageError("expected the CSV file to write and, for one sweep alone, its name");
        }
        const std::string_view only = argc == 3 ? argv[2] : "";
        if (!only.empty() && only != "scans" && only != "compactions" && only != "row-sums") {
            throw UsageError(fmt::format("expected scans, compactions or row-sums, got '{}'", only));
        }
        const GpuAccess access = openGpu(0);
        if (!access.gpu) {
            throw UsageError("no GPU: " + access.unavailableReason);
        }
        Tune::Tuner tuner(*access.gpu, argv[1]);
        if (only.empty() || only == "scans") {
            Tune::tuneScans(tuner);
        }
        if (only.empty() || only == "compactions") {
            Tune::tuneCompactions(tuner);
        }
        if (only.empty() || only == "row-sums") {
            Tune::tuneRowSums(tuner);
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
