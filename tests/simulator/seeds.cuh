#pragma once

#include <array>
#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>

#include "../device/device_fixture.cuh"
#include "simulator.h"

#if defined(__SANITIZE_THREAD__)
/// Ends the program at the first race.
extern "C" [[gnu::used]] inline const char* __tsan_default_options() {
    return "halt_on_error=1:report_signal_unsafe=0";
}
#endif

/// Runs code that synchronises under many orders of the simulated card, each drawn from a seed.
namespace StreamCompaction::Testing {

/// A number from the environment, or `otherwise`.
[[nodiscard]] inline std::uint64_t numberFrom(const char* variable, std::uint64_t otherwise) {
    const char* const text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// The order in which blocks may begin.
enum class BlockOrder {
    ByIndex,  ///< for algorithms that rely on that order
    Any,      ///< for algorithms that take tickets, are resident together, or do not wait for other blocks
};

template <typename T>
[[nodiscard]] T firstOf(const DeviceBuffer<T>& array) {
    T first{};
    array.copyTo({&first, 1});
    return first;
}

class SeededTest : public testing::Test {
  protected:
    void TearDown() override { Simulator::configure("capability=9.0,multiprocessors=4,order=index,seed=0"); }

    /// Calls run(seed) for STREAM_COMPACTION_SEEDS seeds from STREAM_COMPACTION_FIRST_SEED on, on a different card in
    /// turn. Each call has its own thread, because a thread caches its card's answers about kernels. Stops at a
    /// failure.
    template <typename Run>
    static void underEverySeed(BlockOrder order, const Run& run) {
        const std::uint64_t first = numberFrom("STREAM_COMPACTION_FIRST_SEED", 1);
        const std::uint64_t count = numberFrom("STREAM_COMPACTION_SEEDS", 20);
        for (std::uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
            const std::string settings = settingsOf(order, seed);
            if (std::getenv("STREAM_COMPACTION_PRINT_SEEDS") != nullptr) {
                std::cerr << settings << '\n';
            }
            std::thread([&] {
                SCOPED_TRACE(settings);
                Simulator::configure(settings);
                run(seed);
            }).join();
        }
    }

  private:
    [[nodiscard]] static std::string settingsOf(BlockOrder order, std::uint64_t seed) {
        static constexpr std::array<std::string_view, 3> cards{
            "capability=9.0,multiprocessors=2", "capability=8.0,multiprocessors=3", "capability=7.5,multiprocessors=4"};
        const bool isAny = order == BlockOrder::Any && seed / cards.size() % 2 == 0;
        return std::string(cards[seed % cards.size()]) + (isAny ? ",order=any" : ",order=index") +
               ",seed=" + std::to_string(seed);
    }
};

}  // namespace StreamCompaction::Testing
