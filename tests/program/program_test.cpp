#include "app/program.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <streambuf>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/version_info.h"
#include "fake_machine.h"
#include "file_fixture.h"
#include "measure/gpu.h"
#include "output/csv.h"
#include "output/json.h"
#include "words.h"

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

[[nodiscard]] int runOn(const Console& console, const std::string& line,
                        const Machine& machine = machineWithGpu(workingVariants())) {
    return runProgram(Words(line).get(), {1024, 1021}, machine, console);
}

struct Result {
    int status = 0;
    std::string out;
    std::string err;
};

/// Runs the program with the words of a command line.
[[nodiscard]] Result run(const std::string& line, const Machine& machine = machineWithGpu(workingVariants())) {
    std::ostringstream out;
    std::ostringstream err;
    const int status = runOn({out, err}, line, machine);
    return {status, out.str(), err.str()};
}

class ProgramFile : public FileTest {
  protected:
    [[nodiscard]] std::vector<std::string> lines() const {
        std::istringstream file(contents());
        std::vector<std::string> lines;
        for (std::string line; std::getline(file, line);) {
            lines.push_back(line);
        }
        return lines;
    }

    const std::string name_ = path_.string();
};

TEST(Program, ReportsEveryVariantOnBothSizes) {
    const Result result = run("");
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.err, IsEmpty());
    EXPECT_THAT(result.out, StartsWith("GPU       Fake Card, compute capability 9.0, 1.0 GiB memory\n"
                                       "CUDA      driver 13.0, toolkit 13.0\n"
                                       "Clock     1900 MHz, nominally up to 2000\n"
                                       "Ceilings  copy "));
    EXPECT_THAT(result.out, HasSubstr("\nscan, mod:50\nvariant     n   time     noise %     GB/s  % of copy\n"));
    EXPECT_THAT(result.out, HasSubstr("\nsort, uniform\n"));
    EXPECT_THAT(result.out, testing::ContainsRegex("\ncompact, mod:4\nvariant .*\nnaive    1024  10.00 us      0.0 .*\n"
                                                   "naive    1021  10.00 us      0.0 "));
    EXPECT_THAT(result.out, EndsWith("\n8 passed, 0 failed, 0 skipped\n"));
}

/// The report of the course's program has times of the CPU, which differ from run to run.
[[nodiscard]] std::string withoutCpuTimes(std::string_view text) {
    constexpr std::string_view behind = "ms    (std::chrono";
    std::string result;
    for (auto end = text.find(behind); end != std::string_view::npos; end = text.find(behind)) {
        const std::size_t before = text.substr(0, end).find_last_not_of("0123456789.e-");
        result.append(text.substr(0, before + 1)).append("0").append(behind);
        text.remove_prefix(end + behind.size());
    }
    return result.append(text);
}

TEST(Program, WritesTheReportOfTheCourseByteForByte) {
    const Result result = run("--classic --size 32,13 --input ascending");
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(withoutCpuTimes(result.out),
              "\n"
              "****************\n"
              "** SCAN TESTS **\n"
              "****************\n"
              "    [   0   1   2   3   4   5   6   7   8   9  10  11  12 ...  30  31 ]\n"
              "==== cpu scan, power-of-two ====\n"
              "   elapsed time: 0ms    (std::chrono Measured)\n"
              "    [   0   0   1   3   6  10  15  21  28  36  45  55  66 ... 435 465 ]\n"
              "==== cpu scan, non-power-of-two ====\n"
              "   elapsed time: 0ms    (std::chrono Measured)\n"
              "    [   0   0   1   3   6  10  15  21  28  36  45  55  66 ]\n"
              "    passed \n"
              "==== naive scan, power-of-two ====\n"
              "   elapsed time: 0.01ms    (CUDA Measured)\n"
              "    passed \n"
              "==== naive scan, non-power-of-two ====\n"
              "   elapsed time: 0.01ms    (CUDA Measured)\n"
              "    passed \n"
              "\n"
              "**********************\n"
              "** RADIX SORT TESTS **\n"
              "**********************\n"
              "    [   0   1   2   3   4   5   6   7   8   9  10  11  12 ...  30  31 ]\n"
              "==== radix sort, power-of-two ====\n"
              "   elapsed time: 0.01ms    (CUDA Measured)\n"
              "    passed \n"
              "==== radix sort, non-power-of-two ====\n"
              "   elapsed time: 0.01ms    (CUDA Measured)\n"
              "    passed \n");
}

