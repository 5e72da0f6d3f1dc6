// The look-back protocol on host threads, meant to run under ThreadSanitizer. The same code as on the GPU runs on
// groups of threads and std::atomic_ref instead of warps and global memory.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "stream_compaction/primitives/look_back.cuh"

namespace StreamCompaction::LookBack {
namespace {

/// A warp of `laneCount` threads. They run in step at every ballot and reduction.
template <int laneCount>
class HostWarp {
  public:
    /// One lane's view.
    class Lane {
      public:
        static constexpr int lanes = laneCount;

        Lane(HostWarp& warp, int lane) : warp_(warp), lane_(lane) {}

        [[nodiscard]] int lane() const { return lane_; }

        [[nodiscard]] std::uint32_t ballot(bool vote) const {
            std::uint32_t votes = 0;
            for (const auto& each : exchange(vote)) {
                votes = votes >> 1 | std::uint32_t{each} << (lanes - 1);
            }
            return votes;
        }

        template <typename T, typename Op>
        [[nodiscard]] T reduce(const T& x, const Op& op) const {
            const std::array<T, lanes> all = exchange(x);
            T sum = all[0];
            for (int i = 1; i < lanes; ++i) {
                sum = op(sum, all[i]);
            }
            return sum;
        }

        [[nodiscard]] std::uint64_t load(std::uint64_t* word) const {
            const std::uint64_t value = std::atomic_ref(*word).load(std::memory_order_relaxed);
            if (value == 0) {
                std::this_thread::yield();  // there are more threads than cores
            }
            return value;
        }
        void store(std::uint64_t* word, std::uint64_t value) const {
            std::atomic_ref(*word).store(value, std::memory_order_relaxed);
        }

      private:
        template <typename T>
        [[nodiscard]] std::array<T, lanes> exchange(const T& x) const {
            static_assert(sizeof(T) <= 16);
            std::memcpy(warp_.slots_[lane_].data(), &x, sizeof(T));
            warp_.barrier_.arrive_and_wait();
            std::array<T, lanes> all;
            for (int i = 0; i < lanes; ++i) {
                std::memcpy(&all[i], warp_.slots_[i].data(), sizeof(T));
            }
            warp_.barrier_.arrive_and_wait();
            return all;
        }

        HostWarp& warp_;
        int lane_;
    };

