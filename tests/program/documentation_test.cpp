#include "app/documentation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "app/options.h"
#include "app/program.h"
#include "cli/values.h"
#include "fake_machine.h"

namespace Bench {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;
using testing::StartsWith;

[[nodiscard]] std::vector<Variant> twoVariants() {
    return {fakeVariant(Operation::Scan, Hardware::Cpu, "cpu", "cpu scan", StreamCompaction::CPU::scan),
            fakeVariant(Operation::Scan, Hardware::Gpu, "naive", "naive scan", StreamCompaction::CPU::scan),
            fakeVariant(Operation::Sort, Hardware::Cpu, "cpu", "cpu sort", StreamCompaction::CPU::sort)};
}

[[nodiscard]] std::vector<CommandDescription> described(bool simulated = false) {
    return describeProgram(twoVariants(), {1024, 1021}, simulated);
}

[[nodiscard]] const OptionDescription& option(const CommandDescription& command, const std::string& name) {
    return *std::ranges::find(command.options, name, &OptionDescription::name);
}

[[nodiscard]] std::string print(const std::vector<const char*>& arguments) {
    std::ostringstream out;
    std::ostringstream err;
    EXPECT_EQ(runProgram(arguments, {1024, 1021}, machineWithoutGpu(twoVariants()), {out, err}), 0) << err.str();
    return out.str();
}

TEST(FirstClause, EndsBeforeExamplesRemarksAndFullStops) {
    EXPECT_EQ(firstClause("Elements, one or more: 1000"), "Elements, one or more");
    EXPECT_EQ(firstClause("Seed [42]; of all"), "Seed");
    EXPECT_EQ(firstClause("For profilers (ncu): one run"), "For profilers");
    EXPECT_EQ(firstClause("One. Two"), "One");
    EXPECT_EQ(firstClause("All 2.5 of it"), "All 2.5 of it");
}

TEST(DescribeProgram, HasTheOptionsOfHelp) {
    const auto commands = described();
    ASSERT_EQ(commands.size(), 2u);
    EXPECT_EQ(commands[0].name, "stream_compaction_test");
    const std::string help = parseOptions(std::vector<const char*>{"--help"}, {1024, 1021}, false).information.value();
    for (const OptionDescription& shown : commands[0].options) {
        EXPECT_THAT(help, HasSubstr(shown.name));
    }
    const OptionDescription& size = option(commands[0], "--size");
    EXPECT_EQ(size.placeholder, "N");
    EXPECT_EQ(size.group, "What to run");
    EXPECT_TRUE(size.takesList);
    EXPECT_THAT(size.description, Not(HasSubstr("\n")));
    EXPECT_FALSE(option(commands[0], "--hardware").takesList);
    EXPECT_TRUE(option(commands[0], "--csv").takesFile());
    EXPECT_THAT(option(commands[0], "--list").placeholder, testing::IsEmpty());
    EXPECT_EQ(commands[1].name, "stream_compaction_test compare");
    EXPECT_THAT(commands[1].arguments,
                ElementsAre(Field(&OptionDescription::name, "OLD"), Field(&OptionDescription::name, "NEW")));
}

TEST(DescribeProgram, LeavesOutTheOptionsThatTheBuildRefuses) {
    const auto names = [](const CommandDescription& command) {
        std::vector<std::string> all;
        std::ranges::transform(command.options, std::back_inserter(all), &OptionDescription::name);
        return all;
    };
    EXPECT_THAT(names(described().front()), AllOf(Contains("--device"), Not(Contains("--trace"))));
    EXPECT_THAT(names(described(true).front()), AllOf(Contains("--trace"), Not(Contains("--device"))));
}

TEST(DescribeProgram, HasEveryChoiceAndTheParsersTakeIt) {
    const auto commands = described();
    EXPECT_THAT(option(commands[0], "--variant").choices, ElementsAre("cpu", "naive", "^cpu", "^naive"));
    EXPECT_THAT(option(commands[0], "--op").choices, IsSupersetOf({"scan", "utf16-to-utf8", "all"}));
    EXPECT_THAT(option(commands[0], "--input").choices, IsSupersetOf({"uniform", "mod:", "ill-formed:"}));
    for (const OptionDescription& described : commands[0].options) {
        if (described.placeholder == "NAME" || described.placeholder == "PATTERN") {
            EXPECT_FALSE(described.choices.empty()) << described.name;
        }
        for (std::string choice : described.choices) {
            EXPECT_EQ(choice.find_first_of(" '\"\\$`"), std::string::npos) << choice;  // scripts do not quote it
            choice += choice.ends_with(':') ? "1" : "";
            const std::vector<const char*> arguments{described.name.c_str(), choice.c_str()};
            EXPECT_NO_THROW((void)parseOptions(arguments, {1024, 1021}, false)) << choice;
        }
    }
}

TEST(Completions, NameEveryOptionAndChoice) {
    for (const std::string shell : {"bash", "zsh", "fish"}) {
        const std::string script = print({"completions", shell.c_str()});
        for (const CommandDescription& command : described()) {
            for (const OptionDescription& named : command.options) {
                EXPECT_THAT(script, HasSubstr(shell == "fish" ? " -l " + named.name.substr(2) + " " : named.name));
                for (const std::string& choice : named.choices) {
                    EXPECT_THAT(script, HasSubstr(choice.substr(0, choice.find(':'))));
                }
            }
        }
        EXPECT_THAT(script, HasSubstr("compare"));
    }
}

TEST(Completions, NeedOneShell) {
    const auto commands = described();
    for (const std::vector<const char*>& arguments :
         std::vector<std::vector<const char*>>{{}, {"tcsh"}, {"bash", "zsh"}}) {
        EXPECT_THROW((void)completions(arguments, commands), UsageError);
    }
    EXPECT_THAT([&commands] { (void)completions(std::vector<const char*>{"bsh"}, commands); },
                testing::ThrowsMessage<UsageError>(HasSubstr("did you mean bash")));
}

TEST(ManPage, TakesNoArguments) {
    std::ostringstream out;
    std::ostringstream err;
    const std::vector<const char*> arguments{"man", "scan"};
    EXPECT_EQ(runProgram(arguments, {1024}, machineWithoutGpu(twoVariants()), {out, err}), 2);
    EXPECT_THAT(err.str(), HasSubstr("man: unexpected argument 'scan'"));
}

TEST(ManPage, HasEveryOptionAndItsText) {
    const std::string page = print({"man"});
    EXPECT_THAT(page, StartsWith(".TH STREAM_COMPACTION_TEST 1 "));
    EXPECT_THAT(page, HasSubstr(".SS Input\n"));
    EXPECT_THAT(page, HasSubstr(".BI \\-\\-trials \" N\"\nTimed runs or batches; the median is shown.\n"));
    EXPECT_THAT(page, HasSubstr(".B \\-\\-list\nList the implementations and stop\n"));
    EXPECT_THAT(page, HasSubstr("\\fBstream_compaction_test compare\\fR [\\fIoptions\\fR] \\fIOLD\\fR \\fINEW\\fR\n"));
    EXPECT_THAT(page, HasSubstr("2\\(ha24"));
    for (const CommandDescription& command : described()) {
        for (const OptionDescription& named : command.options) {
            std::string name;
            for (const char c : named.name) {
                name += c == '-' ? "\\-" : std::string(1, c);
            }
            EXPECT_THAT(page, HasSubstr(name));
        }
    }
}

TEST(Help, NamesTheCommandsThatPrintCompletionsAndTheManPage) {
    const std::string help = print({"--help"});
    EXPECT_THAT(help, HasSubstr("completions bash|zsh|fish"));
    EXPECT_THAT(help, HasSubstr("stream_compaction_test man"));
}

}  // namespace
}  // namespace Bench