TEST(Program, SkipsGpuVariantsWithoutAGpu) {
    const Result result = run("", machineWithoutGpu(workingVariants()));
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.out, StartsWith("GPU       none: no CUDA device is visible\nCPU "));
    EXPECT_THAT(result.out, HasSubstr("\nskipped: naive (no CUDA device is visible)\n"));
    EXPECT_THAT(result.out, EndsWith("\n2 passed, 0 failed, 6 skipped\n"));
}

TEST_F(ProgramFile, SaysThatNothingWasRun) {
    const Machine machine = machineWithoutGpu(workingVariants());
    const Result result = run("--variant naive --csv " + name_, machine);
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.out, EndsWith("\n0 passed, 0 failed, 4 skipped\n"));
    EXPECT_EQ(result.err, "stream_compaction_test: nothing was run: no CUDA device is visible\n");
    // But not if an earlier run has done what can be done.
    const std::string resumed = "--op scan --resume --csv " + name_;
    EXPECT_EQ(run(resumed, machine).status, 0);
    EXPECT_THAT(run(resumed, machine).out, EndsWith("\n0 passed, 0 failed, 2 skipped\n"));
    EXPECT_EQ(run(resumed, machine).status, 0);
}

TEST(Program, FailsWithTheFirstMismatch) {
    for (const Machine& machine :
         {machineWithGpu(variantsWithAWrongOne()), machineWithSimulator(variantsWithAWrongOne())}) {
        const Result result = run("--input ones", machine);
        EXPECT_EQ(result.status, 1);
        EXPECT_THAT(result.out, HasSubstr("\nnaive    1024  FAILED\n"
                                          "    first mismatch at index 7: expected 7, got -1\n"));
        EXPECT_THAT(result.out, EndsWith("\n6 passed, 2 failed, 0 skipped\n"));
    }
    const Result classic = run("--classic --size 16 --op scan", machineWithGpu(variantsWithAWrongOne()));
    EXPECT_EQ(classic.status, 1);
    EXPECT_THAT(classic.out, testing::ContainsRegex("\n    first mismatch at index 7: [^\n]*\n    FAIL VALUE \n"));
}

TEST(Program, ChecksInTheSimulatorAndTakesNoTimes) {
    const Result result = run("--variant naive,radix", machineWithSimulator(workingVariants()));
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.out, StartsWith("GPU       simulated, compute capability 9.0, 4 multiprocessors; "));
    EXPECT_THAT(result.out, HasSubstr("\nradix    1021  passed (simulated)\n"));
    for (const char* figure : {" us", "noise", "GB/s", "% of copy", "Ceilings", "Clock"}) {
        EXPECT_THAT(result.out, Not(HasSubstr(figure)));
    }
    EXPECT_THAT(result.out, EndsWith("\n6 passed, 0 failed, 0 skipped\n"));
}

TEST_F(ProgramFile, WritesNothingOfTheSimulatorToFiles) {
    const Result result = run("--op scan --csv " + name_, machineWithSimulator(workingVariants()));
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.out, HasSubstr("Note: simulated runs are no measurements"));
    EXPECT_EQ(lines().size(), 3u);
    const Result samples = run("--op scan --samples -", machineWithSimulator(workingVariants()));
    for (const std::string& text : {contents(), samples.out}) {
        EXPECT_THAT(text, AllOf(HasSubstr("cpu"), Not(HasSubstr("naive"))));
    }
    // A wrong result has no row either. CPU rows are the same as on a machine without a card.
    EXPECT_EQ(run("--op scan --csv " + name_, machineWithSimulator(variantsWithAWrongOne())).status, 1);
    EXPECT_EQ(lines().size(), 5u);
    EXPECT_THAT(lines(), testing::Contains(StartsWith(",,,,")).Times(4));
    EXPECT_THAT(run("--op scan", machineWithSimulator(workingVariants())).out, Not(HasSubstr("Note: ")));
}

