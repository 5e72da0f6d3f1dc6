#include "output/markdown.h"

#include <fmt/format.h>

#include "output/results_table.h"

namespace Bench {

void writeMarkdown(std::ostream& out, const RunContext& context, std::span<const Outcome> outcomes) {
    for (const auto& [label, text] : describe(context)) {
        out << fmt::format("- {}: {}\n", label, text);
    }
    out << '\n';
    for (const std::string& line : resultsTable(outcomes).markdownLines()) {
        out << line << '\n';
    }
}

}  // namespace Bench
