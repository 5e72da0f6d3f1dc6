#include "program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "csv.h"
#include "fake_machine.h"

namespace Bench {
namespace {

using StreamCompaction::CPU::compactWithoutScan;
using StreamCompaction::CPU::scan;
using StreamCompaction::CPU::sort;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

void wrongScan(int n, int* odata, const int* idata) {
    scan(n, odata, idata);
    odata[7] = -1;
}

[[nodiscard]] std::vector<Variant> workingVariants() {
    return {
        fakeVariant(Operation::Scan, Hardware::Cpu, "cpu", "cpu scan", scan),
        fakeVariant(Operation::Scan, Hardware::Gpu, "naive", "naive scan", scan),
        fakeVariant(Operation::Compact, Hardware::Gpu, "naive", "naive compact", compactWithoutScan),
        fakeVariant(Operation::Sort, Hardware::Gpu, "radix", "radix sort", sort),
    };
}

[[nodiscard]] std::vector<Variant> variantsWithAWrongOne() {
    auto variants = workingVariants();
    variants[1] = fakeVariant(Operation::Scan, Hardware::Gpu, "naive", "naive scan", wrongScan);
    return variants;
}

struct Result {
    int status = 0;
    std::string out;
    std::string err;
};

[[nodiscard]] Result run(const std::vector<const char*>& arguments, const Machine& machine) {
    std::ostringstream out;
    std::ostringstream err;
    const int status = runProgram(arguments, {1024, 1021}, machine, {out, err});
    return {status, out.str(), err.str()};
}

TEST(Program, ReportsEveryVariantOnBothSizes) {
    const Result result = run({}, machineWithGpu(workingVariants()));
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.err, IsEmpty());
    EXPECT_THAT(result.out, StartsWith("GPU       Fake Card, compute capability 9.0, 1.0 GiB memory\n"
                                       "CUDA      driver 13.0, toolkit 13.0\n"));
    EXPECT_THAT(result.out,
                HasSubstr("** SCAN TESTS **\n****************\n    1024 elements, mod:50\n    [   2   7  43"));
    EXPECT_THAT(result.out, HasSubstr("** STREAM COMPACTION TESTS **"));
    EXPECT_THAT(result.out, HasSubstr("** RADIX SORT TESTS **"));
    EXPECT_THAT(result.out, HasSubstr("==== naive compact, power-of-two ====\n"
                                      "   elapsed time: 0.010000ms    (CUDA Measured)\n"
                                      "    passed\n"
                                      "==== naive compact, non-power-of-two ====\n"
                                      "   elapsed time: 0.010000ms    (CUDA Measured)\n"
                                      "    passed\n"));
    EXPECT_THAT(result.out, EndsWith("\n8 passed, 0 failed, 0 skipped\n"));
}

TEST(Program, SkipsGpuVariantsWithoutAGpu) {
    const Result result = run({}, machineWithoutGpu(workingVariants()));
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.out, StartsWith("GPU       none: no CUDA device is visible\nCPU "));
    EXPECT_THAT(result.out, HasSubstr("==== naive scan, power-of-two ====\n    skipped: no CUDA device is visible\n"));
    EXPECT_THAT(result.out, EndsWith("\n2 passed, 0 failed, 6 skipped\n"));
}

TEST(Program, FailsWithTheFirstMismatch) {
    const Result result = run({"--input", "ones"}, machineWithGpu(variantsWithAWrongOne()));
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.out, HasSubstr("==== naive scan, power-of-two ====\n"
                                      "    FAILED: first mismatch at index 7: expected 7, got -1\n"));
    EXPECT_THAT(result.out, EndsWith("\n6 passed, 2 failed, 0 skipped\n"));
}

TEST(Program, RunsTheChosenOnly) {
    const Result result = run({"--op", "scan", "--variant", "naive"}, machineWithGpu(workingVariants()));
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.out, Not(HasSubstr("cpu scan")));
    EXPECT_THAT(result.out, Not(HasSubstr("COMPACTION")));
    EXPECT_THAT(result.out, EndsWith("\n2 passed, 0 failed, 0 skipped\n"));
}

