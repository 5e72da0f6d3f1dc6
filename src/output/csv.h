#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <istream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "variants/run_context.h"
#include "variants/tester.h"

namespace Bench {

/// Whether something can have taken so long.
[[nodiscard]] bool isTime(double us);

/// A measurement as in the files. Fields that do not apply are empty, and so are the times of a wrong result.
struct Row {
    std::string gpu;
    std::string computeCapability;
    std::string driver;
    std::string toolkit;
    std::string commit;
    std::string timestamp;
    std::string operation;
    std::string variant;
    std::string type;
    std::size_t n = 0;
    std::string input;
    std::optional<std::size_t> blockSize;
    std::string mode;
    std::size_t trials = 0;
    std::optional<double> medianUs;
    std::optional<double> minUs;
    std::optional<double> maxUs;
    std::size_t bytes = 0;
    std::optional<double> gbps;
    std::optional<double> percentOfCopy;
    bool verified = false;
    std::string shape;
    std::string cpu;                       ///< that a CPU variant ran on
    std::optional<double> noisePercent;    ///< half the width of the median's 95 % interval
    std::optional<double> enqueueUs;       ///< the host's time to enqueue the work
    std::optional<double> clockBeforeMHz;  ///< of the card
    std::optional<double> clockAfterMHz;
    std::optional<double> probeBeforeUs;   ///< fixed work on all processors, before the trials of a CPU variant
    std::optional<double> probeAfterUs;    ///< and after them
    std::string throttled;                 ///< why the clock stayed low
    std::string library;                   ///< of a peer, with its version
    std::optional<std::size_t> gpus = 1;   ///< that a GPU variant ran on
    std::optional<std::size_t> gpuMemory;  ///< the limit of an operation on host memory, in bytes
    std::vector<double> samplesUs;         ///< the time of each trial; only in JSON

    /// The present name of what earlier versions wrote: they called the one mode of the CPU `batched`, and did not
    /// count GPUs. The earliest did not name the processor, but no row of a card lacks the comparison with a copy.
    void bringUpToDate() {
        if (!cpu.empty() || (mode == "batched" && verified && !percentOfCopy)) {
            mode = "warm";
            gpus.reset();
        }
    }

    /// Whether its result was right and its times are valid.
    [[nodiscard]] bool isTimed() const;
    /// Whether a peer rounded too much: it is timed, but not verified.
    [[nodiscard]] bool isInexact() const { return !verified && medianUs; }

    /// What was measured, and beside which card.
    [[nodiscard]] auto subjectOnAnyProcessor() const {
        return std::tie(operation, variant, type, n, input, blockSize, mode, shape, gpu, gpus, gpuMemory);
    }
    /// The same and, for a CPU variant, on which processor. Rows with equal subjects can be compared.
    [[nodiscard]] auto subject() const { return std::tuple_cat(subjectOnAnyProcessor(), std::tie(cpu)); }
};

/// These have references into the row.
using Subject = decltype(std::declval<const Row&>().subject());
using SubjectOnAnyProcessor = decltype(std::declval<const Row&>().subjectOnAnyProcessor());

/// A column of the files: its name and its member in Row.
struct Column {
    std::string_view name;
    std::variant<std::string Row::*, std::size_t Row::*, bool Row::*, std::optional<std::size_t> Row::*,
                 std::optional<double> Row::*>
        member;
};

/// In the order of the files. Append new columns at the end.
inline constexpr std::array columns{
    Column{"gpu", &Row::gpu},
    Column{"compute_capability", &Row::computeCapability},
    Column{"driver", &Row::driver},
    Column{"toolkit", &Row::toolkit},
    Column{"commit", &Row::commit},
    Column{"timestamp", &Row::timestamp},
    Column{"operation", &Row::operation},
    Column{"variant", &Row::variant},
    Column{"type", &Row::type},
    Column{"n", &Row::n},
    Column{"input", &Row::input},
    Column{"block_size", &Row::blockSize},
    Column{"mode", &Row::mode},
    Column{"trials", &Row::trials},
    Column{"median_us", &Row::medianUs},
    Column{"min_us", &Row::minUs},
    Column{"max_us", &Row::maxUs},
    Column{"bytes", &Row::bytes},
    Column{"gbps", &Row::gbps},
    Column{"percent_of_copy", &Row::percentOfCopy},
    Column{"verified", &Row::verified},
    Column{"shape", &Row::shape},
    Column{"cpu", &Row::cpu},
    Column{"noise_percent", &Row::noisePercent},
    Column{"enqueue_us", &Row::enqueueUs},
    Column{"clock_before_mhz", &Row::clockBeforeMHz},
    Column{"clock_after_mhz", &Row::clockAfterMHz},
    Column{"probe_before_us", &Row::probeBeforeUs},
    Column{"probe_after_us", &Row::probeAfterUs},
    Column{"throttled", &Row::throttled},
    Column{"library", &Row::library},
    Column{"gpus", &Row::gpus},
    Column{"gpu_memory", &Row::gpuMemory},
};

/// How many of the last columns early files may lack: the shape, then the processor, then those behind it.
inline constexpr std::size_t columnsAddedLater = 12;

/// The row of a measurement that has not been made yet.
[[nodiscard]] Row rowOf(const RunContext& context, const Measurement& measurement);
[[nodiscard]] Row rowOf(const RunContext& context, std::string_view timestamp, const Outcome& outcome);

/// The outcome of a measurement that a row has, a right result with times.
[[nodiscard]] Outcome outcomeOf(const Measurement& measurement, const Row& row);

/// The present time, as `2026-01-31T23:59:59Z`.
[[nodiscard]] std::string timestampNow();

/// The names of the columns.
[[nodiscard]] std::string csvHeader();

/// One line without its end. Fields are quoted if RFC 4180 requires it.
[[nodiscard]] std::string csvLine(std::span<const std::string> fields);
/// The fields of such a line.
[[nodiscard]] std::vector<std::string> csvFields(std::string_view line);

/// A row as such a line.
[[nodiscard]] std::string csvLine(const Row& row);

/// The rows of a file that this program or an earlier version with fewer columns wrote.
struct CsvContents {
    std::vector<Row> rows;
    std::vector<std::size_t> unreadable;  ///< numbers, from 1, of the lines that are no rows or have no times
};

/// Throws UsageError, which says what is wrong, if the file cannot be read or lacks a column of the subject.
[[nodiscard]] CsvContents readCsv(const std::filesystem::path& path);
/// The same of a file that has been opened.
[[nodiscard]] CsvContents readCsv(std::istream& file, const std::filesystem::path& path);

/// A file to which lines are appended. Each line is on disk before the next measurement.
class CsvFile {
  public:
    /// Writes the header to a new or empty file. Removes a last line that breaks off, so that all lines can be read.
    /// Throws UsageError if the file cannot be opened or has other columns.
    explicit CsvFile(const std::filesystem::path& path, const std::string& header = csvHeader());

    /// Throws std::runtime_error if the line cannot be written.
    void append(std::string_view line);

  private:
    std::filesystem::path path_;
    std::ofstream file_;
};

}  // namespace Bench
