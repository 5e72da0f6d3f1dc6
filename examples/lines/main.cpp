// Counts the lines of a file on the GPU, as `wc -l` does, or says where they begin:
//   lines [--offsets] FILE
// The line feeds are found by a compaction: its elements are offsets, which no array holds, and it keeps those that
// have a line feed before them (split.cu). The file is read piece by piece, so files of any size need little memory.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "split.h"
#include "stream_compaction/common.h"

namespace {

constexpr std::uint32_t pieceBytes = std::uint32_t{1} << 22;

struct Request {
    bool printsOffsets = false;
    std::string file;
};

void printLines(const Request& request) {
    std::ifstream file(request.file, std::ios::binary);
    std::error_code ignored;
    if (!file || std::filesystem::is_directory(request.file, ignored)) {
        throw std::runtime_error("cannot read " + request.file);
    }
    LineSplitter splitter(pieceBytes);
    std::vector<char> memory(pieceBytes);
    std::uint64_t feeds = 0;
    std::uint64_t read = 0;   // bytes
    std::uint64_t begin = 0;  // of the line that has not ended yet
    const auto endLine = [&](std::uint64_t end) {
        if (request.printsOffsets) {
            std::cout << begin << '\n';
        }
        begin = end;
    };
    while (file.read(memory.data(), pieceBytes), file.gcount() > 0) {
        const auto piece = std::span(memory).first(static_cast<std::size_t>(file.gcount()));
        for (const std::uint32_t end : splitter.lineEnds(piece)) {
            endLine(read + end);
            ++feeds;
        }
        read += piece.size();
    }
    if (file.bad()) {
        throw std::runtime_error("cannot read " + request.file);
    }
    if (read > begin) {  // the last line has no line feed
        endLine(read);
    }
    if (!request.printsOffsets) {
        std::cout << feeds << '\n';
    }
}

}  // namespace

int main(int argc, char* argv[]) {
    Request request;
    CLI::App app("Counts the lines of a file on the GPU.", "lines");
    app.add_flag("--offsets", request.printsOffsets, "Print the offset of each line instead");
    app.add_option("FILE", request.file, "File to read")->required();

    constexpr int failure = 2;
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : failure;
    }
    try {
        if (const auto noGpu = StreamCompaction::Common::cudaUnavailableReason()) {
            throw std::runtime_error("no GPU: " + *noGpu);
        }
        printLines(request);
        return std::cout.flush() ? 0 : failure;
    } catch (const std::exception& error) {
        std::cerr << "lines: " << error.what() << '\n';
        return failure;
    }
}
