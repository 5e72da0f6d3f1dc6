#include "problems/problems.h"

#include <fmt/format.h>
#include <stream_compaction/common.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "problems/findings.h"
#include "problems/inputs.h"

// Results are checked against the input, in chunks on all cores. An array of expected elements would need too much
// memory for large inputs.
namespace Bench {
namespace {

/// The relative error of dependent floating-point additions (Higham, Accuracy and Stability of Numerical Algorithms,
/// 2002, section 4.2). A result with more than a sixteenth is wrong, whatever rounding explains.
template <typename T>
[[nodiscard]] double errorOf(double additions) {
    constexpr double most = 1.0 / 16;
    return std::min(additions * std::numeric_limits<T>::epsilon() / 2, most);
}

[[nodiscard]] bool isSmaller(const RoundingError& a, const RoundingError& b) { return a.timesBound() < b.timesBound(); }

/// The scan of `function` of each element.
template <typename T, typename Function = std::identity>
class Scan final : public ScanProblem<T> {
    using Sum = SumOf<T>;
    // Scanned floating-point numbers are whole numbers, so integers hold their sums exactly.
    using Exact = std::conditional_t<std::is_floating_point_v<T>, std::int64_t, Sum>;
    using Wrapping = std::make_unsigned_t<Exact>;

  public:
    using ScanProblem<T>::ScanProblem;

    [[nodiscard]] std::size_t bytesMoved() const override { return this->total() * (sizeof(T) + sizeof(Sum)); }

    [[nodiscard]] Finding mismatch() const override {
        const std::span<const T> in = this->input();
        const Array<Sum>& got = this->result();
        if (auto wrong = wrongCount(in.size(), got.size())) {
            return wrong;
        }
        return firstFinding(in.size(), [&](std::size_t chunk, std::size_t begin, std::size_t end) -> Finding {
            Wrapping sum = sumsBefore_[chunk];
            for (std::size_t i = begin; i < end; ++i) {
                if (!agrees(i, static_cast<Exact>(sum))) {
                    return mismatchAt(this->begin() + i, static_cast<Exact>(sum), got[i]);
                }
                sum += wrapping(in[i]);
            }
            return std::nullopt;
        });
    }

    [[nodiscard]] std::optional<RoundingError> roundingError() const override {
        if constexpr (std::is_floating_point_v<Sum>) {
            if (this->result().size() != this->size()) {
                return std::nullopt;
            }
            return worstError(this->size(), [&](std::size_t chunk, std::size_t begin, std::size_t end) {
                RoundingError worst;
                Wrapping sum = sumsBefore_[chunk];
                for (std::size_t i = begin; i < end; ++i) {
                    worst = std::max(worst, errorAt(i, static_cast<Exact>(sum)), isSmaller);
                    sum += wrapping(this->input()[i]);
                }
                return worst;
            });
        } else {
            return std::nullopt;
        }
    }

  private:
    [[nodiscard]] static Wrapping wrapping(T x) { return static_cast<Wrapping>(static_cast<Exact>(Function{}(x))); }

    /// Floating-point sums of whole numbers are exact while they fit into the mantissa. A larger sum may be off by half
    /// a unit in the last place per dependent addition. Their number is at most the number of tiles plus a few within a
    /// tile.
    [[nodiscard]] RoundingError errorAt(std::size_t i, Exact expected) const {
        constexpr std::size_t smallestTile = 1024;
        constexpr std::size_t withinATile = 64;
        const auto sum = static_cast<double>(expected);
        const bool exact = expected <= std::int64_t{1} << std::numeric_limits<Sum>::digits;
        const std::size_t additions = this->total() / smallestTile + withinATile;
        const std::size_t index = this->begin() + i;
        return {index, std::abs(static_cast<double>(this->result()[i]) - sum),
                exact ? 0 : errorOf<Sum>(static_cast<double>(additions)) * sum,
                exact ? 0 : errorOf<Sum>(static_cast<double>(index)) * sum};
    }

    [[nodiscard]] bool agrees(std::size_t i, Exact expected) const {
        if constexpr (std::is_floating_point_v<Sum>) {
            return errorAt(i, expected).timesBound() <= 1;
        } else {
            return this->result()[i] == expected;
        }
    }

    [[nodiscard]] std::vector<Wrapping> sumsBefore() const {
        auto sums = totalsBefore<Wrapping>(this->size(), [in = this->input()](std::size_t begin, std::size_t end) {
            return std::transform_reduce(&in[begin], &in[begin] + (end - begin), Wrapping{}, std::plus<>{}, wrapping);
        });
        const auto ofEarlierRanks = this->world().sumBefore(sums.back());
        std::ranges::for_each(sums, [ofEarlierRanks](Wrapping& sum) { sum += ofEarlierRanks; });
        return sums;
    }