#ifdef STREAM_COMPACTION_SIMULATED
TEST_F(ProgramFile, RunsInItsOwnSimulator) {
    const auto runWith = [](const std::string& more) {
        return run("--size 2^8,253 --op scan --variant " + more, thisMachine());
    };
    const Result result = runWith("single-pass,cub --card capability=7.5,multiprocessors=2 --seed 7 --trace " + name_);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.out, StartsWith("GPU       simulated, compute capability 7.5, 2 multiprocessors, seed 7; "));
    EXPECT_THAT(result.out, HasSubstr("\nsingle-pass  253  passed (simulated)\n"));
    EXPECT_THAT(result.out, HasSubstr("\nskipped: cub (CUB is not simulated)\n"));
    EXPECT_THAT(result.out, EndsWith("\n2 passed, 0 failed, 2 skipped\n"));

    ASSERT_FALSE(lines().empty());
    EXPECT_TRUE(nlohmann::json::accept(lines().front()));
    // Restores the default settings.
    EXPECT_EQ(runWith("naive --card capability=9.0,multiprocessors=4,seed=0").status, 0);
    const Result unknown = runWith("naive --card colour=green");
    EXPECT_EQ(unknown.status, 2);
    EXPECT_THAT(unknown.err, HasSubstr("colour"));
}

TEST(Program, NoticesThatATraceCannotBeWritten) {
    const char* const full = "/dev/full";
    if (!std::filesystem::exists(full)) {
        GTEST_SKIP() << "needs " << full;
    }
    const Result result = run("--size 64 --op scan --variant naive --trace " + std::string(full), thisMachine());
    EXPECT_EQ(result.status, 1);
    EXPECT_EQ(result.err, "stream_compaction_test: the trace could not be written to /dev/full\n");
}

TEST(Program, RefusesALimitOfMemoryThatLeavesNoRoom) {
    for (const char* operation : {"scan", "compact", "sort", "sort-pairs"}) {
        const Result result =
            run(fmt::format("--op {} --size 1000 --variant out-of-core --gpu-memory 1", operation), thisMachine());
        EXPECT_EQ(result.status, 2) << operation;
        EXPECT_THAT(result.err, AllOf(StartsWith("stream_compaction_test: nothing was run: --gpu-memory: expected at "
                                                 "least "),
                                      EndsWith(", got 1\n")));
    }
}
#endif

/// A variant that runs on all GPUs of a run.
[[nodiscard]] Variant variantForGpus(GpuUse use, std::string_view name) {
    Variant variant = fakeVariant(Operation::Scan, Hardware::Gpu, name, name, scan);
    variant.gpuUse = use;
    return variant;
}

/// A machine with as many cards, on which a run uses those that it is asked for.
[[nodiscard]] Machine machineWithGpus(int devices) {
    Machine machine =
        machineWithGpu({fakeVariant(Operation::Scan, Hardware::Cpu, "cpu", "cpu scan", scan),
                        fakeVariant(Operation::Scan, Hardware::Gpu, "naive", "naive scan", scan),
                        variantForGpus(GpuUse::All, "out-of-core"), variantForGpus(GpuUse::Several, "distributed")});
    machine.openGpu = [openOne = machine.openGpu, devices](const GpuRequest& request) {
        GpuAccess access = openOne(request);
        access.devices = devices;
        access.gpus = request.gpus.value_or(devices);
        return access;
    };
    return machine;
}

