#include "output/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <variant>

#include "cli/values.h"
#include "cli/version_info.h"

namespace Bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* samplesKey = "samples_us";

/// The input may be a file name that is not UTF-8.
[[nodiscard]] std::string textOf(const Json& json, int indent) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

template <typename T>
[[nodiscard]] Json toJson(const T& value) {
    return value;
}
template <typename T>
[[nodiscard]] Json toJson(const std::optional<T>& value) {
    return value ? Json(*value) : Json();
}
[[nodiscard]] Json toJson(const std::string& text) { return text.empty() ? Json() : Json(text); }

[[nodiscard]] Json toJson(const Row& row) {
    Json object;
    for (const Column& column : columns) {
        object[std::string(column.name)] =
            std::visit([&row](auto member) { return toJson(row.*member); }, column.member);
    }
    object[samplesKey] = row.samplesUs;
    return object;
}

void fromJson(const Json& json, std::string& text) { text = json.is_null() ? "" : json.get<std::string>(); }
template <typename T>
void fromJson(const Json& json, T& value) {
    value = json.get<T>();
}
template <typename T>
void fromJson(const Json& json, std::optional<T>& value) {
    value = json.is_null() ? std::nullopt : std::optional(json.get<T>());
}

/// Throws UsageError, which begins with `name`, if the object is no measurement.
[[nodiscard]] Row rowFrom(const Json& object, std::string_view name) {
    Row row;
    const auto read = [&](const std::string& key, auto& value) {
        try {
            fromJson(object.at(key), value);
        } catch (const Json::exception&) {
            throw UsageError(fmt::format("{} has no valid {}", name, key));
        }
    };
    for (const Column& column : columns) {
        const bool isNew = column.name == "gpus" || column.name == "gpu_memory";  // early files lack them
        if (!isNew || object.contains(column.name)) {
            std::visit([&](auto member) { read(std::string(column.name), row.*member); }, column.member);
        }
    }
    row.bringUpToDate();
    read(samplesKey, row.samplesUs);
    if (const auto wrong = std::ranges::find_if_not(row.samplesUs, isTime); wrong != row.samplesUs.end()) {
        throw UsageError(fmt::format("{} has a trial of {} us", name, *wrong));
    }
    if (row.verified && !row.isTimed()) {
        throw UsageError(fmt::format("{} has no valid times", name));
    }
    return row;
}

[[nodiscard]] Json toJson(const RunContext& context) {
    Json object{{"program", "stream_compaction_test"},
                {"version", BuildInfo::version},
                {"commit", context.commit},
                {"compiler", context.compiler},
                {"date", timestampNow()},
                {"cpu", describe(context.cpu)},
                {"gpu", nullptr},
                {"gpus", context.gpus},
                {"clock_mhz", nullptr},
                {"ceilings_gbps", nullptr}};
    if (context.gpu) {
        const GpuInfo& gpu = *context.gpu;
        object["gpu"] = {{"name", gpu.name},
                         {"compute_capability", gpu.computeCapability},
                         {"memory_bytes", gpu.memoryBytes},
                         {"driver", gpu.driver},
                         {"toolkit", gpu.toolkit},
                         {"boost_mhz", gpu.boostMHz}};
    }
    if (context.ceilings) {
        object["clock_mhz"] = context.ceilings->clockMHz;
        object["ceilings_gbps"] = {{"copy", context.ceilings->copyGbps}, {"read", context.ceilings->readGbps}};
    }
    return object;
}

}  // namespace

void writeJson(std::ostream& out, const RunContext& context, std::span<const Row> rows) {
    Json list = Json::array();
    for (const Row& row : rows) {
        list.push_back(toJson(row));
    }
    constexpr int indent = 2;
    out << textOf({{"context", toJson(context)}, {"rows", list}}, indent) << '\n';
}

std::string jsonLine(const Row& row) {
    constexpr int inOneLine = -1;
    return textOf(toJson(row), inOneLine);
}

std::vector<Row> readJson(const std::filesystem::path& path) {
    std::ifstream file(path);
    return readJson(file, path);
}

std::vector<Row> readJson(std::istream& file, const std::filesystem::path& path) {
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    std::istringstream in(text);
    std::vector<Row> rows;
    while ((in >> std::ws).good()) {
        Json json;
        try {
            in >> json;
        } catch (const Json::exception&) {
            in.clear();
            const auto read = text.begin() + std::max<std::ptrdiff_t>(in.tellg(), 1) - 1;
            throw UsageError(fmt::format("{}: line {} breaks off or is no JSON", path.string(),
                                         1 + std::count(text.begin(), read, '\n')));
        }
        const Json list = json.contains("rows") ? json["rows"] : Json::array({json});
        for (const Json& object : list) {
            rows.push_back(rowFrom(object, fmt::format("{}: measurement {}", path.string(), rows.size() + 1)));
        }
    }
    return rows;
}

}  // namespace Bench
