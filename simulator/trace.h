#pragma once

#include <cstddef>
#include <string>

/// What threads do to memory, step by step, in a file of JSON lines.
namespace Simulator {

/// Begins a trace that goes to a file when the program ends; an empty name ends it.
void traceTo(const std::string& file);

extern bool tracing;
[[nodiscard]] inline bool isTracing() { return tracing; }

/// Notes a step of the current thread: what it does, to which memory if to any, and where in the code. A value that is
/// about to be stored is read at the next step.
void noteStep(const char* operation, const void* address, std::size_t bytes, const void* where);
inline void traceStep(const char* operation, const void* address, std::size_t bytes, const void* where) {
    if (tracing) {
        noteStep(operation, address, bytes, where);
    }
}

}  // namespace Simulator