    std::vector<Wrapping> sumsBefore_ = sumsBefore();
};

/// The nonzero elements of an array in order, or the zero elements.
template <typename T>
class Selection {
  public:
    Selection(std::span<const T> in, bool nonzero)
        : in_(in),
          nonzero_(nonzero),
          countsBefore_(totalsBefore<std::size_t>(in.size(), [in, nonzero](std::size_t begin, std::size_t end) {
              const auto zeros = static_cast<std::size_t>(std::count(&in[begin], &in[begin] + (end - begin), T{}));
              return nonzero ? end - begin - zeros : zeros;
          })) {}

    [[nodiscard]] std::size_t count() const { return countsBefore_.back(); }

    [[nodiscard]] Finding mismatch(const Array<T>& got) const {
        if (auto wrong = wrongCount(count(), got.size())) {
            return wrong;
        }
        return firstFinding(in_.size(), [&](std::size_t chunk, std::size_t begin, std::size_t end) -> Finding {
            std::size_t at = countsBefore_[chunk];
            for (const T x : in_.subspan(begin, end - begin)) {
                if ((x != T{}) != nonzero_) {
                    continue;
                }
                if (got[at] != x) {
                    return mismatchAt(at, x, got[at]);
                }
                ++at;
            }
            return std::nullopt;
        });
    }

  private:
    std::span<const T> in_;
    bool nonzero_;
    std::vector<std::size_t> countsBefore_;
};

/// What a rank keeps stays there.
template <typename T>
class Compact final : public CompactProblem<T> {
  public:
    using CompactProblem<T>::CompactProblem;

    [[nodiscard]] std::size_t bytesMoved() const override { return (this->total() + keptByAll_) * sizeof(T); }
    [[nodiscard]] Finding mismatch() const override { return kept_.mismatch(this->result()); }

  private:
    Selection<T> kept_{this->input(), true};
    std::size_t keptByAll_ = this->world().sum(kept_.count());
};

/// The records whose flag is set.
template <typename T>
class CompactFlagged final : public CompactFlaggedProblem<T> {
    static constexpr std::size_t sector = 32;  ///< bytes that DRAM reads at once
    static constexpr std::size_t recordsPerSector = sector / sizeof(Record);

  public:
    using CompactFlaggedProblem<T>::CompactFlaggedProblem;

    /// Records are read in whole sectors.
    [[nodiscard]] std::size_t bytesMoved() const override {
        return this->size() * sizeof(Flag) + count(0, this->size(), recordsPerSector) * sector +
               keptBefore_.back() * sizeof(Record);
    }

    [[nodiscard]] Finding mismatch() const override {
        const Array<Record>& got = this->result();
        if (auto wrong = wrongCount(keptBefore_.back(), got.size())) {
            return wrong;
        }
        return firstFinding(this->size(), [&](std::size_t chunk, std::size_t begin, std::size_t end) -> Finding {
            std::size_t at = keptBefore_[chunk];
            for (std::size_t i = begin; i < end; ++i) {
                if (this->input()[i] == T{}) {
                    continue;
                }
                if (got[at] != recordAt(i)) {
                    return fmt::format("first mismatch at index {}: expected record {}, got {} with complement {}", at,
                                       i, got[at].index, got[at].complement);
                }
                ++at;
            }
            return std::nullopt;
        });
    }

  private:
    /// The groups of `length` neighbours, one of which is kept.
    [[nodiscard]] std::size_t count(std::size_t begin, std::size_t end, std::size_t length) const {
        std::size_t groups = 0;
        for (std::size_t i = begin; i < end; i += length) {
            const std::span<const T> group = this->input().subspan(i, std::min(length, end - i));
            groups += std::ranges::any_of(group, [](T x) { return x != T{}; }) ? 1 : 0;
        }
        return groups;
    }

    std::vector<std::size_t> keptBefore_ = totalsBefore<std::size_t>(
        this->size(), [this](std::size_t begin, std::size_t end) { return count(begin, end, 1); });
};

/// What a rank keeps stays there, and so does what it rejects.
template <typename T>
class Partition final : public PartitionProblem<T> {
  public:
    using PartitionProblem<T>::PartitionProblem;

    [[nodiscard]] std::size_t bytesMoved() const override { return 2 * this->total() * sizeof(T); }

