// The program with made-up variants, to be started by mpirun: what becomes of a rank that goes wrong.

#include <chrono>
#include <iostream>
#include <numeric>
#include <span>
#include <stdexcept>
#include <thread>

#include "fake_machine.h"
#include "world/world.h"

namespace {

using namespace Bench;
using SomeScan = ScanProblem<std::int32_t>;

/// What the last rank does.
enum class LastRank { Works, IsWrong, Throws };

/// A scan that is spread over the ranks. While it runs, no rank goes on without the others.
class FakeScan final : public PreparedRun {
  public:
    FakeScan(SomeScan& problem, const World& world, LastRank last) : problem_(problem), world_(world), last_(last) {}
    /// Waits for ever after a failure, as NCCL may do.
    ~FakeScan() override {
        if (failed_) {
            std::this_thread::sleep_for(std::chrono::hours(1));
        }
    }

    void poisonOutput() override {}
    void launch() override {
        if (isLast() && last_ == LastRank::Throws) {
            failed_ = true;
            throw std::runtime_error("launch failed");
        }
        world_.meet();
    }
    void fetchResult() override {
        const auto in = problem_.input();
        auto& sums = problem_.result();
        sums.resize(in.size());
        std::exclusive_scan(in.begin(), in.end(), sums.begin(),
                            world_.sumBefore(std::accumulate(in.begin(), in.end(), 0)));
        if (isLast() && last_ == LastRank::IsWrong) {
            sums.back() = -1;
        }
    }

  private:
    [[nodiscard]] bool isLast() const { return world_.rank() == world_.size() - 1; }

    SomeScan& problem_;
    const World& world_;
    LastRank last_;
    bool failed_ = false;
};

[[nodiscard]] Variant fakeScan(std::string_view name, LastRank last) {
    Variant variant;
    variant.hardware = Hardware::Gpu;
    variant.name = name;
    variant.title = name;
    variant.gpuUse = GpuUse::Ranks;
    variant.deviceBytes = [](const Problem&, const Setting&) { return std::size_t{0}; };
    variant.prepare = [last](Problem& problem, const Setting& setting) {
        return std::make_unique<FakeScan>(dynamic_cast<SomeScan&>(problem), setting.world, last);
    };
    return variant;
}

}  // namespace

int main(int argc, char* argv[]) {
    Machine machine = machineWithGpu({fakeScan("working", LastRank::Works), fakeScan("wrong", LastRank::IsWrong),
                                      fakeScan("throwing", LastRank::Throws)});
    machine.openWorld = openWorld;
    return runProgram(std::span<const char* const>(argv + 1, argv + argc), {1000}, machine, {std::cout, std::cerr});
}
