#pragma once

#include <climits>

#include "stream_compaction/primitives/block.cuh"
#include "stream_compaction/utf8_chain.cuh"
#include "stream_compaction/utf8_decode.cuh"
#include "stream_compaction/utf8_quads.h"
#include "stream_compaction/utf8_tile.cuh"

namespace StreamCompaction::Utf8 {

/// How a tile is shared out: every warp has a part of its own, which it goes through in groups of four rows; of a row
/// every lane has a word. Measured on an H200.
template <typename From>
struct EncodeShape {
    static constexpr int threads = 192;
    static constexpr int blocksPerMultiprocessor = 8;
    static constexpr int warps = threads / Warp::lanes;
    static constexpr int groups = sizeof(From) == sizeof(char16_t) ? 5 : 8;  // of a warp
    static constexpr int rows = 4;                                           // of a group
    static constexpr int rowBytes = Warp::lanes * static_cast<int>(sizeof(std::uint32_t));
    static constexpr int groupBytes = rows * rowBytes;
    static constexpr int warpBytes = groups * groupBytes;
    static constexpr int bytes = warps * warpBytes;
    using Text = TextTile<Warp::lanes, warpBytes>;

    static constexpr int perWord = sizeof(std::uint32_t) / sizeof(From);
    static constexpr int quads = rows * perWord / 4;                       // of a lane in a group
    static constexpr int most = sizeof(From) == sizeof(char16_t) ? 3 : 4;  // bytes an element
    static constexpr int warpBytesOut = warpBytes / static_cast<int>(sizeof(From)) * most;

    /// How far behind the first of a lane's elements in a group another one lies.
    [[nodiscard]] __device__ static constexpr int offsetOf(int element) {
        return element / perWord * rowBytes + element % perWord * static_cast<int>(sizeof(From));
    }
};

/// The sum of x and of those bytes of a word that `which` has a one for: one instruction.
[[nodiscard]] __device__ inline std::uint32_t addBytes(std::uint32_t word, std::uint32_t which, std::uint32_t x) {
    return __dp4a(word, which, x);
}

/// A lane's elements of a group in UTF-8.
template <int quadCount>
struct EncodedGroup {
    EncodedQuad quads[quadCount];
    int most;  ///< bytes that an element takes, of any lane

