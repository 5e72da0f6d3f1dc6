// A small run of one algorithm in the simulator, to be traced. explore.py makes docs/explore.html of the
// traces.
//
//   STREAM_COMPACTION_SIMULATOR=trace=FILE explore_run ALGORITHM < numbers
//
// Prints, as JSON, the result and the regions of memory in which the arrays lie, as the trace names them. All arrays in
// global memory are parts of one allocation.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "stream_compaction/device_buffer.h"
#include "stream_compaction/efficient.cuh"
#include "stream_compaction/naive.cuh"
#include "stream_compaction/radix_sort.cuh"
#include "stream_compaction/shared_mem.cuh"
#include "stream_compaction/single_pass.cuh"
#include "stream_compaction/utf8.cuh"

namespace {

using namespace StreamCompaction;
using nlohmann::json;
using Numbers = std::vector<std::int64_t>;

#if defined(__OPTIMIZE__)
constexpr const char* optimisation = "";
#else
constexpr const char* optimisation = ", not optimising";
#endif

/// The compiler decides which accesses a trace has.
const std::string compiler = "g++ " + std::to_string(__GNUC__) + optimisation;

/// Places arrays in one allocation, and lists them.
class Memory {
  public:
    /// An array of `n` elements, uninitialised.
    template <typename T>
    [[nodiscard]] T* take(const std::string& name, std::size_t n) {
        T* const array = arena_.take<T>(n);
        list<T>(name, "global", offsetOf(array), n);
        return array;
    }
    /// A copy of the numbers.
    template <typename T>
    [[nodiscard]] T* takeCopy(const std::string& name, const Numbers& numbers) {
        T* const array = take<T>(name, numbers.size());
        const std::vector<T> values(numbers.begin(), numbers.end());
        Common::checkCUDAError(cudaMemcpy(array, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
                               "cudaMemcpy of the input");
        return array;
    }
    [[nodiscard]] Scratch scratch() const { return arena_.rest(); }

    /// Lists a part of the scratch, in the order in which the algorithm takes its parts.
    class Parts {
      public:
        explicit Parts(Memory& memory) : memory_(memory), arena_(memory.scratch(), 0) {}
        template <typename T>
        void take(const std::string& name, std::size_t n, std::size_t first = 0) {
            memory_.list<T>(name, "global", memory_.offsetOf(arena_.take<T>(first + n) + first), n);
        }

      private:
        Memory& memory_;
        ScratchArena arena_;
    };

    /// Lists an array in shared memory: static (then `array` is its name) or "dynamic".
    template <typename T>
    void list(const std::string& name, const std::string& array, std::size_t offset, std::size_t n) {
        regions_.push_back({{"name", name}, {"array", array}, {"offset", offset}, {"bytes", sizeof(T)}, {"count", n}});
    }

    template <typename T>
    [[nodiscard]] json finish(const T* result, std::size_t n) const {
        std::vector<T> values(n);
        Common::checkCUDAError(cudaMemcpy(values.data(), result, n * sizeof(T), cudaMemcpyDeviceToHost),
                               "cudaMemcpy of the result");
        return {{"compiler", compiler}, {"regions", regions_}, {"result", Numbers(values.begin(), values.end())}};
    }

  private:
    [[nodiscard]] std::size_t offsetOf(const void* array) const {
        return static_cast<std::size_t>(static_cast<const std::byte*>(array) - all_.data());
    }

    static constexpr std::size_t size = std::size_t{1} << 20;
    DeviceBuffer<std::byte> all_{size};
    ScratchArena arena_{all_.bytes(), size};
    json regions_ = json::array();
};

/// The offset of a member of an object.
template <typename Object, typename Member>
[[nodiscard]] std::size_t offsetIn(const Object& object, const Member& member) {
    return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&member) -
                                    reinterpret_cast<const std::byte*>(&object));
}

json naive(const Numbers& numbers) {
    Memory memory;
    const std::size_t n = numbers.size();
    const int* const in = memory.takeCopy<int>("input", numbers);
    int* const out = memory.take<int>("output", n);
    Memory::Parts parts(memory);
    parts.take<int>("buffer 1", n);
    parts.take<int>("buffer 2", n);
    Naive::Scan{.blockSize = 32}(in, out, n, memory.scratch(), nullptr);
    return memory.finish(out, n);
}

template <typename Scan>
json efficient(const Numbers& numbers) {
    Memory memory;
    const std::size_t n = numbers.size();
    const int* const in = memory.takeCopy<int>("input", numbers);
    int* const out = memory.take<int>("output", n);
    Memory::Parts(memory).take<int>("tree", Efficient::treeSize(n));
    Scan{.blockSize = 32}(in, out, n, memory.scratch(), nullptr);
    return memory.finish(out, n);
}

template <bool avoidBankConflicts>
json shared(const Numbers& numbers) {
    constexpr int threads = 64;
    constexpr unsigned elements = threads * SharedMem::elementsPerThread<int>;
    const auto padded = SharedMem::padded<avoidBankConflicts>;
    Memory memory;
    const std::size_t n = numbers.size();
    const int* const in = memory.takeCopy<int>("input", numbers);
    int* const out = memory.take<int>("output", n);
    Memory::Parts(memory).take<int>("total", 1);
    memory.list<int>("tile", "dynamic", 0, padded(elements));
    memory.list<int>("sums", "dynamic", padded(elements) * sizeof(int), padded(threads));
    SharedMem::Scan{.blockSize = threads, .avoidBankConflicts = avoidBankConflicts}(in, out, n, memory.scratch(),
                                                                                    nullptr);
    return memory.finish(out, n);
}

