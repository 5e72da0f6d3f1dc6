#include "app/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "cli/values.h"
#include "words.h"

namespace Bench {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

/// Parses the words of a command line.
[[nodiscard]] Options parse(const std::string& line, bool simulated = false) {
    return parseOptions(Words(line).get(), {1024, 1021}, simulated);
}

/// Parses as in a build whose GPU variants are simulated.
[[nodiscard]] Options parseSimulated(const std::string& line) { return parse(line, true); }

TEST(ParseOptions, ReadsEveryOption) {
    const Options options = parse(
        "--size 2^10 --shape 3000x2048,2^22x7 --op sort,scan --variant naive,cub --trials 3 --warmup=0 "
        "--seed 18446744073709551615 --input mod:7,kept:0.5,mod:7 --utf8-file text --block-size 128,64 --device 1 "
        "--csv out.csv --samples - --resume --mode batched,cold --max-noise 2.5% --time-budget 500ms --no-color "
        "--hardware gpu --type double,int8,double");
    EXPECT_THAT(options.sizes, ElementsAre(1024));
    EXPECT_THAT(options.shapes, ElementsAre(Shape{3000, 2048}, Shape{1 << 22, 7}));
    EXPECT_THAT(options.operations, ElementsAre(Operation::Scan, Operation::Sort));
    EXPECT_THAT(options.types, ElementsAre(ElementType::Int8, ElementType::Double));
    EXPECT_THAT(options.variants, ElementsAre("naive", "cub"));
    EXPECT_EQ(options.plan.trials, 3);
    EXPECT_EQ(options.plan.warmup, 0);
    EXPECT_EQ(options.seed, 18446744073709551615u);
    EXPECT_THAT(options.inputs, ElementsAre(InputPattern{InputPattern::Kind::Modulo, 7},
                                            InputPattern{InputPattern::Kind::Kept, 0, 0.5}));
    EXPECT_EQ(options.utf8File, "text");
    EXPECT_THAT(options.blockSizes, ElementsAre(128, 64));
    EXPECT_THAT(options.modes, ElementsAre(Mode::Cold, Mode::Batched));
    EXPECT_DOUBLE_EQ(options.plan.maxNoise, 0.025);
    EXPECT_EQ(options.plan.budgetUs, 5e5);
    EXPECT_EQ(options.device, 1);
    EXPECT_EQ(options.csv, "out.csv");
    EXPECT_EQ(options.samples, standardOutput);
    EXPECT_EQ(options.hardware, Hardware::Gpu);
    EXPECT_TRUE(options.resume);
    EXPECT_FALSE(options.color);
}

TEST(ParseOptions, TakesAllOperations) {
    EXPECT_THAT(parse("--op all").operations, ElementsAreArray(allOperations));
    EXPECT_THAT(parse("--list").operations, ElementsAreArray(allOperations));
    EXPECT_THAT(parse("--list --op scan").operations, ElementsAre(Operation::Scan));
    EXPECT_THAT(parse("--op scan,all").operations, ElementsAreArray(allOperations));
}

TEST(ParseOptions, TakesEachSizeGiven) {
    EXPECT_THAT(parse("--size 64").sizes, ElementsAre(64));
    EXPECT_THAT(parse("--size 2^20,2^4,16").sizes, ElementsAre(1 << 20, 16));
    EXPECT_THAT(parse("--size 64 --size 16").sizes, ElementsAre(64, 16));
    EXPECT_THAT(parse("--sweep 2^4:2^6 --size 7,32").sizes, ElementsAre(7, 32, 16, 64));
}

TEST(ParseOptions, RunsOneTrialForAProfiler) {
    const Options options = parse("--profile --trials 20 --mode batched --max-noise 1%");
    EXPECT_TRUE(options.profile);
    EXPECT_EQ(options.plan.trials, 1);
    EXPECT_TRUE(std::isinf(options.plan.maxNoise));
    EXPECT_THAT(options.modes, ElementsAre(Mode::Cold));
}

TEST(ParseOptions, RefusesWhatContradictsItself) {
    for (const char* line : {"--csv - --samples -", "--resume", "--resume --csv -", "--profile --csv out.csv",
                             "--list --csv out.csv", "--csv same --samples ./same", "--utf8-file same --csv ./same",
                             "--device 1 --gpus 2", "--classic --op partition", "--classic --type int64"}) {
        EXPECT_THROW((void)parse(line), UsageError) << line;
    }
    for (const char* line : {"--trace same --csv ./same", "--trace same --utf8-file ./same", "--trace a,b.jsonl"}) {
        EXPECT_THROW((void)parseSimulated(line), UsageError) << line;
    }
    const std::vector<const char*> lineBreak{"--utf8-file", "two\nlines"};
    EXPECT_THROW((void)parseOptions(lineBreak, {1}, false), UsageError);
}

TEST(ParseOptions, HandsTheSimulatorItsSettings) {
    const Options plain = parseSimulated("");
    EXPECT_EQ(plain.simulator, "");
    EXPECT_EQ(plain.seed, 42u);
    EXPECT_THAT(plain.modes, ElementsAre(Mode::Untimed));
    EXPECT_EQ(parseSimulated("--card capability=7.5,order=any").simulator, "capability=7.5,order=any");
    const Options all = parseSimulated("--trace out.jsonl --seed 7 --card multiprocessors=2");
    EXPECT_THAT(all.simulator, testing::AllOf(HasSubstr("multiprocessors=2"), HasSubstr("trace=out.jsonl")));
    EXPECT_THAT(all.simulator, testing::EndsWith(",seed=7"));  // the last setting, which is also the seed of the inputs
    EXPECT_EQ(all.seed, 7u);
    EXPECT_EQ(parse("--seed 7").simulator, "");
}

TEST(ParseOptions, RefusesWhatTheOtherBuildHas) {
    for (const char* option : {"--card", "--trace", "--mode", "--device", "--profile"}) {
        const bool isOfSimulator = std::string_view(option) == "--card" || std::string_view(option) == "--trace";
        const std::string value = std::string_view(option) == "--mode"      ? " cold"
                                  : std::string_view(option) == "--profile" ? ""
                                                                            : " 1";
        EXPECT_THAT(
            [&] { (void)parse(option + value, !isOfSimulator); },
            testing::ThrowsMessage<UsageError>(
                std::string(option) + (isOfSimulator ? ": needs the simulator: scripts/run.sh --simulate runs it"
                                                     : ": needs a card: scripts/run.sh --cuda builds for one")));
        EXPECT_THAT(parse("--help", !isOfSimulator).information.value(), testing::Not(HasSubstr(option)));
        EXPECT_THAT(parse("--help", isOfSimulator).information.value(), HasSubstr(option));
    }
}

TEST(ParseOptions, ReadsTheNumberOfGpus) {
    EXPECT_EQ(parse("").gpus, 1);
    EXPECT_EQ(parse("--gpus 2").gpus, 2);
    EXPECT_EQ(parse("--gpus all").gpus, std::nullopt);
    EXPECT_EQ(parse("--gpu-memory 2^30").deviceBytes, 1U << 30);
    EXPECT_EQ(parse("--gpus 2").simulator, "");
    EXPECT_EQ(parseSimulated("").simulator, "");
    EXPECT_EQ(parseSimulated("--gpus 2 --card links=none").simulator, "links=none,devices=2");
    EXPECT_EQ(parseSimulated("--gpus all --card devices=3").simulator, "devices=3");
}

TEST(ParseOptions, RefusesBadInputInOneLine) {
    // What the values may be is tested in values_test.cpp and inputs_test.cpp.
    for (const char* line :
         {"--size=x",    "--size",         "--shape 3000",  "--op scna",       "--type int",     "--input x",
          "--trials 0",  "--trials 1.5",   "--warmup -1",   "--seed -1",       "--block-size 0", "--block-size 2048",
          "--device -1", "--gpus 0",       "--gpus 65",     "--gpus 2x",       "--gpu-memory 0", "--sweep npot",
          "--mode hot",  "--hardware tpu", "--max-noise 2", "--time-budget 2", "--csv",          "--frob",
          "extra",       "--json x"}) {
        EXPECT_THAT([&] { (void)parse(line); }, testing::ThrowsMessage<UsageError>(testing::Not(HasSubstr("\n"))))
            << line;
    }
}

TEST(ParseOptions, SaysWhatIsWrongAndSuggestsTheNearest) {
    const std::pair<const char*, const char*> cases[] = {
        {"--op scna", "--op: unknown operation 'scna': did you mean scan?"},
        {"--trials 0", "--trials: expected a whole number from 1 to 1000000, got '0'"},
        {"--sise 4", "; did you mean --size? stream_compaction_test"},
        {"--list --sise=4", "; did you mean --size? stream_compaction_test"},
    };
    for (const auto& [line, message] : cases) {
        EXPECT_THAT([&line = line] { (void)parse(line); }, testing::ThrowsMessage<UsageError>(HasSubstr(message)));
    }
    // Not for what resembles none, and not for an option of the simulator.
    for (const char* line : {"--frobnicate", "--trase"}) {
        EXPECT_THAT([&] { (void)parse(line); }, testing::ThrowsMessage<UsageError>(testing::Not(testing::AnyOf(
                                                    HasSubstr("did you mean --trace"), HasSubstr("mean --f")))));
    }
}

}  // namespace
}  // namespace Bench
