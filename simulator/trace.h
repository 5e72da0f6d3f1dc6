#pragma once

#include <cstddef>
#include <string>

/// Writes what threads do to shared and global memory, step by step, to a file of JSON lines. README.md
/// describes the fields.
namespace Simulator {

/// Begins a trace. It is written to `file` when it ends: with an empty name here, or with the program. Throws
/// std::invalid_argument if the file cannot be opened, and std::runtime_error if an earlier trace could not be written.
void traceTo(const std::string& file);

extern bool tracing;
[[nodiscard]] inline bool isTracing() { return tracing; }

/// Records a step of the current thread: the operation, its memory (if any) and its place in the code. Call it just
/// before the step. What an operation reads is then still in memory; what it writes is read later. The contents of a
/// copy are read at `from`.
void noteStep(const char* operation, const void* address, std::size_t bytes, const void* where, const void* from);
inline void traceStep(const char* operation, const void* address, std::size_t bytes, const void* where,
                      const void* from = nullptr) {
    if (tracing) {
        noteStep(operation, address, bytes, where, from);
    }
}

/// Records work of a stream that is no kernel: memory set, or copied within the card. `call` says where the host has
/// asked for it: what traceCall() returned there, nullptr without a trace. Call traceWork() when memory is set, and
/// just before a copy.
[[nodiscard]] const void* noteCall(const void* where);
[[nodiscard]] inline const void* traceCall(const void* where) { return tracing ? noteCall(where) : nullptr; }
void noteWork(const char* operation, const void* to, std::size_t bytes, const void* call, const void* from);
inline void traceWork(const char* operation, const void* to, std::size_t bytes, const void* call, const void* from) {
    if (tracing && call != nullptr) {
        noteWork(operation, to, bytes, call, from);
    }
}

/// Reads what the last steps have written. Call it before anything but the running thread changes memory.
void noteWritten();
inline void traceWritten() {
    if (tracing) {
        noteWritten();
    }
}

}  // namespace Simulator
