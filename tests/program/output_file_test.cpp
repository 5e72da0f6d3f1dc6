#include "app/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <sstream>
#include <string>

#include "cli/values.h"
#include "file_fixture.h"

namespace Bench {
namespace {

class OutputFileTest : public FileTest {
  protected:
    [[nodiscard]] std::ptrdiff_t filesInFolder() const {
        return std::distance(std::filesystem::directory_iterator(folder_), {});
    }

    std::ostringstream out_;
};

class LineFileTest : public OutputFileTest {};

TEST_F(LineFileTest, KeepsWhatItHadAndHasEachLineAtOnce) {
    fill("earlier\n");
    LineFile file("--samples", path_, out_);
    file.append("now");
    EXPECT_EQ(contents(), "earlier\nnow\n");
}

TEST_F(LineFileTest, MayBeStandardOutput) {
    LineFile("--samples", "-", out_).append("now");
    EXPECT_EQ(out_.str(), "now\n");
}

TEST_F(LineFileTest, SaysWhatCannotBeWritten) {
    EXPECT_THAT([&] { LineFile("--samples", folder_, out_); },
                testing::ThrowsMessage<UsageError>("--samples: cannot write to " + folder_.string()));
    out_.setstate(std::ios::badbit);
    EXPECT_THROW(LineFile("--samples", "-", out_).append("now"), std::runtime_error);
}

TEST_F(OutputFileTest, KeepsWhatItHadUntilEverythingIsWritten) {
    fill("earlier");
    OutputFile file("--json", path_, out_);
    file.stream() << "now";
    file.flush();
    EXPECT_EQ(contents(), "earlier");
    file.finish();
    EXPECT_EQ(contents(), "now");
    EXPECT_EQ(filesInFolder(), 1);
}

TEST_F(OutputFileTest, KeepsWhatItHadWhereItIsNotFinished) {
    fill("earlier");
    { OutputFile("--json", path_, out_).stream() << "now"; }
    EXPECT_EQ(contents(), "earlier");
    EXPECT_EQ(filesInFolder(), 1);
}

TEST_F(OutputFileTest, MayBeNew) {
    { const OutputFile unfinished("--json", path_, out_); }
    EXPECT_EQ(filesInFolder(), 0);
    OutputFile file("--json", path_, out_);
    file.stream() << "now";
    file.finish();
    EXPECT_EQ(contents(), "now");
    EXPECT_EQ(filesInFolder(), 1);
}

TEST_F(OutputFileTest, IsWrittenDirectlyWhereItIsALink) {
    fill("earlier");
    const auto link = folder_ / "link";
    std::error_code error;
    std::filesystem::create_symlink(path_, link, error);
    if (error) {
        GTEST_SKIP() << "needs symbolic links";
    }
    OutputFile file("--json", link, out_);
    file.stream() << "now";
    file.finish();
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(contents(), "now");
}

TEST_F(OutputFileTest, MayBeStandardOutput) {
    OutputFile file("--json", "-", out_);
    file.stream() << "now";
    file.finish();
    EXPECT_EQ(out_.str(), "now");
}

TEST_F(OutputFileTest, RefusesAPlaceThatCannotBeWritten) {
    EXPECT_THAT([&] { (void)OutputFile("--json", folder_ / "below" / "file", out_); },
                testing::ThrowsMessage<UsageError>(testing::StartsWith("--json: cannot write to ")));
    EXPECT_THROW((void)OutputFile("--json", folder_, out_), UsageError);
    fill("earlier");
    EXPECT_THROW((void)OutputFile("--json", path_ / "below", out_), UsageError);
    EXPECT_EQ(contents(), "earlier");
}

}  // namespace
}  // namespace Bench
