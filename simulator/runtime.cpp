// The card behind CUDA's runtime interface: errors, memory, streams, graphs, events.
//
// A stream is a queue. Its work is done when the host waits for the stream or for the card. A host that forgets to wait
// reads old data. A kernel that may begin early runs together with the previous ones.

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <ranges>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "cuda_runtime.h"
#include "executor.h"
#include "memory.h"
#include "simulator.h"
#include "trace.h"

using Simulator::Grid;
using HostWork = std::function<void()>;
using Work = std::variant<Grid, HostWork>;

struct SimulatedGraph {
    std::vector<Work> works;
};
struct SimulatedStream {
    bool isBlocking = false;  ///< it and the legacy stream wait for each other
    std::deque<Work> queue;
    std::unique_ptr<SimulatedGraph> capture;
};
/// A place in a stream. Each record of an event makes a new one.
struct Mark {
    cudaStream_t stream;
    bool isReached = false;
    std::chrono::steady_clock::time_point time;
};
struct SimulatedEvent {
    std::shared_ptr<Mark> mark;
};

namespace {

/// Guards this file: one host thread at a time.
std::recursive_mutex& card() {
    static auto& mutex = *new std::recursive_mutex;
    return mutex;
}
using Guard = std::lock_guard<std::recursive_mutex>;

std::list<SimulatedStream>& streams() {
    static auto& all = *new std::list<SimulatedStream>(1);  // the first is the legacy stream
    return all;
}
SimulatedStream& at(cudaStream_t stream) { return stream == nullptr ? streams().front() : *stream; }

/// Page-locked memory of the host: where each piece begins, and its bytes.
std::map<const std::byte*, std::size_t>& pageLocked() {
    static auto& known = *new std::map<const std::byte*, std::size_t>;
    return known;
}
bool isPageLocked(const void* address) {
    const auto* const byte = static_cast<const std::byte*>(address);
    const auto behind = pageLocked().upper_bound(byte);
    return behind != pageLocked().begin() && byte < std::prev(behind)->first + std::prev(behind)->second;
}

thread_local cudaError_t lastError = cudaSuccess;
cudaError_t failed(cudaError_t error) { return lastError = error; }

/// Does the next work of a stream: grids that run together, or one piece of other work.
void advance(SimulatedStream& stream) {
    std::vector<Grid> grids;
    while (!stream.queue.empty() && std::holds_alternative<Grid>(stream.queue.front()) &&
           (grids.empty() || std::get<Grid>(stream.queue.front()).isEarly)) {
        grids.push_back(std::get<Grid>(std::move(stream.queue.front())));
        stream.queue.pop_front();
    }
    if (!grids.empty()) {
        Simulator::run(grids);
    } else {
        const auto work = std::get<HostWork>(std::move(stream.queue.front()));
        stream.queue.pop_front();
        work();
    }
}
/// Does all work of a stream.
void drain(SimulatedStream& stream) {
    while (!stream.queue.empty()) {
        advance(stream);
    }
}
/// Does the work of a stream up to a mark.
void reach(const std::shared_ptr<Mark>& mark) {
    while (mark && !mark->isReached) {
        advance(at(mark->stream));
    }
}
void drainAll() { std::ranges::for_each(streams(), drain); }

void enqueue(cudaStream_t stream, Work work) {
    const Guard guard(card());
    SimulatedStream& to = at(stream);
    if (to.capture) {
        to.capture->works.push_back(std::move(work));
        return;
    }
    if (stream == nullptr) {
        std::ranges::for_each(streams() | std::views::filter(&SimulatedStream::isBlocking), drain);
    } else if (to.isBlocking) {
        drain(at(nullptr));
    }
    to.queue.push_back(std::move(work));
}

cudaError_t allocateIn(void** memory, std::size_t bytes) {
    const Guard guard(card());
    if (bytes == 0) {
        *memory = nullptr;
        return cudaSuccess;
    }
    *memory = Simulator::allocate(bytes);
    return *memory == nullptr ? failed(cudaErrorMemoryAllocation) : cudaSuccess;
}
cudaError_t freeFrom(void* memory) {
    const Guard guard(card());
    drainAll();
    return memory == nullptr || Simulator::release(memory) ? cudaSuccess : failed(cudaErrorInvalidValue);
}

}  // namespace

