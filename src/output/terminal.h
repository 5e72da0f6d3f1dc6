#pragma once

namespace Bench {

/// Whether standard output is a terminal whose owner has not asked for plain text by NO_COLOR (https://no-color.org).
[[nodiscard]] bool standardOutputTakesColor();

/// Whether someone watches what is written there.
[[nodiscard]] bool standardErrorIsTerminal();

}  // namespace Bench
