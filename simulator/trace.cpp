#include "trace.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "cuda_runtime.h"
#include "memory.h"

extern "C" const char __executable_start;  // of the linker: where the program lies

namespace Simulator {

bool tracing = false;

namespace {

struct Step {
    const char* operation;
    unsigned block;
    unsigned thread;
    Space space;
    std::size_t offset;  ///< within the allocation, or the block's shared memory
    std::size_t bytes;
    std::array<std::uint8_t, 16> value;
    const void* where;
};

struct Place {
    std::string function;
    std::string file;
    std::string line;
};

std::string fileName;
std::vector<Step> steps;
const void* pendingStore = nullptr;

void readPendingStore() {
    if (pendingStore != nullptr) {
        std::memcpy(steps.back().value.data(), pendingStore, std::min<std::size_t>(steps.back().bytes, 16));
        pendingStore = nullptr;
    }
}

/// The functions that each place in the code is inlined into, innermost first.
std::map<const void*, std::vector<Place>> placesInCode() {
    std::map<const void*, std::vector<Place>> places;
    for (const Step& step : steps) {
        places[step.where];
    }
    const std::string addresses = fileName + ".addresses";
    const std::string lines = fileName + ".lines";
    {
        std::ofstream out(addresses);
        for (const auto& [where, unused] : places) {
            // A return address lies behind the call.
            out << std::hex << static_cast<const char*>(where) - &__executable_start - 1 << '\n';
        }
    }
    const std::string command = "addr2line -aifC -e /proc/" + std::to_string(getpid()) + "/exe < '" + addresses +
                                "' > '" + lines + "'";
    if (std::system(command.c_str()) == 0) {
        std::ifstream in(lines);
        auto at = places.begin();
        bool isFirst = true;
        for (std::string text; std::getline(in, text);) {
            if (text.starts_with("0x")) {
                at = isFirst ? places.begin() : std::next(at);
                isFirst = false;
                continue;
            }
            Place place{text, {}, {}};
            std::getline(in, text);
            const std::size_t colon = text.rfind(':');
            place.file = text.substr(0, colon);
            place.line = text.substr(colon + 1, text.find(' ', colon) - colon - 1);
            at->second.push_back(place);
        }
    }
    std::remove(addresses.c_str());
    std::remove(lines.c_str());
    return places;
}

/// The step of an algorithm that a function of the library stands for.
std::string_view stepOf(const std::vector<Place>& places, std::string_view operation) {
    static constexpr std::array<std::array<std::string_view, 2>, 12> known{{{"::publish", "publication"},
                                                                           {"::lookBack", "look-back"},
                                                                           {"LookBack::await", "look-back"},
                                                                           {"::loadVector", "tile load"},
                                                                           {"::TileLoader", "tile load"},
                                                                           {"::loadRows", "tile load"},
                                                                           {"::RunLoader", "tile load"},
                                                                           {"::TextTile", "tile load"},
                                                                           {"::storeVector", "tile store"},
                                                                           {"::copyRun", "tile store"},
                                                                           {"::storePacked", "tile store"},
                                                                           {"::storeRun", "tile store"}}};
    for (const Place& place : places) {
        for (const auto& [name, step] : known) {
            if (place.function.find(name) != std::string::npos) {
                return step;
            }
        }
    }
    return operation;
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

void writeTrace() {
    if (!tracing) {
        return;
    }
    readPendingStore();
    tracing = false;
    const auto places = placesInCode();
    std::ofstream out(fileName);
    for (const Step& step : steps) {
        const std::vector<Place>& inlined = places.at(step.where);
        // The shadow headers are no place that a reader looks for.
        const auto place = std::ranges::find_if(
            inlined, [](const Place& p) { return p.file.find("simulator/") == std::string::npos; });
        out << R"({"kernel": ")" << (inlined.empty() ? "" : escaped(inlined.back().function)) << R"(", "block": )"
            << step.block << R"(, "thread": )" << step.thread << R"(, "step": ")" << stepOf(inlined, step.operation)
            << R"(", "operation": ")" << step.operation << '"';
        if (step.bytes > 0) {
            out << R"(, "memory": ")" << (step.space == Space::Global ? "global" : "shared") << R"(", "offset": )"
                << step.offset << R"(, "bytes": )" << step.bytes << R"(, "value": ")";
            std::array<char, 3> digits{};
            for (std::size_t i = std::min<std::size_t>(step.bytes, 16); i-- > 0;) {
                std::snprintf(digits.data(), digits.size(), "%02x", step.value[i]);
                out << digits.data();
            }
            out << '"';
        }
        if (place != inlined.end()) {
            out << R"(, "file": ")" << escaped(place->file) << R"(", "line": )"
                << (place->line.find_first_not_of("0123456789") == std::string::npos ? place->line : "0");
        }
        out << "}\n";
    }
    steps.clear();
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
    static const int once = std::atexit(writeTrace);
    static_cast<void>(once);
    fileName = file;
    tracing = true;
}

void noteStep(const char* operation, const void* address, std::size_t bytes, const void* where) {
    readPendingStore();
    const Space space = address == nullptr ? Space::Other : spaceOf(address);
    if (address != nullptr && space == Space::Other) {
        return;
    }
    Step step{operation, blockIdx.x, threadIdx.x, space, address == nullptr ? 0 : offsetOf(address), bytes, {}, where};
    if (address != nullptr) {
        std::memcpy(step.value.data(), address, std::min<std::size_t>(bytes, step.value.size()));
    }
    steps.push_back(step);
    pendingStore = std::string_view(operation).find("store") != std::string_view::npos ? address : nullptr;
}

}  // namespace Simulator
