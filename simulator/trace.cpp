#include "trace.h"

#include <cxxabi.h>
#include <execinfo.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <ranges>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "cuda_runtime.h"
#include "executor.h"
#include "memory.h"

namespace Simulator {

bool tracing = false;

namespace {

/// The return addresses of the calls that led to a step, innermost first.
using Stack = std::vector<const void*>;

/// The first bytes of a piece of memory.
struct Contents {
    static constexpr std::size_t most = 16;
    std::array<std::byte, most> bytes{};

    static Contents of(const void* address, std::size_t bytes) {
        Contents contents;
        std::memcpy(contents.bytes.data(), address, std::min(bytes, most));
        return contents;
    }
    bool operator==(const Contents&) const = default;
};

struct Step {
    const char* operation;
    Launch launch;
    unsigned block;
    unsigned thread;
    Space space;
    std::size_t bytes;
    const Stack* stack;
    const void* array = nullptr;      ///< the allocation, if the memory is global
    std::size_t offset = 0;           ///< within the allocation, or the number that sharedAddress() returns
    Contents contents{};              ///< what was read, stored or copied
    Contents written{};               ///< the contents after an atomic operation
    const void* fromArray = nullptr;  ///< source of a copy from global memory; nullptr if there is none
    std::size_t fromOffset = 0;
};

/// A load of a thread, and its address. If a stretch of code loads from an address and then stores to it, g++ reports
/// only the load. The changed contents reveal the store.
struct Load {
    const void* address;
    Step step;
};

/// The recorded steps. Never destroyed, because statics of the program free memory at exit.
struct Trace {
    std::string file;
    std::vector<Step> steps;
    std::set<Stack> stacks;
    const void* pendingWrite = nullptr;  ///< the address that the step with index pendingStep is about to write
    std::size_t pendingStep = 0;
    std::vector<Load> loads;  ///< recent loads of the running thread
};
Trace& trace() {
    static auto& known = *new Trace;
    return known;
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// A place in the code.
struct Place {
    std::string function;
    std::string file;
    std::string line;
    std::string name{};  ///< of the function, without namespaces, arguments and types
};
using Places = std::vector<Place>;

/// The lines that a command prints.
std::vector<std::string> outputOf(const std::string& command) {
    std::vector<std::string> lines(1);
    const auto close = [](std::FILE* pipe) { pclose(pipe); };
    const std::unique_ptr<std::FILE, decltype(close)> pipe(popen(command.c_str(), "r"), close);
    for (int c = 0; pipe != nullptr && (c = std::fgetc(pipe.get())) != EOF;) {
        if (c == '\n') {
            lines.emplace_back();
        } else {
            lines.back() += static_cast<char>(c);
        }
    }
    lines.pop_back();
    return lines;
}
std::string thisProgram() { return "/proc/" + std::to_string(getpid()) + "/exe"; }

/// The address at which the program is loaded.
std::uintptr_t loadAddress() {
    std::uintptr_t address = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* module, std::size_t, void* found) {
            *static_cast<std::uintptr_t*>(found) = module->dlpi_addr;
            return 1;  // the first module is the program
        },
        &address);
    return address;
}

/// For each return address the function there and those into which it is inlined, innermost first.
std::map<const void*, Places> placesInCode() {
    std::map<const void*, Places> places;
    for (const void* const address : trace().stacks | std::views::join) {
        places[address];
    }
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> addresses(std::tmpfile(), std::fclose);
    if (addresses == nullptr) {
        return places;
    }
    const std::uintptr_t begin = loadAddress();
    for (const void* const address : places | std::views::keys) {
        // A return address is behind the call, so look up the byte before it.
        std::fprintf(addresses.get(), "%zx\n", reinterpret_cast<std::uintptr_t>(address) - begin - 1);
    }
    std::fflush(addresses.get());
    const auto lines = outputOf("addr2line -aifC -e " + thisProgram() + " < /proc/" + std::to_string(getpid()) +
                                "/fd/" + std::to_string(fileno(addresses.get())));
    auto next = places.begin();
    Places* current = nullptr;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (lines[i].starts_with("0x")) {
            current = &(next++)->second;
        } else if (current != nullptr && i + 1 < lines.size()) {
            const std::string& function = lines[i];
            const std::string& at = lines[++i];
            const std::size_t colon = at.rfind(':');
            const std::string_view line = std::string_view(at).substr(colon + 1);
            current->push_back({function, std::filesystem::path(at.substr(0, colon)).lexically_normal().string(),
                                std::string(line.substr(0, line.find_first_not_of("0123456789")))});
        }
    }
    return places;
}

