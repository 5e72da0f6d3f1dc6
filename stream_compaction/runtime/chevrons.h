#pragma once

#include <source_location>
#include <string_view>

namespace StreamCompaction::Common {

/// For the line after a <<<>>> launch in the textbook rungs, which use <<<>>> because learners read them: throws
/// CudaError for this thread's last error, which it clears. The caller may have left that error behind. So all other
/// launches have a status of their own (runtime/launch.cuh).
void checkLaunch(std::string_view kernel, std::source_location where = std::source_location::current());

}  // namespace StreamCompaction::Common