TEST(Program, RunsTheChosenTypes) {
    auto variants = workingVariants();
    Variant doubles = variants[1];
    doubles.type = ElementType::Double;
    doubles.prepare = selectVariants(allVariants(), std::array{Operation::Scan}, std::array{ElementType::Double},
                                     std::vector<std::string>{"cpu"})
                          .at(0)
                          .prepare;
    variants.push_back(doubles);
    const Result both = run({"--op", "scan", "--type", "double,int32"}, machineWithGpu(variants));
    EXPECT_EQ(both.status, 0);
    EXPECT_THAT(both.out, HasSubstr("    1024 elements, mod:50\n"));
    EXPECT_THAT(both.out, HasSubstr("    1024 elements of double, mod:50\n"));
    EXPECT_THAT(both.out, HasSubstr("==== naive scan of double, non-power-of-two ===="));
    EXPECT_THAT(both.out, EndsWith("\n6 passed, 0 failed, 0 skipped\n"));

    const Result one = run({"--type", "double"}, machineWithGpu(variants));
    EXPECT_THAT(one.out, EndsWith("\n2 passed, 0 failed, 0 skipped\n"));

    const Result none = run({"--type", "double", "--variant", "radix"}, machineWithGpu(variants));
    EXPECT_EQ(none.status, 2);
    EXPECT_EQ(none.err, "stream_compaction_test: --variant: radix does not take double\n");

    const Result uncheckable = run({"--type", "double", "--input", "uniform"}, machineWithGpu(variants));
    EXPECT_EQ(uncheckable.status, 2);
    EXPECT_THAT(uncheckable.out, IsEmpty());
}

TEST(Program, RunsEveryOperationOnEveryTypeOnTheCpu) {
    const Result result =
        run({"--type", "int8,int32,int64,float,double", "--variant", "cpu"}, machineWithoutGpu(allVariants()));
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.out, EndsWith("\n70 passed, 0 failed, 0 skipped\n"));
}

TEST(Program, LeavesOutASectionWithoutVariants) {
    const Result result = run({"--variant", "radix"}, machineWithGpu(workingVariants()));
    EXPECT_THAT(result.out, AllOf(HasSubstr("RADIX SORT TESTS"), Not(HasSubstr("SCAN TESTS"))));
}

TEST(Program, TakesTheSizeAndTheInput) {
    const Result result =
        run({"--size", "2^4", "--op", "scan", "--input", "ascending"}, machineWithGpu(workingVariants()));
    EXPECT_THAT(result.out, HasSubstr("    16 elements, ascending\n"
                                      "    [   0   1   2   3   4   5   6   7   8   9  10  11  12  13  14  15 ]\n"));
    EXPECT_THAT(result.out, HasSubstr("==== cpu scan, non-power-of-two ===="));
}

TEST(Program, GivesTextToTheOperationsOnText) {
    const Result result = run({"--size", "2^8", "--op", "scan,utf8-validate", "--variant", "cpu", "--input", "cjk"},
                              machineWithoutGpu(allVariants()));
    EXPECT_THAT(result.out, AllOf(HasSubstr("    256 elements, cjk\n"), HasSubstr("    256 elements, mod:50\n")));
    EXPECT_EQ(result.status, 0);
}

TEST(Program, RefusesAFileOfTextThatIsNotThere) {
    const Result result =
        run({"--op", "utf8-validate", "--utf8-file", "no such file"}, machineWithoutGpu(allVariants()));
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, HasSubstr("--utf8-file: cannot read no such file"));
}

TEST(Program, RunsTheSmallestSizes) {
    for (const char* size : {"1", "2", "3", "4"}) {
        EXPECT_EQ(run({"--size", size}, machineWithGpu(workingVariants())).status, 0) << size;
    }
}