/// The last component of a demangled name, without namespaces, arguments and types.
std::string shortName(const std::string& demangled) {
    static constexpr std::string_view unnamed = "(anonymous namespace)::";
    std::string whole = demangled;
    for (std::size_t at = 0; (at = whole.find(unnamed)) != std::string::npos;) {
        whole.erase(at, unnamed.size());
    }
    std::string name;
    int depth = 0;
    for (const char c : whole) {
        depth -= c == '>' ? 1 : 0;
        if (depth == 0 && c != '<' && c != '>') {
            name += c;
        }
        depth += c == '<' ? 1 : 0;
    }
    static constexpr std::string_view call = "operator()";
    const std::size_t lambda = name.find("::{lambda");
    name.resize(std::min(lambda, name.size()));
    const std::size_t isCall = name.find(call);
    name.resize(std::min(name.find('(', isCall == std::string::npos ? 0 : isCall + call.size()), name.size()));
    return name.substr(name.find_last_of(": ") + 1);
}

/// The names of variables by their offset in static shared memory.
class SharedArrays {
  public:
    SharedArrays() {
        for (const std::string& text : outputOf("readelf -sW " + thisProgram())) {
            std::istringstream line(text);
            std::string number, address, size, type, binding, visibility, section, name;
            line >> number >> address >> size >> type >> binding >> visibility >> section >> name;
            if (type == "TLS" && section != "UND") {
                arrays_[std::stoull(address, nullptr, 16)] = nameOf(name);
            }
        }
    }
    struct Found {
        std::string name;
        std::size_t begin;
    };
    [[nodiscard]] Found at(std::size_t offset) const {
        const auto behind = arrays_.upper_bound(offset);
        return behind == arrays_.begin() ? Found{"", 0} : Found{std::prev(behind)->second, std::prev(behind)->first};
    }

  private:
    static std::string nameOf(const std::string& mangled) {
        const std::unique_ptr<char, decltype(&std::free)> name(
            abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, nullptr), std::free);
        const std::string whole = name == nullptr ? mangled : name.get();
        const std::size_t colon = whole.rfind(':');
        return colon == std::string::npos ? whole : whole.substr(colon + 1);
    }

    std::map<std::size_t, std::string> arrays_;
};

/// The project's folder, with a slash at the end. Not from __FILE__, which a compiler cache may make relative.
constexpr std::string_view projectFolder() { return SIMULATOR_PROJECT_FOLDER; }
/// Whether a reader cares about the place: it is neither in the simulator's headers nor in the compiler's.
bool isOfReader(const Place& place) {
    const std::string_view file = place.file;
    return !file.starts_with(std::string(projectFolder()) + "simulator/") && !file.starts_with("/usr/") &&
           !contains(file, "/include/c++/") && !file.starts_with("?");
}
std::string_view fileOf(const Place& place) {
    std::string_view file = place.file;
    file.remove_prefix(file.starts_with(projectFolder()) ? projectFolder().size() : 0);
    return file;
}

bool isNameOfKernel(std::string_view name) {
    return name.size() > 4 && name.starts_with("kern") && name[4] >= 'A' && name[4] <= 'Z';
}

/// The places of a stack that matter to a reader, from the step to the kernel. Kernels are named kern... here. A kernel
/// with another name, or one that is inlined into its caller, is the outermost function that is no lambda.
Places placesOf(const Stack& stack, const std::map<const void*, Places>& placesInCode) {
    Places places;
    for (const void* const address : stack) {
        std::ranges::copy_if(placesInCode.at(address), std::back_inserter(places), isOfReader);
    }
    for (Place& place : places) {
        place.name = shortName(place.function);
    }
    const auto kernel = std::ranges::find_if(places, isNameOfKernel, &Place::name);
    if (kernel != places.end()) {
        places.erase(kernel + 1, places.end());
    } else {
        while (places.size() > 1 && contains(places.back().function, "{lambda")) {
            places.pop_back();
        }
    }
    return places;
}

