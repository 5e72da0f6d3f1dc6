#include "output/json.h"

#include <version_info.h>

#include <nlohmann/json.hpp>
#include <string>
#include <variant>

namespace Bench {
namespace {

using Json = nlohmann::ordered_json;

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
    return object;
}

[[nodiscard]] Json toJson(const RunContext& context) {
    Json object{{"program", "stream_compaction_test"},
                {"version", BuildInfo::version},
                {"commit", context.commit},
                {"compiler", context.compiler},
                {"date", timestampNow()},
                {"cpu", describe(context.cpu)},
                {"gpu", nullptr},
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
    // The input may be a file name that is not UTF-8.
    constexpr int indent = 2;
    out << Json{{"context", toJson(context)}, {"rows", list}}.dump(indent, ' ', false, Json::error_handler_t::replace)
        << '\n';
}

}  // namespace Bench
