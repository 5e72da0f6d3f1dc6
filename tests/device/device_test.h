#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "stream_compaction/common.h"

namespace StreamCompaction::Testing {

/// Skips a test, with the reason, on a machine that cannot run it. The machine is asked once: a device that a test has
/// broken must fail those after it.
class DeviceTest : public testing::Test {
  protected:
    void SetUp() override {
        static const std::optional<std::string> reason = Common::cudaUnavailableReason();
        if (reason) {
            GTEST_SKIP() << "no GPU: " << *reason;
        }
    }
};

}  // namespace StreamCompaction::Testing
