#pragma once

#include <string_view>

/// What was built. The values are in a file of their own, so that an edit, which makes the commit "-dirty", compiles no
/// other.
namespace BuildInfo {

extern const std::string_view version;
extern const std::string_view gitCommit;
extern const std::string_view compiler;

}  // namespace BuildInfo
