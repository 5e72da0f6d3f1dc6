// The devices behind CUDA's runtime interface: errors, memory, streams, graphs, events.
//
// A stream is a queue. Its work is done when the host waits for the stream or for its device. A host that forgets to
// wait reads old data. A kernel that may begin early runs together with the previous ones. Work that waits for other
// streams lets their work be done first.

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <functional>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <ranges>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "cuda_runtime.h"
#include "executor.h"
#include "memory.h"
#include "simulator.h"
#include "streams.h"
#include "trace.h"

using Simulator::Grid;
using Simulator::Guard;
using Simulator::Join;
using Simulator::Joint;
using HostWork = std::function<void()>;

/// The condition of a loop in a graph. Its address is its handle.
struct Condition : std::enable_shared_from_this<Condition> {
    unsigned value = 0;
    unsigned initial = 0;
    bool assignsInitial = false;  ///< when a graph is launched
    bool isInstantiated = false;
};
/// Runs a graph as long as its condition is not 0.
struct Loop {
    std::shared_ptr<Condition> condition;
    std::shared_ptr<SimulatedGraph> body;
};
using Work = std::variant<Grid, HostWork, Join, Loop>;

struct SimulatedNode {
    std::size_t index;  ///< among the nodes of its graph
    Work work;
    std::vector<std::size_t> dependencies;  ///< the indices of nodes that must be done first
    cudaGraph_t body = nullptr;             ///< of a loop
};
struct SimulatedGraph {
    std::deque<SimulatedNode> nodes;  // a deque, because users hold pointers to nodes
    std::vector<std::shared_ptr<Condition>> conditions;

    SimulatedNode& add(Work work, std::vector<std::size_t> dependencies) {
        return nodes.emplace_back(nodes.size(), std::move(work), std::move(dependencies));
    }
};
/// What a stream puts into a graph.
struct Capture {
    SimulatedGraph* graph = nullptr;        ///< nullptr unless the stream captures
    std::vector<std::size_t> dependencies;  ///< of the next node
};
/// Work in a stream.
struct Queued {
    unsigned long long ticket;  ///< later work of any stream has a higher one
    Work work;
    std::shared_ptr<Joint> joint;  ///< made by a Join, otherwise nullptr
};
struct SimulatedStream {
    int device = 0;
    bool isLegacy = false;
    bool isBlocking = false;  ///< it and the legacy stream of its device wait for each other
    std::deque<Queued> queue;
    Capture capture;
};
struct SimulatedEvent {
    int device = 0;
    SimulatedStream* stream = nullptr;
    unsigned long long ticket = 0;  ///< of its latest record
    std::chrono::steady_clock::time_point time;
};

