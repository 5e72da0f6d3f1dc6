#include <cstddef>
#include <iostream>
#include <span>

#include "app/program.h"
#include "measure/gpu.h"
#include "output/terminal.h"

// Elements in the test arrays; fewer in the simulator, because it is slow. Change them, build again and compare the
// variants; --size changes them for one run.
constexpr std::size_t SIZE = Bench::isSimulated ? 1 << 16 : 1 << 20;
// A size that is not a power of two. Many errors show only there.
constexpr std::size_t NPOT = SIZE - 3;
static_assert(SIZE > 3);

// The run is in app/program.cpp; the list of variants is in variants/variants.cpp.
int main(int argc, char* argv[]) {
    const std::span<const char* const> arguments(argv + 1, argv + argc);
    return Bench::runProgram(arguments, {SIZE, NPOT}, Bench::thisMachine(),
                             {std::cout, std::cerr, Bench::standardOutputTakesColor(), Bench::standardOutputWidth(),
                              Bench::standardErrorIsTerminal(), Bench::standardErrorWidth()});
}
