#include <array>

#include "tune/counts.cuh"

namespace Bench::Tune {

void CountTuner::compare(const Counted& counted, std::size_t n, const std::function<void()>& byHost,
                         const std::function<void(std::size_t capacity)>& byDevice) {
    const auto spoil = [&] {
        poison(outputs_.out);
        poison(outputs_.otherOut);
        poison(outputs_.totals);
    };
    const auto isCorrect = [&] {
        return areEqual(outputs_.out, expected_.out, outputs_.out.size()) &&
               areEqual(outputs_.otherOut, expected_.otherOut, outputs_.otherOut.size()) &&
               areEqual(outputs_.totals, expected_.totals, outputs_.totals.size());
    };
    const auto candidate = [](const char* kernel, const char* capacity, std::function<void()> launch) {
        return Candidate{kernel, 0, 0, capacity, [launch = std::move(launch)] {
                             launch();
                             return true;
                         }};
    };
    number_.copyFrom({&n, 1});
    spoil();
    byHost();
    copy(expected_.out, outputs_.out, outputs_.out.size());
    copy(expected_.otherOut, outputs_.otherOut, outputs_.otherOut.size());
    copy(expected_.totals, outputs_.totals, outputs_.totals.size());

    const std::array host{candidate("host", "", byHost)};
    std::vector<Candidate> candidates{host.front()};
    if (n * sparseness <= counted.largest) {
        candidates.push_back(candidate("device", "100 x", [&] { byDevice(n * sparseness); }));
    }
    const auto bytes = static_cast<std::size_t>(static_cast<double>(n) * counted.bytesPerElement);
    tuner_.run({counted.operation, counted.type, n, bytes, spoil, isCorrect, [&] { byDevice(n); }, /*isChoice=*/false},
               host, candidates);
}

void tuneCounts(Tuner& tuner) {
    CountTuner counts(tuner);
    tuneCountsOfPasses(counts);
    tuneCountsOfSorts(counts);
    tuneCountsOfText(counts);
}

}  // namespace Bench::Tune