namespace {

/// Guards the simulator.
struct Lock {
    std::mutex mutex;
    std::condition_variable changed;
    unsigned long long changes = 0;
};
Lock& lock() {
    static auto& it = *new Lock;
    return it;
}
thread_local unsigned guards = 0;

thread_local int currentDevice = 0;

constexpr int mostDevices = 64;
std::list<SimulatedStream>& streams() {
    static auto& all = *[] {
        auto* const legacy = new std::list<SimulatedStream>;
        for (int device = 0; device < mostDevices; ++device) {
            legacy->emplace_back(device, true);
        }
        return legacy;
    }();
    return all;
}
SimulatedStream& at(cudaStream_t stream) { return *Simulator::streamOf(stream, currentDevice); }

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

Joint* firstJoint(const SimulatedStream& stream) {
    return stream.queue.empty() ? nullptr : stream.queue.front().joint.get();
}

/// `wanted`, and the streams that it waits for, directly or not. With several devices and a seed, all streams that have
/// work: they may go on at any time.
std::vector<SimulatedStream*> reachedFrom(SimulatedStream& wanted) {
    std::vector<SimulatedStream*> reached{&wanted};
    const auto add = [&reached](SimulatedStream* stream) {
        if (std::ranges::find(reached, stream) == reached.end()) {
            reached.push_back(stream);
        }
    };
    if (Simulator::seed() != 0 && Simulator::settings().devices > 1) {
        for (SimulatedStream& stream : streams() | std::views::filter([](auto& s) { return !s.queue.empty(); })) {
            add(&stream);
        }
    }
    for (std::size_t i = 0; i < reached.size(); ++i) {
        if (Joint* const joint = firstJoint(*reached[i])) {
            joint->isFirst = true;
            std::ranges::for_each(joint->awaited(), add);
        }
    }
    return reached;
}

/// A stream whose work can go on, and must before that of `wanted` is done; nullptr if there is none.
SimulatedStream* chooseAble(SimulatedStream& wanted) {
    std::vector<SimulatedStream*> able = reachedFrom(wanted);
    std::erase_if(able, [](const SimulatedStream* stream) {
        const Joint* const joint = firstJoint(*stream);
        return stream->queue.empty() || (joint != nullptr && !joint->canGoOn());
    });
    return able.empty() ? nullptr : able[Simulator::draw(able.size())];
}

/// The nodes of a graph in an order that their dependencies allow: as they were added, or drawn from the seed.
std::vector<const SimulatedNode*> inOrder(const SimulatedGraph& graph) {
    std::vector<const SimulatedNode*> order;
    std::vector<bool> isDone(graph.nodes.size());
    while (order.size() < graph.nodes.size()) {
        std::vector<const SimulatedNode*> able;
        for (const SimulatedNode& node : graph.nodes) {
            if (!isDone[node.index] && std::ranges::all_of(node.dependencies, [&](auto i) { return isDone[i]; })) {
                able.push_back(&node);
            }
        }
        order.push_back(able[Simulator::draw(able.size())]);
        isDone[order.back()->index] = true;
    }
    return order;
}

/// Does the first work of a stream, or a part of it.
void goOn(SimulatedStream& stream) {
    auto& queue = stream.queue;
    std::vector<Grid> grids;
    while (!queue.empty() && std::holds_alternative<Grid>(queue.front().work) &&
           (grids.empty() || std::get<Grid>(queue.front().work).isEarly)) {
        grids.push_back(std::get<Grid>(std::move(queue.front().work)));
        queue.pop_front();
    }
    if (!grids.empty()) {
        Simulator::run(grids);
    } else if (const std::shared_ptr<Joint> joint = queue.front().joint) {
        if (joint->goOn()) {
            queue.pop_front();
        }
    } else if (const Loop* const loop = std::get_if<Loop>(&queue.front().work)) {
        if (loop->condition->value == 0) {
            queue.pop_front();
        } else {  // the loop stays in the queue, behind its body
            const unsigned long long ticket = queue.front().ticket;
            for (const SimulatedNode* const node : inOrder(*loop->body) | std::views::reverse) {
                queue.push_front({ticket, node->work, nullptr});
            }
        }
    } else {
        const auto work = std::get<HostWork>(std::move(queue.front().work));
        queue.pop_front();
        work();
    }
    Simulator::noteChange();
}

/// Lets other host threads in until one of them changes something.
void awaitChange(const std::function<std::string()>& description) {
    std::unique_lock held(lock().mutex, std::adopt_lock);
    const auto hasChanged = [before = lock().changes] { return lock().changes != before; };
    if (!lock().changed.wait_for(held, std::chrono::seconds(Simulator::settings().patience), hasChanged)) {
        Simulator::fail(description());
    }
    held.release();
}

std::string describeWait(SimulatedStream& wanted) {
    std::string text = "a stream of device " + std::to_string(wanted.device) + " waits for ever";
    for (const SimulatedStream* const stream : reachedFrom(wanted)) {
        if (const Joint* const joint = firstJoint(*stream)) {
            text += "\n  device " + std::to_string(stream->device) + ": " + joint->description();
        }
    }
    return text;
}

bool hasWorkUpTo(const SimulatedStream& stream, unsigned long long ticket) {
    return !stream.queue.empty() && stream.queue.front().ticket <= ticket;
}

/// Does all work of the streams for which isWanted(stream) is true. Other threads may add and remove streams meanwhile.
template <typename IsWanted>
void drainThose(const IsWanted& isWanted) {
    for (;;) {
        const auto wanted = std::ranges::find_if(
            streams(), [&](const SimulatedStream& stream) { return !stream.queue.empty() && isWanted(stream); });
        if (wanted == streams().end()) {
            return;
        }
        if (SimulatedStream* const able = chooseAble(*wanted)) {
            goOn(*able);
        } else {
            awaitChange([&] { return describeWait(*wanted); });
        }
    }
}
void drain(const SimulatedStream& stream) {
    drainThose([&stream](const SimulatedStream& other) { return &other == &stream; });
}

/// Waits for the work of other streams up to a ticket.
class Behind : public Joint {
  public:
    Behind(std::vector<SimulatedStream*> streams, unsigned long long last)
        : streams_(std::move(streams)), last_(last) {}

