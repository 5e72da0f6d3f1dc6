#include "output/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <variant>

#include "cli/values.h"

namespace Bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* samplesKey = "samples_us";

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

}  // namespace

std::string jsonLine(const Row& row) {
    constexpr int inOneLine = -1;
    // The input may be a file name that is not UTF-8.
    return toJson(row).dump(inOneLine, ' ', false, Json::error_handler_t::replace);
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
        rows.push_back(rowFrom(json, fmt::format("{}: measurement {}", path.string(), rows.size() + 1)));
    }
    return rows;
}

}  // namespace Bench
