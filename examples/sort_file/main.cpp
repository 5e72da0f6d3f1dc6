// Sorts a binary file of keys, or of records that begin with a key, on the GPU. The file may be larger than the memory
// of the card and of the host:
//   sort_file --type float --values 12 --descending IN OUT
// Keys and values stand in the file one after the other, in native byte order. Equal keys stay in order.
//
// Files are mapped into memory, so the system reads and writes their pages as they are needed. The output has the name
// OUT.part until it is complete, and is removed if the sort is interrupted or fails.
#include <CLI/CLI.hpp>
#include <boost/interprocess/file_mapping.hpp>
#include <boost/interprocess/mapped_region.hpp>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "sort.h"
#include "stream_compaction/common.h"

namespace {

namespace fs = std::filesystem;
namespace ipc = boost::interprocess;

struct Request {
    Order order;
    Cards cards;
    std::size_t memoryBytes = std::size_t{1} << 30;
    fs::path in;
    fs::path out;
};

volatile std::sig_atomic_t isInterrupted = 0;

/// The bytes of a file, mapped into memory. A file without bytes is not mapped.
class MappedFile {
  public:
    MappedFile(const fs::path& path, ipc::mode_t mode) : path_(path) {
        if (fs::file_size(path) > 0) {
            region_ = ipc::mapped_region(ipc::file_mapping(path.string().c_str(), mode), mode);
        }
    }

    [[nodiscard]] std::span<std::byte> bytes() const {
        return {static_cast<std::byte*>(region_.get_address()), region_.get_size()};
    }

    /// Writes all changes to the disk.
    void flush() {
        if (region_.get_size() > 0 && !region_.flush(0, 0, false)) {
            throw std::runtime_error("cannot write to " + path_.string());
        }
    }

  private:
    fs::path path_;
    ipc::mapped_region region_;
};

/// A new file in memory. It is removed at the end unless it gets its final name.
class TemporaryFile {
  public:
    TemporaryFile(fs::path path, std::size_t bytes, fs::perms access) : path_(std::move(path)) {
        std::FILE* const file = std::fopen(path_.string().c_str(), "wbx");
        if (file == nullptr) {
            throw std::runtime_error("cannot create " + path_.string() + ": " + std::generic_category().message(errno));
        }
        std::fclose(file);
        try {
            fs::permissions(path_, access | fs::perms::owner_read | fs::perms::owner_write);
            fs::resize_file(path_, bytes);
            mapped_.emplace(path_, ipc::read_write);
        } catch (...) {
            remove();
            throw;
        }
    }
    ~TemporaryFile() { remove(); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    [[nodiscard]] std::span<std::byte> bytes() const { return mapped_->bytes(); }

    /// Writes all changes to the disk.
    void flush() { mapped_->flush(); }

    void rename(const fs::path& finalName) {
        mapped_.reset();
        fs::rename(path_, finalName);
        path_.clear();
    }

  private:
    void remove() noexcept {
        mapped_.reset();  // because some systems do not remove a file that is mapped
        std::error_code ignored;
        fs::remove(path_, ignored);
    }

    fs::path path_;
    std::optional<MappedFile> mapped_;
};

/// A path with another ending behind its own.
[[nodiscard]] fs::path withEnding(const fs::path& path, const char* ending) {
    fs::path result = path;
    result += ending;
    return result;
}

/// Throws unless the disk has room. Writing to a mapped file without room would end the program.
void requireRoom(const fs::path& file, std::size_t bytes) {
    const fs::path folder = fs::absolute(file).parent_path();
    const std::uintmax_t available = fs::space(folder).available;
    if (available < bytes) {
        throw std::runtime_error(folder.string() + ": expected room for " + std::to_string(bytes) + " bytes, got " +
                                 std::to_string(available));
    }
}

/// Returns false if the sort is interrupted.
[[nodiscard]] bool sortFile(const Request& request) {
    if (!fs::is_regular_file(request.in)) {
        throw std::runtime_error("cannot read " + request.in.string() + ": not a file");
    }
    std::optional<MappedFile> in(std::in_place, request.in, ipc::read_only);
    const std::size_t bytes = in->bytes().size();
    const std::size_t recordBytes = request.order.recordBytes();
    if (bytes % recordBytes != 0) {
        throw std::runtime_error(request.in.string() + ": expected a multiple of " + std::to_string(recordBytes) +
                                 " bytes, got " + std::to_string(bytes));
    }
    const fs::path target = fs::weakly_canonical(request.out);  // a link stays one
    const fs::perms access = fs::status(fs::exists(target) ? target : request.in).permissions();
    const bool needsSpareFile = bytes > request.memoryBytes;
    requireRoom(target, needsSpareFile ? 2 * bytes : bytes);
    TemporaryFile out(withEnding(target, ".part"), bytes, access);
    std::optional<TemporaryFile> spare;
    if (needsSpareFile) {
        spare.emplace(withEnding(target, ".runs"), bytes, access);
    }
    if (!sortOnGpu(request.order, request.cards, in->bytes(), out.bytes(),
                   spare ? spare->bytes() : std::span<std::byte>(), [](auto...) { return isInterrupted == 0; })) {
        return false;
    }
    out.flush();
    if (isInterrupted != 0) {
        return false;
    }
    in.reset();  // it may be the file that the output replaces
    out.rename(target);
    return true;
}

}  // namespace

int main(int argc, char* argv[]) {
    Request request;
    const std::map<std::string, KeyType> types{{"int32", KeyType::Int32}, {"uint32", KeyType::Uint32},
                                               {"int64", KeyType::Int64}, {"uint64", KeyType::Uint64},
                                               {"float", KeyType::Float}, {"double", KeyType::Double}};
    CLI::App app("Sorts a binary file of keys, or of records that begin with a key, on the GPU.", "sort_file");
    app.add_option_function<std::string>(
           "--type", [&](const std::string& name) { request.order.type = types.at(name); }, "Type of the keys [int32]")
        ->transform(CLI::IsMember(&types, CLI::ignore_case))
        ->type_name("NAME");
    constexpr std::size_t mostValueBytes = 1 << 20;
    app.add_option("--values", request.order.valueBytes, "Bytes of the value behind each key [0]")
        ->check(CLI::Range(std::size_t{0}, mostValueBytes));
    app.add_flag("--descending", request.order.descending, "Greatest key first");
    app.add_option("--memory", request.memoryBytes,
                   "Memory of the host for a copy of the file; the copy of a larger file is a file, OUT.runs [1 GiB]")
        ->transform(CLI::AsSizeValue(false));
    app.add_option("--device-memory", request.cards.deviceBytes,
                   "Memory of each device to use [three quarters of what is free]")
        ->transform(CLI::AsSizeValue(false));
    app.add_option("--devices", request.cards.devices, "Devices, separated by commas [the first]")->delimiter(',');
    app.add_option("IN", request.in, "File to read")->required();
    app.add_option("OUT", request.out, "File to write; may be the same")->required();

    constexpr int failure = 2;
    constexpr int interrupted = 130;
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : failure;
    }
    try {
        if (const auto noGpu = StreamCompaction::Common::cudaUnavailableReason()) {
            throw std::runtime_error("no GPU: " + *noGpu);
        }
        for (const int signal : {SIGINT, SIGTERM}) {
            std::signal(signal, [](int) { isInterrupted = 1; });
        }
        if (!sortFile(request)) {
            std::cerr << "sort_file: interrupted\n";
            return interrupted;
        }
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "sort_file: " << error.what() << '\n';
        return failure;
    }
}