    [[nodiscard]] std::vector<SimulatedStream*> awaited() const override {
        std::vector<SimulatedStream*> busy;
        for (SimulatedStream& stream : streams()) {
            if (std::ranges::find(streams_, &stream) != streams_.end() && hasWorkUpTo(stream, last_)) {
                busy.push_back(&stream);
            }
        }
        return busy;
    }
    [[nodiscard]] bool canGoOn() const override { return awaited().empty(); }
    bool goOn() override { return true; }
    [[nodiscard]] std::string description() const override { return "waits for another stream of the device"; }

  private:
    std::vector<SimulatedStream*> streams_;  // some may have been destroyed; they have no work then
    unsigned long long last_;
};

unsigned long long lastTicket = 0;
void push(SimulatedStream& to, Work work) {
    const Join* const join = std::get_if<Join>(&work);
    std::shared_ptr<Joint> joint = join != nullptr ? (*join)(&to) : nullptr;
    to.queue.push_back({++lastTicket, std::move(work), std::move(joint)});
    Simulator::noteChange();
}

/// Whether work in `to` waits for earlier work in `other`.
bool isOrdered(const SimulatedStream& to, const SimulatedStream& other) {
    return to.device == other.device && ((to.isLegacy && other.isBlocking) || (to.isBlocking && other.isLegacy));
}

void enqueue(SimulatedStream& to, Work work) {
    if (to.capture.graph != nullptr) {
        to.capture.dependencies = {to.capture.graph->add(std::move(work), to.capture.dependencies).index};
        return;
    }
    std::vector<SimulatedStream*> earlier;
    for (SimulatedStream& other : streams()) {
        if (isOrdered(to, other) && !other.queue.empty()) {
            earlier.push_back(&other);
        }
    }
    if (!earlier.empty()) {
        push(to, Join([&earlier](SimulatedStream*) { return std::make_shared<Behind>(earlier, lastTicket); }));
    }
    push(to, std::move(work));
}
void enqueue(cudaStream_t stream, Work work) {
    const Guard guard;
    enqueue(at(stream), std::move(work));
}

/// The indices of nodes of the graph; none if a node belongs to another one.
std::optional<std::vector<std::size_t>> indicesOf(const SimulatedGraph* graph, std::span<const cudaGraphNode_t> nodes) {
    std::vector<std::size_t> indices;
    for (const SimulatedNode* const node : nodes) {
        if (node->index >= graph->nodes.size() || &graph->nodes[node->index] != node) {
            return std::nullopt;
        }
        indices.push_back(node->index);
    }
    return indices;
}

/// A copy that does not change if the graph does. It has the conditions of the bodies, too.
SimulatedGraph instantiated(const SimulatedGraph& graph) {
    SimulatedGraph copy = graph;
    for (SimulatedNode& node : copy.nodes) {
        if (auto* const loop = std::get_if<Loop>(&node.work)) {
            loop->body = std::make_shared<SimulatedGraph>(instantiated(*loop->body));
            std::ranges::copy(loop->body->conditions, std::back_inserter(copy.conditions));
        }
    }
    return copy;
}
/// Whether work in a loop waits for other streams, which CUDA does not allow.
bool hasWaitInLoop(const SimulatedGraph& graph, bool isBody = false) {
    return std::ranges::any_of(graph.nodes, [isBody](const SimulatedNode& node) {
        const auto* const loop = std::get_if<Loop>(&node.work);
        return loop != nullptr ? hasWaitInLoop(*loop->body, true) : isBody && std::holds_alternative<Join>(node.work);
    });
}
void markInstantiated(const SimulatedGraph& graph, bool isInstantiated) {
    for (const auto& condition : graph.conditions) {
        condition->isInstantiated = isInstantiated;
    }
}

cudaError_t allocateIn(void** memory, std::size_t bytes) {
    const Guard guard;
    if (bytes == 0) {
        *memory = nullptr;
        return cudaSuccess;
    }
    *memory = Simulator::allocate(bytes, currentDevice);
    return *memory == nullptr ? failed(cudaErrorMemoryAllocation) : cudaSuccess;
}
cudaError_t freeFrom(void* memory) {
    const Guard guard;
    Simulator::drainDevice(Simulator::deviceOf(memory));
    return memory == nullptr || Simulator::release(memory) ? cudaSuccess : failed(cudaErrorInvalidValue);
}

}  // namespace

