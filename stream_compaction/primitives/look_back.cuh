#pragma once

#include <cuda_runtime.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

/// Decoupled look-back (Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016): how
/// the tiles of one pass over an array learn the sum of all that stands before them, without waiting for one another in
/// turn.
///
/// Each tile has a status. It starts Empty; the tile's block first publishes the tile's own sum (Aggregate) and, once
/// it knows the sum of everything up to the tile's end, that (Prefix). To get there it looks back: it adds up the
/// aggregates of the tiles before its own, nearest first, until it meets a prefix. A warp does this for a block and
/// looks at 32 tiles at a time.
///
/// Forward progress: a tile waits only for tiles before it, so the first unfinished one never waits, provided that it
/// has begun. Whoever hands out tiles must therefore begin them in order, or keep all that have begun resident.
///
/// Memory order. Every access is relaxed. A reader uses nothing but the value inside the words it has read, so there is
/// no other memory whose visibility would have to be ordered before or after them. A value wider than a word holds is
/// cut into pieces, each of which travels in a word of its own beside a copy of the state. Each state is published
/// once, so pieces that agree on the state come from the same publication; if they do not, the reader has caught a
/// publication halfway and takes the status for Empty, that is, it reads again. So nothing has to be fenced or read in
/// one access.
///
/// The protocol knows its surroundings only as a `Platform`: on the device a warp and global memory
/// (look_back_device.cuh), in the tests threads of the host, where ThreadSanitizer watches. Compiled without CUDA, the
/// functions are plain C++.
namespace StreamCompaction::LookBack {

enum class State : std::uint64_t { Empty, Aggregate, Prefix };

template <typename T>
struct Status {
    State state;
    T value;
};

/// A number of elements, of at most 62 bits.
struct Count {
    std::uint64_t value;
};

struct AddCounts {
    static constexpr bool isCommutative = true;
    template <typename T>
    __host__ __device__ constexpr T identity() const {
        return {0};
    }
    __host__ __device__ constexpr Count operator()(Count a, Count b) const { return {a.value + b.value}; }
};

/// How a value travels: the state in the low two bits of every word, above it four bytes of the value.
template <typename T>
struct Coding {
    static constexpr int words = (sizeof(T) + 3) / 4;

    __host__ __device__ static void toPayloads(const T& value, std::uint64_t (&payloads)[words]) {
        std::uint32_t pieces[words] = {};
        memcpy(pieces, &value, sizeof(T));
        for (int i = 0; i < words; ++i) {
            payloads[i] = pieces[i];
        }
    }
    __host__ __device__ static T fromPayloads(const std::uint64_t (&payloads)[words]) {
        std::uint32_t pieces[words];
        for (int i = 0; i < words; ++i) {
            pieces[i] = static_cast<std::uint32_t>(payloads[i]);
        }
        T value;
        memcpy(&value, pieces, sizeof(T));
        return value;
    }
};

/// A count needs one word, for it leaves two bits free.
template <>
struct Coding<Count> {
    static constexpr int words = 1;

    __host__ __device__ static void toPayloads(Count count, std::uint64_t (&payloads)[1]) { payloads[0] = count.value; }
    __host__ __device__ static Count fromPayloads(const std::uint64_t (&payloads)[1]) { return {payloads[0]}; }
};

/// The statuses of all tiles, in words that the caller provides, `wordsFor` of them, and clears before the first
/// publication: a word of zero is Empty. The first words of a run of tiles lie side by side, behind them their second
/// ones and so on, so that a warp's access to one word of each of its tiles touches as little memory as can be.
template <typename T>
class Statuses {
  public:
    explicit __host__ __device__ Statuses(std::uint64_t* words) : words_(words) {}

    [[nodiscard]] static constexpr std::size_t wordsFor(std::size_t tiles) {
        return (tiles + run - 1) / run * run * Coding<T>::words;
    }

    template <typename Platform>
    __device__ void publish(const Platform& platform, int tile, State state, const T& value) const {
        std::uint64_t payloads[Coding<T>::words];
        Coding<T>::toPayloads(value, payloads);
        for (int i = 0; i < Coding<T>::words; ++i) {
            platform.store(wordOf(tile, i), payloads[i] << stateBits | static_cast<std::uint64_t>(state));
        }
    }

    template <typename Platform>
    __device__ Status<T> read(const Platform& platform, int tile) const {
        std::uint64_t payloads[Coding<T>::words];
        State state{};
        for (int i = 0; i < Coding<T>::words; ++i) {
            const std::uint64_t word = platform.load(wordOf(tile, i));
            const State stateOfPiece = static_cast<State>(word & ((1u << stateBits) - 1));
            state = i == 0 || stateOfPiece == state ? stateOfPiece : State::Empty;
            payloads[i] = word >> stateBits;
        }
        return {state, Coding<T>::fromPayloads(payloads)};
    }