    [[nodiscard]] Finding mismatch() const override {
        const auto inThe = [](std::string_view part, Finding finding) {
            return finding ? Finding(fmt::format("in the {} part: {}", part, *finding)) : std::nullopt;
        };
        if (auto wrong = inThe("kept", kept_.mismatch(this->result().kept))) {
            return wrong;
        }
        return inThe("rejected", rejected_.mismatch(this->result().rejected));
    }

  private:
    Selection<T> kept_{this->input(), true};
    Selection<T> rejected_{this->input(), false};
};

template <typename T>
class MultiPartition final : public MultiPartitionProblem<T> {
    using Places = std::array<std::size_t, LowByte::values>;

  public:
    using MultiPartitionProblem<T>::MultiPartitionProblem;

    [[nodiscard]] std::size_t bytesMoved() const override { return 2 * this->size() * sizeof(T); }

    [[nodiscard]] Finding mismatch() const override {
        const Array<T>& got = this->result();
        if (auto wrong = wrongCount(this->size(), got.size())) {
            return wrong;
        }
        return firstFinding(got.size(), [&](std::size_t chunk, std::size_t begin, std::size_t end) -> Finding {
            Places places = begins_[chunk];
            for (const T x : this->input().subspan(begin, end - begin)) {
                const std::size_t place = places[LowByte{}(x)]++;
                if (got[place] != x) {
                    return mismatchAt(place, x, got[place]);
                }
            }
            return std::nullopt;
        });
    }

  private:
    /// Per chunk and part, the place of its first element.
    [[nodiscard]] std::vector<Places> begins() const {
        std::vector<Places> begins(chunksOf(this->size()));
        forEachChunk(this->size(), [&](std::size_t chunk, std::size_t begin, std::size_t end) {
            begins[chunk].fill(0);
            for (const T x : this->input().subspan(begin, end - begin)) {
                ++begins[chunk][LowByte{}(x)];
            }
        });
        std::size_t before = 0;
        for (std::size_t p = 0; p < LowByte::values; ++p) {
            for (Places& ofChunk : begins) {
                before += std::exchange(ofChunk[p], before);
            }
        }
        return begins;
    }

    std::vector<Places> begins_ = begins();
};

/// A hash of n elements on each rank that does not depend on their order or their ranks: the sum of `hashAt(index)`.
template <typename HashAt>
[[nodiscard]] std::uint64_t fingerprint(const World& world, std::size_t n, const HashAt& hashAt) {
    const auto sumOfHashes = [&hashAt](std::size_t begin, std::size_t end) {
        std::uint64_t sum = 0;
        for (std::size_t i = begin; i < end; ++i) {
            sum += hashAt(i);
        }
        return sum;
    };
    return world.sum(totalsBefore<std::uint64_t>(n, sumOfHashes).back());
}

/// The last element of the ranks before this one, each of which may have none.
template <typename T>
[[nodiscard]] std::optional<T> lastBefore(const World& world, const std::optional<T>& last) {
    struct End {
        bool exists;
        T element;
    };
    const auto ends = world.gather(End{last.has_value(), last.value_or(T{})});
    for (int rank = world.rank(); rank-- > 0;) {
        if (const End& end = ends[static_cast<std::size_t>(rank)]; end.exists) {
            return end.element;
        }
    }
    return std::nullopt;
}

constexpr std::string_view otherElements = "the elements are not those of the input";

/// The first element, of those from `begin` on, that a sort of `in` should not have left there.
template <typename T>
[[nodiscard]] Finding mismatchOfSort(std::span<const T> in, std::span<const T> got, std::size_t begin) {
    Array<T> expected(in.begin(), in.end());
    std::sort(expected.begin(), expected.end());
    const auto [e, g] = std::ranges::mismatch(expected, got);
    return e == expected.end() ? std::nullopt : Finding(mismatchAt(begin + (e - expected.begin()), *e, *g));
}

template <typename T>
class Sort final : public SortProblem<T> {
  public:
    using SortProblem<T>::SortProblem;

    [[nodiscard]] std::size_t bytesMoved() const override { return 2 * this->total() * sizeof(T); }

    /// A result is right if it is ascending and has the elements of the input. A single rank sorts the input for
    /// comparison only if the result is wrong, because that takes long.
    [[nodiscard]] Finding mismatch() const override {
        const Array<T>& got = this->result();
        const bool hasElementsOfInput = fingerprintOf(got) == fingerprint_;
        const std::optional<T> before =
            lastBefore(this->world(), got.empty() ? std::nullopt : std::optional<T>(got.back()));
        if (auto wrong = wrongCount(this->size(), got.size())) {
            return wrong;
        }
        if (before && !got.empty() && got.front() < *before) {
            return "a smaller element follows the last one of an earlier rank";
        }
        const Finding descent =
            firstFinding(got.size(), [&](std::size_t, std::size_t begin, std::size_t end) -> Finding {
                const auto first = got.begin() + static_cast<std::ptrdiff_t>(begin > 0 ? begin - 1 : 0);
                const bool ascending = std::is_sorted(first, got.begin() + static_cast<std::ptrdiff_t>(end));
                return ascending ? std::nullopt : Finding("a smaller element follows a larger one");
            });
        if (!descent && hasElementsOfInput) {
            return std::nullopt;
        }
        if (!this->world().isAlone()) {
            return descent ? descent : Finding(otherElements);
        }
        return mismatchOfSort<T>(this->input(), got, 0);
    }

