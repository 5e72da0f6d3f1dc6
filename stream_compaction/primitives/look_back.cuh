#pragma once

#include <cuda_runtime.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "stream_compaction/primitives/warp.cuh"

/// Decoupled look-back (Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016). In one
/// pass over an array, each tile learns the sum of all elements before it, and no tile has to wait until its
/// predecessor has finished.
///
/// Each tile has a status, at first Empty. The tile's block publishes the tile's own sum (Aggregate). Once it knows the
/// sum of everything up to the tile's end, it publishes that sum (Prefix). To find it, the block looks back: it adds up
/// the aggregates of the tiles before its own, nearest first, until it meets a prefix. One warp of the block does this
/// and reads 32 statuses at a time.
///
/// Forward progress: a tile waits only for earlier tiles, so the first unfinished tile never waits, provided that it
/// has begun. Tiles must therefore begin in order, or all of them must be resident at once.
///
/// Memory order: every access is relaxed. A reader uses only the value inside the words it has read, so no other memory
/// has to be ordered before or after them. A value wider than the payload of a word is cut into pieces. Each piece has
/// a word of its own, with a copy of the state. Each state is published once, so pieces with the same state come from
/// the same publication. If the states differ, the reader has caught a publication halfway. It takes the status for
/// Empty and reads again. So neither fences nor accesses wider than a word are needed.
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

/// How a value is stored: each word has the state in its low two bits and four bytes of the value above them.
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

/// A count needs only one word, because it leaves two bits free.
template <>
struct Coding<Count> {
    static constexpr int words = 1;

    __host__ __device__ static void toPayloads(Count count, std::uint64_t (&payloads)[1]) { payloads[0] = count.value; }
    __host__ __device__ static Count fromPayloads(const std::uint64_t (&payloads)[1]) { return {payloads[0]}; }
};

/// The statuses of all tiles, in `wordsFor(tiles)` words that the caller provides. The caller clears them before the
/// first publication; a word of zero is Empty. For each run of 32 tiles, the first words lie side by side, then the
/// second words, and so on. So a warp that reads one word per tile reads consecutive memory.
template <typename T>
class Statuses {
  public:
    explicit __host__ __device__ Statuses(std::uint64_t* words) : words_(words) {}

    [[nodiscard]] static __host__ __device__ constexpr std::size_t wordsFor(std::size_t tiles) {
        return (tiles + run - 1) / run * run * Coding<T>::words;
    }