    [[nodiscard]] __device__ int length(int element) const {
        return static_cast<int>(quads[element / 4].lengths >> 8 * (element % 4) & 0xFF);
    }
    /// Where an element begins that ends there.
    [[nodiscard]] __device__ std::uint32_t begin(int element, std::uint32_t end) const {
        const auto minusOne = static_cast<int>(0xFFu << 8 * (element % 4));
        return static_cast<std::uint32_t>(
            __dp4a(static_cast<int>(quads[element / 4].lengths), minusOne, static_cast<int>(end)));
    }
    /// In the lowest byte, that byte of an element that so many are behind.
    [[nodiscard]] __device__ std::uint32_t byte(int element, int place) const {
        return quads[element / 4].planes[place] >> 8 * (element % 4);
    }
    /// The same past the pipe of shifts and logic, which has the most to do.
    [[nodiscard]] __device__ std::uint32_t byteByDotProduct(int element, int place) const {
        const std::uint32_t plane = quads[element / 4].planes[place];
        return element % 4 == 0 ? plane : addBytes(plane, 1u << 8 * (element % 4), 0);
    }
};

/// The quads of a group, as `encode` gives them.
template <int quadCount, typename Encode>
[[nodiscard]] __device__ EncodedGroup<quadCount> encodeEach(int most, const Encode& encode) {
    EncodedGroup<quadCount> group;
#pragma unroll
    for (int quad = 0; quad < quadCount; ++quad) {
        group.quads[quad] = encode(quad);
    }
    group.most = most;
    return group;
}

[[nodiscard]] __device__ inline bool anyLane(std::uint32_t word) { return __any_sync(Warp::allLanes, word != 0) != 0; }

/// Encodes a group of UTF-32. `isText(quad)` flags elements, `onErrors(quad, flags)` is called where a lane has
/// ill-formed ones.
template <typename Shape, typename IsText, typename OnErrors>
[[nodiscard]] __device__ EncodedGroup<1> encodeGroup(const typename Shape::Text& text, int position,
                                                     const IsText& isText, const OnErrors& onErrors, char32_t) {
    std::uint32_t in[4];
#pragma unroll
    for (int row = 0; row < 4; ++row) {
        in[row] = text.template at<std::uint32_t>(position + row * Shape::rowBytes);
    }
    const auto plane = [&](std::uint32_t selector, std::uint32_t lastSelector) {
        return selectBytes(selectBytes(in[0], in[1], selector), selectBytes(in[2], in[3], selector), lastSelector);
    };
    CodePointQuad quad{plane(0x5140, 0x5410), plane(0x5140, 0x7632)};
    const std::uint32_t all = in[0] | in[1] | in[2] | in[3];
    if (!anyLane(all & ~0x7Fu)) {
        return {encodeQuad<1>(quad), 1};
    }
    if (!anyLane(all & ~0x7FFu)) {
        return {encodeQuad<2>(quad), 2};
    }
    const auto replace = [&](std::uint32_t illFormed) {
        if (anyLane(illFormed)) {
            illFormed &= isText(0);
            onErrors(0, illFormed);
            quad.replace(illFormed);
        }
    };
    if (!anyLane(all & ~0xFFFFu)) {
        replace(surrogatesIn(quad.high));
        return {encodeQuad<3>(quad), 3};
    }
    quad.above = plane(0x7362, 0x5410);
    replace((surrogatesIn(quad.high) & ~atLeast(quad.above, 1)) | atLeast(quad.above, 0x11) |
            atLeast(plane(0x7362, 0x7632), 1));
    return {encodeQuad<4>(quad), 4};
}

/// In both halves of a word: whether an element is of the surrogates that begin with `first`, in the highest bit.
[[nodiscard]] __device__ inline std::uint32_t surrogatesInHalves(std::uint32_t halves, std::uint32_t first) {
    return ~(((halves ^ first * 0x10001) & 0x7C007C00) + 0x7C007C00) & halves & 0x80008000;
}

/// Encodes a group of UTF-16, of which a quad has the words of two rows.
template <typename Shape, typename IsText, typename OnErrors>
[[nodiscard]] __device__ EncodedGroup<2> encodeGroup(const typename Shape::Text& text, int position,
                                                     const IsText& isText, const OnErrors& onErrors, char16_t) {
    const auto word = [&](int row, int offset) {
        return text.template at<std::uint32_t>(position + row * Shape::rowBytes + offset);
    };
    const std::uint32_t in[4] = {word(0, 0), word(1, 0), word(2, 0), word(3, 0)};
    const auto quad = [&](int i) {
        return CodePointQuad{selectBytes(in[2 * i], in[2 * i + 1], 0x6420),
                             selectBytes(in[2 * i], in[2 * i + 1], 0x7531)};
    };
    const std::uint32_t all = in[0] | in[1] | in[2] | in[3];
    if (!anyLane(all & 0xFF80FF80)) {
        return encodeEach<2>(1, [&](int i) { return encodeQuad<1>(quad(i)); });
    }
    if (!anyLane(all & 0xF800F800)) {
        return encodeEach<2>(2, [&](int i) { return encodeQuad<2>(quad(i)); });
    }
    if (!anyLane(surrogatesIn(quad(0).high) | surrogatesIn(quad(1).high))) {
        return encodeEach<2>(3, [&](int i) { return encodeQuad<3>(quad(i)); });
    }
    return encodeEach<2>(3, [&](int i) {
        CodePointQuad here = quad(i);
        const std::uint32_t surrogates = surrogatesIn(here.high);
        std::uint32_t second = surrogates & here.high << 5;
        std::uint32_t first = surrogates ^ second;
        const std::uint32_t before = selectBytes(word(2 * i, -4), word(2 * i + 1, -4), 0x7632);
        const std::uint32_t lowBefore = choose(0x00FF00FF, before << 4, here.low << 12);
        const std::uint32_t firstBefore = (first << 8 & 0x80008000) | surrogatesInHalves(before, 0xD800) >> 8;
        const std::uint32_t behind = selectBytes(word(2 * i, 4), word(2 * i + 1, 4), 0x5410);
        const std::uint32_t secondBehind = (second >> 8 & 0x00800080) | surrogatesInHalves(behind, 0xDC00);
        std::uint32_t illFormed = (first & ~secondBehind) | (second & ~firstBefore);
        if (anyLane(illFormed)) {
            illFormed &= isText(i);
            onErrors(i, illFormed);
            here.replace(illFormed);
            first &= ~illFormed;
            second &= ~illFormed;
        }
        return encodeQuad(Utf16Quad{here.low, here.high, lowBefore, first, second});
    });
}

/// Stores the lowest byte.
__device__ inline void storeShared(std::uint32_t address, std::uint32_t byte) {
    asm volatile("st.shared.u8 [%0], %1;" ::"r"(address), "r"(byte) : "memory");
}

/// Copies a run of bytes from shared memory, aligned to 16 bytes, to global memory, by a warp.
__device__ inline void copyRunByWarp(std::uint8_t* to, const std::uint8_t* shared, int count) {
    constexpr int width = sizeof(uint4);
    const int head = min(static_cast<int>(-reinterpret_cast<std::uintptr_t>(to) % width), count);
    const int vectors = (count - head) / width;
    // The ends, whose vectors other runs have a part in.
    const int lane = Warp::lane();
    const int i = lane < width ? lane : head + vectors * width + lane - width;
    if (i < (lane < width ? head : count)) {
        to[i] = shared[i];
    }
    const auto copy = [&](auto firstWord) {
        const int bits = head % 4 * 8;
        const auto* from = reinterpret_cast<const uint4*>(shared);
        auto* out = reinterpret_cast<uint4*>(to + head);
#pragma unroll 2
        for (int v = lane; v < vectors; v += Warp::lanes) {
            const uint4 a = from[v];
            const uint4 b = from[v + 1];
            const std::uint32_t words[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
            constexpr int k = firstWord();
            out[v] = {__funnelshift_r(words[k], words[k + 1], bits), __funnelshift_r(words[k + 1], words[k + 2], bits),
                      __funnelshift_r(words[k + 2], words[k + 3], bits),
                      __funnelshift_r(words[k + 3], words[k + 4], bits)};
        }
    };
    switch (head / 4) {
        case 0:
            copy(std::integral_constant<int, 0>{});
            break;
        case 1:
            copy(std::integral_constant<int, 1>{});
            break;
        case 2:
            copy(std::integral_constant<int, 2>{});
            break;
        default:
            copy(std::integral_constant<int, 3>{});
            break;
    }
}

/// Encoding into UTF-8 in one pass.
///
/// The copy engine brings every warp its part of the tile. Group by group, lanes turn their elements into planes of
/// bytes (utf8_quads.h), as much as the longest sequence in the group asks for; a scan of four lengths in a word says
/// where they go: to the beginning of the part, where packed bytes never reach what is still to be read. So a tile
/// takes no more memory than its input, for UTF-16, of which 2 bytes can become 3, half as much again. The sums of the
/// warps, scanned in the block and by look-back over the tiles, say where the packed runs go; they leave in aligned
/// vectors.
///
/// Work O(n), steps O(n / resident elements). 4 bytes read an element of UTF-32, 2 of UTF-16, and 1 to 4 written.
/// DRAM limits it where one script prevails; in mixed text the instructions, most of them logic on planes.
template <typename From, Errors errors, typename Chain>
__global__ void __launch_bounds__(EncodeShape<From>::threads,
                                  SinglePass::blocksThatFit(EncodeShape<From>::threads,
                                                            EncodeShape<From>::blocksPerMultiprocessor))
    kernEncode(TextInMemory text, std::uint8_t* odata, Chain chain) {
    using Shape = EncodeShape<From>;
    using Text = typename Shape::Text;
    __shared__ struct {
        struct {
            uint4 room[(Shape::warpBytesOut - Shape::warpBytes) / sizeof(uint4) + 1];
            typename Text::Storage text;
        } parts[Shape::warps];
        std::uint32_t warpCounts[Shape::warps];
        int firstIllFormed;
    } shared;
    const int warp = Warp::broadcast(Warp::index(), 0);  // which the compiler thus knows to be the same in all lanes
    auto& part = shared.parts[warp];
    auto* const packed = reinterpret_cast<std::uint8_t*>(part.room);
    chain.begin(errors == Errors::Strict ? Result::noError : 0);
    Text tile(part.text, text, static_cast<int>(blockIdx.x) * Shape::warps + warp);
    if (threadIdx.x == 0) {
        shared.firstIllFormed = INT_MAX;
    }
    __syncthreads();
    tile.finish();

    const bool isWhole = __all_sync(Warp::allLanes, tile.isWhole());
    // Addresses in shared memory as numbers, so that the compiler does not put them together again for every byte.
    const auto packedBegin = static_cast<std::uint32_t>(__cvta_generic_to_shared(packed));
    std::uint32_t packedEnd = packedBegin;
    int illFormedAt = INT_MAX;
    std::uint32_t bytesBeforeError = 0;
#pragma unroll 1
    for (int groupBegin = 0; groupBegin < Shape::warpBytes; groupBegin += Shape::groupBytes) {
        constexpr int elements = 4 * Shape::quads;
        const int position = groupBegin + Warp::lane() * static_cast<int>(sizeof(std::uint32_t));
        const auto isText = [&](int quad) {
            std::uint32_t flags = isWhole ? highBits : 0;
#pragma unroll
            for (int i = 0; i < 4 && !isWhole; ++i) {
                const int at = position + Shape::offsetOf(4 * quad + i);
                flags |= static_cast<std::uint32_t>(at >= tile.first() && at < tile.end()) << (8 * i + 7);
            }
            return flags;
        };
        std::uint32_t skipped[Shape::quads] = {};
        bool isExact = !isWhole;
        const auto onErrors = [&](int quad, std::uint32_t illFormed) {
            if (illFormed != 0 && illFormedAt == INT_MAX) {
                illFormedAt = position + Shape::offsetOf(4 * quad + (__ffs(static_cast<int>(illFormed)) - 1) / 8);
            }
            if constexpr (errors == Errors::Skip) {
                skipped[quad] = illFormed;
                isExact = true;
            }
        };
        auto group = encodeGroup<Shape>(tile, position, isText, onErrors, From{});
        if (isExact) {
#pragma unroll
            for (int quad = 0; quad < Shape::quads; ++quad) {
                group.quads[quad].lengths &= wholeBytes(isText(quad) & ~skipped[quad]);
            }
        }

        // Where each of the lane's words ends.
        std::uint32_t counts = group.quads[0].lengths;
        if constexpr (Shape::perWord == 2) {
            const auto pairs = [&](int quad) { return group.quads[quad].lengths + (group.quads[quad].lengths >> 8); };
            counts = selectBytes(pairs(0), pairs(1), 0x6420);
        }
        std::uint32_t upTo = fourTimes(Shape::perWord) * (Warp::lane() + 1);
        std::uint32_t totals = fourTimes(Shape::perWord) * Warp::lanes;
        if (group.most > 1 || isExact) {
            upTo = Warp::inclusiveSum(counts);
            totals = Warp::broadcast(upTo, Warp::lanes - 1);
        }
        std::uint32_t ends[elements];
#pragma unroll
        for (int row = 0; row < Shape::rows; ++row) {
            const std::uint32_t rowBegin = addBytes(totals, 0x01010101 >> 8 * (3 - row) >> 8, packedEnd);
            const int last = (row + 1) * Shape::perWord - 1;
            ends[last] = addBytes(upTo, 1u << 8 * row, rowBegin);
            if constexpr (Shape::perWord == 2) {
                ends[last - 1] = group.begin(last, ends[last]);
            }
        }
        if constexpr (errors == Errors::Strict) {
#pragma unroll
            for (int i = 0; i < elements; ++i) {
                if (position + Shape::offsetOf(i) == illFormedAt) {
                    bytesBeforeError = group.begin(i, ends[i]) - packedBegin;
                }
            }
        }

        // Pack, from the foremost bytes to the last: where an element has no such byte, what is stored in its place
        // lies among the bytes before it, which come later; not before those of the group, which have been.
        const auto pack = [&](auto exact) {
#pragma unroll
            for (int place = Shape::most - 1; place >= 0; --place) {
                if (place < group.most) {
                    __syncwarp();
#pragma unroll
                    for (int i = 0; i < elements; ++i) {
                        const bool isGuarded = exact || (i < Shape::perWord && place > 0);
                        if (!isGuarded) {
                            storeShared(ends[i] - 1 - place, group.byteByDotProduct(i, place));
                        } else if (exact ? place < group.length(i) : ends[i] > packedEnd + place) {
                            storeShared(ends[i] - 1 - place, group.byte(i, place));
                        }
                    }
                }
            }
        };
        if (isExact) {
            pack(std::true_type{});
        } else {
            pack(std::false_type{});
        }
        packedEnd = addBytes(totals, 0x01010101, packedEnd);
    }
    const auto count = static_cast<int>(packedEnd - packedBegin);
    if (illFormedAt != INT_MAX) {
        atomicMin(&shared.firstIllFormed, warp * Shape::warpBytes + illFormedAt);
    }
    const auto place = Block::scanWarps<Shape::warps>(static_cast<std::uint32_t>(count), shared.warpCounts, Sum{});
    chain.publish(place.all);
    const std::uint64_t before = chain.before(place.all);
    const std::uint64_t begin = before + place.before;

    // Report: the first error of the tile, and by the last tile the number of bytes.
    if (illFormedAt != INT_MAX && warp * Shape::warpBytes + illFormedAt == shared.firstIllFormed) {
        const auto in = reinterpret_cast<const From*>(text.base + text.lead);
        const std::size_t index = tile.offsetOf(illFormedAt) / sizeof(From);
        reportError(chain.result, index, isSurrogate(in[index]) ? ErrorKind::Surrogate : ErrorKind::AboveLast);
        if constexpr (errors == Errors::Strict) {
            reportCount(chain.result, begin + bytesBeforeError);
        }
    }
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) {
        if constexpr (errors == Errors::Strict) {
            reportCount(chain.result, before + place.all);
        } else {
            chain.result->count = before + place.all;
        }
    }

    copyRunByWarp(odata + begin, packed, count);
}

/// Encodes UTF-32 (From is char32_t) or UTF-16 (char16_t, native byte order) into UTF-8, and writes the number of bytes
/// and the first error, as the index of an element, to `result` in device memory. Surrogates that are not of a pair and
/// what lies above U+10FFFF become U+FFFD, are dropped, or end the text: in strict mode `result->count` is what stands
/// before the first error, and bytes of `out` behind it are unspecified.
///
/// `out` must have room for what comes out, at most 4 bytes an element of UTF-32 and 3 of UTF-16; in everything else
/// like Decode.
struct Encode {
    Errors errors = Errors::Replace;

