#include "measure/system_info.h"

#include <gtest/gtest.h>

#include <sstream>

namespace Bench {
namespace {

TEST(CpuModel, IsTheFirstModelName) {
    std::istringstream cpuinfo(
        "processor\t: 0\nmodel\t\t: 85\nmodel name\t: Some Processor @ 2.50GHz\nprocessor\t: 1\nmodel name\t: Other\n");
    EXPECT_EQ(cpuModel(cpuinfo), "Some Processor @ 2.50GHz");
}

TEST(AvailableBytes, CountsKibibytes) {
    std::istringstream meminfo("MemTotal:       24628764 kB\nMemFree:        100 kB\nMemAvailable:   2048 kB\n");
    EXPECT_EQ(availableBytes(meminfo), 2048u * 1024);
}

}  // namespace
}  // namespace Bench
