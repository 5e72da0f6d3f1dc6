#include <stream_compaction/utf8/scalar.h>

#include <algorithm>
#include <array>
#include <functional>
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

/// A rank's part of a text. It may begin and end inside a unit, so the ranks tell each other the ends of their parts.
template <typename From>
class PartOfText {
    static constexpr std::size_t mostTold = 5;  // elements: a unit is found by four before it, a pair has another one

  public:
    PartOfText(std::span<const From> part, const World& world) : part_(part) {
        if (world.isAlone()) {
            return;
        }
        struct Ends {
            std::size_t count;
            std::array<From, mostTold> first;
            std::array<From, mostTold> last;
        };
        Ends mine{std::min(part.size(), mostTold), {}, {}};
        std::ranges::copy(part.first(mine.count), mine.first.begin());
        std::ranges::copy(part.last(mine.count), mine.last.begin());
        const std::vector<Ends> told = world.gather(mine);
        const auto append = [this](std::span<const From> elements) {
            joined_.insert(joined_.end(), elements.begin(), elements.end());
        };
        const auto me = static_cast<std::size_t>(world.rank());
        joined_.reserve(part.size() + mostTold * told.size());
        for (std::size_t rank = 0; rank < me; ++rank) {
            append(std::span(told[rank].last).first(told[rank].count));
        }
        begin_ = joined_.size();
        append(part);
        for (std::size_t rank = me + 1; rank < told.size(); ++rank) {
            append(std::span(told[rank].first).first(told[rank].count));
        }
    }

    [[nodiscard]] std::size_t size() const { return part_.size(); }

    /// Calls `visit(unit, index)` for each unit that begins in [begin, end), until it returns false.
    template <typename Visit>
    void forEachUnit(std::size_t begin, std::size_t end, const Visit& visit) const {
        Bench::forEachUnit(text(), begin_ + begin, begin_ + end,
                           [&](const Utf8::SerialUnit& unit, std::size_t i) { return visit(unit, i - begin_); });
    }

    /// Calls `visit(element)` for each element of type To that comes from [begin, end), until it returns false. It
    /// comes from the unit's first element. A second surrogate comes from the second element, though, and so do the
    /// last two bytes of a pair.
    template <typename To, typename Visit>
    void forEachElement(std::size_t begin, std::size_t end, const Visit& visit) const {
        begin += begin_;
        end += begin_;
        const std::size_t beginOfPair = begin - std::min(begin, std::size_t{1});
        Bench::forEachUnit(text(), beginOfPair, end, [&](const Utf8::SerialUnit& unit, std::size_t i) {
            std::array<To, 4> elements{};
            const std::size_t count = Utf8::put(unit.codePoint, elements.data());
            const auto comesFrom = [&](std::size_t k) {
                return i + (sizeof(To) > 1 ? k : k * static_cast<std::size_t>(unit.length - 1) / 2);
            };
            for (std::size_t k = 0; k < count; ++k) {
                if (comesFrom(k) >= begin && comesFrom(k) < end && !visit(elements[k])) {
                    return false;
                }
            }
            return true;
        });
    }

  private:
    [[nodiscard]] std::span<const From> text() const {
        return joined_.empty() ? part_ : std::span<const From>(joined_);
    }

    std::span<const From> part_;
    Array<From> joined_;  // the part between what the other ranks tell, if there are any
    std::size_t begin_ = 0;
};

/// The expected conversion of a text to elements of type To, with U+FFFD for each ill-formed unit.
template <typename To>
class Expectation {
  public:
    /// `begin` is the index of the rank's first element in the whole text.
    template <typename From>
    Expectation(const PartOfText<From>& part, std::size_t begin, const World& world)
        : countsBefore_(totalsBefore<std::size_t>(part.size(), [&part](std::size_t first, std::size_t end) {
              std::size_t count = 0;
              part.template forEachElement<To>(first, end, [&count](To) {
                  ++count;
                  return true;
              });
              return count;
          })) {
        std::vector<std::uint64_t> errors(chunksOf(part.size()) + 1, Result::noError);
        forEachChunk(part.size(), [&](std::size_t chunk, std::size_t first, std::size_t end) {
            part.forEachUnit(first, end, [&](const Utf8::SerialUnit& unit, std::size_t i) {
                if (unit.error != Utf8::ErrorKind::None) {
                    errors[chunk] = Result::errorAt(begin + i, unit.error);
                }
                return errors[chunk] == Result::noError;
            });
        });
        whole_ = {world.sum(count()), std::ranges::min(world.gather(std::ranges::min(errors)))};
    }

    /// What the whole text gives.
    [[nodiscard]] const Result& whole() const { return whole_; }
    /// The elements that come from the rank's part.
    [[nodiscard]] std::size_t count() const { return countsBefore_.back(); }
    [[nodiscard]] std::size_t countBefore(std::size_t chunk) const { return countsBefore_[chunk]; }

