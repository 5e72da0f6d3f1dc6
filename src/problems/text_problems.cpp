#include <stream_compaction/utf8/scalar.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <type_traits>

#include "problems/findings.h"
#include "problems/inputs.h"
#include "problems/problems.h"

namespace Bench {
namespace {

namespace Utf8 = StreamCompaction::Utf8;
using Utf8::Result;

/// The beginning of the first unit that begins at or after element `at`.
[[nodiscard]] std::size_t unitFromOn(std::span<const std::uint8_t> text, std::size_t at) {
    std::uint32_t before = 0;
    for (std::size_t distance = 1; distance <= 4 && distance <= at; ++distance) {
        before |= std::uint32_t{text[at - distance]} << 8 * (4 - distance);
    }
    for (std::uint32_t inside = Utf8::insideOf(before, Utf8::windowAt(text, at)); inside != 0; inside >>= 1) {
        ++at;
    }
    return at;
}
[[nodiscard]] std::size_t unitFromOn(std::span<const char16_t> text, std::size_t at) {
    const bool isInside =
        at > 0 && at < text.size() && Utf8::isSecondSurrogate(text[at]) && Utf8::isFirstSurrogate(text[at - 1]);
    return at + (isInside ? 1 : 0);
}
[[nodiscard]] std::size_t unitFromOn(std::span<const char32_t> /*text*/, std::size_t at) { return at; }

/// Calls `visit(unit, index)` for each unit that begins in [begin, end), until it returns false.
template <typename From, typename Visit>
void forEachUnit(std::span<const From> text, std::size_t begin, std::size_t end, const Visit& visit) {
    for (std::size_t i = unitFromOn(text, begin); i < end;) {
        const Utf8::SerialUnit unit = Utf8::unitFrom(text, i);
        if (!visit(unit, i)) {
            return;
        }
        i += static_cast<std::size_t>(unit.length);
    }
}

/// The expected conversion of a text to elements of type To, with U+FFFD for each ill-formed unit.
template <typename To>
class Expectation {
  public:
    template <typename From>
    explicit Expectation(std::span<const From> text)
        : countsBefore_(totalsBefore<std::size_t>(text.size(), [text](std::size_t begin, std::size_t end) {
              std::size_t count = 0;
              forEachUnit(text, begin, end, [&](const Utf8::SerialUnit& unit, std::size_t) {
                  std::array<To, 4> elements{};
                  count += Utf8::put(unit.codePoint, elements.data());
                  return true;
              });
              return count;
          })) {
        const auto firstErrors = [&](std::size_t begin, std::size_t end) {
            std::uint64_t error = Result::noError;
            forEachUnit(text, begin, end, [&](const Utf8::SerialUnit& unit, std::size_t i) {
                error = unit.error == Utf8::ErrorKind::None ? error : Result::errorAt(i, unit.error);
                return error == Result::noError;
            });
            return error;
        };
        std::vector<std::uint64_t> errors(chunksOf(text.size()), Result::noError);
        forEachChunk(text.size(), [&](std::size_t chunk, std::size_t begin, std::size_t end) {
            errors[chunk] = firstErrors(begin, end);
        });
        const auto first = std::ranges::find_if(errors, [](std::uint64_t error) { return error != Result::noError; });
        firstError_ = first != errors.end() ? *first : Result::noError;
    }

    [[nodiscard]] std::size_t count() const { return countsBefore_.back(); }
    [[nodiscard]] std::size_t countBefore(std::size_t chunk) const { return countsBefore_[chunk]; }

    [[nodiscard]] Finding mismatch(const Result& got) const {
        if (auto wrong = wrongCount(count(), got.count)) {
            return wrong;
        }
        const Result expected{count(), firstError_};
        if (got.firstError != expected.firstError) {
            return fmt::format("wrong error: expected {}, got {}", describe(expected), describe(got));
        }
        return std::nullopt;
    }

  private:
    [[nodiscard]] static std::string describe(const Result& result) {
        return result.isWellFormed()
                   ? "none"
                   : fmt::format("{} at {}", Utf8::describe(result.errorKind()), result.errorOffset());
    }