namespace Simulator {

Guard::Guard() {
    if (guards++ == 0) {
        lock().mutex.lock();
    }
}
Guard::~Guard() {
    if (--guards == 0) {
        lock().mutex.unlock();
    }
}

void fail(const std::string& reason) {
    std::fprintf(stderr, "simulator: %s\n", reason.c_str());
    giveUp();
}

SimulatedStream* streamOf(SimulatedStream* stream, int device) {
    return stream == nullptr ? &*std::next(streams().begin(), device) : stream;
}
int deviceOf(const SimulatedStream* stream) { return stream->device; }
void enqueueJoint(SimulatedStream* stream, const Join& join) { enqueue(*stream, join); }
void drainDevice(int device) {
    drainThose([device](const SimulatedStream& stream) { return stream.device == device; });
}

void await(const std::function<bool()>& isTrue, const std::function<std::string()>& description) {
    while (!isTrue()) {
        awaitChange(description);
    }
}
void noteChange() {
    ++lock().changes;
    lock().changed.notify_all();
}

namespace {

std::mt19937_64& random() {
    static std::mt19937_64 it(seed());
    return it;
}

}  // namespace

std::size_t draw(std::size_t n) { return seed() == 0 ? 0 : random()() % n; }

int Card::blocksPerMultiprocessor(int threads, std::size_t sharedBytes) const {
    const std::size_t unit = sharedGranularity();
    const std::size_t taken = (sharedBytes + reservedSharedBytes + unit - 1) / unit * unit;
    const std::size_t byMemory = (sharedBytesPerBlock() + reservedSharedBytes) / taken;
    return static_cast<int>(
        std::min({std::size_t{16}, static_cast<std::size_t>(threadsPerMultiprocessor() / threads), byMemory}));
}

unsigned Card::residentBlocks(int threads, std::size_t sharedBytes) const {
    return static_cast<unsigned>(blocksPerMultiprocessor(threads, sharedBytes) * std::min(multiprocessors, available));
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

template <typename T>
T parse(std::string_view key, std::string_view text, std::initializer_list<std::pair<const char*, T>> choices) {
    std::string names;
    for (const auto& [name, choice] : choices) {
        if (text == name) {
            return choice;
        }
        names += (names.empty() ? "" : ", ") + std::string(name);
    }
    throw std::invalid_argument("simulator: " + std::string(key) + ": expected one of " + names + ", got \"" +
                                std::string(text) + '"');
}

void set(Settings& settings, std::string_view key, std::string_view value) {
    if (key == "capability") {
        settings.card.capability = parse<int>(key, value, {{"7.5", 75}, {"8.0", 80}, {"9.0", 90}});
    } else if (key == "multiprocessors") {
        settings.card.multiprocessors = parse(key, value, 1, 256);
    } else if (key == "available") {
        settings.card.available = parse(key, value, 1, 256);
    } else if (key == "memory") {
        settings.card.memory = parse(key, value, std::size_t{1} << 20, std::size_t{1} << 40);
    } else if (key == "order") {
        settings.card.order = parse<BlockOrder>(
            key, value, {{"index", BlockOrder::Index}, {"any", BlockOrder::Any}, {"reverse", BlockOrder::Reverse}});
    } else if (key == "seed") {
        settings.seed = parse(key, value, std::uint64_t{0}, ~std::uint64_t{0});
    } else if (key == "trace") {
        settings.trace = value;
    } else if (key == "rank") {
        settings.rank = parse(key, value, 0, 1 << 20);
    } else if (key == "devices") {
        settings.devices = parse(key, value, 1, mostDevices);
    } else if (key == "links") {
        settings.links = parse<Links>(key, value, {{"peer", Links::Peer}, {"none", Links::None}});
    } else if (key == "patience") {
        settings.patience = parse(key, value, 1, 86'400);
    } else {
        throw std::invalid_argument(
            "simulator: expected capability, multiprocessors, available, memory, order, seed, trace, rank, devices, "
            "links or patience, got \"" +
            std::string(key) + '"');
    }
}

/// The name of this process's trace file, such as `trace.1.jsonl` for `trace.jsonl` of rank 1.
std::string traceFile(const Settings& settings) {
    std::filesystem::path file = settings.trace;
    if (settings.rank && !file.empty()) {
        file.replace_extension(std::to_string(*settings.rank) + file.extension().string());
    }
    return file.string();
}

void apply(Settings& settings, std::string_view text) {
    Settings changed = settings;
    while (!text.empty()) {
        const std::string_view item = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), item.size() + 1));
        const std::size_t equals = item.find('=');
        set(changed, item.substr(0, equals), equals == std::string_view::npos ? "" : item.substr(equals + 1));
    }
    if (const std::string file = traceFile(changed); file != traceFile(settings)) {
        traceTo(file);
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
    const Guard guard;
    drainThose([](const SimulatedStream&) { return true; });
    apply(current(), text);
    random().seed(seed());
}

namespace {

/// The dynamic shared memory that a kernel may have.
int& allowedSharedBytes(const void* kernel) {
    constexpr int withoutAsking = 48 << 10;
    static auto& allowed = *new std::map<const void*, int>;
    return allowed.try_emplace(kernel, withoutAsking).first->second;
}

}  // namespace

cudaError_t launch(const cudaLaunchConfig_t& config, std::function<void()> thread, const char* name,
                   const void* kernel) {
    const Guard guard;
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
        grid.sharedBytes > static_cast<std::size_t>(allowedSharedBytes(kernel)) ||
        grid.sharedBytes > Simulator::card().sharedBytesPerBlock() ||
        (clusterBlocks != 0 && (!Simulator::card().hasClusters() || clusterBlocks != grid.blocks)) ||
        (grid.isEarly && !isAtLeast(90))) {
        return failed(cudaErrorInvalidConfiguration);
    }
    SimulatedStream& stream = at(config.stream);
    // CUDA does not ask while a stream is captured: the graph then waits for ever.
    if (grid.isTogether && stream.capture.graph == nullptr &&
        grid.blocks > Simulator::card().residentBlocks(threads, grid.sharedBytes)) {
        return failed(clusterBlocks > 0 ? cudaErrorInvalidClusterSize : cudaErrorCooperativeLaunchTooLarge);
    }
    if (stream.device != currentDevice) {
        return failed(cudaErrorInvalidResourceHandle);
    }
    enqueue(stream, std::move(grid));
    return cudaSuccess;
}