TEST(Program, RunsOnSeveralGpus) {
    const auto runWith = [](const std::string& more) {
        return run("--op scan --size 1024 " + more, machineWithGpus(3));
    };
    const Result one = runWith("");
    EXPECT_THAT(one.out, AllOf(Not(HasSubstr("\nGPUs ")), EndsWith("\n3 passed, 0 failed, 1 skipped\n")));
    EXPECT_THAT(one.out, HasSubstr("\nskipped: distributed (runs on several GPUs: --gpus N)\n"));
    EXPECT_THAT(runWith("--gpus 2").out,
                AllOf(HasSubstr("\nGPUs      2\n"), EndsWith("\n4 passed, 0 failed, 0 skipped\n")));
    EXPECT_THAT(runWith("--gpus all").out, HasSubstr("\nGPUs      3\n"));
    const Result tooMany = runWith("--gpus 4");
    EXPECT_EQ(tooMany.status, 0);
    EXPECT_THAT(tooMany.out, AllOf(HasSubstr("\nskipped: out-of-core, distributed (needs 4 GPUs, 3 found)\n"),
                                   EndsWith("\n2 passed, 0 failed, 2 skipped\n")));
}

TEST_F(ProgramFile, WritesTheNumberOfGpus) {
    const auto runWith = [&](const std::string& gpus) {
        return run("--op scan --size 1024 --csv " + name_ + " --resume --gpus " + gpus, machineWithGpus(4));
    };
    EXPECT_EQ(runWith("2").status, 0);
    EXPECT_THAT(lines(), testing::ElementsAre(EndsWith(",gpus,gpu_memory"), EndsWith(",,"), EndsWith(",1,"),
                                              EndsWith(",2,"), EndsWith(",2,")));
    // Another number of GPUs, or less of their memory, is another measurement.
    EXPECT_THAT(runWith("3").out, HasSubstr("Note: 2 measurements"));
    EXPECT_THAT(runWith("2").out, HasSubstr("Note: 4 measurements"));
    EXPECT_THAT(runWith("2 --gpu-memory 65536").out, HasSubstr("Note: 3 measurements"));
    EXPECT_THAT(lines().back(), EndsWith(",2,65536"));
}

TEST(Program, RefusesOnlyWhatNoVariantTakesInParts) {
    const auto runWith = [](const char* variants) {
        Machine machine = machineWithGpus(2);
        machine.openGpu = machineWithGpu({}, 1024).openGpu;
        for (Variant& variant : machine.variants) {
            if (variant.gpuUse != GpuUse::One) {
                variant.deviceBytes = [](const Problem&, const Setting&) { return std::size_t{0}; };
            }
        }
        return run("--op scan --size 1024 --variant " + std::string(variants), machine);
    };
    EXPECT_EQ(runWith("naive").status, 2);
    EXPECT_THAT(runWith("naive,out-of-core").out, EndsWith("\n1 passed, 0 failed, 1 skipped\n"));
}

TEST(Program, RunsOnSeveralSimulatedGpus) {
    if (!isSimulated) {
        GTEST_SKIP() << "is for a simulated build";
    }
    const auto runWith = [](std::string_view gpus, std::string_view size) {
        return run(fmt::format("--op scan,compact,sort,sort-pairs --variant distributed,out-of-core,gather-to-one "
                               "--type int32,int64,float --gpus {} --size {}",
                               gpus, size),
                   thisMachine());
    };
    for (const char* const gpus : {"2", "3"}) {
        const Result result = runWith(gpus, "1,2000,10007");
        EXPECT_EQ(result.status, 0) << result.out << result.err;
        EXPECT_THAT(result.out, HasSubstr(fmt::format("\nGPUs      {}\n", gpus)));
        EXPECT_THAT(result.out, HasSubstr("\ndistributed    10007  passed (simulated)\n"));
        EXPECT_THAT(result.out, HasSubstr("\ngather-to-one  10007  passed (simulated)\n"));
        EXPECT_THAT(result.out, HasSubstr("\nout-of-core    10007  passed (simulated)\n"));
        EXPECT_THAT(result.out, EndsWith("\n45 passed, 0 failed, 0 skipped\n"));
    }
    EXPECT_THAT(runWith("all", "2000").out, HasSubstr("\nGPUs      3\n"));
    EXPECT_THAT(runWith("1", "2000").out,
                HasSubstr("\nskipped: distributed, gather-to-one (runs on several GPUs: --gpus N)\n"));
}

