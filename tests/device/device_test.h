#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>

#include "stream_compaction/common.h"

namespace StreamCompaction::Testing {

/// Whether kernels run on the CPU, a thousand times slower.
#if defined(STREAM_COMPACTION_SIMULATED)
inline constexpr bool isSimulated = true;
#else
inline constexpr bool isSimulated = false;
#endif

/// `onCard`, or a size for which a simulated card takes as long.
[[nodiscard]] constexpr std::size_t sized(std::size_t onCard, std::size_t simulated) {
    return isSimulated ? simulated : onCard;
}

/// Skips a test, with the reason, on a machine that cannot run it. The machine is asked only once: if a test breaks the
/// device, later tests must fail, not be skipped.
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