    [[nodiscard]] Finding mismatch(const Result& got) const {
        if (auto wrong = wrongCount(whole_.count, got.count)) {
            return wrong;
        }
        if (got.firstError != whole_.firstError) {
            return fmt::format("wrong error: expected {}, got {}", describe(whole_), describe(got));
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
    Result whole_{};
};

template <typename From, typename To>
class Conversion final : public ConversionProblem<From, To> {
    using Base = ConversionProblem<From, To>;

  public:
    Conversion(std::shared_ptr<typename Base::Memory> memory, Part part)
        : Base(std::move(memory), part),
          text_(this->input(), this->world()),
          expected_(text_, this->begin(), this->world()) {}

    [[nodiscard]] std::size_t bytesMoved() const override {
        return this->total() * sizeof(From) + expected_.whole().count * sizeof(To);
    }

    [[nodiscard]] Finding mismatch() const override {
        const Converted<To>& got = this->result();
        if (auto wrong = expected_.mismatch(got.result)) {
            return wrong;
        }
        if (auto wrong = wrongCount(expected_.count(), got.elements.size())) {
            return wrong;
        }
        return firstFinding(text_.size(), [&](std::size_t chunk, std::size_t begin, std::size_t end) {
            Finding finding;
            std::size_t at = expected_.countBefore(chunk);
            text_.template forEachElement<To>(begin, end, [&](To element) {
                if (got.elements[at] != element) {
                    finding = mismatchAt(at, static_cast<std::uint32_t>(element),
                                         static_cast<std::uint32_t>(got.elements[at]));
                }
                ++at;
                return !finding;
            });
            return finding;
        });
    }

  private:
    PartOfText<From> text_;
    Expectation<To> expected_;
};

class Validation final : public ValidationProblem {
  public:
    Validation(std::shared_ptr<Memory> memory, Part part)
        : ValidationProblem(std::move(memory), part), expected_(PartOfText(input(), world()), begin(), world()) {}

    [[nodiscard]] std::size_t bytesMoved() const override { return total(); }
    [[nodiscard]] Finding mismatch() const override { return expected_.mismatch(result()); }

  private:
    Expectation<char32_t> expected_;
};

}  // namespace

template <typename From>
std::vector<std::unique_ptr<Problem>> textProblemsOn(Operation operation, Array<From> text,
                                                     std::span<const Part> parts) {
    if constexpr (std::is_same_v<From, std::uint8_t>) {
        switch (operation) {
            case Operation::Utf8ToUtf32:
                return problemsOfKind<Conversion<From, char32_t>>(std::move(text), parts);
            case Operation::Utf8ToUtf16:
                return problemsOfKind<Conversion<From, char16_t>>(std::move(text), parts);
            case Operation::Utf8Validate:
                return problemsOfKind<Validation>(std::move(text), parts);
            default:
                throw std::logic_error("textProblemsOn: no such operation on UTF-8");
        }
    } else {
        return problemsOfKind<Conversion<From, std::uint8_t>>(std::move(text), parts);
    }
}

template std::vector<std::unique_ptr<Problem>> textProblemsOn(Operation, Array<std::uint8_t>, std::span<const Part>);
template std::vector<std::unique_ptr<Problem>> textProblemsOn(Operation, Array<char16_t>, std::span<const Part>);
template std::vector<std::unique_ptr<Problem>> textProblemsOn(Operation, Array<char32_t>, std::span<const Part>);

namespace {

template <typename From>
[[nodiscard]] std::vector<std::unique_ptr<Problem>> makeTextProblemsFrom(Operation operation, InputPattern pattern,
                                                                         std::span<const std::size_t> sizes,
                                                                         std::uint64_t seed, const World& world) {
    return problemsOfSizes(
        sizes, world, [&](Share share) { return makeText<From>(pattern, sizes, seed, share); },
        std::bind_front(textProblemsOn<From>, operation));
}

}  // namespace

std::vector<std::unique_ptr<Problem>> makeTextProblems(Operation operation, InputPattern pattern,
                                                       std::span<const std::size_t> sizes, std::uint64_t seed,
                                                       const World& world) {
    switch (operation) {
        case Operation::Utf32ToUtf8:
            return makeTextProblemsFrom<char32_t>(operation, pattern, sizes, seed, world);
        case Operation::Utf16ToUtf8:
            return makeTextProblemsFrom<char16_t>(operation, pattern, sizes, seed, world);
        default:
            return makeTextProblemsFrom<std::uint8_t>(operation, pattern, sizes, seed, world);
    }
}

std::vector<std::unique_ptr<Problem>> makeFileProblems(Operation operation, const std::filesystem::path& file,
                                                       std::span<const std::size_t> sizes, const World& world) {
    const auto read = [&file](Share share) {
        // From the beginning on, because a pipe has no other place to read from.
        Array<std::uint8_t> text = readText(file, share.begin + share.size);
        text.erase(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(share.begin));
        return text;
    };
    return problemsOfSizes(sizes, world, read, std::bind_front(textProblemsOn<std::uint8_t>, operation));
}

}  // namespace Bench