  private:
    [[nodiscard]] std::uint64_t fingerprintOf(std::span<const T> elements) const {
        return fingerprint(this->world(), elements.size(),
                           [elements](std::size_t i) { return randomAt(0, std::hash<T>{}(elements[i])); });
    }

    std::uint64_t fingerprint_ = fingerprintOf(this->input());
};

template <typename T>
class TopK final : public TopKProblem<T> {
  public:
    using TopKProblem<T>::TopKProblem;

    [[nodiscard]] std::size_t bytesMoved() const override { return (this->size() + this->resultSize()) * sizeof(T); }

    /// A result is right if its elements below the greatest are those of the input, and the greatest is in the input
    /// often enough.
    [[nodiscard]] Finding mismatch() const override {
        const Array<T>& got = this->result();
        if (auto wrong = wrongCount(this->resultSize(), got.size())) {
            return wrong;
        }
        if (got.empty()) {
            return std::nullopt;
        }
        constexpr std::uint64_t seed = 1;  // with 0, the hash of -1 is 0
        const T greatest = *std::ranges::max_element(got);
        const auto upTo = [&](std::span<const T> elements) {
            return totalsBefore<std::size_t>(elements.size(),
                                             [&](std::size_t begin, std::size_t end) {
                                                 const auto part = elements.subspan(begin, end - begin);
                                                 return static_cast<std::size_t>(
                                                     std::ranges::count_if(part, [&](T x) { return x <= greatest; }));
                                             })
                .back();
        };
        const auto below = [&](std::span<const T> elements) {
            return fingerprint(alone, elements.size(), [&, elements](std::size_t i) {
                return elements[i] < greatest ? randomAt(seed, std::hash<T>{}(elements[i])) : 0;
            });
        };
        const bool isRight = upTo(this->input()) >= got.size() && below(this->input()) == below(got);
        return isRight ? std::nullopt
                       : Finding(fmt::format("the elements are not the first {} of the input", got.size()));
    }
};

template <typename K>
class SortPairs final : public SortPairsProblem<K> {
    struct Entry {
        K key;
        PairValue value;

        auto operator<=>(const Entry&) const = default;
    };

  public:
    using SortPairsProblem<K>::SortPairsProblem;

    [[nodiscard]] std::size_t bytesMoved() const override {
        return 2 * this->total() * (sizeof(K) + sizeof(PairValue));
    }

    /// If each pair is greater than its predecessor and the pairs are those of the input, the result has the order of a
    /// stable sort.
    [[nodiscard]] Finding mismatch() const override {
        const Array<K>& keys = this->result().keys;
        const Array<PairValue>& values = this->result().values;
        const std::size_t n = std::min(keys.size(), values.size());
        const auto entryAt = [&](std::size_t i) { return Entry{keys[i], values[i]}; };
        const bool hasPairsOfInput = fingerprintOf(n, entryAt) == fingerprint_;
        const std::optional<Entry> before =
            lastBefore(this->world(), n == 0 ? std::nullopt : std::optional(entryAt(n - 1)));
        if (auto wrong = wrongCount(this->size(), n)) {
            return wrong;
        }
        const Finding wrong = firstFinding(n, [&](std::size_t, std::size_t begin, std::size_t end) -> Finding {
            for (std::size_t i = begin; i < end; ++i) {
                const Entry entry = entryAt(i);
                const std::size_t index = this->begin() + i;
                if (!mayBeOfInput(entry)) {
                    return fmt::format("index {}: ({}, {}) is no pair of the input", index, entry.key, entry.value);
                }
                const std::optional<Entry> previous = i > 0 ? entryAt(i - 1) : before;
                if (previous && *previous >= entry) {
                    return fmt::format("index {}: ({}, {}) stands behind ({}, {})", index, entry.key, entry.value,
                                       previous->key, previous->value);
                }
            }
            return std::nullopt;
        });
        return wrong || hasPairsOfInput ? wrong : Finding(otherElements);
    }

