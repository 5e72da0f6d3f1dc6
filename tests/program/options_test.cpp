#include "app/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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

TEST(ParseOptions, HasDefaults) {
    const Options options = parse({});
    EXPECT_THAT(options.sizes, ElementsAre(1024, 1021));
    EXPECT_THAT(options.operations, ElementsAre(Operation::Scan, Operation::Compact, Operation::Sort));
    EXPECT_THAT(options.types, ElementsAre(ElementType::Int32));
    EXPECT_TRUE(options.variants.empty());
    EXPECT_TRUE(options.shapes.empty());
    EXPECT_FALSE(options.list);
    EXPECT_EQ(options.plan.trials, 15);
    EXPECT_EQ(options.plan.warmup, 1);
    EXPECT_EQ(options.seed, 42u);
    EXPECT_TRUE(options.inputs.empty());
    EXPECT_THAT(options.modes, ElementsAre(Mode::Cold));
    EXPECT_EQ(options.plan.budgetUs, 2e6);
    EXPECT_TRUE(std::isinf(options.plan.maxNoise));
    EXPECT_TRUE(options.blockSizes.empty());
    EXPECT_EQ(options.device, 0);
    EXPECT_FALSE(options.csv.has_value());
    EXPECT_FALSE(options.json.has_value());
    EXPECT_FALSE(options.markdown.has_value());
    EXPECT_FALSE(options.resume);
    EXPECT_FALSE(options.profile);
    EXPECT_TRUE(options.color);
    EXPECT_FALSE(options.information.has_value());
}

TEST(ParseOptions, ReadsEveryOption) {
    const Options options = parse({"--size",
                                   "2^10",
                                   "--shape",
                                   "3000x2048,2^22x7",
                                   "--op",
                                   "sort,scan",
                                   "--variant",
                                   "naive,cub",
                                   "--trials",
                                   "3",
                                   "--warmup=0",
                                   "--seed",
                                   "18446744073709551615",
                                   "--input",
                                   "mod:7,kept:0.5,mod:7",
                                   "--utf8-file",
                                   "text",
                                   "--block-size",
                                   "128,64",
                                   "--device",
                                   "1",
                                   "--csv",
                                   "out.csv",
                                   "--json",
                                   "out.json",
                                   "--markdown",
                                   "-",
                                   "--resume",
                                   "--mode",
                                   "batched,cold",
                                   "--max-noise",
                                   "2.5%",
                                   "--time-budget",
                                   "500ms",
                                   "--no-color",
                                   "--type",
                                   "double,int8,double"});
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
    EXPECT_EQ(options.json, "out.json");
    EXPECT_EQ(options.markdown, standardOutput);
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

TEST(ParseOptions, TakesTheHardware) {
    EXPECT_FALSE(parse({}).hardware.has_value());
    EXPECT_EQ(parse({"--hardware", "cpu"}).hardware, Hardware::Cpu);
    EXPECT_EQ(parse({"--hardware", "gpu"}).hardware, Hardware::Gpu);
    EXPECT_THROW((void)parse({"--hardware", "tpu"}), UsageError);
}

TEST(ParseOptions, TakesManySizes) {
    EXPECT_THAT(parse({"--sweep", "2^4:2^6,1000,npot"}).sizes, ElementsAre(13, 16, 29, 32, 61, 64, 997, 1000));
}

TEST(ParseOptions, WritesTheClassicReportOfTheLadderOfInts) {
    EXPECT_FALSE(parse({}).classic);
    EXPECT_TRUE(parse({"--classic", "--op", "sort"}).classic);
    EXPECT_THROW((void)parse({"--classic", "--op", "partition"}), UsageError);
    EXPECT_THROW((void)parse({"--classic", "--type", "int64"}), UsageError);
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
        {"--csv", "-", "--json", "-"},
        {"--json", "-", "--markdown", "-"},
        {"--resume"},
        {"--resume", "--csv", "-"},
        {"--profile", "--csv", "out.csv"},
        {"--list", "--csv", "out.csv"},
        {"--list", "--json", "-"},
        {"--list", "--markdown", "out.md"},
        {"--profile", "--json", "out.json"},
        {"--csv", "same", "--json", "same"},
        {"--csv", "same", "--markdown", "./same"},
        {"--utf8-file", "same", "--json", "./same"},
        {"--utf8-file", "two\nlines"},
        {"--utf8-file", "two\rlines"},
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

TEST(ParseOptions, AnswersHelpAndVersion) {
    EXPECT_THAT(parse({"--help"}).information.value(), HasSubstr("--block-size"));
    EXPECT_THAT(parse({"-h"}).information.value(), HasSubstr("--block-size"));
    EXPECT_THAT(parse({"--version"}).information.value(), HasSubstr("stream_compaction_test "));
    EXPECT_TRUE(parse({"--list"}).list);
}

TEST(ParseOptions, HelpIsInGroupsOfLinesOfEightyColumns) {
    const auto characters = [](const std::string& line) {
        return std::ranges::count_if(line, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
    };
    for (const auto& help : {parse({"--help"}), parseSimulated({"--help"})}) {
        for (const char* group : {"What to run:", "Input:", "How to measure:", "Where results go:"}) {
            EXPECT_THAT(help.information.value(), HasSubstr(group));
        }
        std::istringstream lines(help.information.value());
        for (std::string line; std::getline(lines, line);) {
            EXPECT_LE(characters(line), 80) << line;
        }
    }
}

TEST(ParseOptions, RefusesBadInputInOneLine) {
    const std::vector<const char*> cases[] = {
        {"--size", "0"},
        {"--size", "-5"},
        {"--size=x"},
        {"--size"},
        {"--size="},
        {"--size", "2^64"},
        {"--shape", "3000"},
        {"--shape", "0x7"},
        {"--shape", "7x"},
        {"--shape", "2^40x2^40"},
        {"--op", "scna"},
        {"--op"},
        {"--type", "int"},
        {"--type"},
        {"--input", "x"},
        {"--input", "mod:0"},
        {"--trials", "0"},
        {"--trials", "-1"},
        {"--trials", "x"},
        {"--trials", "1.5"},
        {"--warmup", "-1"},
        {"--seed", "-1"},
        {"--seed", "99999999999999999999"},
        {"--block-size", "0"},
        {"--block-size", "x"},
        {"--block-size", "2048"},
        {"--block-size", "64,x"},
        {"--device", "-1"},
        {"--gpus", "0"},
        {"--gpus", "-1"},
        {"--gpus", "65"},
        {"--gpus", "many"},
        {"--gpus", "2x"},
        {"--gpus"},
        {"--device", "1", "--gpus", "2"},
        {"--gpu-memory", "0"},
        {"--gpu-memory", "much"},
        {"--sweep"},
        {"--sweep", "x"},
        {"--sweep", "npot"},
        {"--input", "ones,x"},
        {"--mode", "hot"},
        {"--max-noise", "2"},
        {"--max-noise", "-1%"},
        {"--time-budget", "2"},
        {"--time-budget", "0s"},
        {"--json"},
        {"--markdown"},
        {"--csv"},
        {"--frob"},
        {"extra"},
        {"-5"},
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
