#include "cpu_variants.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace Bench {
namespace {

class CpuRun final : public PreparedRun {
  public:
    CpuRun(CpuCall call, std::span<const int> input) : call_(std::move(call)), input_(input), output_(input.size()) {}

    void poisonOutput() override { std::ranges::fill(output_, static_cast<int>(0xCDCDCDCD)); }
    void launch() override { resultSize_ = call_(input_, output_); }
    [[nodiscard]] std::span<const int> result() override { return std::span(output_).first(resultSize_); }

  private:
    CpuCall call_;
    std::span<const int> input_;
    std::vector<int> output_;
    std::size_t resultSize_ = 0;
};

}  // namespace

CpuCall cpuCall(void (*function)(int n, int* odata, const int* idata)) {
    return [function](std::span<const int> input, std::span<int> output) {
        function(static_cast<int>(input.size()), output.data(), input.data());
        return input.size();
    };
}

CpuCall cpuCall(int (*function)(int n, int* odata, const int* idata)) {
    return [function](std::span<const int> input, std::span<int> output) {
        return static_cast<std::size_t>(function(static_cast<int>(input.size()), output.data(), input.data()));
    };
}

std::unique_ptr<PreparedRun> prepareCpuRun(CpuCall call, std::span<const int> input) {
    return std::make_unique<CpuRun>(std::move(call), input);
}

}  // namespace Bench