  private:
    template <typename EntryAt>
    [[nodiscard]] std::uint64_t fingerprintOf(std::size_t n, const EntryAt& entryAt) const {
        return fingerprint(this->world(), n, [&entryAt](std::size_t i) {
            const Entry entry = entryAt(i);
            return randomAt(std::hash<K>{}(entry.key), static_cast<std::uint64_t>(entry.value));
        });
    }

    /// Of pairs that other ranks had, only the fingerprint tells more.
    [[nodiscard]] bool mayBeOfInput(const Entry& entry) const {
        if (entry.value < 0 || static_cast<std::size_t>(entry.value) >= this->total()) {
            return false;
        }
        const std::size_t i = static_cast<std::size_t>(entry.value) - this->begin();  // wraps before this rank's part
        return i >= this->size() || this->input()[i] == entry.key;
    }

    std::uint64_t fingerprint_ = fingerprintOf(this->size(), [this](std::size_t i) {
        return Entry{this->input()[i], static_cast<PairValue>(this->begin() + i)};
    });
};

/// A sum of integers, which wraps.
template <typename T>
class WrappingSum {
  public:
    void add(T x) { sum_ = StreamCompaction::Common::wrappingAdd(sum_, x); }
    void add(const WrappingSum& other) { add(other.sum_); }
    [[nodiscard]] T sum() const { return sum_; }

  private:
    T sum_ = 0;
};

/// Equal neighbours are in one run.
template <typename T>
struct IsHeadOfRun {
    [[nodiscard]] bool operator()(std::span<const T> in, std::size_t i) const { return i == 0 || in[i] != in[i - 1]; }
};
template <typename T>
struct IsHeadOfSegment {
    [[nodiscard]] bool operator()(std::span<const T> in, std::size_t i) const { return beginsSegment(in, i); }
};

/// The runs of an array, each of which begins at an element for which `IsHead{}(in, i)` holds.
template <typename T, typename IsHead = IsHeadOfRun<T>>
class Runs {
  public:
    explicit Runs(std::span<const T> in)
        : in_(in), runsBefore_(totalsBefore<std::size_t>(in.size(), [this](std::size_t begin, std::size_t end) {
              std::size_t heads = 0;
              for (std::size_t i = begin; i < end; ++i) {
                  heads += isHead(i) ? 1 : 0;
              }
              return heads;
          })) {}

    [[nodiscard]] std::size_t count() const { return runsBefore_.back(); }

    /// The first finding of `find(run, begin, end)`, called with the number of each run and the places of its elements.
    template <typename Find>
    [[nodiscard]] Finding firstFinding(const Find& find) const {
        return Bench::firstFinding(in_.size(), [&](std::size_t chunk, std::size_t begin, std::size_t end) -> Finding {
            std::size_t run = runsBefore_[chunk];
            for (std::size_t i = begin; i < end; ++i) {
                if (!isHead(i)) {
                    continue;
                }
                std::size_t endOfRun = i + 1;
                while (endOfRun < in_.size() && !isHead(endOfRun)) {
                    ++endOfRun;
                }
                if (Finding finding = find(run, i, endOfRun)) {
                    return finding;
                }
                ++run;
                i = endOfRun - 1;
            }
            return std::nullopt;
        });
    }

  private:
    [[nodiscard]] bool isHead(std::size_t i) const { return IsHead{}(in_, i); }

    std::span<const T> in_;
    std::vector<std::size_t> runsBefore_;
};

template <typename T>
class SegmentedScan final : public SegmentedScanProblem<T> {
    using Sum = SumOf<T>;

  public:
    using SegmentedScanProblem<T>::SegmentedScanProblem;

    /// Without what says where segments begin, because that differs between variants.
    [[nodiscard]] std::size_t bytesMoved() const override { return this->size() * (sizeof(T) + sizeof(Sum)); }

    [[nodiscard]] Finding mismatch() const override {
        const Array<Sum>& got = this->result();
        if (auto wrong = wrongCount(this->size(), got.size())) {
            return wrong;
        }
        return segments_.firstFinding([&](std::size_t, std::size_t begin, std::size_t end) -> Finding {
            WrappingSum<Sum> sum;
            for (std::size_t i = begin; i < end; ++i) {
                if (got[i] != sum.sum()) {
                    return mismatchAt(i, sum.sum(), got[i]);
                }
                sum.add(static_cast<Sum>(this->input()[i]));
            }
            return std::nullopt;
        });
    }

  private:
    Runs<T, IsHeadOfSegment<T>> segments_{this->input()};
};

template <typename T>
class SegmentedSort final : public SegmentedSortProblem<T> {
  public:
    using SegmentedSortProblem<T>::SegmentedSortProblem;

