#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace Bench {

/// Each test has a folder of its own, which is removed at the end, for one file.
class FileTest : public testing::Test {
  protected:
    FileTest() { std::filesystem::create_directories(folder_); }
    ~FileTest() override { std::filesystem::remove_all(folder_); }

    [[nodiscard]] std::string contents() const {
        std::ifstream file(path_);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    void fill(std::string_view text) const { std::ofstream(path_) << text; }

    const testing::TestInfo& test_ = *testing::UnitTest::GetInstance()->current_test_info();
    const std::filesystem::path folder_ =
        std::filesystem::path(testing::TempDir()) / (std::string(test_.test_suite_name()) + "_" + test_.name());
    const std::filesystem::path path_ = folder_ / "file";
};

}  // namespace Bench
