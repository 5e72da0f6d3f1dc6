#include "app/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/values.h"

namespace Bench {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

[[nodiscard]] Options parse(const std::vector<const char*>& arguments) {
    return parseOptions(arguments, {1024, 1021}, false);
}

/// Parses as in a build whose GPU variants are simulated.
[[nodiscard]] Options parseSimulated(const std::vector<const char*>& arguments) {
    return parseOptions(arguments, {1024, 1021}, true);
}

TEST(ParseOptions, ReadsEveryOption) {
    std::istringstream line(
        "--size 2^10 --shape 3000x2048,2^22x7 --op sort,scan --variant naive,cub --trials 3 --warmup=0 "
        "--seed 18446744073709551615 --input mod:7,kept:0.5,mod:7 --utf8-file text --block-size 128,64 --device 1 "
        "--csv out.csv --samples - --resume --mode batched,cold --max-noise 2.5% --time-budget 500ms --no-color "
        "--hardware gpu --type double,int8,double");
    const std::vector<std::string> words{std::istream_iterator<std::string>(line), {}};
    std::vector<const char*> arguments;
    std::ranges::transform(words, std::back_inserter(arguments), &std::string::c_str);
    const Options options = parse(arguments);
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
    EXPECT_THAT(parse({"--op", "all"}).operations, ElementsAreArray(allOperations));
    EXPECT_THAT(parse({"--list"}).operations, ElementsAreArray(allOperations));
    EXPECT_THAT(parse({"--list", "--op", "scan"}).operations, ElementsAre(Operation::Scan));
    EXPECT_THAT(parse({"--op", "scan,all"}).operations, ElementsAreArray(allOperations));
}

TEST(ParseOptions, TakesEachSizeGiven) {
    EXPECT_THAT(parse({"--size", "64"}).sizes, ElementsAre(64));
    EXPECT_THAT(parse({"--size", "2^20,2^4,16"}).sizes, ElementsAre(1 << 20, 16));
    EXPECT_THAT(parse({"--size", "64", "--size", "16"}).sizes, ElementsAre(64, 16));
    EXPECT_THAT(parse({"--sweep", "2^4:2^6", "--size", "7,32"}).sizes, ElementsAre(7, 32, 16, 64));
}

TEST(ParseOptions, RunsOneTrialForAProfiler) {
    const Options options = parse({"--profile", "--trials", "20", "--mode", "batched", "--max-noise", "1%"});
    EXPECT_TRUE(options.profile);
    EXPECT_EQ(options.plan.trials, 1);
    EXPECT_TRUE(std::isinf(options.plan.maxNoise));
    EXPECT_THAT(options.modes, ElementsAre(Mode::Cold));
}

TEST(ParseOptions, RefusesWhatContradictsItself) {
    const std::vector<const char*> cases[] = {
        {"--csv", "-", "--samples", "-"},
        {"--resume"},
        {"--resume", "--csv", "-"},
        {"--profile", "--csv", "out.csv"},
        {"--list", "--csv", "out.csv"},
        {"--csv", "same", "--samples", "./same"},
        {"--utf8-file", "same", "--csv", "./same"},
        {"--utf8-file", "two\nlines"},
        {"--device", "1", "--gpus", "2"},
        {"--classic", "--op", "partition"},
        {"--classic", "--type", "int64"},
    };
    for (const auto& arguments : cases) {
        EXPECT_THROW((void)parse(arguments), UsageError) << testing::PrintToString(arguments);
    }
}

TEST(ParseOptions, HandsTheSimulatorItsSettings) {
    const Options plain = parseSimulated({});
    EXPECT_EQ(plain.simulator, "");
    EXPECT_EQ(plain.seed, 42u);
    EXPECT_THAT(plain.modes, ElementsAre(Mode::Untimed));
    EXPECT_EQ(parseSimulated({"--card", "capability=7.5,order=any"}).simulator, "capability=7.5,order=any");
    const Options all = parseSimulated({"--trace", "out.jsonl", "--seed", "7", "--card", "multiprocessors=2"});
    EXPECT_THAT(all.simulator, testing::AllOf(HasSubstr("multiprocessors=2"), HasSubstr("trace=out.jsonl")));
    EXPECT_THAT(all.simulator, testing::EndsWith(",seed=7"));  // the last setting, which is also the seed of the inputs
    EXPECT_EQ(all.seed, 7u);
    EXPECT_EQ(parse({"--seed", "7"}).simulator, "");
}

TEST(ParseOptions, RefusesWhatTheOtherBuildHas) {
    const auto refuses = [](const auto& parse, const std::vector<const char*>& arguments, const char* message) {
        EXPECT_THAT([&] { (void)parse(arguments); }, testing::ThrowsMessage<UsageError>(message));
        const std::string help = parse(std::vector<const char*>{"--help"}).information.value();
        EXPECT_THAT(help, testing::Not(HasSubstr(arguments.front())));
    };
    refuses(parse, {"--card", "capability=7.5"}, "--card: needs the simulator: scripts/run.sh --simulate runs it");
    refuses(parse, {"--trace", "out.jsonl"}, "--trace: needs the simulator: scripts/run.sh --simulate runs it");
    refuses(parseSimulated, {"--mode", "batched"}, "--mode: needs a card: scripts/run.sh --cuda builds for one");
    refuses(parseSimulated, {"--device", "0"}, "--device: needs a card: scripts/run.sh --cuda builds for one");
    refuses(parseSimulated, {"--profile"}, "--profile: needs a card: scripts/run.sh --cuda builds for one");
    for (const char* option : {"--card", "--trace"}) {
        EXPECT_THAT(parseSimulated({"--help"}).information.value(), HasSubstr(option));
    }
}

TEST(ParseOptions, KeepsTheTraceApartFromOtherFiles) {
    for (const std::vector<const char*>& arguments :
         std::vector<std::vector<const char*>>{{"--trace", "same", "--csv", "./same"},
                                               {"--trace", "same", "--utf8-file", "./same"},
                                               {"--trace", "a,b.jsonl"}}) {
        EXPECT_THROW((void)parseSimulated(arguments), UsageError) << testing::PrintToString(arguments);
    }
}

TEST(ParseOptions, ReadsTheNumberOfGpus) {
    EXPECT_EQ(parse({}).gpus, 1);
    EXPECT_EQ(parse({"--gpus", "2"}).gpus, 2);
    EXPECT_EQ(parse({"--gpus", "all"}).gpus, std::nullopt);
    EXPECT_EQ(parse({"--gpu-memory", "2^30"}).deviceBytes, 1U << 30);
    EXPECT_EQ(parse({"--gpus", "2"}).simulator, "");
    EXPECT_EQ(parseSimulated({}).simulator, "");
    EXPECT_EQ(parseSimulated({"--gpus", "2", "--card", "links=none"}).simulator, "links=none,devices=2");
    EXPECT_EQ(parseSimulated({"--gpus", "all", "--card", "devices=3"}).simulator, "devices=3");
}

TEST(ParseOptions, RefusesBadInputInOneLine) {
    // What the values may be is tested in values_test.cpp and inputs_test.cpp.
    const std::vector<const char*> cases[] = {
        {"--size=x"},
        {"--size"},
        {"--shape", "3000"},
        {"--op", "scna"},
        {"--type", "int"},
        {"--input", "x"},
        {"--trials", "0"},
        {"--trials", "1.5"},
        {"--warmup", "-1"},
        {"--seed", "-1"},
        {"--block-size", "0"},
        {"--block-size", "2048"},
        {"--device", "-1"},
        {"--gpus", "0"},
        {"--gpus", "65"},
        {"--gpus", "2x"},
        {"--gpu-memory", "0"},
        {"--sweep", "npot"},
        {"--mode", "hot"},
        {"--hardware", "tpu"},
        {"--max-noise", "2"},
        {"--time-budget", "2"},
        {"--csv"},
        {"--frob"},
        {"extra"},
        {"--json", "x"},
    };
    for (const auto& arguments : cases) {
        try {
            (void)parse(arguments);
            ADD_FAILURE() << arguments.front();
        } catch (const UsageError& error) {
            EXPECT_THAT(error.what(), testing::Not(HasSubstr("\n"))) << arguments.front();
        }
    }
}

TEST(ParseOptions, NamesTheOptionThatIsWrong) {
    EXPECT_THAT(
        [] {
            (void)parse({"--op", "scna"});
        },
        testing::ThrowsMessage<UsageError>("--op: unknown operation 'scna': did you mean scan?"));
    EXPECT_THAT(
        [] {
            (void)parse({"--trials", "0"});
        },
        testing::ThrowsMessage<UsageError>("--trials: expected a whole number from 1 to 1000000, got '0'"));
}

TEST(ParseOptions, SuggestsTheNearestOption) {
    for (const auto& arguments : {std::vector<const char*>{"--sise", "4"}, {"--sise=4"}, {"--list", "--sise", "4"}}) {
        EXPECT_THAT([&] { (void)parse(arguments); },
                    testing::ThrowsMessage<UsageError>(HasSubstr("; did you mean --size? stream_compaction_test")));
    }
    // Not for what resembles none, and not for an option of the simulator.
    for (const auto& arguments : {std::vector<const char*>{"--frobnicate"}, {"size"}, {"--trase"}}) {
        EXPECT_THAT([&] { (void)parse(arguments); },
                    testing::ThrowsMessage<UsageError>(testing::Not(HasSubstr("did you mean --trace"))))
            << arguments.front();
    }
    EXPECT_THAT([] { (void)parse({"--frobnicate"}); },
                testing::ThrowsMessage<UsageError>(testing::Not(HasSubstr("did you mean"))));
}

}  // namespace
}  // namespace Bench