    std::vector<std::size_t> countsBefore_;
    std::uint64_t firstError_ = Result::noError;
};

template <typename From, typename To>
class Conversion final : public ConversionProblem<From, To> {
    using Base = ConversionProblem<From, To>;

  public:
    Conversion(std::shared_ptr<typename Base::Memory> memory, std::size_t size)
        : Base(std::move(memory), size), expected_(this->input()) {}

    [[nodiscard]] std::size_t bytesMoved() const override {
        return this->size() * sizeof(From) + expected_.count() * sizeof(To);
    }

    [[nodiscard]] Finding mismatch() const override {
        const std::span<const From> text = this->input();
        const Converted<To>& got = this->result();
        if (auto wrong = expected_.mismatch(got.result)) {
            return wrong;
        }
        if (auto wrong = wrongCount(expected_.count(), got.elements.size())) {
            return wrong;
        }
        return firstFinding(text.size(), [&](std::size_t chunk, std::size_t begin, std::size_t end) {
            Finding finding;
            std::size_t at = expected_.countBefore(chunk);
            forEachUnit(text, begin, end, [&](const Utf8::SerialUnit& unit, std::size_t) {
                std::array<To, 4> elements{};
                const std::size_t count = Utf8::put(unit.codePoint, elements.data());
                for (std::size_t i = 0; i < count && !finding; ++i, ++at) {
                    if (got.elements[at] != elements[i]) {
                        finding = mismatchAt(at, static_cast<std::uint32_t>(elements[i]),
                                             static_cast<std::uint32_t>(got.elements[at]));
                    }
                }
                return !finding;
            });
            return finding;
        });
    }

  private:
    Expectation<To> expected_;
};

class Validation final : public ValidationProblem {
  public:
    Validation(std::shared_ptr<Memory> memory, std::size_t size)
        : ValidationProblem(std::move(memory), size), expected_(this->input()) {}

    [[nodiscard]] std::size_t bytesMoved() const override { return this->size(); }
    [[nodiscard]] Finding mismatch() const override { return expected_.mismatch(this->result()); }

  private:
    Expectation<char32_t> expected_;
};

}  // namespace

template <typename From>
std::vector<std::unique_ptr<Problem>> textProblemsOn(Operation operation, Array<From> text,
                                                     std::span<const std::size_t> sizes) {
    if constexpr (std::is_same_v<From, std::uint8_t>) {
        switch (operation) {
            case Operation::Utf8ToUtf32:
                return problemsOfKind<Conversion<From, char32_t>>(std::move(text), sizes);
            case Operation::Utf8ToUtf16:
                return problemsOfKind<Conversion<From, char16_t>>(std::move(text), sizes);
            case Operation::Utf8Validate:
                return problemsOfKind<Validation>(std::move(text), sizes);
            default:
                throw std::logic_error("textProblemsOn: no such operation on UTF-8");
        }
    } else {
        return problemsOfKind<Conversion<From, std::uint8_t>>(std::move(text), sizes);
    }
}

template std::vector<std::unique_ptr<Problem>> textProblemsOn(Operation, Array<std::uint8_t>,
                                                              std::span<const std::size_t>);
template std::vector<std::unique_ptr<Problem>> textProblemsOn(Operation, Array<char16_t>, std::span<const std::size_t>);
template std::vector<std::unique_ptr<Problem>> textProblemsOn(Operation, Array<char32_t>, std::span<const std::size_t>);

std::vector<std::unique_ptr<Problem>> makeTextProblems(Operation operation, InputPattern pattern,
                                                       std::span<const std::size_t> sizes, std::uint64_t seed) {
    switch (operation) {
        case Operation::Utf32ToUtf8:
            return textProblemsOn(operation, makeText<char32_t>(pattern, sizes, seed), sizes);
        case Operation::Utf16ToUtf8:
            return textProblemsOn(operation, makeText<char16_t>(pattern, sizes, seed), sizes);
        default:
            return textProblemsOn(operation, makeText<std::uint8_t>(pattern, sizes, seed), sizes);
    }
}

}  // namespace Bench