TEST(Program, CutsTextsAndPartitionsForSeveralSimulatedGpus) {
    if (!isSimulated) {
        GTEST_SKIP() << "is for a simulated build";
    }
    for (const char* const gpus : {"2", "3"}) {
        const Result result =
            run("--op partition,utf8-to-utf32,utf8-to-utf16,utf8-validate,utf32-to-utf8,utf16-to-utf8 "
                "--input kept:0.3,ascii,cyrillic,cjk,emoji,mixed,ill-formed:10 --variant distributed "
                "--size 1,2,5,20011 --gpus " +
                    std::string(gpus),
                thisMachine());
        EXPECT_EQ(result.status, 0) << result.out << result.err;
        EXPECT_THAT(result.out, HasSubstr("\ndistributed  20011  passed (simulated)\n"));
        EXPECT_THAT(result.out, EndsWith("\n124 passed, 0 failed, 0 skipped\n"));
    }
}

TEST(Program, RunsEveryOperationOnEveryTypeOnTheCpu) {
    const Result result =
        run("--op all --type int8,int32,int64,float,double --variant cpu", machineWithoutGpu(allVariants()));
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.out, EndsWith("\n132 passed, 0 failed, 0 skipped\n"));
}

TEST(Program, RefusesOptionsWithoutEffect) {
    const std::pair<const char*, const char*> cases[] = {
        {"--shape 3x4 --op scan", "--shape: none of the chosen operations takes matrices"},
        {"--shape 3x4 --op row-sum --size 8", "--shape: none of the chosen operations takes a size beside it"},
        {"--shape 3x4 --variant cpu --op row-sum --sweep 8",
         "--shape: none of the chosen operations takes a size beside it"},
        {"--utf8-file text --op scan", "--utf8-file: none of the chosen operations takes UTF-8"},
        {"--utf8-file text --op utf32-to-utf8", "--utf8-file: none of the chosen operations takes UTF-8"},
        {"--utf8-file text --op utf8-validate --input cjk", "--input: none of the chosen operations takes cjk"},
        {"--input mixed,uniform --op utf8-validate", "--input: none of the chosen operations takes uniform"},
        {"--input mixed --op scan,sort", "--input: none of the chosen operations takes mixed"},
        {"--type int64,double --op utf8-validate",
         "--type: none of the chosen operations takes it; those on text go with int32"},
        {"--variant ^naive,naive --op scan", "--variant: no implementation is left"},
        {"--gpus 2 --op row-sum", "--gpus: none of the chosen variants runs on several GPUs"},
        {"--gpu-memory 2^20 --op sort --variant radix",
         "--gpu-memory: none of the chosen variants works on arrays in host memory"}};
    for (const auto& [arguments, message] : cases) {
        const Result result = run(arguments, machineWithoutGpu(allVariants()));
        EXPECT_EQ(result.status, 2) << message;
        EXPECT_THAT(result.out, IsEmpty()) << message;
        EXPECT_EQ(result.err, fmt::format("stream_compaction_test: {}\n", message));
    }
}

TEST_F(ProgramFile, RefusesAFileThatHasNoTextBeforeAnythingHasRun) {
    fill("");
    std::vector<std::string> files{"no-such-file", testing::TempDir(), name_};
    if (std::filesystem::exists("/dev/null")) {
        files.emplace_back("/dev/null");
    }
    for (const std::string& file : files) {
        const Result result = run("--op scan,utf8-validate --utf8-file " + file, machineWithoutGpu(allVariants()));
        EXPECT_EQ(result.status, 2) << file;
        EXPECT_THAT(result.out, IsEmpty()) << file;
        EXPECT_THAT(result.err, HasSubstr("--utf8-file: cannot read " + file));
    }
}

