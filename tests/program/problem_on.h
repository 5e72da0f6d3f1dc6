#pragma once

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "problems/problems.h"

namespace Bench {

/// The problem of the operation on these elements.
template <typename T>
[[nodiscard]] std::unique_ptr<Problem> problemOn(Operation operation, const std::vector<T>& input) {
    const std::array parts{Part{input.size()}};
    return std::move(problemsOn(operation, Array<T>(input.begin(), input.end()), std::span<const Part>(parts)).front());
}

template <typename From>
[[nodiscard]] std::unique_ptr<Problem> textProblemOn(Operation operation, Array<From> text) {
    const std::array parts{Part{text.size()}};
    return std::move(textProblemsOn(operation, std::move(text), std::span<const Part>(parts)).front());
}

}  // namespace Bench
