#pragma once

#include <cstddef>
#include <span>

namespace Bench {

/// The probability that two sets of samples of one distribution differ in their ranks as much as these or more, in
/// either direction (Mann and Whitney, "On a Test of Whether one of Two Random Variables is Stochastically Larger than
/// the Other", 1947). Equal samples share the mean of their ranks. Exact for up to 60 samples in all; beyond, by the
/// normal distribution. 1 if a set is empty.
[[nodiscard]] double rankTest(std::span<const double> a, std::span<const double> b);

/// The same for sets of these sizes of which one lies wholly below the other.
[[nodiscard]] double rankTestOfDisjointSets(std::size_t a, std::size_t b);

}  // namespace Bench