    template <typename From>
    [[nodiscard]] std::size_t scratchBytes(std::size_t n) const {
        return n == 0 ? 0 : chainBytes(TextInMemory::mostTiles(n * sizeof(From), EncodeShape<From>::bytes));
    }

    template <typename From>
    void operator()(const From* in, std::uint8_t* out, Result* result, std::size_t n, Scratch scratch,
                    cudaStream_t stream) const {
        requireConversionArrays(in, out, result, n);
        ScratchArena arena(scratch, scratchBytes<From>(n));
        if (n == 0) {
            beginResult(result, 0, stream);
            return;
        }
        using Shape = EncodeShape<From>;
        const TextInMemory text(in, n);
        const std::size_t tiles = text.tiles(Shape::bytes);
        withErrors(errors, [&](auto mode) {
            constexpr auto together = kernEncode<From, mode(), Together>;
            launchChain(tiles, onCurrentDevice<together>(Shape::threads).residentBlocks, result,
                        errors == Errors::Strict ? Result::noError : 0, arena, stream, [&](auto chain, Begin begin) {
                            launch<kernEncode<From, mode(), decltype(chain)>>(
                                "kernEncode", {tiles, Shape::threads, 0, begin}, stream, text, out, chain);
                        });
        });
    }
};

}  // namespace StreamCompaction::Utf8
