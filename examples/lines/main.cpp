// Counts the lines of a file on the GPU, as `wc -l` does, or says where they begin:
//   lines [--offsets | --longest] FILE
// The line feeds are found by a compaction: its elements are offsets, which no array holds, and it keeps those that
// have a line feed before them (split.cu). The file is read piece by piece, so files of any size need little memory.
#include <CLI/CLI.hpp>
#include <algorithm>
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
    bool printsLongest = false;
    std::string file;
};

/// A line without its end, which is \n or \r\n.
struct Line {
    std::uint64_t number = 0;  ///< the first one has number 1
    std::uint64_t begin = 0;   ///< in bytes from the beginning of the file
    std::uint64_t bytes = 0;
};

/// What has been read of a file, line by line.
class Lines {
  public:
    explicit Lines(bool printsOffsets) : printsOffsets_(printsOffsets) {}

    /// Takes the next piece of the file, in which lines end at these offsets.
    void take(std::span<const char> piece, std::span<const std::uint32_t> ends) {
        for (const std::uint32_t end : ends) {
            const char before = end > 1 ? piece[end - 2] : last_;
            endLine(read_ + end, before == '\r' ? 2 : 1);
            ++feeds_;
        }
        read_ += piece.size();
        last_ = piece.back();
    }
    /// Takes the end of the file, where a line without a line feed ends.
    void finish() {
        if (read_ > begin_) {
            endLine(read_, 0);
        }
    }

    [[nodiscard]] std::uint64_t feeds() const { return feeds_; }
    /// The first of the longest lines.
    [[nodiscard]] const Line& longest() const { return longest_; }

  private:
    /// The next line begins at `end`. This one ends `endBytes` bytes before.
    void endLine(std::uint64_t end, std::uint64_t endBytes) {
        if (printsOffsets_) {
            std::cout << begin_ << '\n';
        }
        const Line line{++number_, begin_, end - endBytes - begin_};
        if (line.number == 1 || line.bytes > longest_.bytes) {
            longest_ = line;
        }
        begin_ = end;
    }

    bool printsOffsets_;
    std::uint64_t read_ = 0;   // bytes
    std::uint64_t begin_ = 0;  // of the line that has not ended yet
    std::uint64_t number_ = 0;
    std::uint64_t feeds_ = 0;
    char last_ = '\n';  // of what has been read
    Line longest_;
};

[[nodiscard]] Lines readLines(const Request& request) {
    std::ifstream file(request.file, std::ios::binary);
    std::error_code ignored;
    if (!file || std::filesystem::is_directory(request.file, ignored)) {
        throw std::runtime_error("cannot read " + request.file);
    }
    LineSplitter splitter(pieceBytes);
    Lines lines(request.printsOffsets);
    std::vector<char> memory(pieceBytes);
    while (file.read(memory.data(), pieceBytes), file.gcount() > 0) {
        const auto piece = std::span(memory).first(static_cast<std::size_t>(file.gcount()));
        lines.take(piece, splitter.lineEnds(piece));
    }
    if (file.bad()) {
        throw std::runtime_error("cannot read " + request.file);
    }
    lines.finish();
    return lines;
}

}  // namespace

int main(int argc, char* argv[]) {
    Request request;
    CLI::App app("Counts the lines of a file on the GPU.", "lines");
    auto* const offsets = app.add_flag("--offsets", request.printsOffsets, "Print the offset of each line instead");
    app.add_flag("--longest", request.printsLongest, "Print the longest line's number, offset and bytes instead")
        ->excludes(offsets);
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
        const Lines lines = readLines(request);
        if (request.printsLongest) {
            const Line& line = lines.longest();
            std::cout << line.number << ' ' << line.begin << ' ' << line.bytes << '\n';
        } else if (!request.printsOffsets) {
            std::cout << lines.feeds() << '\n';
        }
        return std::cout.flush() ? 0 : failure;
    } catch (const std::exception& error) {
        std::cerr << "lines: " << error.what() << '\n';
        return failure;
    }
}