namespace Simulator {

int Card::blocksPerMultiprocessor(int threads, std::size_t sharedBytes) const {
    constexpr std::size_t reserved = 1024;  // of shared memory, per block
    const std::size_t byMemory = (sharedBytesPerBlock() + reserved) / (sharedBytes + reserved);
    return static_cast<int>(
        std::min({std::size_t{16}, static_cast<std::size_t>(threadsPerMultiprocessor() / threads), byMemory}));
}

namespace {

template <typename T>
T parse(std::string_view key, std::string_view text, T least, T most) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
        throw std::invalid_argument("simulator: " + std::string(key) + ": expected " + std::to_string(least) + " to " +
                                    std::to_string(most) + ", got \"" + std::string(text) + '"');
    }
    return value;
}

int parseCapability(std::string_view text) {
    for (const auto& [name, capability] : {std::pair{"7.5", 75}, std::pair{"8.0", 80}, std::pair{"9.0", 90}}) {
        if (text == name) {
            return capability;
        }
    }
    throw std::invalid_argument("simulator: capability: expected 7.5, 8.0 or 9.0, got \"" + std::string(text) + '"');
}

BlockOrder parseOrder(std::string_view text) {
    for (const auto& [name, order] : {std::pair{"index", BlockOrder::Index}, std::pair{"any", BlockOrder::Any},
                                      std::pair{"reverse", BlockOrder::Reverse}}) {
        if (text == name) {
            return order;
        }
    }
    throw std::invalid_argument("simulator: order: expected index, any or reverse, got \"" + std::string(text) + '"');
}

void set(Settings& settings, std::string_view key, std::string_view value) {
    if (key == "capability") {
        settings.card.capability = parseCapability(value);
    } else if (key == "multiprocessors") {
        settings.card.multiprocessors = parse(key, value, 1, 256);
    } else if (key == "memory") {
        settings.card.memory = parse(key, value, std::size_t{1} << 20, std::size_t{1} << 40);
    } else if (key == "order") {
        settings.card.order = parseOrder(value);
    } else if (key == "seed") {
        settings.seed = parse(key, value, std::uint64_t{0}, ~std::uint64_t{0});
    } else if (key == "trace") {
        settings.trace = value;
    } else {
        throw std::invalid_argument(
            "simulator: expected capability, multiprocessors, memory, order, seed or trace, got \"" + std::string(key) +
            '"');
    }
}

void apply(Settings& settings, std::string_view text) {
    Settings changed = settings;
    while (!text.empty()) {
        const std::string_view item = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), item.size() + 1));
        const std::size_t equals = item.find('=');
        set(changed, item.substr(0, equals), equals == std::string_view::npos ? "" : item.substr(equals + 1));
    }
    if (changed.trace != settings.trace) {
        traceTo(changed.trace);
    }
    settings = changed;
}

Settings& current() {
    static Settings& settings = *[] {
        auto* const initial = new Settings;
        if (const char* const text = std::getenv("STREAM_COMPACTION_SIMULATOR")) {
            try {
                apply(*initial, text);
            } catch (const std::invalid_argument& error) {
                std::fprintf(stderr, "%s (in STREAM_COMPACTION_SIMULATOR)\n", error.what());
                std::exit(2);
            }
            std::fprintf(stderr, "simulator: %s\n", text);
        }
        return initial;
    }();
    return settings;
}

}  // namespace

const Settings& settings() {
    static const Settings& known = current();
    return known;
}

void configure(std::string_view text) {
    const Guard guard(::card());
    drainAll();
    apply(current(), text);
}

cudaError_t launch(const cudaLaunchConfig_t& config, std::function<void()> thread, const char* name) {
    Grid grid{config.gridDim.x, config.blockDim.x, config.dynamicSmemBytes, false, false, std::move(thread), name};
    unsigned clusterBlocks = 0;
    for (unsigned i = 0; i < config.numAttrs; ++i) {
        const cudaLaunchAttribute& attribute = config.attrs[i];
        grid.isEarly |= attribute.id == cudaLaunchAttributeProgrammaticStreamSerialization;
        grid.isTogether |=
            attribute.id == cudaLaunchAttributeCooperative || attribute.id == cudaLaunchAttributeClusterDimension;
        clusterBlocks =
            attribute.id == cudaLaunchAttributeClusterDimension ? attribute.val.clusterDim.x : clusterBlocks;
    }
    const int threads = static_cast<int>(grid.threads);
    constexpr int mostThreads = 1024;
    if (grid.blocks == 0 || threads < 1 || threads > mostThreads ||
        grid.sharedBytes > Simulator::card().sharedBytesPerBlock() ||
        (clusterBlocks != 0 && (!Simulator::card().hasClusters() || clusterBlocks != grid.blocks)) ||
        (grid.isEarly && !isAtLeast(90))) {
        return failed(cudaErrorInvalidConfiguration);
    }
    const auto resident = static_cast<unsigned>(Simulator::card().blocksPerMultiprocessor(threads, grid.sharedBytes) *
                                                Simulator::card().multiprocessors);
    if (grid.isTogether && grid.blocks > resident) {
        return failed(cudaErrorCooperativeLaunchTooLarge);
    }
    enqueue(config.stream, std::move(grid));
    return cudaSuccess;
}