TEST(Program, MeasuresWhatIsTheSameOnce) {
    EXPECT_THAT(run("--size 1,1 --op scan").out, EndsWith("\n2 passed, 0 failed, 0 skipped\n"));
    // The nearly square matrices of both sizes have 32 rows and 31 columns.
    for (const char* sizes : {"--shape 3x4,3x4", "--sweep 1000,1001"}) {
        EXPECT_THAT(run("--op row-sum --variant cpu " + std::string(sizes), machineWithoutGpu(allVariants())).out,
                    EndsWith("\n1 passed, 0 failed, 0 skipped\n"));
    }
}

TEST(Program, GivesShapesToMatricesAndSizesToArrays) {
    const Result result =
        run("--op scan,row-sum --variant cpu --shape 3x4 --size 16", machineWithoutGpu(allVariants()));
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.out,
                AllOf(HasSubstr("\nscan, mod:50, n = 16\n"), testing::ContainsRegex("\nrow-sum, [^\n]*n = 3x4\n")));
    EXPECT_THAT(result.out, EndsWith("\n2 passed, 0 failed, 0 skipped\n"));
}

TEST(Program, ListsTheVariants) {
    const Result result = run("--list");
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.out,
              "operation  variant  runs on  what           block sizes\n"
              "scan       cpu      CPU      cpu scan       -\n"
              "scan       naive    GPU      naive scan     -\n"
              "compact    naive    GPU      naive compact  -\n"
              "sort       radix    GPU      radix sort     -\n");
}

TEST(Program, SuggestsTheNearestCommand) {
    const Result result = run("compar a b", machineWithGpu({}));
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.err, "stream_compaction_test: unknown command 'compar': did you mean compare?\n");
}

TEST(Program, RefusesASizeThatDoesNotFitIntoMemory) {
    const Result result = run("--size 2^20", machineWithGpu(workingVariants(), std::size_t{7} << 20));
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.err,
              "stream_compaction_test: 1048576 elements need 8.0 MiB of device memory, 7.0 MiB are free; choose a "
              "smaller size\n");
    Machine machine = machineWithoutGpu(workingVariants());
    machine.hostMemory = std::size_t{8} << 20;
    EXPECT_THAT(run("--size 2^40", machine).err, HasSubstr("need 16.0 TiB of host memory, 8.0 MiB are free"));
}

TEST_F(ProgramFile, AppendsToTheCsvFile) {
    EXPECT_EQ(run("--op scan --csv " + name_, machineWithGpu(variantsWithAWrongOne())).status, 1);
    EXPECT_EQ(run("--op sort --csv " + name_, machineWithoutGpu(workingVariants())).status, 2);

    const std::vector<std::string> written = lines();
    // The header, and a right and a wrong scan on two sizes. Skipped variants have no row.
    ASSERT_EQ(written.size(), 5u);
    EXPECT_EQ(written[0], csvHeader());
    EXPECT_THAT(written[1], AllOf(StartsWith("Fake Card,9.0,13.0,13.0,"), HasSubstr(",scan,cpu,int32,1024,mod:50,,"),
                                  HasSubstr(",true,,")));
    EXPECT_THAT(written[4], AllOf(HasSubstr(",scan,naive,int32,1021,mod:50,,cold,15,,,,8168,,,false")));
}

TEST(Program, SweepsSizesInputsAndModes) {
    const auto log = std::make_shared<GpuLog>();
    const Result result = run("--op scan --sweep 2^4:2^6,npot --input ones,zeros --mode cold,batched --trials 2",
                              machineWithGpu(workingVariants(), std::size_t{1} << 30, log));
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.err, IsEmpty());
    // Six sizes and two inputs: on the CPU in its only mode, on the GPU in both.
    EXPECT_THAT(result.out, EndsWith("\n36 passed, 0 failed, 0 skipped\n"));
    EXPECT_THAT(result.out, HasSubstr("\nscan, zeros\nvariant   n     mode  "));
    EXPECT_EQ(std::ranges::count(log->modes, Mode::Cold), 12);
    EXPECT_EQ(std::ranges::count(log->modes, Mode::Batched), 12);
}

