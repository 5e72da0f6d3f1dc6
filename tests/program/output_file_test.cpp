#include "app/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/values.h"
#include "file_fixture.h"

namespace Bench {
namespace {

using LineFileTest = FileTest;

TEST_F(LineFileTest, KeepsWhatItHadAndHasEachLineAtOnce) {
    std::ostringstream out;
    fill("earlier\n");
    LineFile file("--samples", path_, "earl", out);
    file.append("now");
    EXPECT_EQ(contents(), "earlier\nnow\n");
    LineFile("--samples", "-", "earl", out).append("now");
    EXPECT_EQ(out.str(), "now\n");
}

TEST_F(LineFileTest, RefusesAFileThatHasSomethingElseAndAFolder) {
    std::ostringstream out;
    fill("earn");
    EXPECT_THAT([&] { (void)LineFile("--samples", path_, "earl", out); },
                testing::ThrowsMessage<UsageError>("--samples: " + path_.string() +
                                                   " has something else than --samples writes; choose another file"));
    EXPECT_EQ(contents(), "earn");
    fill("ear");  // breaks off
    EXPECT_NO_THROW((void)LineFile("--samples", path_, "earl", out));
    EXPECT_THAT([&] { LineFile("--samples", folder_, "{", out); },
                testing::ThrowsMessage<UsageError>("--samples: cannot write to " + folder_.string()));
}

}  // namespace
}  // namespace Bench
