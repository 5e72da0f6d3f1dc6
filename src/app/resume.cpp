#include "app/resume.h"

#include <set>
#include <system_error>

#include "output/csv.h"

namespace Bench {

std::size_t leaveOutMeasured(std::vector<Section>& sections, const std::filesystem::path& csv,
                             const RunContext& context) {
    if (std::error_code ignored; !std::filesystem::is_regular_file(csv, ignored) || std::filesystem::is_empty(csv)) {
        return 0;
    }
    const CsvContents contents = readCsv(csv);
    std::set<Subject> measured;
    for (const Row& row : contents.rows) {
        if (row.commit == context.commit && row.verified) {
            measured.insert(row.subject());
        }
    }
    std::size_t found = 0;
    for (Section& section : sections) {
        found += std::erase_if(section.measurements, [&](const Measurement& measurement) {
            const Row row = rowOf(context, measurement);
            return measured.contains(row.subject());
        });
    }
    std::erase_if(sections, [](const Section& section) { return section.measurements.empty(); });
    return found;
}

}  // namespace Bench