cudaError_t occupancy(int* blocks, int threads, std::size_t sharedBytes) {
    *blocks = Simulator::card().blocksPerMultiprocessor(threads, sharedBytes);
    return cudaSuccess;
}
cudaError_t setAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
    const Guard guard;
    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
        if (value < 0 || static_cast<std::size_t>(value) > Simulator::card().sharedBytesPerBlock()) {
            return failed(cudaErrorInvalidValue);
        }
        allowedSharedBytes(kernel) = value;
    }
    return cudaSuccess;
}
cudaError_t attributesOfKernel(cudaFuncAttributes* attributes, const void* kernel) {
    const Guard guard;
    *attributes = {0, allowedSharedBytes(kernel), Simulator::card().capability};
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
cudaError_t cudaPeekAtLastError() { return lastError; }

namespace {

struct ErrorText {
    cudaError_t error;
    const char* name;
    const char* text;
};
constexpr ErrorText errorTexts[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {cudaErrorInvalidClusterSize, "cudaErrorInvalidClusterSize", "cluster misconfiguration"}};

const char* textOf(cudaError_t error, const char* ErrorText::*text) {
    const auto* const known = std::ranges::find(errorTexts, error, &ErrorText::error);
    return known == std::end(errorTexts) ? "an unknown error" : known->*text;
}

}  // namespace

const char* cudaGetErrorName(cudaError_t error) { return textOf(error, &ErrorText::name); }
const char* cudaGetErrorString(cudaError_t error) { return textOf(error, &ErrorText::text); }

cudaError_t cudaDriverGetVersion(int* version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
    *count = Simulator::settings().devices;
    return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
    *device = currentDevice;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
    if (device < 0 || device >= Simulator::settings().devices) {
        return failed(cudaErrorInvalidDevice);
    }
    currentDevice = device;
    return cudaSuccess;
}
// Devices that are linked always reach each other. Enabling is only remembered.
cudaError_t cudaDeviceCanAccessPeer(int* canAccess, int device, int peer) {
    *canAccess = device != peer && Simulator::settings().links == Simulator::Links::Peer ? 1 : 0;
    return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
    int canAccess = 0;
    cudaDeviceCanAccessPeer(&canAccess, currentDevice, peer);
    if (canAccess == 0) {
        return failed(cudaErrorInvalidDevice);
    }
    static std::set<std::pair<int, int>> enabled;
    const Guard guard;
    return enabled.emplace(currentDevice, peer).second ? cudaSuccess : failed(cudaErrorPeerAccessAlreadyEnabled);
}

namespace {

int valueOf(cudaDeviceAttr attribute) {
    const Simulator::Card& card = Simulator::card();
    switch (attribute) {
        case cudaDevAttrClockRate:
            return 1'000'000;
        case cudaDevAttrMultiProcessorCount:
            return card.multiprocessors;
        case cudaDevAttrMemoryClockRate:
            return 1'000'000;
        case cudaDevAttrGlobalMemoryBusWidth:
            return 128 * card.multiprocessors;
        case cudaDevAttrL2CacheSize:
            return 4 << 20;
        case cudaDevAttrMaxSharedMemoryPerBlockOptin:
            return static_cast<int>(card.sharedBytesPerBlock());
        case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
            return static_cast<int>(card.sharedBytesPerBlock() + card.reservedSharedBytes);
        case cudaDevAttrReservedSharedMemoryPerBlock:
            return static_cast<int>(card.reservedSharedBytes);
        case cudaDevAttrComputeCapabilityMajor:
            return card.capability / 10;
        case cudaDevAttrClusterLaunch:
            return card.hasClusters() ? 1 : 0;
    }
    return 0;
}

}  // namespace

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
    *value = valueOf(attribute);
    return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
    const Simulator::Card& card = Simulator::card();
    *properties = {"simulated card", card.capability / 10, card.capability % 10, card.multiprocessors,
                   4 << 20,          card.memory};
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
    const Guard guard;
    Simulator::drainDevice(currentDevice);
    return cudaSuccess;
}
cudaError_t cudaDeviceReset() { return cudaDeviceSynchronize(); }