TEST(Program, PaintsAndShowsItsProgressOnATerminalOnly) {
    const auto written = [](const std::string& line, bool isTerminal) {
        std::ostringstream out;
        std::ostringstream err;
        EXPECT_EQ(runOn({out, err, isTerminal, 80, isTerminal}, line), 0);
        return out.str() + err.str();
    };
    const auto hasProgress =
        AllOf(HasSubstr("[1/4] scan cpu 1024"), HasSubstr("[4/4] scan naive 1021, "), EndsWith(" \r"));
    EXPECT_THAT(written("--op scan", true), hasProgress);
    EXPECT_THAT(written("--op scan", false), Not(HasSubstr("[1/4]")));
    const auto isPainted = HasSubstr("\x1b[");
    EXPECT_THAT(written("--op scan", true), isPainted);
    EXPECT_THAT(written("--op scan", false), Not(isPainted));
    EXPECT_THAT(written("--op scan --no-color", true), Not(isPainted));
    EXPECT_THAT(written("--op scan --csv -", true), Not(isPainted));
}

TEST(Program, KeepsStandardOutputForOtherPrograms) {
    const Result csv = run("--op scan --csv -");
    EXPECT_EQ(csv.status, 0);
    EXPECT_THAT(csv.out, StartsWith(csvHeader() + "\nFake Card,"));
    EXPECT_EQ(std::ranges::count(csv.out, '\n'), 5);
    EXPECT_THAT(csv.err, AllOf(HasSubstr("\nscan, mod:50\n"), EndsWith("4 passed, 0 failed, 0 skipped\n")));

    const Result samples = run("--op scan --samples -");
    EXPECT_THAT(samples.out, AllOf(StartsWith(std::string(jsonLineBegin)), Not(HasSubstr("passed"))));
}

TEST(Program, NoticesAFullDisk) {
    const char* const full = "/dev/full";
    if (!std::filesystem::exists(full)) {
        GTEST_SKIP() << "needs " << full;
    }
    for (const char* option : {"--csv", "--samples"}) {
        const Result result = run("--op scan " + std::string(option) + " " + full);
        EXPECT_EQ(result.status, 1) << option;
        EXPECT_EQ(result.err, "stream_compaction_test: cannot write to /dev/full\n");
    }
}

TEST_F(ProgramFile, NoticesThatStandardOutputTakesNothing) {
    struct Nowhere final : std::streambuf {};
    EXPECT_EQ(run("--op scan --csv " + name_).status, 0);
    for (const std::string& line :
         {std::string("--op scan"), std::string("--op scan --csv -"), std::string("--op scan --samples -"),
          std::string("--list"), std::string("--help"), "compare " + name_ + " " + name_}) {
        Nowhere nowhere;
        std::ostream out(&nowhere);
        std::ostringstream err;
        EXPECT_EQ(runOn({out, err}, line), 1) << line;
        EXPECT_THAT(err.str(), EndsWith("stream_compaction_test: cannot write to standard output\n"));
    }
}

TEST_F(ProgramFile, MeasuresOnResumptionOnlyWhatIsMissing) {
    fill("");
    EXPECT_THAT(run("--op scan --csv " + name_ + " --resume").out,
                AllOf(HasSubstr("Note: 0 measurements"), EndsWith("\n4 passed, 0 failed, 0 skipped\n")));
    const Result rest = run("--csv " + name_ + " --resume");
    EXPECT_EQ(rest.status, 0);
    EXPECT_THAT(rest.out, HasSubstr("Note: 4 measurements"));
    EXPECT_THAT(rest.out, EndsWith("\n4 passed, 0 failed, 0 skipped\n"));
    EXPECT_EQ(lines().size(), 9u);

    const Result nothing = run("--csv " + name_ + " --resume");
    EXPECT_EQ(nothing.status, 0);
    EXPECT_THAT(nothing.out, AllOf(HasSubstr("Note: 8 measurements"), EndsWith("\n0 passed, 0 failed, 0 skipped\n")));
    EXPECT_EQ(lines().size(), 9u);
}

