#include "stream_compaction/timer.h"

#include <stdexcept>
#include <string>

namespace StreamCompaction::Common {

void PerformanceTimer::Stopwatch::requireIdle(const char* which) const {
    if (running) {
        throw std::logic_error(std::string(which) + " timer: started twice without an end between");
    }
}

void PerformanceTimer::Stopwatch::requireRunning(const char* which) const {
    if (!running) {
        throw std::logic_error(std::string(which) + " timer: ended without a start");
    }
}

void PerformanceTimer::Stopwatch::stop(float elapsed) {
    running = false;
    measured = true;
    milliseconds = elapsed;
}

float PerformanceTimer::Stopwatch::read(const char* which) const {
    if (running || !measured) {
        throw std::logic_error(std::string(which) + " timer: read before the end of a measurement");
    }
    return milliseconds;
}

void PerformanceTimer::startCpuTimer() {
    cpu_.requireIdle("CPU");
    cpu_.measured = false;
    cpu_.running = true;
    cpuStart_ = std::chrono::steady_clock::now();
}

void PerformanceTimer::endCpuTimer() {
    const auto end = std::chrono::steady_clock::now();
    cpu_.requireRunning("CPU");
    cpu_.stop(std::chrono::duration<float, std::milli>(end - cpuStart_).count());
}

float PerformanceTimer::getCpuElapsedTimeForPreviousOperation() const { return cpu_.read("CPU"); }

float PerformanceTimer::getGpuElapsedTimeForPreviousOperation() const { return gpu_.read("GPU"); }

}  // namespace StreamCompaction::Common