cudaError_t cudaMalloc(void** memory, std::size_t bytes) { return allocateIn(memory, bytes); }
cudaError_t cudaFree(void* memory) { return freeFrom(memory); }
cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
    const Guard guard;
    const cudaError_t status = allocateIn(memory, bytes);
    return *memory == nullptr ? status : cudaHostRegister(*memory, bytes, cudaHostRegisterDefault);
}
cudaError_t cudaFreeHost(void* memory) {
    const Guard guard;
    const cudaError_t status = freeFrom(memory);
    pageLocked().erase(static_cast<const std::byte*>(memory));
    return status;
}
cudaError_t cudaHostRegister(void* memory, std::size_t bytes, unsigned) {
    const Guard guard;
    if (memory == nullptr || bytes == 0) {
        return failed(cudaErrorInvalidValue);
    }
    pageLocked()[static_cast<const std::byte*>(memory)] = bytes;
    return cudaSuccess;
}
cudaError_t cudaHostUnregister(void* memory) {
    const Guard guard;
    Simulator::drainDevice(currentDevice);
    return pageLocked().erase(static_cast<const std::byte*>(memory)) != 0 ? cudaSuccess : failed(cudaErrorInvalidValue);
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
    const Guard guard;
    attributes->type = isPageLocked(pointer)             ? cudaMemoryTypeHost
                       : Simulator::isAllocated(pointer) ? cudaMemoryTypeDevice
                                                         : cudaMemoryTypeUnregistered;
    return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
    const Guard guard;
    *total = Simulator::card().memory;
    *free = Simulator::freeBytes(currentDevice);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    if (bytes == 0) {
        return cudaSuccess;
    }
    if (to == nullptr || from == nullptr) {
        return failed(cudaErrorInvalidValue);
    }
    const Guard guard;
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
    const Guard guard;
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
    const Guard guard;
    *stream = &streams().emplace_back(currentDevice, false, flags == cudaStreamDefault);
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    const Guard guard;
    drain(at(stream));
    streams().remove_if([stream](const SimulatedStream& known) { return &known == stream; });
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    const Guard guard;
    drain(at(stream));
    return cudaSuccess;
}