/// Whether the library asks for work that is no kernel, and not the program that calls it.
bool isOfLibrary(const Places& places) {
    return !places.empty() && fileOf(places.front()).starts_with("stream_compaction/");
}

/// The kernel's name. If it is inlined, only the launch has the name. Work that is no kernel has the operation's name.
std::string kernelOf(const Places& places, const Launch& launch) {
    const std::string_view launched = std::string_view(launch.name).substr(0, std::string_view(launch.name).find('<'));
    if (launch.number == 0 || isNameOfKernel(launched) || places.empty()) {
        return std::string(launched);
    }
    return places.back().name;
}

/// What a step is in the algorithm, and the place of the function that gives it this name.
struct Marked {
    std::string_view step;
    const Place* place;
};
Marked markOf(const Step& step, const Places& places) {
    static constexpr std::array publications{"::publish"};
    static constexpr std::array lookBacks{"::lookBack", "LookBack::await"};
    static constexpr std::array loads{"TileLoader", "loadRows", "RunLoader", "TextTile", "copyElement"};
    static constexpr std::array stores{"storeVector", "storeRows", "::copyRun",
                                       "storePacked", "storeRun",  "storeEndsByWarp"};
    const auto outermostOf = [&](const auto& functions) -> const Place* {
        for (const Place& place : places | std::views::reverse) {
            if (std::ranges::any_of(functions, [&](const char* f) { return contains(place.function, f); })) {
                return &place;
            }
        }
        return nullptr;
    };
    const Place* const here = places.empty() ? nullptr : &places.front();
    const std::string_view operation = step.operation;
    const bool isGlobal = step.space == Space::Global;
    const bool isStore = contains(operation, "store");
    if (step.bytes == 0) {
        return {operation, here};
    }
    if (isGlobal && contains(operation, "atomic")) {
        if (const Place* const place = outermostOf(publications)) {
            return {"publication", place};
        }
        if (const Place* const place = outermostOf(lookBacks)) {
            return {"look-back", place};
        }
        return {operation, here};
    }
    if (contains(operation, "copy") || isGlobal != isStore) {
        if (const Place* const place = outermostOf(loads)) {
            return {"tile load", place};
        }
    }
    if (isGlobal == isStore) {
        if (const Place* const place = outermostOf(stores)) {
            return {"tile store", place};
        }
    }
    return {operation, here};
}

std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            result += '\\';
        }
        result += c;
    }
    return result;
}

/// Words of four bytes in memory order; a number of one or two bytes alone.
std::string wordsOf(const Contents& contents, std::size_t bytes) {
    std::string words;
    const std::size_t kept = std::min(bytes, Contents::most);
    for (std::size_t at = 0; at < kept; at += 4) {
        std::int32_t word = 0;
        std::memcpy(&word, &contents.bytes[at], std::min<std::size_t>(4, kept - at));
        words += (at == 0 ? "" : ", ") + std::to_string(word);
    }
    return '[' + words + ']';
}

void writePlace(std::ostream& out, std::string_view file, std::string_view line, const Place& place) {
    out << R"(, ")" << file << R"(": ")" << escaped(fileOf(place)) << R"(", ")" << line << R"(": )"
        << (place.line.empty() ? "0" : place.line);
}

/// Numbers things in the order in which the trace meets them, from 1 on.
class Numbers {
  public:
    std::size_t operator()(const void* thing) { return numbers_.try_emplace(thing, numbers_.size() + 1).first->second; }

  private:
    std::map<const void*, std::size_t> numbers_;
};

/// What lines of the trace need to know about the others.
struct Context {
    SharedArrays sharedArrays;
    Numbers arrays;
    Numbers instructions;
};

void writeMemory(std::ostream& out, const Step& step, Context& context) {
    const Space space = step.space;
    std::size_t offset = step.offset;
    out << R"(, "memory": ")" << (space == Space::Global ? "global" : "shared") << R"(", "array": )";
    constexpr std::size_t dynamicBegin = std::size_t{1} << 30;  // in 32-bit addresses, see memory.cpp
    if (space == Space::Global) {
        out << context.arrays(step.array);
    } else if (offset >= dynamicBegin) {
        out << R"("dynamic")";
        offset -= dynamicBegin;
    } else {
        const auto found = context.sharedArrays.at(offset);
        out << '"' << escaped(found.name) << '"';
        offset -= found.begin;
    }
    out << R"(, "offset": )" << offset;
}