TEST(Program, ListsTheVariants) {
    const Result result = run({"--list"}, machineWithGpu(workingVariants()));
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.out,
              "operation  variant  runs on  what           block sizes\n"
              "scan       cpu      CPU      cpu scan       -\n"
              "scan       naive    GPU      naive scan     -\n"
              "compact    naive    GPU      naive compact  -\n"
              "sort       radix    GPU      radix sort     -\n");
}

TEST(Program, AnswersHelpAndVersion) {
    for (const char* option : {"--help", "--version"}) {
        const Result result = run({option}, machineWithGpu({}));
        EXPECT_EQ(result.status, 0) << option;
        EXPECT_THAT(result.out, HasSubstr("stream_compaction_test")) << option;
        EXPECT_THAT(result.err, IsEmpty()) << option;
    }
}

TEST(Program, RefusesBadInputInOneLineWithStatusTwo) {
    const std::vector<const char*> cases[] = {
        {"--size", "0"},       {"--size", "-5"},        {"--size", "2^70"}, {"--op", "scna"},
        {"--variant", "naif"}, {"--block-size", "100"}, {"--frob"},         {"--csv", "."},
    };
    for (const auto& arguments : cases) {
        const Result result = run(arguments, machineWithGpu(workingVariants()));
        EXPECT_EQ(result.status, 2) << arguments.front();
        EXPECT_THAT(result.out, IsEmpty()) << arguments.front();
        EXPECT_THAT(result.err, StartsWith("stream_compaction_test: ")) << arguments.front();
        EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << result.err;
    }
}

TEST(Program, RefusesASizeThatDoesNotFitInDeviceMemory) {
    const Result result = run({"--size", "2^20"}, machineWithGpu(workingVariants(), std::size_t{7} << 20));
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(
        result.err,
        "stream_compaction_test: --size: 1048576 elements need 8.0 MiB of device memory, 7.0 MiB are free; choose a "
        "smaller size\n");
}

TEST(Program, RefusesASizeThatDoesNotFitInHostMemory) {
    Machine machine = machineWithoutGpu(workingVariants());
    machine.hostMemory = std::size_t{8} << 20;
    const Result result = run({"--size", "2^40"}, machine);
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, HasSubstr("need 16.0 TiB of host memory, 8.0 MiB are free"));
}

TEST(Program, SkipsOnlyTheVariantThatNeedsMoreDeviceMemory) {
    auto variants = workingVariants();
    variants[1] = fakeVariant(Operation::Scan, Hardware::Gpu, "naive", "naive scan", scan, 1000);
    const Result result = run({"--op", "scan"}, machineWithGpu(variants, 100'000));
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.out, HasSubstr("    skipped: needs 1000.0 KiB of device memory, 97.7 KiB are free\n"));
    EXPECT_THAT(result.out, EndsWith("\n2 passed, 0 failed, 2 skipped\n"));
}

TEST(Program, AppendsToTheCsvFile) {
    const auto path = std::filesystem::path(testing::TempDir()) / "program_test.csv";
    std::filesystem::remove(path);
    const std::string text = path.string();
    EXPECT_EQ(run({"--op", "scan", "--csv", text.c_str()}, machineWithGpu(variantsWithAWrongOne())).status, 1);
    EXPECT_EQ(run({"--op", "sort", "--csv", text.c_str()}, machineWithoutGpu(workingVariants())).status, 0);

    std::ifstream file(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
        lines.push_back(line);
    }
    // The header, a working and a wrong scan on two sizes; what was skipped leaves no row.
    ASSERT_EQ(lines.size(), 5u);
    EXPECT_EQ(lines[0], csvHeader);
    EXPECT_THAT(lines[1], AllOf(StartsWith("Fake Card,9.0,13.0,13.0,"), HasSubstr(",scan,cpu,int32,1024,mod:50,,"),
                                EndsWith(",true,")));
    EXPECT_THAT(lines[4], AllOf(HasSubstr(",scan,naive,int32,1021,mod:50,,cold,15,,,,8168,,,false")));
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace Bench
