#pragma once

#include <cstddef>
#include <string>

/// What threads do to shared and global memory, step by step, in a file of JSON lines. ../docs/simulator.md has the
/// fields.
namespace Simulator {

/// Begins a trace that goes to a file when the program ends; an empty name ends it.
void traceTo(const std::string& file);

extern bool tracing;
[[nodiscard]] inline bool isTracing() { return tracing; }

/// Notes a step of the current thread: what it does, to which memory if to any, and where in the code. To be called
/// just ahead of the step: what an operation reads is in memory then, and what one writes is read behind it. What is
/// copied is read where it comes `from`.
void noteStep(const char* operation, const void* address, std::size_t bytes, const void* where, const void* from);
inline void traceStep(const char* operation, const void* address, std::size_t bytes, const void* where,
                      const void* from = nullptr) {
    if (tracing) {
        noteStep(operation, address, bytes, where, from);
    }
}

/// Reads what the last steps have written. To be called ahead of whatever may change memory besides the thread that
/// runs.
void noteWritten();
inline void traceWritten() {
    if (tracing) {
        noteWritten();
    }
}

}  // namespace Simulator