  private:
    static constexpr int stateBits = 2;
    static constexpr int run = 32;

    __device__ std::uint64_t* wordOf(int tile, int piece) const {
        return words_ + (static_cast<std::size_t>(tile / run) * Coding<T>::words + piece) * run + tile % run;
    }

    std::uint64_t* words_;
};

/// The sum of all tiles before `tile`, in every lane of the warp that calls it, together.
/// Lane by lane a window of tiles is read until none is missing from the nearest prefix on. A word that has been seen
/// is not read again, for an aggregate serves as well as a prefix would: what slows a look-back down is not its
/// distance but the number of accesses that compete for the same few words.
template <typename T, typename Op, typename Platform>
__device__ T lookBack(const Platform& platform, const Statuses<T>& statuses, int tile, const Op& op) {
    const T identity = op.template identity<T>();
    T sum = identity;
    for (int end = tile;; end -= Platform::lanes) {
        // What lies before the first tile counts as a prefix of nothing.
        const int mine = end - Platform::lanes + platform.lane();
        Status<T> status{State::Prefix, identity};
        if (mine >= 0) {
            status = statuses.read(platform, mine);
        }

        // Wait for the tiles from the nearest prefix on, or for all of the window.
        std::uint32_t prefixes;
        bool needed;
        for (;;) {
            prefixes = platform.ballot(status.state == State::Prefix);
            needed = (prefixes >> platform.lane()) <= 1;
            const bool missing = needed && status.state == State::Empty;
            if (platform.ballot(missing) == 0) {
                break;
            }
            if (missing) {
                status = statuses.read(platform, mine);
            }
        }

        sum = op(platform.reduce(needed ? status.value : identity, op), sum);
        if (prefixes != 0) {
            return sum;
        }
    }
}

/// The sum of all tiles before `tile`, by one thread, where a tile has `columns` sums, each in a chain of its own: tile
/// t keeps that of `column` in status t * columns + column. `window` statuses are read at a time, since the wait for
/// one is as long as for several.
template <int window, typename T, typename Op, typename Platform>
__device__ T lookBackInColumn(const Platform& platform, const Statuses<T>& statuses, int tile, int column, int columns,
                              const Op& op) {
    T sum = op.template identity<T>();
    for (int end = tile; end > 0; end -= window) {
        Status<T> before[window];
        for (int i = 0; i < window; ++i) {
            before[i] = end - 1 - i < 0 ? Status<T>{State::Prefix, op.template identity<T>()}
                                        : statuses.read(platform, (end - 1 - i) * columns + column);
        }
        for (int i = 0; i < window; ++i) {
            while (before[i].state == State::Empty) {
                before[i] = statuses.read(platform, (end - 1 - i) * columns + column);
            }
            sum = op(before[i].value, sum);
            if (before[i].state == State::Prefix) {
                return sum;
            }
        }
    }
    return sum;
}

/// `lookBack` with the additions always in the same order, whatever the timing: for floating-point sums that come out
/// bit for bit the same in every run.
///
/// Tiles form groups. A tile adds up, in order, the aggregates of the tiles before it in its group, and adds that to
/// the prefix of the group, which the last tile of the group before publishes; `groups` holds those. So prefixes form a
/// chain, but with a link a group only, and no link is chosen by what happens to be there first. The price: a tile may
/// not use a nearer prefix that is known already.
template <typename Platform>
inline constexpr int groupSize = 4 * Platform::lanes;

/// Reads until there is something; `wanted` may differ from lane to lane.
template <typename T, typename Platform>
__device__ T await(const Platform& platform, const Statuses<T>& statuses, int tile, bool wanted, const T& otherwise) {
    Status<T> status{State::Aggregate, otherwise};
    if (wanted) {
        do {
            status = statuses.read(platform, tile);
        } while (status.state == State::Empty);
    }
    return status.value;
}

template <typename T, typename Op, typename Platform>
__device__ T lookBackInOrder(const Platform& platform, const Statuses<T>& aggregates, const Statuses<T>& groups,
                             int tile, const T& aggregate, const Op& op) {
    const T identity = op.template identity<T>();
    constexpr int size = groupSize<Platform>;
    const int group = tile / size;
    T sum = identity;
    for (int begin = group * size; begin < tile; begin += Platform::lanes) {
        const int mine = begin + platform.lane();
        sum = op(sum, platform.reduce(await(platform, aggregates, mine, mine < tile, identity), op));
    }
    const bool asks = group > 0 && platform.lane() == 0;
    sum = op(platform.reduce(await(platform, groups, group, asks, identity), op), sum);
    if (tile % size == size - 1 && platform.lane() == 0) {
        groups.publish(platform, group + 1, State::Prefix, op(sum, aggregate));
    }
    return sum;
}

}  // namespace StreamCompaction::LookBack
