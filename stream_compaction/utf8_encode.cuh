#pragma once

#include <climits>

#include "stream_compaction/primitives/block.cuh"
#include "stream_compaction/utf8_chain.cuh"
#include "stream_compaction/utf8_decode.cuh"
#include "stream_compaction/utf8_tile.cuh"

namespace StreamCompaction::Utf8 {

/// How the elements of a tile are shared out: a warp owns consecutive rows; of a row every lane has four elements.
template <typename From>
struct EncodeShape {
    static constexpr int threads = 128;
    static constexpr int warps = threads / Warp::lanes;
    static constexpr int rows = 4;
    static constexpr int length = 4;
    static constexpr int elements = threads * rows * length;
    static constexpr int bytes = elements * static_cast<int>(sizeof(From));
    static constexpr int mostBytesOut = elements * (sizeof(From) == sizeof(char16_t) ? 3 : 4);
    using Tile = TextTile<threads, bytes>;

    /// The position of this lane's first element in a row of its warp.
    [[nodiscard]] __device__ static int positionOf(int row) {
        return ((Warp::index() * rows + row) * Warp::lanes + Warp::lane()) * length * static_cast<int>(sizeof(From));
    }
};

/// Four elements of the input, and those around them.
template <typename From>
struct Elements {
    std::uint32_t at[4];
    std::uint32_t before = 0;
    std::uint32_t behind = 0;

    template <typename Tile>
    __device__ Elements(const Tile& tile, int position) {
        if constexpr (sizeof(From) == sizeof(char16_t)) {
            const auto pairs = tile.template at<uint2>(position);
            at[0] = pairs.x & 0xFFFF;
            at[1] = pairs.x >> 16;
            at[2] = pairs.y & 0xFFFF;
            at[3] = pairs.y >> 16;
            before = tile.template at<std::uint16_t>(position - 2);
            behind = tile.template at<std::uint16_t>(position + 8);
        } else {
            const auto four = tile.template at<uint4>(position);
            at[0] = four.x;
            at[1] = four.y;
            at[2] = four.z;
            at[3] = four.w;
        }
    }
};

/// What one element becomes.
struct EncodedElement {
    Encoded encoded;
    bool isIllFormed;
};

/// What an ill-formed element becomes.
template <Errors errors>
[[nodiscard]] __device__ constexpr Encoded replaced() {
    return errors == Errors::Skip ? Encoded{0, 0} : encode(replacementCharacter);
}

template <Errors errors>
[[nodiscard]] __device__ EncodedElement encodeElement(const Elements<char32_t>& in, int i) {
    const bool isIllFormed = !isScalarValue(in.at[i]);
    return {isIllFormed ? replaced<errors>() : encode(in.at[i]), isIllFormed};
}

/// Of a pair of surrogates, the first stands for both and the second for nothing.
template <Errors errors>
[[nodiscard]] __device__ EncodedElement encodeElement(const Elements<char16_t>& in, int i) {
    const std::uint32_t here = in.at[i];
    if (!isSurrogate(here)) {
        return {encode(here), false};
    }
    const std::uint32_t before = i == 0 ? in.before : in.at[i == 0 ? 0 : i - 1];
    const std::uint32_t behind = i == 3 ? in.behind : in.at[i == 3 ? 3 : i + 1];
    if (isFirstSurrogate(here) && isSecondSurrogate(behind)) {
        return {encode(codePointOfPair(here, behind)), false};
    }
    if (isSecondSurrogate(here) && isFirstSurrogate(before)) {
        return {Encoded{0, 0}, false};
    }
    return {replaced<errors>(), true};
}

/// Puts bytes before `end` of memory that was zero there. Its words may be shared with others.
__device__ inline void putBytes(std::uint32_t* words, int end, EncodedPair pair) {
    const int shift = (-end & 3) * 8;
    const auto low = static_cast<std::uint32_t>(pair.bytes);
    const auto high = static_cast<std::uint32_t>(pair.bytes >> 32);
    const std::uint32_t pieces[3] = {low << shift, __funnelshift_l(low, high, shift), __funnelshift_l(high, 0, shift)};
    std::uint32_t* const last = words + (end + 3) / 4 - 1;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        if (pieces[i] != 0) {
            atomicOr(last - i, selectBytes(pieces[i], 0, 0x0123));
        }
    }
}

