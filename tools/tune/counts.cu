#include <array>
#include <stream_compaction/radix_sort.cuh>

#include "tune/candidates.cuh"

/// Operations with their number of elements in device memory, beside the same call with the number from the host. The
/// capacity is the number itself for the library's choice, and a hundred times that for a candidate.
namespace Bench::Tune {
namespace {

constexpr std::size_t largest = std::size_t{1} << 28;
constexpr std::size_t sparseness = 100;

/// The arrays of all operations.
struct Arrays {
    DeviceBuffer<int> in{largest};
    DeviceBuffer<int> out{largest};
    DeviceBuffer<int> otherOut{largest};
    DeviceBuffer<std::size_t> kept{1};
    DeviceBuffer<std::size_t> number{1};
    DeviceBuffer<int> expected{largest};
    DeviceBuffer<int> otherExpected{largest};
    DeviceBuffer<std::size_t> expectedKept{1};

    [[nodiscard]] const int* input() const { return in.data(); }
    [[nodiscard]] CountInDeviceMemory count(std::size_t capacity) const { return {number.data(), capacity}; }
};

/// Measures `call(n, scratch)`, which takes a number or a count in device memory.
template <typename ScratchBytes, typename Call>
void tuneCount(Tuner& tuner, Arrays& arrays, std::string_view operation, std::size_t bytesPerElement,
               ScratchBytes scratchBytes, Call call) {
    DeviceBuffer<std::byte> memory(scratchBytes(largest));
    const Scratch scratch = memory.bytes();
    const auto spoil = [&] {
        poison(arrays.out);
        poison(arrays.otherOut);
        poison(arrays.kept);
    };
    for (const std::size_t n : {std::size_t{1} << 10, std::size_t{1} << 14, std::size_t{1} << 17, std::size_t{1} << 20,
                                largest / sparseness, std::size_t{1} << 24, largest}) {
        Common::checkCUDAError(cudaMemcpy(arrays.number.data(), &n, sizeof(n), cudaMemcpyHostToDevice), "cudaMemcpy");
        spoil();
        call(n, scratch);
        copy(arrays.expected, arrays.out, largest);
        copy(arrays.otherExpected, arrays.otherOut, largest);
        copy(arrays.expectedKept, arrays.kept, 1);
        const auto candidate = [&](const char* kernel, const char* capacity, auto number) {
            return Candidate{kernel, 0, 0, capacity, [&call, scratch, number] {
                                 call(number, scratch);
                                 return true;
                             }};
        };
        const std::array host{candidate("host", "", n)};
        std::vector<Candidate> candidates{host.front()};
        if (n * sparseness <= largest) {
            candidates.push_back(candidate("device", "100 x", arrays.count(n * sparseness)));
        }
        tuner.run({operation, "int32", n, n * bytesPerElement, spoil,
                   [&] {
                       return areEqual(arrays.out, arrays.expected, largest) &&
                              areEqual(arrays.otherOut, arrays.otherExpected, largest) &&
                              areEqual(arrays.kept, arrays.expectedKept, 1);
                   },
                   [&] { call(arrays.count(n), scratch); }, /*isChoice=*/false},
                  host, candidates);
    }
}

struct IsEven {
    __device__ bool operator()(int x) const { return x % 2 == 0; }
};

}  // namespace

void tuneCounts(Tuner& tuner) {
    Arrays arrays;
    fill(arrays.in, RandomBits<int>{});
    const int* const in = arrays.input();
    int* const out = arrays.out.data();
    int* const otherOut = arrays.otherOut.data();
    std::size_t* const kept = arrays.kept.data();
    constexpr std::size_t bytes = sizeof(int);

    tuneCount(
        tuner, arrays, "scan", 2 * bytes, [&](auto n) { return SinglePass::Scan{}.scratchBytes(in, out, n); },
        [&](auto n, Scratch scratch) { SinglePass::Scan{}(in, out, n, scratch, defaultStream); });
    tuneCount(
        tuner, arrays, "compact", 3 * bytes / 2,
        [&](auto n) { return SinglePass::Compact{}.scratchBytes(in, out, kept, n); },
        [&](auto n, Scratch scratch) { SinglePass::Compact{}(in, out, kept, n, IsEven{}, scratch, defaultStream); });
    tuneCount(
        tuner, arrays, "sort", 2 * bytes, [&](auto n) { return Radix::Sort{}.scratchBytes(in, out, n); },
        [&](auto n, Scratch scratch) { Radix::Sort{}(in, out, n, scratch, defaultStream); });
    tuneCount(
        tuner, arrays, "sort-pairs", 4 * bytes,
        [&](auto n) { return Radix::Sort{}.scratchBytes(in, out, in, otherOut, n); },
        [&](auto n, Scratch scratch) { Radix::Sort{}(in, out, in, otherOut, n, scratch, defaultStream); });
}

}  // namespace Bench::Tune