TEST_F(ProgramFile, MeasuresAgainWhatIsOfAnotherCardOrCommitOrWrong) {
    EXPECT_EQ(run("--op scan --csv " + name_, machineWithGpu(variantsWithAWrongOne())).status, 1);
    EXPECT_THAT(run("--op scan --csv " + name_ + " --resume").out,
                AllOf(HasSubstr("Note: 2 measurements"), EndsWith("\n2 passed, 0 failed, 0 skipped\n")));
    EXPECT_THAT(run("--op scan --csv " + name_ + " --resume", machineWithoutGpu(workingVariants())).out,
                HasSubstr("Note: 0 measurements"));

    std::string text = contents();
    const std::string commit = fmt::format(",{},", BuildInfo::gitCommit);
    for (std::size_t at = 0; (at = text.find(commit, at)) != std::string::npos;) {
        text.replace(at, commit.size(), ",0123abc,");
    }
    fill(text);
    EXPECT_THAT(run("--op scan --csv " + name_ + " --resume").out, HasSubstr("Note: 0 measurements"));
}

TEST_F(ProgramFile, AppendsTheSamplesOfEachMeasurement) {
    for (const std::size_t count : {4u, 8u}) {
        EXPECT_EQ(run("--op scan --trials 7 --samples " + name_).status, 0);
        EXPECT_EQ(lines().size(), count);
    }
    const auto line = nlohmann::json::parse(lines().back());
    EXPECT_EQ(line.at("operation"), "scan");
    EXPECT_EQ(line.at("samples_us"), nlohmann::json(std::vector<double>(7, 10)));
    EXPECT_EQ(run("compare " + name_ + " " + name_).status, 0);
}

int interruptions = 0;

/// Simulates Ctrl-C during a run. A second one would end the program.
void interruptedScan(int n, int* odata, const int* idata) {
    scan(n, odata, idata);
    if (interruptions++ == 0) {
        std::raise(SIGINT);
    }
}

TEST_F(ProgramFile, KeepsWhatItHasMeasuredWhenItIsInterrupted) {
    auto variants = workingVariants();
    variants[0] = fakeVariant(Operation::Scan, Hardware::Cpu, "cpu", "cpu scan", interruptedScan);
    interruptions = 0;
    const std::string arguments = "--sweep 13,14,15 --resume --csv " + name_;
    const Result first = run(arguments, machineWithGpu(variants));
    EXPECT_EQ(first.status, 130);
    EXPECT_THAT(first.out, HasSubstr("Note: interrupted after 1 of 12 measurements"));
    EXPECT_THAT(first.out, EndsWith("\n1 passed, 0 failed, 0 skipped\n"));
    EXPECT_EQ(lines().size(), 2u);

    const Result second = run(arguments);
    EXPECT_EQ(second.status, 0);
    EXPECT_THAT(second.out, AllOf(HasSubstr("Note: 1 measurements"), EndsWith("\n11 passed, 0 failed, 0 skipped\n")));
    EXPECT_EQ(lines().size(), 13u);

    // In the last measurement, too.
    interruptions = 0;
    EXPECT_EQ(run("--size 13 --op scan --variant cpu", machineWithGpu(variants)).status, 130);
}

TEST_F(ProgramFile, MeasuresAgainWhatHasTooFewTrials) {
    const auto resumed = [&](const std::string& trials) {
        return run("--op sort --resume --csv " + name_ + " --trials " + trials).out;
    };
    EXPECT_THAT(resumed("5"), HasSubstr("Note: 0 measurements"));
    EXPECT_THAT(resumed("6"), HasSubstr("Note: 0 measurements"));
    EXPECT_THAT(resumed("6"), HasSubstr("Note: 2 measurements"));
    EXPECT_THAT(resumed("3"), HasSubstr("Note: 2 measurements"));
    // Six trials of 10 us took all of this time, so there would not be more.
    EXPECT_THAT(resumed("7 --time-budget 0.06ms"), HasSubstr("Note: 2 measurements"));
    EXPECT_THAT(resumed("7"), HasSubstr("Note: 0 measurements"));
}

}  // namespace
}  // namespace Bench