json lookBack(const Numbers& numbers) {
    using Block = SinglePass::BlockShape<32, 1>;
    constexpr std::size_t tileElements = Block::vectors * vectorLength<int, int>;
    Memory memory;
    const std::size_t n = numbers.size();
    const std::size_t tiles = Common::divideRoundUp(n, tileElements);
    const int* const in = memory.takeCopy<int>("input", numbers);
    int* const out = memory.take<int>("output", n);
    Memory::Parts(memory).take<std::uint64_t>("status", tiles, ticketWords);
    memory.list<int>("prefix", "tilePrefix", 0, 1);
    const SinglePass::Scan scan;
    scan.scanByLookBack(Block{}, sourceOf(in), out, n, Sum{}, 0, ScratchArena(memory.scratch(), 0), nullptr);
    json result = memory.finish(out, n);
    result["tileElements"] = tileElements;
    return result;
}

json radix(const Numbers& numbers) {
    using Shape = Radix::SortShape<256, 1>;
    using Key = std::int16_t;
    using Bits = BitsOf<Key>;
    using Storage = Radix::TileStorage<Shape, Bits, Radix::NoValue>;
    Memory memory;
    const std::size_t n = numbers.size();
    const Key* const in = memory.takeCopy<Key>("input", numbers);
    Key* const out = memory.take<Key>("output", n);
    static Storage storage;  // only to see where its members are
    const auto& counts = storage.counts;
    memory.list<std::uint32_t>("counts", "dynamic", offsetIn(storage, counts), sizeof(counts) / sizeof(counts[0][0]));
    memory.list<Bits>("packed keys", "dynamic", offsetIn(storage, storage.keys), Shape::elements);
    Radix::ByBlock<Shape>::launch(Radix::SortCall<Bits, Radix::NoValue>{{Radix::bitsOf(in), nullptr},
                                                                        {Radix::bitsOf(out), nullptr},
                                                                        n,
                                                                        {0, 8 * sizeof(Key)},
                                                                        KeyCoding<Bits>::of<Key>(false),
                                                                        TileOrder::BlockIndex,
                                                                        {},
                                                                        ScratchArena(memory.scratch(), 0),
                                                                        nullptr});
    return memory.finish(out, n);
}

/// Utf8::Result in device memory, and the code points that it counts.
json finishText(const Memory& memory, const char32_t* out, const Utf8::Result* result) {
    Utf8::Result found{};
    Common::checkCUDAError(cudaMemcpy(&found, result, sizeof(found), cudaMemcpyDeviceToHost),
                           "cudaMemcpy of the result");
    return memory.finish(out, found.count);
}

json utf8(const Numbers& numbers) {
    using Shape = Utf8::DecodeShape<Utf8::TextGridChain>;
    using Shared = Utf8::DecodeMemory<char32_t, Shape>;
    Memory memory;
    const std::size_t n = numbers.size();
    const auto* const in = memory.takeCopy<std::uint8_t>("text", numbers);
    auto* const out = memory.take<char32_t>("output", n);
    auto* const result = memory.take<Utf8::Result>("result", 1);
    static Shared shared;  // only to see where its members are
    const auto list = [&]<typename T>(const std::string& name, const T& first, std::size_t count) {
        memory.list<T>(name, "shared", offsetIn(shared, first), count);
    };
    list("tile", shared.tile.memory[Utf8::TextInMemory::alignment], n);
    list("units", shared.unitBegins[0], Common::divideRoundUp(n, Shape::groupBytes));
    list("runs", shared.runBegins[0], Common::divideRoundUp(n, Utf8::elementsPerVector<char32_t>));
    Utf8::Decode{}(in, out, result, n, memory.scratch(), nullptr);
    return finishText(memory, out, result);
}

json utf8Textbook(const Numbers& numbers) {
    Memory memory;
    const std::size_t n = numbers.size();
    const auto* const in = memory.takeCopy<std::uint8_t>("text", numbers);
    auto* const out = memory.take<char32_t>("output", n);
    auto* const result = memory.take<Utf8::Result>("result", 1);
    Memory::Parts parts(memory);
    parts.take<std::uint8_t>("emits", n);
    parts.take<std::uint32_t>("indices", n);
    parts.take<std::uint32_t>("buffer 1", n);
    parts.take<std::uint32_t>("buffer 2", n);
    Utf8::TextbookDecode<Naive::Scan>{Naive::Scan{.blockSize = 32}}(in, out, result, n, memory.scratch(), nullptr);
    return finishText(memory, out, result);
}

const std::map<std::string, std::function<json(const Numbers&)>>& algorithms() {
    static const std::map<std::string, std::function<json(const Numbers&)>> all{
        {"naive", naive},
        {"blelloch", efficient<Efficient::TextbookScan>},
        {"blelloch-remapped", efficient<Efficient::OptimizedScan>},
        {"shared-conflicts", shared<false>},
        {"shared", shared<true>},
        {"look-back", lookBack},
        {"radix", radix},
        {"utf8", utf8},
        {"utf8-textbook", utf8Textbook},
    };
    return all;
}

}  // namespace

int main(int argc, char** argv) try {
    const auto algorithm = algorithms().find(argc == 2 ? argv[1] : "");
    if (algorithm == algorithms().end()) {
        std::fputs("usage: explore_run ALGORITHM < numbers\n", stderr);
        return 2;
    }
    const Numbers numbers{std::istream_iterator<std::int64_t>(std::cin), {}};
    std::cout << algorithm->second(numbers).dump() << '\n';
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "explore_run: %s\n", error.what());
    return 1;
}
