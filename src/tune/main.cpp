#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "tuner.h"
#include "usage_error.h"

// Usage: tune FILE.csv
int main(int argc, char* argv[]) {
    using namespace Bench;
    try {
        if (argc != 2) {
            throw UsageError("expected one argument, the CSV file to write");
        }
        const GpuAccess access = openGpu(0);
        if (!access.gpu) {
            throw UsageError("no GPU: " + access.unavailableReason);
        }
        Tune::Tuner tuner(*access.gpu, argv[1]);
        Tune::tuneScans(tuner);
        Tune::tuneCompactions(tuner);
        return tuner.allCorrect() ? 0 : 1;
    } catch (const UsageError& error) {
        fmt::print(stderr, "tune: {}\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        fmt::print(stderr, "tune: {}\n", error.what());
        return 1;
    }
}