    /// Without the offsets, as for a scan.
    [[nodiscard]] std::size_t bytesMoved() const override { return 2 * this->size() * sizeof(T); }

    [[nodiscard]] Finding mismatch() const override {
        const Array<T>& got = this->result();
        if (auto wrong = wrongCount(this->size(), got.size())) {
            return wrong;
        }
        return segments_.firstFinding([&](std::size_t, std::size_t begin, std::size_t end) -> Finding {
            return mismatchOfSort<T>(this->input().subspan(begin, end - begin),
                                     std::span(got).subspan(begin, end - begin), begin);
        });
    }

  private:
    Runs<T, IsHeadOfSegment<T>> segments_{this->input()};
};

template <typename T>
class Unique final : public UniqueProblem<T> {
  public:
    using UniqueProblem<T>::UniqueProblem;

    [[nodiscard]] std::size_t bytesMoved() const override { return (this->size() + runs_.count()) * sizeof(T); }

    [[nodiscard]] Finding mismatch() const override {
        const Array<T>& got = this->result();
        if (auto wrong = wrongCount(runs_.count(), got.size())) {
            return wrong;
        }
        return runs_.firstFinding([&](std::size_t run, std::size_t begin, std::size_t) -> Finding {
            const T expected = this->input()[begin];
            return got[run] == expected ? std::nullopt : Finding(mismatchAt(run, expected, got[run]));
        });
    }

  private:
    Runs<T> runs_{this->input()};
};

/// The key of each run and a value, `ValueOf{}(begin, end)` for the run of elements [begin, end).
template <typename K, typename ValueOf>
class ValuesOfRuns final : public RunsProblem<K> {
  public:
    using RunsProblem<K>::RunsProblem;

    [[nodiscard]] std::size_t bytesMoved() const override {
        return this->size() * (sizeof(K) + ValueOf::bytesRead) + runs_.count() * (sizeof(K) + sizeof(PairValue));
    }

    [[nodiscard]] Finding mismatch() const override {
        const Array<K>& keys = this->result().keys;
        const Array<PairValue>& values = this->result().values;
        if (auto wrong = wrongCount(runs_.count(), std::min(keys.size(), values.size()))) {
            return wrong;
        }
        return runs_.firstFinding([&](std::size_t run, std::size_t begin, std::size_t end) -> Finding {
            const K key = this->input()[begin];
            const PairValue value = ValueOf{}(begin, end);
            return keys[run] == key && values[run] == value
                       ? std::nullopt
                       : Finding(fmt::format("first mismatch at index {}: expected ({}, {}), got ({}, {})", run, key,
                                             value, keys[run], values[run]));
        });
    }

  private:
    Runs<K> runs_{this->input()};
};

struct Length {
    static constexpr std::size_t bytesRead = 0;

    [[nodiscard]] PairValue operator()(std::size_t begin, std::size_t end) const {
        return static_cast<PairValue>(end - begin);
    }
};

struct SumOfIndices {
    static constexpr std::size_t bytesRead = sizeof(PairValue);

    [[nodiscard]] PairValue operator()(std::size_t begin, std::size_t end) const {
        return static_cast<PairValue>((end - begin) * (begin + end - 1) / 2);
    }
};

/// A compensated floating-point sum (Neumaier, 1974), which keeps the rounding error of each addition, and the sum of
/// the absolute values.
class PreciseSum {
  public:
    void add(double x) {
        const double sum = sum_ + x;
        lost_ += std::abs(sum_) >= std::abs(x) ? (sum_ - sum) + x : (x - sum) + sum_;
        sum_ = sum;
        magnitude_ += std::abs(x);
    }
    void add(const PreciseSum& other) {
        const double magnitude = magnitude_ + other.magnitude_;
        add(other.sum_);
        lost_ += other.lost_;
        magnitude_ = magnitude;
    }

    [[nodiscard]] double sum() const { return sum_ + lost_; }
    [[nodiscard]] double magnitude() const { return magnitude_; }

  private:
    double sum_ = 0;
    double lost_ = 0;
    double magnitude_ = 0;
};

template <typename T>
class RowSum final : public RowSumProblem<T> {
    using Sum = SumOf<T>;
    using Expected = std::conditional_t<std::is_floating_point_v<T>, PreciseSum, WrappingSum<Sum>>;

  public:
    using RowSumProblem<T>::RowSumProblem;

    [[nodiscard]] std::size_t bytesMoved() const override {
        return this->size() * sizeof(T) + this->rows() * sizeof(Sum);
    }

