#include "app/command_line.h"

namespace Bench {

std::optional<std::string> parseCommandLine(CLI::App& app, std::span<const char* const> arguments) {
    app.get_formatter()->column_width(22);
    app.set_help_flag("-h,--help", "Print this and stop");
    try {
        // CLI11 takes them last first.
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    } catch (const CLI::CallForHelp&) {
        return app.help();
    } catch (const CLI::ParseError& error) {
        throw UsageError(fmt::format("{}; {} --help lists the options", error.what(), app.get_name()));
    }
    return std::nullopt;
}

}  // namespace Bench