void writeStep(std::ostream& out, const Step& step, const Places& places, Context& context) {
    const auto [name, place] = markOf(step, places);
    const std::string kernel = kernelOf(places, step.launch);
    out << R"({"launch": )" << step.launch.number << R"(, "kernel": ")" << escaped(kernel) << R"(", "block": )"
        << step.block << R"(, "thread": )" << step.thread << R"(, "step": ")" << name << R"(", "operation": ")"
        << step.operation << '"';
    if (step.bytes > 0) {
        writeMemory(out, step, context);
        out << R"(, "bytes": )" << step.bytes << R"(, "values": )" << wordsOf(step.contents, step.bytes);
        if (contains(step.operation, "atomic") && !contains(step.operation, "store") &&
            !(step.written == step.contents)) {
            out << R"(, "written": )" << wordsOf(step.written, step.bytes);
        }
        if (step.fromArray != nullptr) {
            out << R"(, "fromArray": )" << context.arrays(step.fromArray) << R"(, "fromOffset": )" << step.fromOffset;
        }
    }
    if (!step.stack->empty()) {
        out << R"(, "site": )" << context.instructions(step.stack->front());
    }
    if (place != nullptr) {
        const bool isInKernel = step.launch.number == 0 || place == &places.back();
        out << R"(, "function": ")" << escaped(isInKernel ? kernel : place->name) << '"';
        writePlace(out, "file", "line", *place);
        if (!isInKernel) {
            writePlace(out, "kernelFile", "kernelLine", places.back());
        }
    }
    out << "}\n";
}

void writeTrace() {
    if (!tracing) {
        return;
    }
    noteWritten();
    tracing = false;
    const auto places = placesInCode();
    if (!trace().stacks.empty() && std::ranges::all_of(places | std::views::values, &Places::empty)) {
        std::fputs("simulator: the trace has no files and lines: addr2line, of binutils, was not found\n", stderr);
    }
    Context context;
    std::map<const Stack*, Places> placesOfStacks;
    const std::string file = trace().file;
    std::ofstream out(file);
    for (const Step& step : trace().steps) {
        auto known = placesOfStacks.find(step.stack);
        if (known == placesOfStacks.end()) {
            known = placesOfStacks.emplace(step.stack, placesOf(*step.stack, places)).first;
        }
        if (step.launch.number == 0 && !isOfLibrary(known->second)) {
            continue;
        }
        writeStep(out, step, known->second, context);
    }
    trace() = {};
    if (!out.flush()) {
        throw std::runtime_error("the trace could not be written to " + file);
    }
}

void writeTraceAtExit() {
    try {
        writeTrace();
    } catch (const std::runtime_error& error) {
        std::fprintf(stderr, "simulator: %s\n", error.what());
    }
}

/// The stack from the call that returns to `where` outwards.
Stack callsFrom(const void* where) {
    std::array<void*, 32> calls{};
    const int count = backtrace(calls.data(), static_cast<int>(calls.size()));
    const auto end = calls.begin() + count;
    const auto begin = std::find(calls.begin(), end, where);
    return begin == end ? Stack{where} : Stack(begin, end);
}

}  // namespace

void traceTo(const std::string& file) {
    writeTrace();
    if (file.empty()) {
        return;
    }
    if (!std::ofstream(file)) {
        throw std::invalid_argument("trace: expected a file that can be written, got " + file);
    }
    static const int once = std::atexit(writeTraceAtExit);
    static_cast<void>(once);
    callsFrom(nullptr);  // loads libraries now, because the stack of a fiber is too small for that
    trace().file = file;
    tracing = true;
}

