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

    const std::string begin_ = "earl";
    std::ostringstream out_;
};

class LineFileTest : public OutputFileTest {};

TEST_F(LineFileTest, KeepsWhatItHadAndHasEachLineAtOnce) {
    fill("earlier\n");
    LineFile file("--samples", path_, "earl", out_);
    file.append("now");
    EXPECT_EQ(contents(), "earlier\nnow\n");
}

TEST_F(LineFileTest, MayBeStandardOutput) {
    LineFile("--samples", "-", "{", out_).append("now");
    EXPECT_EQ(out_.str(), "now\n");
}

TEST_F(LineFileTest, SaysWhatCannotBeWritten) {
    EXPECT_THAT([&] { LineFile("--samples", folder_, "{", out_); },
                testing::ThrowsMessage<UsageError>("--samples: cannot write to " + folder_.string()));
    out_.setstate(std::ios::badbit);
    EXPECT_THROW(LineFile("--samples", "-", "{", out_).append("now"), std::runtime_error);
}

TEST_F(OutputFileTest, KeepsWhatItHadUntilEverythingIsWritten) {
    fill("earlier");
    OutputFile file("--json", path_, begin_, out_);
    file.stream() << "now";
    EXPECT_EQ(contents(), "earlier");
    EXPECT_EQ(filesInFolder(), 1);  // nothing stays where the program is ended
    file.finish();
    EXPECT_EQ(contents(), "now");
    EXPECT_EQ(filesInFolder(), 1);
}

TEST_F(OutputFileTest, KeepsWhatItHadWhereItIsNotFinished) {
    fill("earlier");
    { OutputFile("--json", path_, begin_, out_).stream() << "now"; }
    EXPECT_EQ(contents(), "earlier");
    EXPECT_EQ(filesInFolder(), 1);
}

TEST_F(OutputFileTest, MayBeNew) {
    { const OutputFile unfinished("--json", path_, begin_, out_); }
    EXPECT_EQ(filesInFolder(), 0);
    OutputFile file("--json", path_, begin_, out_);
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
    OutputFile file("--json", link, begin_, out_);
    file.stream() << "now";
    EXPECT_EQ(contents(), "earlier");
    file.finish();
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(contents(), "now");
}

TEST_F(OutputFileTest, RefusesAFileThatHasSomethingElse) {
    const auto refuses = testing::ThrowsMessage<UsageError>(
        "--json: " + path_.string() + " has something else than --json writes; choose another file");
    for (const std::string foreign : {"my notes", "earn"}) {
        fill(foreign);
        EXPECT_THAT([&] { (void)OutputFile("--json", path_, begin_, out_); }, refuses);
        EXPECT_THAT([&] { (void)LineFile("--json", path_, begin_, out_); }, refuses);
        EXPECT_EQ(contents(), foreign);
        EXPECT_EQ(filesInFolder(), 1);
    }
    for (const std::string own : {"", "ear"}) {  // the second breaks off
        fill(own);
        EXPECT_NO_THROW((void)OutputFile("--json", path_, begin_, out_));
    }
}

TEST_F(OutputFileTest, MayBeStandardOutput) {
    OutputFile file("--json", "-", begin_, out_);
    file.stream() << "now";
    file.finish();
    EXPECT_EQ(out_.str(), "now");
}

TEST_F(OutputFileTest, RefusesAPlaceThatCannotBeWritten) {
    EXPECT_THAT([&] { (void)OutputFile("--json", folder_ / "below" / "file", begin_, out_); },
                testing::ThrowsMessage<UsageError>(testing::StartsWith("--json: cannot write to ")));
    EXPECT_THROW((void)OutputFile("--json", folder_, begin_, out_), UsageError);
    fill("earlier");
    EXPECT_THROW((void)OutputFile("--json", path_ / "below", begin_, out_), UsageError);
    EXPECT_EQ(contents(), "earlier");
}

}  // namespace
}  // namespace Bench
