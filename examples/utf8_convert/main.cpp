// Converts text between UTF-8 and UTF-16, UTF-32 or ISO-8859-1, on the GPU if there is one. It converts piece by piece,
// so files of any size need little memory:
//   utf8_convert --from utf-8 --to utf-32 [--errors replace|skip|strict] IN OUT
// `-` stands for the standard streams. With --errors strict, text that cannot be converted gives exit status 1 and a
// message with its offset.
//
// Encodings have the meaning that they have in iconv and in Python. utf-16le and utf-16be have no byte order mark; a
// mark in the text is a character. utf-16 is written with a mark, in little-endian order. Read, it may have a mark,
// which tells its order, and has little-endian order if not. The same is true of utf-32.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#endif

#include "stream_compaction/cpu/utf8.h"
#include "stream_compaction/utf8.h"
#include "stream_compaction/utf8/piece_decoder.h"
#include "stream_compaction/utf8/scalar.h"

namespace {

namespace Utf8 = StreamCompaction::Utf8;
using Utf8::Bom;
using Utf8::Errors;
using Utf8::Result;

constexpr std::size_t pieceBytes = std::size_t{1} << 24;

enum class Encoding { Utf8, Utf16, Utf16Le, Utf16Be, Utf32, Utf32Le, Utf32Be, Latin1 };

/// Returns `visit(T{})` for the type of the elements of an encoding other than UTF-8.
template <typename Visit>
auto withElement(Encoding encoding, const Visit& visit) {
    switch (encoding) {
        case Encoding::Utf16:
        case Encoding::Utf16Le:
            return visit(char16_t{});
        case Encoding::Utf16Be:
            return visit(Utf8::BigEndian<char16_t>{});
        case Encoding::Utf32:
        case Encoding::Utf32Le:
            return visit(char32_t{});
        case Encoding::Utf32Be:
            return visit(Utf8::BigEndian<char32_t>{});
        case Encoding::Latin1:
            return visit(Utf8::Latin1{});
        case Encoding::Utf8:
            break;
    }
    throw std::logic_error("an encoding without code");
}

/// The name that stands for the standard streams.
constexpr std::string_view standardStream = "-";

struct Request {
    Encoding from = Encoding::Utf8;
    Encoding to = Encoding::Utf32;
    Errors errors = Errors::Replace;
    bool onGpu = false;
    std::string in;
    std::string out;
};

void useBinaryStandardStreams() {
#ifdef _WIN32
    _setmode(_fileno(stdin), _O_BINARY);
    _setmode(_fileno(stdout), _O_BINARY);
#endif
}

/// The name of the input in messages.
[[nodiscard]] std::string inputName(const std::string& name) {
    return name == standardStream ? "standard input" : name;
}

/// The input, read in pieces.
class Source {
  public:
    explicit Source(const std::string& name) : name_(inputName(name)) {
        if (name != standardStream) {
            file_ = std::make_unique<std::ifstream>(name, std::ios::binary);
            std::error_code ignored;
            if (!*file_ || std::filesystem::is_directory(name, ignored)) {
                fail();
            }
        }
    }

    /// Fills `to` as far as there is input. Returns the number of bytes read.
    [[nodiscard]] std::size_t read(std::span<std::uint8_t> to) {
        const std::size_t known = std::min(ahead_.size(), to.size());
        std::copy_n(ahead_.begin(), known, to.begin());
        ahead_.erase(ahead_.begin(), ahead_.begin() + static_cast<std::ptrdiff_t>(known));
        std::istream& stream = file_ ? *file_ : std::cin;
        stream.read(reinterpret_cast<char*>(to.data() + known), static_cast<std::streamsize>(to.size() - known));
        // Errors of std::cin show only in stdin.
        if (stream.bad() || std::ferror(stdin) != 0) {
            fail();
        }
        return known + static_cast<std::size_t>(stream.gcount());
    }

    /// Skips an element if the rest of the input begins with it. Returns whether it did.
    template <typename T>
    [[nodiscard]] bool skip(const T& element) {
        std::array<std::uint8_t, sizeof(T)> begin{};
        const std::size_t bytes = read(begin);
        const bool isThere = bytes == sizeof(T) && std::bit_cast<T>(begin) == element;
        if (isThere) {
            skippedBytes_ += bytes;
        } else {
            ahead_.assign(begin.begin(), begin.begin() + static_cast<std::ptrdiff_t>(bytes));
        }
        return isThere;
    }
    [[nodiscard]] std::size_t skippedBytes() const { return skippedBytes_; }