/// Nothing runs in the background, so a host that asks lets a part of the work be done.
cudaError_t cudaStreamQuery(cudaStream_t stream) {
    const Guard guard;
    if (at(stream).queue.empty()) {
        return cudaSuccess;
    }
    if (SimulatedStream* const able = chooseAble(at(stream))) {
        goOn(*able);
    }
    return failed(cudaErrorNotReady);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
    const Guard guard;
    if (event->stream != nullptr) {
        enqueue(at(stream), Join([streams = std::vector{event->stream}, ticket = event->ticket](SimulatedStream*) {
                    return std::make_shared<Behind>(streams, ticket);
                }));
    }
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
    const Guard guard;
    cudaGraph_t graph = nullptr;
    cudaGraphCreate(&graph, 0);
    return cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0, mode);
}
cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                          const cudaGraphEdgeData*, std::size_t numDependencies,
                                          cudaStreamCaptureMode) {
    const Guard guard;
    const auto indices = indicesOf(graph, {dependencies, numDependencies});
    if (!indices) {
        return failed(cudaErrorInvalidValue);
    }
    at(stream).capture = {graph, *indices};
    return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
    const Guard guard;
    *status = at(stream).capture.graph == nullptr ? cudaStreamCaptureStatusNone : cudaStreamCaptureStatusActive;
    return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
    const Guard guard;
    *graph = std::exchange(at(stream).capture, {}).graph;
    return cudaSuccess;
}
cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned) {
    *graph = std::make_unique<SimulatedGraph>().release();
    return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* numNodes) {
    if (nodes != nullptr) {
        *numNodes = std::min(*numNodes, graph->nodes.size());
        std::ranges::transform(graph->nodes | std::views::take(*numNodes), nodes, [](auto& node) { return &node; });
    } else {
        *numNodes = graph->nodes.size();
    }
    return cudaSuccess;
}
cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                             unsigned defaultLaunchValue, unsigned flags) {
    const auto condition = std::make_shared<Condition>();
    condition->initial = defaultLaunchValue;
    condition->assignsInitial = flags == cudaGraphCondAssignDefault;
    graph->conditions.push_back(condition);
    *handle = reinterpret_cast<std::uintptr_t>(condition.get());
    return cudaSuccess;
}
void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value) {
    reinterpret_cast<Condition*>(handle)->value = value;
}
cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                             const cudaGraphEdgeData*, std::size_t numDependencies, cudaGraphNodeParams* params) {
    cudaConditionalNodeParams& loop = params->conditional;
    if (params->type != cudaGraphNodeTypeConditional || loop.type != cudaGraphCondTypeWhile) {
        return failed(cudaErrorNotSupported);
    }
    const auto indices = indicesOf(graph, {dependencies, numDependencies});
    if (!indices || loop.handle == 0 || loop.size != 1) {
        return failed(cudaErrorInvalidValue);
    }
    const auto condition = reinterpret_cast<Condition*>(loop.handle)->shared_from_this();
    const auto body = std::make_shared<SimulatedGraph>();
    *node = &graph->add(Loop{condition, body}, *indices);
    (*node)->body = body.get();
    loop.phGraph_out = &(*node)->body;
    return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
    SimulatedGraph copy = instantiated(*graph);
    if (hasWaitInLoop(copy) || std::ranges::any_of(copy.conditions, &Condition::isInstantiated)) {
        return failed(cudaErrorInvalidValue);
    }
    markInstantiated(copy, true);
    *executable = std::make_unique<SimulatedGraph>(std::move(copy)).release();
    return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
    const Guard guard;
    if (!graph->conditions.empty()) {
        enqueue(stream, [conditions = graph->conditions] {
            for (const auto& condition : conditions) {
                const auto undefined = static_cast<unsigned>(Simulator::draw(2));
                condition->value = condition->assignsInitial ? condition->initial : undefined;
            }
        });
    }
    for (const SimulatedNode* const node : inOrder(*graph)) {
        enqueue(stream, node->work);
    }
    return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    const std::unique_ptr<SimulatedGraph> owned(graph);
    return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
    if (graph == nullptr) {
        return failed(cudaErrorInvalidValue);
    }
    markInstantiated(*graph, false);
    return cudaGraphDestroy(graph);
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
    *event = std::make_unique<SimulatedEvent>(currentDevice).release();
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    const cudaError_t status = cudaEventSynchronize(event);
    const std::unique_ptr<SimulatedEvent> owned(event);
    return status;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    const Guard guard;
    if (event->device != at(stream).device) {
        return failed(cudaErrorInvalidResourceHandle);
    }
    event->stream = &at(stream);
    enqueue(*event->stream, [event] { event->time = std::chrono::steady_clock::now(); });
    event->ticket = lastTicket;
    return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    const Guard guard;
    drainThose([event](const SimulatedStream& stream) {
        return &stream == event->stream && hasWorkUpTo(stream, event->ticket);
    });
    return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
    *milliseconds = std::chrono::duration<float, std::milli>(to->time - from->time).count();
    return cudaSuccess;
}