cudaError_t occupancy(int* blocks, int threads, std::size_t sharedBytes) {
    *blocks = Simulator::card().blocksPerMultiprocessor(threads, sharedBytes);
    return cudaSuccess;
}
cudaError_t attributesOfKernel(cudaFuncAttributes* attributes) {
    constexpr int withoutAsking = 48 << 10;
    *attributes = {0, withoutAsking, Simulator::card().capability};
    return cudaSuccess;
}
cudaError_t largestCluster(int* blocks, const cudaLaunchConfig_t& config) {
    constexpr int most = 16;
    const int resident =
        Simulator::card().blocksPerMultiprocessor(static_cast<int>(config.blockDim.x), config.dynamicSmemBytes) *
        Simulator::card().multiprocessors;
    *blocks = std::min(most, static_cast<int>(std::bit_floor(static_cast<unsigned>(resident))));
    return cudaSuccess;
}

}  // namespace Simulator

cudaError_t cudaGetLastError() { return std::exchange(lastError, cudaSuccess); }
const char* cudaGetErrorName(cudaError_t error) {
    switch (error) {
        case cudaSuccess:
            return "cudaSuccess";
        case cudaErrorInvalidValue:
            return "cudaErrorInvalidValue";
        case cudaErrorMemoryAllocation:
            return "cudaErrorMemoryAllocation";
        case cudaErrorInvalidConfiguration:
            return "cudaErrorInvalidConfiguration";
        case cudaErrorCooperativeLaunchTooLarge:
            return "cudaErrorCooperativeLaunchTooLarge";
    }
    return "an unknown error";
}
const char* cudaGetErrorString(cudaError_t error) {
    switch (error) {
        case cudaSuccess:
            return "no error";
        case cudaErrorInvalidValue:
            return "invalid argument";
        case cudaErrorMemoryAllocation:
            return "out of memory";
        case cudaErrorInvalidConfiguration:
            return "invalid configuration argument";
        case cudaErrorCooperativeLaunchTooLarge:
            return "too many blocks in cooperative launch";
    }
    return "an unknown error";
}

constexpr int simulatedVersion = 13000;
cudaError_t cudaDriverGetVersion(int* version) {
    *version = simulatedVersion;
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
    *version = simulatedVersion;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
    *count = 1;
    return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
    *device = 0;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : failed(cudaErrorInvalidValue); }
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
    const Simulator::Card& card = Simulator::card();
    switch (attribute) {
        case cudaDevAttrClockRate:
            *value = 1'000'000;
            break;
        case cudaDevAttrMultiProcessorCount:
            *value = card.multiprocessors;
            break;
        case cudaDevAttrL2CacheSize:
            *value = 4 << 20;
            break;
        case cudaDevAttrMaxSharedMemoryPerBlockOptin:
            *value = static_cast<int>(card.sharedBytesPerBlock());
            break;
        case cudaDevAttrClusterLaunch:
            *value = card.hasClusters() ? 1 : 0;
            break;
    }
    return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
    const Simulator::Card& card = Simulator::card();
    *properties = {"simulated card", card.capability / 10, card.capability % 10, card.multiprocessors,
                   4 << 20,          card.memory};
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
    const Guard guard(card());
    drainAll();
    return cudaSuccess;
}
cudaError_t cudaDeviceReset() { return cudaDeviceSynchronize(); }