    __device__ void publish(int tile, State state, const T& value) const {
        std::uint64_t payloads[Coding<T>::words];
        Coding<T>::toPayloads(value, payloads);
        for (int i = 0; i < Coding<T>::words; ++i) {
            const std::uint64_t word = payloads[i] << stateBits | static_cast<std::uint64_t>(state);
            __nv_atomic_store_n(wordOf(tile, i), word, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
        }
    }

    /// Reads a word by an atomic addition of zero. A load would be correct, too. But a word that is written through one
    /// part of the second-level cache and polled through another travels between the two. An atomic operation is
    /// performed in the part where the word lives.
    __device__ Status<T> read(int tile) const {
        return readBy(tile, [](std::uint64_t* word) -> std::uint64_t {
            return atomicAdd(reinterpret_cast<unsigned long long*>(word), 0ULL);
        });
    }

    /// For threads of which each reads one column of words. The words that a warp reads at a time lie side by side. A
    /// load reads them in one access, while atomic operations would be performed word by word.
    __device__ Status<T> readInColumn(int tile) const {
        return readBy(tile, [](std::uint64_t* word) -> std::uint64_t {
            return __nv_atomic_load_n(word, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
        });
    }

  private:
    static constexpr int stateBits = 2;
    static constexpr int run = 32;

    template <typename Load>
    __device__ Status<T> readBy(int tile, const Load& load) const {
        std::uint64_t payloads[Coding<T>::words];
        State state{};
        for (int i = 0; i < Coding<T>::words; ++i) {
            const std::uint64_t word = load(wordOf(tile, i));
            const State stateOfPiece = static_cast<State>(word & ((1u << stateBits) - 1));
            state = i == 0 || stateOfPiece == state ? stateOfPiece : State::Empty;
            payloads[i] = word >> stateBits;
        }
        return {state, Coding<T>::fromPayloads(payloads)};
    }

    __device__ std::uint64_t* wordOf(int tile, int piece) const {
        return words_ + (static_cast<std::size_t>(tile / run) * Coding<T>::words + piece) * run + tile % run;
    }

    std::uint64_t* words_;
};

/// The sum of all tiles before `tile`, in every lane. Called by all lanes of a warp. Each lane reads the status of one
/// tile of a window, until all tiles from the nearest prefix on have published. A status that is not Empty is not read
/// again, because an aggregate serves as well as a prefix. A look-back is slowed down not by its distance but by the
/// number of accesses that compete for the same few words.
template <typename T, typename Op>
__device__ T lookBack(const Statuses<T>& statuses, int tile, const Op& op) {
    const T identity = op.template identity<T>();
    T sum = identity;
    for (int end = tile;; end -= Warp::lanes) {
        // Places before the first tile count as prefixes with the identity as their value.
        const int mine = end - Warp::lanes + Warp::lane();
        Status<T> status{State::Prefix, identity};
        if (mine >= 0) {
            status = statuses.read(mine);
        }

        // Wait for the tiles from the nearest prefix on, or for the whole window if it has no prefix.
        std::uint32_t prefixes;
        bool needed;
        for (;;) {
            prefixes = __ballot_sync(Warp::allLanes, status.state == State::Prefix);
            needed = (prefixes >> Warp::lane()) <= 1;
            const bool missing = needed && status.state == State::Empty;
            if (__ballot_sync(Warp::allLanes, missing) == 0) {
                break;
            }
            if (missing) {
                status = statuses.read(mine);
            }
        }

        sum = op(Warp::reduce(needed ? status.value : identity, op), sum);
        if (prefixes != 0) {
            return sum;
        }
    }
}

/// The sum of all tiles before `tile` in one column, by one thread. Each tile has `columns` sums, and each column is a
/// chain of its own: status t * columns + column is that of tile t. `window` statuses are read at a time, because the
/// wait for several is as long as the wait for one.
template <int window, typename T, typename Op>
__device__ T lookBackInColumn(const Statuses<T>& statuses, int tile, int column, int columns, const Op& op) {
    T sum = op.template identity<T>();
    for (int end = tile; end > 0; end -= window) {
        Status<T> before[window];
        for (int i = 0; i < window; ++i) {
            before[i] = end - 1 - i < 0 ? Status<T>{State::Prefix, op.template identity<T>()}
                                        : statuses.readInColumn((end - 1 - i) * columns + column);
        }
        for (int i = 0; i < window; ++i) {
            while (before[i].state == State::Empty) {
                before[i] = statuses.readInColumn((end - 1 - i) * columns + column);
            }
            sum = op(before[i].value, sum);
            if (before[i].state == State::Prefix) {
                return sum;
            }
        }
    }
    return sum;
}

/// Tiles per group in `lookBackInOrder`.
inline constexpr int groupSize = 4 * Warp::lanes;

/// Reads the status of `tile` until it is not Empty, and returns its value. Lanes where `wanted` is false return
/// `otherwise` at once.
template <typename T>
__device__ T await(const Statuses<T>& statuses, int tile, bool wanted, const T& otherwise) {
    Status<T> status{State::Aggregate, otherwise};
    if (wanted) {
        do {
            status = statuses.read(tile);
        } while (status.state == State::Empty);
    }
    return status.value;
}

/// `lookBack` with additions in a fixed order, whatever the timing. Floating-point sums are then bitwise the same in
/// every run.
///
/// Tiles form groups. A tile adds up, in order, the aggregates of the earlier tiles of its group. To this it adds the
/// prefix of its group, which the last tile of the group before publishes in `groups`. So prefixes form a chain with
/// one link per group, and timing chooses none of the links. The price: a tile may not use a nearer prefix that is
/// already known.
template <typename T, typename Op>
__device__ T lookBackInOrder(const Statuses<T>& aggregates, const Statuses<T>& groups, int tile, const T& aggregate,
                             const Op& op) {
    const T identity = op.template identity<T>();
    constexpr int size = groupSize;
    const int group = tile / size;
    T sum = identity;
    for (int begin = group * size; begin < tile; begin += Warp::lanes) {
        const int mine = begin + Warp::lane();
        sum = op(sum, Warp::reduce(await(aggregates, mine, mine < tile, identity), op));
    }
    const bool asks = group > 0 && Warp::lane() == 0;
    sum = op(Warp::reduce(await(groups, group, asks, identity), op), sum);
    if (tile % size == size - 1 && Warp::lane() == 0) {
        groups.publish(group + 1, State::Prefix, op(sum, aggregate));
    }
    return sum;
}

}  // namespace StreamCompaction::LookBack