    [[nodiscard]] Finding mismatch() const override {
        const Array<Sum>& got = this->result();
        if (auto wrong = wrongCount(this->rows(), got.size())) {
            return wrong;
        }
        return firstFinding(this->rows(), [&](std::size_t, std::size_t begin, std::size_t end) -> Finding {
            for (std::size_t row = begin; row < end; ++row) {
                const Expected expected = expectedOf(row);
                if (!agrees(row, expected)) {
                    return mismatchAt(row, expected.sum(), got[row]);
                }
            }
            return std::nullopt;
        });
    }

    [[nodiscard]] std::optional<RoundingError> roundingError() const override {
        if constexpr (std::is_floating_point_v<Sum>) {
            if (this->result().size() != this->rows()) {
                return std::nullopt;
            }
            return worstError(this->rows(), [&](std::size_t, std::size_t begin, std::size_t end) {
                RoundingError worst;
                for (std::size_t row = begin; row < end; ++row) {
                    worst = std::max(worst, errorAt(row, expectedOf(row)), isSmaller);
                }
                return worst;
            });
        } else {
            return std::nullopt;
        }
    }

  private:
    /// Uses all cores for long rows.
    [[nodiscard]] Expected expectedOf(std::size_t row) const {
        const std::span<const T> elements = this->input().subspan(row * this->cols(), this->cols());
        if (elements.size() <= defaultChunkSize) {
            return sumOf(elements);
        }
        std::vector<Expected> parts(chunksOf(elements.size()));
        forEachChunk(elements.size(), [&](std::size_t chunk, std::size_t begin, std::size_t end) {
            parts[chunk] = sumOf(elements.subspan(begin, end - begin));
        });
        return sumOf(std::span<const Expected>(parts));
    }

    template <typename Addend>
    [[nodiscard]] static Expected sumOf(std::span<const Addend> addends) {
        Expected sum;
        for (const Addend& addend : addends) {
            sum.add(addend);
        }
        return sum;
    }

    /// A floating-point sum may have the rounding error of an addition tree of 4 log2(cols) levels.
    [[nodiscard]] RoundingError errorAt(std::size_t row, const Expected& expected) const {
        const double levels = 4 * std::log2(static_cast<double>(this->cols()));
        return {row, std::abs(static_cast<double>(this->result()[row]) - expected.sum()),
                errorOf<Sum>(levels) * expected.magnitude(),
                errorOf<Sum>(static_cast<double>(this->cols())) * expected.magnitude()};
    }

    [[nodiscard]] bool agrees(std::size_t row, const Expected& expected) const {
        if constexpr (std::is_floating_point_v<Sum>) {
            return errorAt(row, expected).timesBound() <= 1;
        } else {
            return this->result()[row] == expected.sum();
        }
    }
};

template <typename T, std::size_t bins>
class Histogram final : public HistogramProblem<T, bins> {
    using Base = HistogramProblem<T, bins>;

  public:
    using Base::Base;

    [[nodiscard]] std::size_t bytesMoved() const override { return this->size() * sizeof(T) + bins * sizeof(BinCount); }

    [[nodiscard]] Finding mismatch() const override {
        const Array<BinCount>& got = this->result();
        if (auto wrong = wrongCount(bins, got.size())) {
            return wrong;
        }
        for (std::size_t bin = 0; bin < bins; ++bin) {
            if (got[bin] != expected_[bin]) {
                return mismatchAt(bin, expected_[bin], got[bin]);
            }
        }
        return std::nullopt;
    }

  private:
    [[nodiscard]] std::vector<BinCount> expected() const {
        constexpr std::size_t mostChunks = 64;  // each has its own counts
        const std::size_t n = this->size();
        const std::size_t chunkSize =
            std::max(defaultChunkSize, StreamCompaction::Common::divideRoundUp(n, mostChunks));
        std::vector<std::vector<BinCount>> counts(chunksOf(n, chunkSize), std::vector<BinCount>(bins));
        forEachChunk(
            n,
            [&](std::size_t chunk, std::size_t begin, std::size_t end) {
                for (const T x : this->input().subspan(begin, end - begin)) {
                    if (const std::uint32_t bin = BinFrom{firstBin<T>}(x); bin < bins) {
                        ++counts[chunk][bin];
                    }
                }
            },
            chunkSize);
        std::vector<BinCount> sums(bins);
        for (const std::vector<BinCount>& ofChunk : counts) {
            std::ranges::transform(sums, ofChunk, sums.begin(), std::plus<>{});
        }
        return sums;
    }