cudaError_t cudaMalloc(void** memory, std::size_t bytes) { return allocateIn(memory, bytes); }
cudaError_t cudaFree(void* memory) { return freeFrom(memory); }
cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
    const Guard guard(card());
    const cudaError_t status = allocateIn(memory, bytes);
    return *memory == nullptr ? status : cudaHostRegister(*memory, bytes, cudaHostRegisterDefault);
}
cudaError_t cudaFreeHost(void* memory) {
    const Guard guard(card());
    drainAll();
    pageLocked().erase(static_cast<const std::byte*>(memory));
    return freeFrom(memory);
}
cudaError_t cudaHostRegister(void* memory, std::size_t bytes, unsigned) {
    const Guard guard(card());
    if (memory == nullptr || bytes == 0) {
        return failed(cudaErrorInvalidValue);
    }
    pageLocked()[static_cast<const std::byte*>(memory)] = bytes;
    return cudaSuccess;
}
cudaError_t cudaHostUnregister(void* memory) {
    const Guard guard(card());
    drainAll();
    return pageLocked().erase(static_cast<const std::byte*>(memory)) != 0 ? cudaSuccess : failed(cudaErrorInvalidValue);
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
    const Guard guard(card());
    attributes->type = isPageLocked(pointer)             ? cudaMemoryTypeHost
                       : Simulator::isAllocated(pointer) ? cudaMemoryTypeDevice
                                                         : cudaMemoryTypeUnregistered;
    return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
    const Guard guard(card());
    *total = Simulator::card().memory;
    *free = *total - Simulator::allocatedBytes();
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    if (bytes == 0) {
        return cudaSuccess;
    }
    if (to == nullptr || from == nullptr) {
        return failed(cudaErrorInvalidValue);
    }
    const Guard guard(card());
    const bool isOnCard = kind == cudaMemcpyDeviceToDevice;
    const void* const call = isOnCard ? Simulator::traceCall(__builtin_return_address(0)) : nullptr;
    enqueue(stream, [=] {
        Simulator::traceWork("memcpy", to, bytes, call, from);
        std::memmove(to, from, bytes);
    });
    const void* const host = kind == cudaMemcpyHostToDevice ? from : kind == cudaMemcpyDeviceToHost ? to : nullptr;
    if (host != nullptr && !isPageLocked(host)) {  // the caller may free pageable memory when the call returns
        drain(at(stream));
    }
    return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    const Guard guard(card());
    const cudaError_t status = cudaMemcpyAsync(to, from, bytes, kind);
    drain(at(nullptr));
    return status;
}
cudaError_t cudaMemsetAsync(void* to, int byte, std::size_t bytes, cudaStream_t stream) {
    if (bytes == 0) {
        return cudaSuccess;
    }
    if (to == nullptr) {
        return failed(cudaErrorInvalidValue);
    }
    const void* const call = Simulator::traceCall(__builtin_return_address(0));
    enqueue(stream, [=] {
        std::memset(to, byte, bytes);
        Simulator::traceWork("memset", to, bytes, call, nullptr);
    });
    return cudaSuccess;
}
cudaError_t cudaMemset(void* to, int byte, std::size_t bytes) { return cudaMemsetAsync(to, byte, bytes); }

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, cudaStreamDefault); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
    const Guard guard(card());
    *stream = &streams().emplace_back(flags == cudaStreamDefault);
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    const Guard guard(card());
    drain(at(stream));
    streams().remove_if([stream](const SimulatedStream& known) { return &known == stream; });
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    const Guard guard(card());
    drain(at(stream));
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
    const Guard guard(card());
    at(stream).capture = std::make_unique<SimulatedGraph>();
    return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
    const Guard guard(card());
    *graph = at(stream).capture.release();
    return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
    *executable = std::make_unique<SimulatedGraph>(*graph).release();
    return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
    for (const Work& work : graph->works) {
        enqueue(stream, work);
    }
    return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    const std::unique_ptr<SimulatedGraph> owned(graph);
    return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
    const Guard guard(card());
    drainAll();
    return cudaGraphDestroy(graph);
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
    *event = std::make_unique<SimulatedEvent>().release();
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    const std::unique_ptr<SimulatedEvent> owned(event);
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    const Guard guard(card());
    event->mark = std::make_shared<Mark>(stream);
    enqueue(stream, [mark = event->mark] {
        mark->isReached = true;
        mark->time = std::chrono::steady_clock::now();
    });
    return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    const Guard guard(card());
    reach(event->mark);
    return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
    const Guard guard(card());
    reach(from->mark);
    reach(to->mark);
    *milliseconds = std::chrono::duration<float, std::milli>(to->mark->time - from->mark->time).count();
    return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    const Guard guard(card());
    enqueue(stream, [mark = event->mark] { reach(mark); });
    return cudaSuccess;
}
