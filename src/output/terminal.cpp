#include "output/terminal.h"

#include <cstdio>
#include <cstdlib>

#ifdef _WIN32
#include <io.h>
#else
#include <unistd.h>
#endif

namespace Bench {
namespace {

[[nodiscard]] bool isTerminal(std::FILE* stream) {
#ifdef _WIN32
    return _isatty(_fileno(stream)) != 0;
#else
    return isatty(fileno(stream)) != 0;
#endif
}

}  // namespace

bool standardOutputTakesColor() {
    const char* noColor = std::getenv("NO_COLOR");
    const bool refused = noColor != nullptr && *noColor != '\0';
    return !refused && isTerminal(stdout);
}

bool standardErrorIsTerminal() { return isTerminal(stderr); }

}  // namespace Bench
