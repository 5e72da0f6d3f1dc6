#pragma once

#include <stream_compaction/cpu.h>
#include <stream_compaction/utf8/scalar.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "problems/problems.h"
#include "variants/implementation.h"

/// Runs of conversions and validations of text on the CPU.
namespace Bench {

/// `convert(input, output)` gets an output with room for the worst case, and times itself by the library's timer.
template <typename From, typename To, typename Convert>
class ConversionRun final : public PreparedRun {
  public:
    ConversionRun(ConversionProblem<From, To>& problem, Convert convert)
        : problem_(problem), convert_(std::move(convert)) {}

    void poisonOutput() override {
        makeRoom();
        Array<To>& out = problem_.result().elements;
        std::memset(out.data(), 0xCD, out.size() * sizeof(To));
        problem_.result().result = {};
    }
    void launch() override {
        makeRoom();
        problem_.result().result = convert_(problem_.input(), std::span(problem_.result().elements));
    }
    void fetchResult() override { problem_.result().elements.resize(problem_.result().result.count); }

  private:
    void makeRoom() {
        problem_.result().elements.resize(problem_.size() * StreamCompaction::Utf8::mostElements<From, To>);
    }

    ConversionProblem<From, To>& problem_;
    Convert convert_;
};

template <typename From, typename To, typename Convert>
[[nodiscard]] Implementation conversion(Operation operation, std::string_view variant, Convert convert) {
    using SomeProblem = ConversionProblem<From, To>;
    return {operation,
            listedTypeOfText,
            variant,
            {.prepare = [convert](Problem& problem, const Setting&) -> std::unique_ptr<PreparedRun> {
                return std::make_unique<ConversionRun<From, To, Convert>>(dynamic_cast<SomeProblem&>(problem), convert);
            }}};
}

template <typename Validate>
class ValidationRun final : public PreparedRun {
  public:
    ValidationRun(ValidationProblem& problem, Validate validate) : problem_(problem), validate_(std::move(validate)) {}

    void poisonOutput() override { problem_.result() = {}; }
    void launch() override { problem_.result() = validate_(problem_.input()); }
    void fetchResult() override {}

  private:
    ValidationProblem& problem_;
    Validate validate_;
};

/// `validate(input)` returns a Utf8::Result and times itself by the library's timer.
template <typename Validate>
[[nodiscard]] Implementation validation(std::string_view variant, Validate validate) {
    return {Operation::Utf8Validate,
            listedTypeOfText,
            variant,
            {.prepare = [validate](Problem& problem, const Setting&) -> std::unique_ptr<PreparedRun> {
                return std::make_unique<ValidationRun<Validate>>(dynamic_cast<ValidationProblem&>(problem), validate);
            }}};
}

/// Times `convert()`, which returns the length of the result, or nothing for ill-formed text. Peers take only
/// well-formed text.
template <typename Convert>
[[nodiscard]] StreamCompaction::Utf8::Result timedPeer(std::string_view peer, const Convert& convert) {
    std::optional<std::size_t> length;
    StreamCompaction::CPU::timer().timeCpu([&] { length = convert(); });
    if (!length) {
        throw CannotTakeInput(std::string(peer) + " stops at what is ill-formed, or cut off inside a character");
    }
    return {*length, StreamCompaction::Utf8::Result::noError};
}

}  // namespace Bench