/// Encoding into UTF-8 in one pass.
///
/// Every thread encodes some elements of a tile; the lengths, scanned within rows, the block and by look-back over the
/// tiles, say where each goes. A thread joins the bytes of two or four elements in registers and puts them into shared
/// memory, which was zero, by atomic ors of whole words; from there they go out in aligned vectors.
///
/// Work O(n), steps O(n / resident elements). 4 bytes read an element of UTF-32, 2 of UTF-16, and 1 to 4 written; the
/// instructions, some 60 an element, limit it.
template <typename From, Errors errors, typename Chain>
__global__ void __launch_bounds__(EncodeShape<From>::threads, SinglePass::blocksThatFit(EncodeShape<From>::threads, 12))
    kernEncode(TextInMemory text, std::uint8_t* odata, Chain chain) {
    using Shape = EncodeShape<From>;
    using Tile = typename Shape::Tile;
    constexpr int packedVectors = Shape::mostBytesOut / static_cast<int>(sizeof(uint4));
    __shared__ struct {
        typename Tile::Storage tile;
        uint4 packed[packedVectors];
        std::uint32_t warpCounts[Shape::warps];
        int firstIllFormed;
    } shared;
    auto* const packed = reinterpret_cast<std::uint32_t*>(shared.packed);
    chain.begin(errors == Errors::Strict ? Result::noError : 0);
    Tile tile(shared.tile, text, static_cast<int>(blockIdx.x));
    for (int i = static_cast<int>(threadIdx.x); i < packedVectors; i += Shape::threads) {
        shared.packed[i] = {0, 0, 0, 0};
    }
    if (threadIdx.x == 0) {
        shared.firstIllFormed = INT_MAX;
    }
    tile.finish();

    // Encode. The lengths of two rows share a word, and with it a scan.
    EncodedPair pairs[Shape::rows][2];
    std::uint32_t lengths[Shape::rows / 2] = {};
    std::uint32_t illFormed = 0;
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
        const int position = Shape::positionOf(row);
        const Elements<From> in(tile, position);
        Encoded encoded[4] = {{in.at[0], 1}, {in.at[1], 1}, {in.at[2], 1}, {in.at[3], 1}};
        const bool isAscii =
            tile.isWhole() && __all_sync(Warp::allLanes, (in.at[0] | in.at[1] | in.at[2] | in.at[3]) < 0x80);
#pragma unroll
        for (int i = 0; i < 4 && !isAscii; ++i) {
            const EncodedElement element = encodeElement<errors>(in, i);
            const int at = position + i * static_cast<int>(sizeof(From));
            const bool isText = tile.isWhole() || (at >= tile.first() && at < tile.end());
            encoded[i] = isText ? element.encoded : Encoded{0, 0};
            illFormed |= static_cast<std::uint32_t>(isText && element.isIllFormed) << (4 * row + i);
        }
        pairs[row][0] = joined(encoded[0], encoded[1]);
        pairs[row][1] = joined(encoded[2], encoded[3]);
        const int length = pairs[row][0].length + pairs[row][1].length;
        if (length <= 8) {
            // One to put in place of two.
            pairs[row][0] = {pairs[row][0].bytes << 8 * pairs[row][1].length | pairs[row][1].bytes, length};
            pairs[row][1] = {0, 0};
        }
        lengths[row / 2] |= length << row % 2 * 16;
    }
    std::uint32_t upTo[Shape::rows / 2];
    std::uint32_t totals[Shape::rows / 2];
    std::uint32_t warpCount = 0;
#pragma unroll
    for (int word = 0; word < Shape::rows / 2; ++word) {
        upTo[word] = Warp::inclusiveScan(lengths[word], Sum{});
        totals[word] = Warp::broadcast(upTo[word], Warp::lanes - 1);
        warpCount += (totals[word] & 0xFFFF) + (totals[word] >> 16);
    }
    // The first ill-formed element of the thread, if any.
    const int illFormedBit = __ffs(static_cast<int>(illFormed)) - 1;
    const int illFormedAt = Shape::positionOf(illFormedBit / 4) + illFormedBit % 4 * static_cast<int>(sizeof(From));
    if (illFormed != 0) {
        atomicMin(&shared.firstIllFormed, illFormedAt);
    }
    const auto place = Block::scanWarps<Shape::warps>(warpCount, shared.warpCounts, Sum{});
    chain.publish(place.all);

    // Pack.
    std::uint32_t rowBegin = place.before;
    std::uint32_t bytesBeforeError = 0;
#pragma unroll
    for (int row = 0; row < Shape::rows; ++row) {
        const int shift = row % 2 * 16;
        const auto end = static_cast<int>(rowBegin + (upTo[row / 2] >> shift & 0xFFFF));
        rowBegin += totals[row / 2] >> shift & 0xFFFF;
        putBytes(packed, end - pairs[row][1].length, pairs[row][0]);
        if (pairs[row][1].length > 0) {
            putBytes(packed, end, pairs[row][1]);
        }
        if (errors == Errors::Strict && illFormedBit / 4 == row && illFormed != 0) {
            bytesBeforeError = end - pairs[row][0].length - pairs[row][1].length;
        }
    }

    const std::uint64_t before = chain.before(place.all);

    // Report: the first error of the tile, and by the last tile the number of bytes.
    if (illFormed != 0 && illFormedAt == shared.firstIllFormed) {
        const auto in = reinterpret_cast<const From*>(text.base + text.lead);
        const std::size_t index = tile.offsetOf(illFormedAt) / sizeof(From);
        reportError(chain.result, index, isSurrogate(in[index]) ? ErrorKind::Surrogate : ErrorKind::AboveLast);
        if constexpr (errors == Errors::Strict) {
            const int rowAt = Shape::positionOf(illFormedBit / 4);
            const Elements<From> row(tile, rowAt);
            for (int i = 0; i < illFormedBit % 4; ++i) {
                const bool isText = rowAt + i * static_cast<int>(sizeof(From)) >= tile.first();
                bytesBeforeError += isText ? encodeElement<errors>(row, i).encoded.length : 0;
            }
            reportCount(chain.result, before + bytesBeforeError);
        }
    }
    if (tile.isLast() && threadIdx.x == 0) {
        if constexpr (errors == Errors::Strict) {
            reportCount(chain.result, before + place.all);
        } else {
            chain.result->count = before + place.all;
        }
    }

    copyRun(odata + before, reinterpret_cast<const std::byte*>(shared.packed), 0, place.all);
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