namespace {

void readPendingWrite() {
    const void* const address = std::exchange(trace().pendingWrite, nullptr);
    if (address == nullptr) {
        return;
    }
    Step& last = trace().steps[trace().pendingStep];
    last.written = Contents::of(address, last.bytes);
    if (contains(last.operation, "store")) {
        last.contents = last.written;
    }
}

/// If one statement loads and stores, g++ reports the store first. Returns whether the step is a load that comes before
/// the pending store.
bool comesAheadOfPendingWrite(const Step& step) {
    const Trace& traced = trace();
    if (traced.pendingWrite == nullptr || std::string_view(step.operation) != "load") {
        return false;
    }
    const Step& store = traced.steps[traced.pendingStep];
    return std::string_view(store.operation) == "store" && store.launch.number == step.launch.number &&
           store.block == step.block && store.thread == step.thread &&
           Contents::of(traced.pendingWrite, store.bytes) == store.written;
}

/// Sets where a step accesses memory, and the contents there.
void setPlace(Step& step, const void* address, const void* from) {
    if (from != nullptr && spaceOf(from) == Space::Global) {
        step.fromOffset = offsetOf(from);
        step.fromArray = static_cast<const std::byte*>(from) - step.fromOffset;
    }
    if (step.space == Space::Global) {
        step.offset = offsetOf(address);
        step.array = static_cast<const std::byte*>(address) - step.offset;
    } else if (step.space == Space::Shared) {
        step.offset = sharedAddress(address);
    }
    if (address != nullptr) {
        step.contents = step.written = Contents::of(from == nullptr ? address : from, step.bytes);
    }
}

/// Returns whether the trace has room for a step. Says once that it has none.
bool hasRoom() {
    constexpr std::size_t most = 1'000'000;
    if (trace().steps.size() < most) {
        return true;
    }
    static bool isTold = false;
    if (!std::exchange(isTold, true)) {
        std::fprintf(stderr, "simulator: the trace ends after %zu steps: trace something smaller\n", most);
    }
    return false;
}

void noteStoresBehindLoads() {
    for (auto& [address, step] : trace().loads) {
        const Contents now = Contents::of(address, step.bytes);
        if (now != step.contents) {
            step.contents = now;
            trace().steps.push_back(step);
        }
    }
}

}  // namespace

void noteWritten() {
    readPendingWrite();
    noteStoresBehindLoads();
    trace().loads.clear();
}

const void* noteCall(const void* where) { return &*trace().stacks.insert(callsFrom(where)).first; }

void noteWork(const char* operation, const void* to, std::size_t bytes, const void* call, const void* from) {
    if (!hasRoom()) {
        return;
    }
    Step step{operation, {0, operation}, 0, 0, spaceOf(to), bytes, static_cast<const Stack*>(call)};
    setPlace(step, to, from);
    trace().steps.push_back(step);
}

void noteStep(const char* operation, const void* address, std::size_t bytes, const void* where, const void* from) {
    const Space space = address == nullptr ? Space::Other : spaceOf(address);
    if (address != nullptr && space == Space::Other) {
        return;
    }
    noteStoresBehindLoads();
    if (!hasRoom()) {
        return;
    }
    const Stack* const stack = &*trace().stacks.insert(callsFrom(where)).first;
    Step step{operation, currentLaunch(), blockIdx.x, threadIdx.x, space, bytes, stack};
    setPlace(step, address, from);
    auto& steps = trace().steps;
    if (comesAheadOfPendingWrite(step)) {
        steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(trace().pendingStep), step);
        ++trace().pendingStep;
    } else {
        readPendingWrite();
        steps.push_back(step);
    }
    auto& loads = trace().loads;
    if (!loads.empty() && (loads.back().step.thread != step.thread || loads.back().step.block != step.block ||
                           loads.back().step.launch.number != step.launch.number)) {
        loads.clear();
    }
    const std::string_view name = operation;
    if (name == "load") {
        constexpr std::size_t mostLoads = 64;
        if (loads.size() == mostLoads) {
            loads.erase(loads.begin());
        }
        std::erase_if(loads, [address](const Load& load) { return load.address == address; });
        loads.push_back({address, step});
        loads.back().step.operation = "store";
    }
    const void* const written = contains(name, "store") || contains(name, "atomic") ? address : nullptr;
    if (written != nullptr) {
        std::erase_if(loads, [&](const Load& load) {
            const auto* const begin = static_cast<const std::byte*>(load.address);
            const auto* const end = static_cast<const std::byte*>(written) + bytes;
            return begin < end && written < begin + load.step.bytes;
        });
        trace().pendingWrite = written;
        trace().pendingStep = steps.size() - 1;
    }
}

}  // namespace Simulator