  private:
    [[noreturn]] void fail() const { throw std::runtime_error("cannot read " + name_); }

    std::string name_;
    std::unique_ptr<std::ifstream> file_;
    std::vector<std::uint8_t> ahead_;  // read, but not skipped
    std::size_t skippedBytes_ = 0;
};

class Sink {
  public:
    explicit Sink(const std::string& name) : name_(name) {
        if (name != standardStream) {
            file_ = std::make_unique<std::ofstream>(name, std::ios::binary);
        }
    }

    template <typename T>
    void write(std::span<const T> elements) {
        std::ostream& stream = file_ ? *file_ : std::cout;
        stream.write(reinterpret_cast<const char*>(elements.data()),
                     static_cast<std::streamsize>(elements.size_bytes()));
        stream.flush();
        if (!stream) {
            throw std::runtime_error("cannot write to " + (name_ == standardStream ? "standard output" : name_));
        }
    }

  private:
    std::string name_;
    std::unique_ptr<std::ofstream> file_;
};

template <typename To>
[[nodiscard]] Result decode(const Request& request, Source& source, Sink& sink) {
    const auto convert = [onGpu = request.onGpu](std::span<const std::uint8_t> in, std::span<To> out, Errors errors,
                                                 Bom bom) {
        return onGpu ? Utf8::decode(in, out, errors, bom) : StreamCompaction::CPU::decodeUtf8(in, out, errors, bom);
    };
    Utf8::PieceDecoder<To> stream(convert, request.errors, Bom::Keep);
    std::vector<std::uint8_t> piece(pieceBytes);
    while (const std::size_t bytes = source.read(piece)) {
        sink.write(stream.feed(std::span(piece).first(bytes)));
        if (request.errors == Errors::Strict && !stream.result().isWellFormed()) {
            return stream.result();
        }
    }
    sink.write(stream.finish());
    return stream.result();
}

/// Encodes piece by piece. If a piece ends between two surrogates, the first one is kept for the next piece. If the
/// input ends within an element right after a first surrogate, the two are one truncated unit.
template <typename From>
[[nodiscard]] Result encode(const Request& request, Source& source, Sink& sink) {
    std::vector<std::uint8_t> bytes(pieceBytes);
    std::vector<From> text;
    std::vector<std::uint8_t> out;
    Result all{0, Result::noError};
    std::size_t offset = source.skippedBytes() / sizeof(From);  // position of `text` in the input, in elements
    bool breaksOff = false;
    for (bool isLast = false; !isLast;) {
        const std::size_t count = source.read(bytes);
        isLast = count < bytes.size();
        breaksOff = count % sizeof(From) != 0;
        const auto* elements = reinterpret_cast<const From*>(bytes.data());
        text.insert(text.end(), elements, elements + count / sizeof(From));
        const bool keepsLast = (!isLast || breaksOff) && !text.empty() && Utf8::isUtf16<From> &&
                               Utf8::isFirstSurrogate(static_cast<char32_t>(text.back()));
        const std::size_t n = text.size() - (keepsLast ? 1 : 0);
        out.resize(n * Utf8::mostElements<From, std::uint8_t>);

        const std::span<const From> now = std::span(text).first(n);
        const Result result = request.onGpu ? Utf8::encode(now, out, request.errors)
                                            : StreamCompaction::CPU::encodeUtf8(now, out, request.errors);
        sink.write(std::span<const std::uint8_t>(out).first(result.count));
        all.count += result.count;
        if (all.isWellFormed() && !result.isWellFormed()) {
            all.firstError = Result::errorAt(offset + result.errorOffset(), result.errorKind());
            if (request.errors == Errors::Strict) {
                return all;
            }
        }
        offset += n;
        text.erase(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(n));
    }
    if (breaksOff) {
        if (all.isWellFormed()) {
            all.firstError = Result::errorAt(offset, Utf8::ErrorKind::Truncated);
        }
        if (request.errors == Errors::Replace) {
            std::array<std::uint8_t, 4> replacement{};
            const std::size_t length = Utf8::put(Utf8::replacementCharacter, replacement.data());
            sink.write(std::span<const std::uint8_t>(replacement).first(length));
            all.count += length;
        }
    }
    return all;
}

/// The encoding of an input with the byte order that its mark tells. Skips the mark.
[[nodiscard]] Encoding readOrder(Encoding encoding, Source& source) {
    const auto hasMark = [&source](auto element) {
        return source.skip(static_cast<decltype(element)>(Utf8::byteOrderMark));
    };
    if (encoding == Encoding::Utf16) {
        return !hasMark(char16_t{}) && hasMark(Utf8::BigEndian<char16_t>{}) ? Encoding::Utf16Be : Encoding::Utf16Le;
    }
    if (encoding == Encoding::Utf32) {
        return !hasMark(char32_t{}) && hasMark(Utf8::BigEndian<char32_t>{}) ? Encoding::Utf32Be : Encoding::Utf32Le;
    }
    return encoding;
}

[[nodiscard]] bool isSameFile(const std::string& a, const std::string& b) {
    std::error_code ignored;
    return a != standardStream && b != standardStream && std::filesystem::equivalent(a, b, ignored);
}

[[nodiscard]] Result convert(const Request& request) {
    Source source(request.in);
    if (isSameFile(request.in, request.out)) {
        throw std::runtime_error(request.in + " and " + request.out + " are the same file");
    }
    Sink sink(request.out);
    if (request.from == Encoding::Utf8) {
        return withElement(request.to, [&](auto element) {
            using To = decltype(element);
            if (request.to == Encoding::Utf16 || request.to == Encoding::Utf32) {
                const auto mark = static_cast<To>(Utf8::byteOrderMark);
                sink.write(std::span(&mark, 1));
            }
            return decode<To>(request, source, sink);
        });
    }
    return withElement(readOrder(request.from, source),
                       [&](auto element) { return encode<decltype(element)>(request, source, sink); });
}

[[nodiscard]] std::size_t elementBytes(Encoding encoding) {
    return encoding == Encoding::Utf8 ? 1 : withElement(encoding, [](auto element) { return sizeof(element); });
}

/// An option that takes one of the names in `choices`.
template <typename T>
void addChoice(CLI::App& app, const std::string& option, T& choice, const std::map<std::string, T>& choices,
               const std::string& description) {
    app.add_option_function<std::string>(
           option, [&](const std::string& name) { choice = choices.at(name); }, description)
        ->transform(CLI::IsMember(&choices, CLI::ignore_case))
        ->type_name("NAME");
}

}  // namespace