  private:
    std::barrier<> barrier_{laneCount};
    std::array<std::array<std::byte, 16>, laneCount> slots_{};
};

/// Maps x -> a x + b modulo 2^32 or 2^64, and their composition, which does not commute.
template <typename Word>
struct Affine {
    Word a;
    Word b;
    bool operator==(const Affine&) const = default;
};

struct Compose {
    template <typename T>
    [[nodiscard]] T identity() const {
        return {1, 0};
    }
    template <typename Word>
    Affine<Word> operator()(Affine<Word> first, Affine<Word> second) const {
        return {first.a * second.a, first.b * second.a + second.b};
    }
};

struct Add {
    template <typename T>
    [[nodiscard]] T identity() const {
        return T{};
    }
    template <typename T>
    T operator()(T a, T b) const {
        return a + b;
    }
};

constexpr int tiles = 2500;
constexpr int workers = 4;

/// Delays a worker between taking a tile and publishing its aggregate.
using Delay = void (*)(int tile, std::mt19937& random);

void noDelay(int, std::mt19937&) {}

void randomDelay(int, std::mt19937& random) {
    const unsigned choice = random() % 64;
    if (choice == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
    } else if (choice < 16) {
        std::this_thread::yield();
    }
}

void delayEveryHundredth(int tile, std::mt19937&) {
    if (tile % 100 == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

/// The prefixes of all tiles, computed by `workers` warps that take tiles in order.
template <int lanes, typename T, typename Op, typename LookBackFunction>
std::vector<T> prefixesBy(const std::vector<T>& aggregates, const Op& op, Delay delay,
                          LookBackFunction lookBackFunction) {
    const int count = static_cast<int>(aggregates.size());
    std::atomic<int> tickets{0};
    std::vector<T> prefixes(aggregates.size());

    const auto runLane = [&](HostWarp<lanes>& warp, int lane, unsigned seed) {
        const typename HostWarp<lanes>::Lane platform(warp, lane);
        std::mt19937 random(seed);
        for (;;) {
            const int ticket = lane == 0 ? tickets.fetch_add(1, std::memory_order_relaxed) : 0;
            const int tile = platform.reduce(ticket, Add{});
            if (tile >= count) {
                return;
            }
            delay(tile, random);
            const T prefix = lookBackFunction(platform, tile, aggregates[tile], op);
            if (lane == 0) {
                prefixes[tile] = prefix;
            }
        }
    };

    std::vector<std::unique_ptr<HostWarp<lanes>>> warps;
    std::vector<std::jthread> threads;
    for (int worker = 0; worker < workers; ++worker) {
        warps.push_back(std::make_unique<HostWarp<lanes>>());
        for (int lane = 0; lane < lanes; ++lane) {
            threads.emplace_back([&, worker, lane, warp = warps.back().get()] { runLane(*warp, lane, 7 + worker); });
        }
    }
    threads.clear();
    return prefixes;
}

template <int lanes, typename T, typename Op>
std::vector<T> prefixesByLookBack(const std::vector<T>& aggregates, const Op& op, Delay delay) {
    std::vector<std::uint64_t> words(Statuses<T>::wordsFor(aggregates.size()));
    const Statuses<T> statuses(words.data());
    return prefixesBy<lanes>(aggregates, op, delay,
                             [&](const auto& platform, int tile, const T& aggregate, const Op& op) {
                                 const auto publish = [&](State state, const T& value) {
                                     if (platform.lane() == 0) {
                                         statuses.publish(platform, tile, state, value);
                                     }
                                 };
                                 publish(State::Aggregate, aggregate);
                                 const T prefix = lookBack(platform, statuses, tile, op);
                                 publish(State::Prefix, op(prefix, aggregate));
                                 return prefix;
                             });
}

template <int lanes, typename T, typename Op>
std::vector<T> prefixesByLookBackInOrder(const std::vector<T>& aggregates, const Op& op, Delay delay) {
    std::vector<std::uint64_t> words(Statuses<T>::wordsFor(2 * aggregates.size() + 1));
    const Statuses<T> statuses(words.data());
    const Statuses<T> groups(words.data() + Statuses<T>::wordsFor(aggregates.size()));
    return prefixesBy<lanes>(aggregates, op, delay,
                             [&](const auto& platform, int tile, const T& aggregate, const Op& op) {
                                 if (platform.lane() == 0) {
                                     statuses.publish(platform, tile, State::Aggregate, aggregate);
                                 }
                                 return lookBackInOrder(platform, statuses, groups, tile, aggregate, op);
                             });
}

template <typename T, typename Op>
std::vector<T> expectedPrefixes(const std::vector<T>& aggregates, const Op& op) {
    std::vector<T> prefixes;
    T sum = op.template identity<T>();
    for (const T& aggregate : aggregates) {
        prefixes.push_back(sum);
        sum = op(sum, aggregate);
    }
    return prefixes;
}

template <typename T>
std::vector<Affine<T>> randomMaps() {
    std::mt19937_64 random(1);
    std::vector<Affine<T>> maps(tiles);
    for (auto& map : maps) {
        map = {static_cast<T>(random() | 1), static_cast<T>(random())};
    }
    return maps;
}

std::vector<std::uint32_t> randomNumbers() {
    std::mt19937 random(2);
    std::vector<std::uint32_t> numbers(tiles);
    for (auto& number : numbers) {
        number = random();
    }
    return numbers;
}

struct Schedule {
    const char* name;
    Delay delay;
};

class LookBackOnHost : public testing::TestWithParam<Schedule> {
  protected:
    /// Workers of one thread each take a tile and look back in all of its columns, `window` tiles at a time.
    template <int window>
    static void expectRightPrefixesOfColumns() {
        constexpr int columns = 3;
        constexpr int rows = tiles / columns;
        const std::vector<std::uint32_t> aggregates = randomNumbers();
        std::vector<std::uint64_t> words(Statuses<std::uint32_t>::wordsFor(tiles));
        const Statuses<std::uint32_t> statuses(words.data());
        std::vector<std::uint32_t> prefixes(tiles);
        const auto lookBackInAll = [&](const auto& platform, int tile, std::uint32_t zero, const Add& add) {
            const int first = tile * columns;
            for (int i = first; i < first + columns; ++i) {
                statuses.publish(platform, i, State::Aggregate, aggregates[i]);
            }
            for (int column = 0; column < columns; ++column) {
                const int i = first + column;
                prefixes[i] = lookBackInColumn<window>(platform, statuses, tile, column, columns, add);
                statuses.publish(platform, i, State::Prefix, prefixes[i] + aggregates[i]);
            }
            return zero;
        };
        prefixesBy<1>(std::vector<std::uint32_t>(rows), Add{}, GetParam().delay, lookBackInAll);

        std::array<std::uint32_t, columns> expected{};
        for (int i = 0; i < rows * columns; ++i) {
            ASSERT_EQ(prefixes[i], expected[i % columns]) << "tile " << i / columns << ", column " << i % columns;
            expected[i % columns] += aggregates[i];
        }
    }

    template <typename T, typename Op>
    static void expectRightPrefixes(const std::vector<T>& aggregates, const Op& op) {
        const std::vector<T> expected = expectedPrefixes(aggregates, op);
        EXPECT_TRUE((prefixesByLookBack<1>(aggregates, op, GetParam().delay) == expected));
        EXPECT_TRUE((prefixesByLookBack<4>(aggregates, op, GetParam().delay) == expected));
        EXPECT_TRUE((prefixesByLookBackInOrder<4>(aggregates, op, GetParam().delay) == expected));
    }
};

TEST_P(LookBackOnHost, SumsOfFourBytes) { expectRightPrefixes(randomNumbers(), Add{}); }

TEST_P(LookBackOnHost, Columns) {
    expectRightPrefixesOfColumns<1>();
    expectRightPrefixesOfColumns<4>();
}

TEST_P(LookBackOnHost, NonCommutativeEightBytes) { expectRightPrefixes(randomMaps<std::uint32_t>(), Compose{}); }

TEST_P(LookBackOnHost, NonCommutativeSixteenBytes) { expectRightPrefixes(randomMaps<std::uint64_t>(), Compose{}); }

TEST_P(LookBackOnHost, CountsOfMoreThanThirtyTwoBits) {
    std::vector<Count> counts;
    for (const std::uint32_t number : randomNumbers()) {
        counts.push_back({std::uint64_t{number} << 16});
    }
    const std::vector<Count> expected = expectedPrefixes(counts, AddCounts{});
    const std::vector<Count> actual = prefixesByLookBack<4>(counts, AddCounts{}, GetParam().delay);
    for (int tile = 0; tile < tiles; ++tile) {
        ASSERT_EQ(actual[tile].value, expected[tile].value) << "tile " << tile;
    }
}

TEST_P(LookBackOnHost, InOrderAddsFloatsTheSameWayEveryTime) {
    std::vector<float> numbers;
    for (const std::uint32_t number : randomNumbers()) {
        numbers.push_back(static_cast<float>(number) * 1e-5f);
    }
    const std::vector<float> first = prefixesByLookBackInOrder<4>(numbers, Add{}, GetParam().delay);
    for (int run = 0; run < 3; ++run) {
        ASSERT_EQ(first, prefixesByLookBackInOrder<4>(numbers, Add{}, GetParam().delay));
    }
}

INSTANTIATE_TEST_SUITE_P(Schedules, LookBackOnHost,
                         testing::Values(Schedule{"NoDelay", noDelay}, Schedule{"RandomDelay", randomDelay},
                                         Schedule{"DelayEveryHundredth", delayEveryHundredth}),
                         [](const auto& info) { return info.param.name; });

TEST(StatusWord, HalfAPublicationIsEmpty) {
    std::array<std::uint64_t, Statuses<double>::wordsFor(1)> words{};
    HostWarp<1> warp;
    const HostWarp<1>::Lane platform(warp, 0);
    const Statuses<double> statuses(words.data());
    EXPECT_EQ(statuses.read(platform, 0).state, State::Empty);
    statuses.publish(platform, 0, State::Aggregate, 1.5);
    EXPECT_EQ(statuses.read(platform, 0).state, State::Aggregate);
    EXPECT_EQ(statuses.read(platform, 0).value, 1.5);
    const auto aggregate = words;
    statuses.publish(platform, 0, State::Prefix, -2.5e300);
    EXPECT_EQ(statuses.read(platform, 0).value, -2.5e300);
    // The second words of a run of tiles follow their first words.
    constexpr std::size_t second = words.size() / 2;
    words[second] = aggregate[second];
    EXPECT_EQ(statuses.read(platform, 0).state, State::Empty);
}

TEST(StatusWord, CountsHaveSixtyTwoBits) {
    std::uint64_t word = 0;
    HostWarp<1> warp;
    const HostWarp<1>::Lane platform(warp, 0);
    const Statuses<Count> statuses(&word);
    statuses.publish(platform, 0, State::Prefix, {(std::uint64_t{1} << 62) - 1});
    EXPECT_EQ(statuses.read(platform, 0).value.value, (std::uint64_t{1} << 62) - 1);
    EXPECT_EQ(statuses.read(platform, 0).state, State::Prefix);
}

}  // namespace
}  // namespace StreamCompaction::LookBack