    std::vector<BinCount> expected_ = expected();
};

[[nodiscard]] std::vector<Shape> nearSquares(std::span<const Part> parts) {
    std::vector<Shape> shapes;
    std::ranges::transform(parts, std::back_inserter(shapes), nearSquare, &Part::total);
    return shapes;
}

}  // namespace

template <typename T>
std::vector<std::unique_ptr<Problem>> problemsOn(Operation operation, Array<T> input, std::span<const Part> parts) {
    // Only for the types that have variants, because each lengthens the build.
    if constexpr (std::is_same_v<T, float>) {
        if (operation == Operation::ScanSquares) {
            return problemsOfKind<Scan<T, Square>>(std::move(input), parts);
        }
    }
    if constexpr (std::is_same_v<T, std::int32_t>) {
        if (operation == Operation::MultiPartition) {
            return problemsOfKind<MultiPartition<T>>(std::move(input), parts);
        }
        if (operation == Operation::CompactFlagged) {
            return problemsOfKind<CompactFlagged<T>>(std::move(input), parts);
        }
    }
    if constexpr (std::is_integral_v<T> && sizeof(T) >= sizeof(std::int32_t)) {
        if (operation == Operation::SegmentedScan) {
            return problemsOfKind<SegmentedScan<T>>(std::move(input), parts);
        }
        if (operation == Operation::SegmentedSort) {
            return problemsOfKind<SegmentedSort<T>>(std::move(input), parts);
        }
    }
    if constexpr (std::is_integral_v<T> && sizeof(T) <= sizeof(std::int32_t)) {
        if (operation == Operation::Histogram) {
            return problemsOfKind<Histogram<T, std::size_t{1} << 8>>(std::move(input), parts);
        }
        if (operation == Operation::HistogramWide) {
            return problemsOfKind<Histogram<T, std::size_t{1} << 16>>(std::move(input), parts);
        }
    }
    switch (operation) {
        case Operation::Scan:
            return problemsOfKind<Scan<T>>(std::move(input), parts);
        case Operation::Compact:
            return problemsOfKind<Compact<T>>(std::move(input), parts);
        case Operation::Partition:
            return problemsOfKind<Partition<T>>(std::move(input), parts);
        case Operation::Sort:
            return problemsOfKind<Sort<T>>(std::move(input), parts);
        case Operation::SortPairs:
            return problemsOfKind<SortPairs<T>>(std::move(input), parts);
        case Operation::TopK:
            return problemsOfKind<TopK<T>>(std::move(input), parts);
        case Operation::RowSum:
            return problemsOfKind<RowSum<T>>(std::move(input), std::span<const Shape>(nearSquares(parts)));
        case Operation::Unique:
            return problemsOfKind<Unique<T>>(std::move(input), parts);
        case Operation::RunLength:
            return problemsOfKind<ValuesOfRuns<T, Length>>(std::move(input), parts);
        case Operation::ReduceByKey:
            return problemsOfKind<ValuesOfRuns<T, SumOfIndices>>(std::move(input), parts);
        default:
            break;
    }
    throw std::logic_error("problemsOn: no such operation");
}

template std::vector<std::unique_ptr<Problem>> problemsOn(Operation, Array<std::int8_t>, std::span<const Part>);
template std::vector<std::unique_ptr<Problem>> problemsOn(Operation, Array<std::int32_t>, std::span<const Part>);
template std::vector<std::unique_ptr<Problem>> problemsOn(Operation, Array<std::int64_t>, std::span<const Part>);
template std::vector<std::unique_ptr<Problem>> problemsOn(Operation, Array<float>, std::span<const Part>);
template std::vector<std::unique_ptr<Problem>> problemsOn(Operation, Array<double>, std::span<const Part>);

std::vector<std::unique_ptr<Problem>> makeProblems(Operation operation, ElementType type, InputPattern pattern,
                                                   std::span<const std::size_t> sizes, std::uint64_t seed,
                                                   const World& world) {
    if (isOnText(operation)) {
        return makeTextProblems(operation, pattern, sizes, seed, world);
    }
    return withElementType(type, [&]<typename T>(std::type_identity<T>) {
        return problemsOfSizes(
            sizes, world, [&](Share share) { return makeInput<T>(pattern, std::ranges::max(sizes), seed, share); },
            std::bind_front(problemsOn<T>, operation));
    });
}

std::vector<std::unique_ptr<Problem>> makeRowSumProblems(ElementType type, InputPattern pattern,
                                                         std::span<const Shape> shapes, std::uint64_t seed) {
    const std::size_t largest = std::ranges::max(shapes, {}, &Shape::size).size();
    return withElementType(type, [&]<typename T>(std::type_identity<T>) {
        return problemsOfKind<RowSum<T>>(makeInput<T>(pattern, largest, seed), shapes);
    });
}

}  // namespace Bench