int main(int argc, char* argv[]) {
    Request request;
    bool useCpu = false;
    const std::map<std::string, Encoding> encodings{
        {"utf-8", Encoding::Utf8},       {"utf-16", Encoding::Utf16},      {"utf-16le", Encoding::Utf16Le},
        {"utf-16be", Encoding::Utf16Be}, {"utf-32", Encoding::Utf32},      {"utf-32le", Encoding::Utf32Le},
        {"utf-32be", Encoding::Utf32Be}, {"iso-8859-1", Encoding::Latin1}, {"latin1", Encoding::Latin1}};
    const std::map<std::string, Errors> modes{
        {"replace", Errors::Replace}, {"skip", Errors::Skip}, {"strict", Errors::Strict}};

    CLI::App app("Converts text between UTF-8 and UTF-16, UTF-32 or ISO-8859-1, on the GPU.", "utf8_convert");
    addChoice(app, "--from", request.from, encodings, "Encoding of the input [utf-8]");
    addChoice(app, "--to", request.to, encodings, "Encoding of the output [utf-32]");
    addChoice(
        app, "--errors", request.errors, modes,
        "What becomes of text that cannot be converted: replace (by U+FFFD, or by ? in ISO-8859-1), skip, strict (stop "
        "there) [replace]");
    app.add_flag("--cpu", useCpu, "Do without the GPU");
    app.add_option("IN", request.in, "File to read, - for standard input")->required();
    app.add_option("OUT", request.out, "File to write, - for standard output")->required();

    constexpr int illFormed = 1;
    constexpr int failure = 2;
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : failure;
    }
    if ((request.from == Encoding::Utf8) == (request.to == Encoding::Utf8)) {
        std::cerr << "utf8_convert: one of --from and --to has to be utf-8, the other another encoding\n";
        return failure;
    }
    const auto noGpu = StreamCompaction::Common::cudaUnavailableReason();
    request.onGpu = !useCpu && !noGpu;
    if (!useCpu && noGpu) {
        std::cerr << "utf8_convert: on the CPU, because there is no GPU: " << *noGpu << '\n';
    }
    try {
        useBinaryStandardStreams();
        const Result result = convert(request);
        if (request.errors == Errors::Strict && !result.isWellFormed()) {
            std::cerr << "utf8_convert: " << inputName(request.in) << " cannot be converted at byte "
                      << result.errorOffset() * elementBytes(request.from) << ": " << Utf8::describe(result.errorKind())
                      << '\n';
            return illFormed;
        }
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "utf8_convert: " << error.what() << '\n';
        return failure;
    }
}
