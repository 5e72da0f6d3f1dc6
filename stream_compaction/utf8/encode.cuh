#pragma once

#include <climits>

#include "stream_compaction/primitives/block.cuh"
#include "stream_compaction/primitives/row_counts.cuh"
#include "stream_compaction/primitives/run_copy.cuh"
#include "stream_compaction/primitives/shared_address.cuh"
#include "stream_compaction/utf8/byte_planes.h"
#include "stream_compaction/utf8/chain.cuh"
#include "stream_compaction/utf8/encode_uniform.cuh"
#include "stream_compaction/utf8/report.cuh"
#include "stream_compaction/utf8/text_tile.cuh"

namespace StreamCompaction::Utf8 {

/// How a tile is divided. Each warp has a part of its own, which it processes in groups of four rows. Each lane has one
/// word per row. Measured on an H200, but for Latin-1.
template <typename From>
struct EncodeShape {
    static constexpr int threads = 256;
    static constexpr int blocksPerMultiprocessor = isUtf16<From> ? 7 : 6;
    static constexpr int warps = threads / Warp::lanes;
    static constexpr int groups = isUtf16<From> ? 5 : 8;  // per warp
    static constexpr int rows = 4;                        // per group
    static constexpr int rowBytes = Warp::lanes * wordBytes<From>;
    static constexpr int groupBytes = rows * rowBytes;
    static constexpr int warpBytes = groups * groupBytes;
    static constexpr int bytes = warps * warpBytes;
    using Text = TextTile<Warp::lanes, warpBytes>;

    static constexpr int perWord = wordBytes<From> / static_cast<int>(sizeof(From));
    static constexpr int quads = perWord;  // per lane and group: the elements at the same place in its words
    static constexpr int most = static_cast<int>(mostElements<From, std::uint8_t>);  // bytes per element
    static constexpr int warpBytesOut = warpBytes / static_cast<int>(sizeof(From)) * most;

    /// Shared memory before a warp's part: room for the bytes by which the output may exceed the input, and for the
    /// bytes around this part and the one before. The part itself follows, aligned.
    static constexpr int roomBytes =
        static_cast<int>(Common::divideRoundUp(warpBytesOut - warpBytes + 2 * Text::halo, TextInMemory::alignment) *
                         TextInMemory::alignment);
    static constexpr int partBytes = roomBytes + warpBytes;

    /// The distance in bytes from a lane's first element in a group to another one.
    [[nodiscard]] __device__ static constexpr int offsetOf(int element) {
        return element % rows * rowBytes + element / rows * static_cast<int>(sizeof(From));
    }
};

/// A lane's elements of a group in UTF-8. In all lanes they take at most `most` bytes each.
template <int quadCount, int most_>
struct EncodedGroup {
    static constexpr int most = most_;
    EncodedQuad quads[quadCount];

    [[nodiscard]] __device__ int length(int element) const {
        return static_cast<int>(quads[element / 4].lengths >> 8 * (element % 4) & 0xFF);
    }
    /// The byte of an element that is `place` bytes before its last one, in the lowest byte of the result.
    [[nodiscard]] __device__ std::uint32_t byte(int element, int place) const {
        return quads[element / 4].planes[place] >> 8 * (element % 4);
    }
    /// The same by an addition instead of a shift.
    [[nodiscard]] __device__ std::uint32_t byteBySum(int element, int place) const {
        const std::uint32_t plane = quads[element / 4].planes[place];
        return element % 4 == 0 ? plane : addByte(plane, element % 4, 0);
    }
};

[[nodiscard]] __device__ inline bool anyLane(bool isSo) { return __any_sync(Warp::allLanes, isSo) != 0; }

/// Encodes the groups of a part, one after the other. A call takes a lane's words of a group and the position of the
/// group's end, and gives the packer an EncodedGroup. Quad i has element i of each word. The packer says which elements
/// are text, and takes note of those that are ill-formed.
template <typename From, typename Text>
class GroupEncoder;

template <typename From, typename Text>
requires isUtf32<From>
class GroupEncoder<From, Text> {
  public:
    __device__ explicit GroupEncoder(const Text&) {}

    template <typename Packer>
    __device__ void operator()(const Array<std::uint32_t, 4>& words, int, Packer& packer) const {
        const auto [low, high, above, top] = planesOf(words).items;
        CodePointQuad quad{low, high};
        const std::uint32_t largest = max(max(words[0], words[1]), max(words[2], words[3]));
        const auto replace = [&](std::uint32_t illFormed) {
            illFormed &= packer.isText(0);
            packer.noteErrors(0, illFormed);
            quad.replace(illFormed);
        };
        if (anyLane(largest > 0xFFFF)) {
            quad.above = above;
            const std::uint32_t surrogates = surrogatesIn(high) & ~atLeast(above, 1);
            if (anyLane(surrogates != 0 || largest > lastCodePoint)) {
                replace(surrogates | atLeast(above, (lastCodePoint >> 16) + 1) | atLeast(top, 1));
            }
            return packer.pack(EncodedGroup<1, 4>{encodeQuad<4>(quad)});
        }
        if (anyLane(largest > 0x7FF)) {
            const std::uint32_t surrogates = surrogatesIn(high);
            if (anyLane(surrogates != 0)) {
                replace(surrogates);
            }
            return packer.pack(EncodedGroup<1, 3>{encodeQuad<3>(quad)});
        }
        if (anyLane(largest > 0x7F)) {
            return packer.pack(EncodedGroup<1, 2>{encodeQuad<2>(quad)});
        }
        packer.pack(EncodedGroup<1, 1>{encodeQuad<1>(quad)});
    }
};

template <typename From, typename Text>
requires isUtf16<Native<From>>
class GroupEncoder<From, Text> {
  public:
    __device__ explicit GroupEncoder(const Text& text) : text_(text) {
        const char16_t before = elementAt<From>(text, -static_cast<int>(sizeof(From)));
        before_ = linkOf(isFirstSurrogate(before) ? highBits : 0, static_cast<std::uint32_t>(before) << 24);
    }

    template <typename Packer>
    __device__ void operator()(const Array<std::uint32_t, 4>& words, int end, Packer& packer) {
        const auto [frontLow, frontHigh, backLow, backHigh] = planesOf(words).items;
        if (!isLatin1<From> && anyLane((surrogatesIn(frontHigh) | surrogatesIn(backHigh)) != 0)) {
            return packer.pack(encodeSurrogates({frontLow, frontHigh}, {backLow, backHigh}, end, packer));
        }
        before_ = 0;
        const CodePointQuad front{frontLow, frontHigh};
        const CodePointQuad back{backLow, backHigh};
        const std::uint32_t any = words[0] | words[1] | words[2] | words[3];
        if (anyLane((any & 0xF800F800) != 0)) {
            return packer.pack(EncodedGroup<2, 3>{encodeQuad<3>(front), encodeQuad<3>(back)});
        }
        if (anyLane((any & 0xFF80FF80) != 0)) {
            return packer.pack(EncodedGroup<2, 2>{encodeQuad<2>(front), encodeQuad<2>(back)});
        }
        packer.pack(EncodedGroup<2, 1>{encodeQuad<1>(front), encodeQuad<1>(back)});
    }

  private:
    /// What an element needs of the one before it: the highest bit says whether that is a first surrogate, the other
    /// bits are its lowest bits.
    [[nodiscard]] __device__ static std::uint32_t linkOf(std::uint32_t first, std::uint32_t low) {
        return choose(highBits, first, low);
    }

    /// Encodes the lower and the upper elements of the words. Some lane has surrogates among them.
    template <typename Packer>
    [[nodiscard]] __device__ EncodedGroup<2, 3> encodeSurrogates(Utf16Quad front, Utf16Quad back, int end,
                                                                 Packer& packer) {
        // The element before a lane's lower one, and the one behind its upper one, belong to another lane. At the ends
        // of a row they belong to another row.
        const std::uint32_t link = __shfl_sync(Warp::allLanes, linkOf(back.first, back.low), Warp::lane() - 1);
        const std::uint32_t before = Warp::lane() == 0 ? __funnelshift_l(before_, link, 8) : link;
        before_ = link;
        const std::uint32_t afterEnd = isSecondSurrogate(elementAt<From>(text_, end)) ? highBits : 0;
        const std::uint32_t next = __shfl_sync(Warp::allLanes, front.second, Warp::lane() + 1);
        const std::uint32_t behind = Warp::lane() == Warp::lanes - 1 ? __funnelshift_r(next, afterEnd, 8) : next;

        const std::uint32_t between = front.low << 4;
        std::uint32_t frontIllFormed = (front.first & ~back.second) | (front.second & ~before);
        std::uint32_t backIllFormed = (back.first & ~behind) | (back.second & ~front.first);
        if (anyLane((frontIllFormed | backIllFormed) != 0)) {
            frontIllFormed &= packer.isText(0);
            backIllFormed &= packer.isText(1);
            packer.noteErrors(0, frontIllFormed);
            packer.noteErrors(1, backIllFormed);
            front.replace(frontIllFormed);
            back.replace(backIllFormed);
        }
        return {encodeQuad(front, before << 4), encodeQuad(back, between)};
    }

    const Text& text_;
    std::uint32_t before_;  // the link to the row before a group, in the highest byte
};

/// What a warp has packed. Each lane also has the first ill-formed one of its elements.
struct Packed {
    int bytes = 0;
    int illFormedAt = INT_MAX;           ///< its position
    std::uint32_t bytesBeforeError = 0;  ///< for strict mode
};

/// Packs the elements of a part, group by group, into consecutive bytes of shared memory, by one warp.
///
/// First a scan of the lengths gives the end of each element. Then the bytes are stored in rounds, from the first byte
/// of an element to its last; round `place` stores the byte that is `place` bytes before the last. A shorter element
/// has no such byte. Its lane stores an undefined byte among the bytes before the element, and a later round overwrites
/// that byte. So no lane has to test lengths:
///
///     elements, lengths     a: 1    ü: 2          中: 3
///     ends                  1       3             6
///     bytes                 0       1      2      3      4      5
///     round, place 2        (ü)                   E4                  a: byte -2, guarded
///     round, place 1                C3                   B8           a: byte -1, guarded
///     round, place 0        61             BC                   AD
///
/// Earlier packed bytes lie before the group's first byte, and the first elements of row 0 could overwrite them. So the
/// elements of row 0 are guarded. If elements are left out, all elements are guarded: that is the exact path.
template <typename From, Errors errors>
class GroupPacker {
    using Shape = EncodeShape<From>;
    using Text = typename Shape::Text;
    static constexpr int elements = 4 * Shape::quads;  // per lane and group

  public:
    __device__ GroupPacker(const Text& tile, std::uint8_t* packed)
        : tile_(tile),
          isWhole_(__all_sync(Warp::allLanes, tile.isWhole())),
          begin_(SharedAddress::of(packed)),
          end_(begin_) {}

    /// `position` is that of the lane's first element in the group.
    __device__ void beginGroup(int position) {
        position_ = position;
        isExact_ = !isWhole_;
#pragma unroll
        for (int quad = 0; quad < Shape::quads; ++quad) {
            skipped_[quad] = 0;
        }
    }

    /// Flags the elements of a quad that are text.
    [[nodiscard]] __device__ std::uint32_t isText(int quad) const {
        std::uint32_t flags = isWhole_ ? highBits : 0;
#pragma unroll
        for (int i = 0; i < 4 && !isWhole_; ++i) {
            const int at = position_ + Shape::offsetOf(4 * quad + i);
            flags |= static_cast<std::uint32_t>(at >= tile_.first() && at < tile_.end()) << (8 * i + 7);
        }
        return flags;
    }

    /// Takes note of the ill-formed elements of a quad.
    __device__ void noteErrors(int quad, std::uint32_t illFormed) {
        if (illFormed != 0 && packed_.illFormedAt > position_) {
            const int row = (__ffs(static_cast<int>(illFormed)) - 1) / 8;
            packed_.illFormedAt = min(packed_.illFormedAt, position_ + Shape::offsetOf(Shape::rows * quad + row));
        }
        if constexpr (errors == Errors::Skip) {
            skipped_[quad] = illFormed;
            isExact_ = true;
        }
    }

    /// Packs an EncodedGroup behind the earlier ones.
    template <typename Group>
    __device__ void pack(Group group) {
        if (isExact_) {
            leaveOut(group);
        }
        std::uint32_t ends[elements];
        const std::uint32_t groupEnd = findEnds(group, ends);
        if constexpr (errors == Errors::Strict) {
#pragma unroll
            for (int i = 0; i < elements; ++i) {
                if (position_ + Shape::offsetOf(i) == packed_.illFormedAt) {
                    packed_.bytesBeforeError = ends[i] - group.length(i) - begin_;
                }
            }
        }
        if (isExact_) {
            storeBytes<true>(group, ends);
        } else {
            storeBytes<false>(group, ends);
        }
        end_ = groupEnd;
    }

    /// Called after the last group.
    [[nodiscard]] __device__ Packed packed() const {
        Packed packed = packed_;
        packed.bytes = static_cast<int>(end_ - begin_);
        return packed;
    }

  private:
    /// Sets the lengths of elements that are not text, or are skipped, to zero.
    template <typename Group>
    __device__ void leaveOut(Group& group) const {
#pragma unroll
        for (int quad = 0; quad < Shape::quads; ++quad) {
            group.quads[quad].lengths &= wholeBytes(isText(quad) & ~skipped_[quad]);
        }
    }

    /// Finds the address behind each of the lane's elements, and returns the one behind the group. The text runs
    /// through a group row by row.
    template <typename Group>
    [[nodiscard]] __device__ std::uint32_t findEnds(const Group& group, std::uint32_t (&ends)[elements]) const {
        // The bytes that a row takes, up to and including this lane's element of each quad.
        std::uint32_t lengths = 0;
#pragma unroll
        for (int quad = 0; quad < Shape::quads; ++quad) {
            lengths += group.quads[quad].lengths;
        }
        constexpr std::uint32_t ofAscii = fourTimes(Shape::perWord);
        RowCounts<8> counts{ofAscii, ofAscii * (Warp::lane() + 1), ofAscii * Warp::lanes};
        if (Group::most > 1 || isExact_) {
            counts = RowCounts<8>::scanned(lengths);
        }
        std::uint32_t upTo[Shape::quads];
        upTo[Shape::quads - 1] = counts.upTo;
#pragma unroll
        for (int quad = Shape::quads - 1; quad > 0; --quad) {
            upTo[quad - 1] = upTo[quad] - group.quads[quad].lengths;
        }
        std::uint32_t rowBegin = end_;
#pragma unroll
        for (int row = 0; row < Shape::rows; ++row) {
#pragma unroll
            for (int quad = 0; quad < Shape::quads; ++quad) {
                ends[Shape::rows * quad + row] = addByte(upTo[quad], row, rowBegin);
            }
            rowBegin = addByte(counts.totals, row, rowBegin);
        }
        return rowBegin;
    }

    template <bool exact, typename Group>
    __device__ void storeBytes(const Group& group, const std::uint32_t (&ends)[elements]) const {
#pragma unroll
        for (int place = Group::most - 1; place >= 0; --place) {
            __syncwarp();
#pragma unroll
            for (int i = 0; i < elements; ++i) {
                const bool isGuarded = exact || (i % Shape::rows == 0 && place > 0);
                if (!isGuarded) {
                    SharedAddress::storeByte(ends[i] - 1 - place, group.byteBySum(i, place));
                } else if (exact ? place < group.length(i) : static_cast<int>(ends[i] - end_) > place) {
                    SharedAddress::storeByte(ends[i] - 1 - place, group.byte(i, place));
                }
            }
        }
    }

    const Text& tile_;
    bool isWhole_;
    std::uint32_t begin_;  // where packed bytes begin and end, as addresses in shared memory
    std::uint32_t end_;
    Packed packed_;
    // Of the current group:
    int position_ = 0;
    bool isExact_ = false;
    std::uint32_t skipped_[Shape::quads] = {};
};

/// Encodes a part of any text to `packed`, by its warp, group by group.
template <typename From, Errors errors>
[[nodiscard]] __device__ Packed encodePart(const typename EncodeShape<From>::Text& tile, std::uint8_t* packed) {
    using Shape = EncodeShape<From>;
    GroupPacker<From, errors> packer(tile, packed);
    GroupEncoder<From, typename Shape::Text> encodeGroup(tile);
#pragma unroll 1
    for (int groupBegin = 0; groupBegin < Shape::warpBytes; groupBegin += Shape::groupBytes) {
        const int position = groupBegin + Warp::lane() * wordBytes<From>;
        Array<std::uint32_t, Shape::rows> words;
#pragma unroll
        for (int row = 0; row < Shape::rows; ++row) {
            words[row] = wordAt<From>(tile, position + row * Shape::rowBytes);
        }
        packer.beginGroup(position);
        encodeGroup(words, groupBegin + Shape::groupBytes, packer);
    }
    return packer.packed();
}

/// Encoding into UTF-8 in one pass.
///
/// The copy engine loads the part of each warp. Group by group, lanes turn their elements into planes of bytes
/// (byte_planes.h), as many as the longest sequence in the group needs. A scan of four lengths per word gives the place
/// of each element. The bytes are packed at the beginning of the part, where they never reach text that is still to be
/// read. So a tile takes no more memory than its input, or half as much again for UTF-16, of which 2 bytes can become
/// 3, or twice as much for Latin-1. The sums of the warps are scanned in the block and by look-back over the tiles.
/// They give the place of each packed run in the output, to which it is copied in aligned vectors.
///
/// A part whose elements all take the same number of bytes takes a shorter path (encode_uniform.cuh).
///
/// Elements of big-endian order are turned round as lanes load them. Latin-1 is widened to UTF-16 in the same place.
///
/// Work O(n), steps O(n / resident elements). Reads 4 bytes per element of UTF-32, 2 per element of UTF-16 or 1 per
/// element of Latin-1, and writes 1 to 4. If one script prevails, DRAM bandwidth is the limit. In mixed text it is the
/// instructions, most of them logic on planes.
template <typename From, Errors errors, typename Chain, typename Text = TextInMemory>
__global__ void __launch_bounds__(EncodeShape<From>::threads,
                                  blocksThatFit<Chain>(EncodeShape<From>::threads,
                                                       EncodeShape<From>::blocksPerMultiprocessor))
    kernEncode(Text counted, std::uint8_t* odata, Chain chain) {
    using Shape = EncodeShape<From>;
    using Tile = typename Shape::Text;
    __shared__ struct {
        alignas(TextInMemory::alignment) std::byte parts[Shape::warps * Shape::partBytes + Tile::halo];
        BulkCopy copies[Shape::warps];
        std::uint32_t warpCounts[Shape::warps];
        int firstIllFormed;
        std::uint32_t known;  ///< the number of parts whose size is known, and the sum of their bytes
    } shared;
    const int warp = Warp::broadcast(Warp::index(), 0);  // the compiler then knows that it is the same in all lanes
    std::byte* const part = shared.parts + warp * Shape::partBytes;
    auto* const packed = reinterpret_cast<std::uint8_t*>(part + Tile::halo);
    const auto text = knownText(counted);
    const int tiles = tilesOf(text, Shape::bytes);
    unsigned parity = 0;
    shared.copies[warp].initialize(Warp::lane() == 0);
    const auto take = [&](int round) { return chain.takeTile(round); };
    forEachTile<TileCount<Text, Chain>>(tiles, take, [&](int tileIndex) {
        chain.begin(countAtBegin(errors));
        Tile tile(part + Shape::roomBytes, shared.copies[warp], text, tileIndex * Shape::warps + warp);
        if (threadIdx.x == 0) {
            shared.firstIllFormed = INT_MAX;
            shared.known = 0;
        }
        __syncthreads();
        tile.finish(text, parity);

        // If all parts of a tile are uniform, their sizes are known before they are encoded.
        constexpr std::uint32_t onePart = 1u << 24;  // above the bytes of a tile
        static_assert(Shape::warps * Shape::warpBytesOut < onePart);
        Packed result;
        const UniformPart uniform = findUniform<From>(tile);
        if (uniform.length != 0) {
            result.bytes = bytesOf<From, Tile>(uniform);
            const std::uint32_t mine = onePart + result.bytes;
            const std::uint32_t known =
                Warp::broadcast(Warp::lane() == 0 ? atomicAdd(&shared.known, mine) + mine : 0, 0);
            if (known / onePart == Shape::warps) {
                chain.publish(known % onePart);
            }
            encodeUniform<From>(tile, uniform, packed);
        } else {
            result = encodePart<From, errors>(tile, packed);
            if (result.illFormedAt != INT_MAX) {
                atomicMin(&shared.firstIllFormed, warp * Shape::warpBytes + result.illFormedAt);
            }
        }
        const auto place =
            Block::scanWarps<Shape::warps>(static_cast<std::uint32_t>(result.bytes), shared.warpCounts, Sum{});
        if (warp == 0 && shared.known / onePart != Shape::warps) {
            chain.publish(place.all);
        }
        const std::uint64_t before = chain.before(place.all);
        const std::uint64_t begin = before + place.before;

        // Report the first error of the tile. The last tile also reports the number of bytes.
        if (result.illFormedAt != INT_MAX && warp * Shape::warpBytes + result.illFormedAt == shared.firstIllFormed) {
            const auto in = reinterpret_cast<const From*>(text.base + text.lead);
            const std::size_t index = tile.offsetOf(result.illFormedAt) / sizeof(From);
            reportError(chain.result, index, [&] {
                return isSurrogate(static_cast<char32_t>(in[index])) ? ErrorKind::Surrogate : ErrorKind::AboveLast;
            });
            if constexpr (errors == Errors::Strict) {
                reportCount(chain.result, begin + result.bytesBeforeError);
            }
        }
        if (tileIndex == (Chain::isForAnyText ? tiles : static_cast<int>(gridDim.x)) - 1 && threadIdx.x == 0) {
            reportEnd<errors>(chain.result, before + place.all);
        }

        copyRunByWarp(odata + begin, packed, result.bytes);
    });
}

/// Encodes UTF-32 (From is char32_t or BigEndian<char32_t>), UTF-16 (char16_t or BigEndian<char16_t>) or Latin-1
/// (Latin1) into UTF-8, and writes the number of bytes and the first error, as the index of an element, to `result` in
/// device memory. Surrogates that are not of a pair in UTF-16 and numbers above U+10FFFF become U+FFFD, are dropped, or
/// end the text; all Latin-1 is well-formed. In strict mode `result->count` is the number of bytes before the first
/// error, and later bytes of `out` are unspecified.
///
/// At most 4 bytes come out per element of UTF-32, 3 per element of UTF-16 and 2 per element of Latin-1. Everything
/// else is as for Decode.
template <typename SomeErrors>
struct EncodeWith {
    SomeErrors errors{};                          ///< what becomes of ill-formed units: U+FFFD unless set
    TileOrder order = TileOrder::BlockIndex;      ///< how the blocks get their tiles
    std::size_t maxOut = noLimit;                 ///< the most bytes that are written (common.cuh)
    static constexpr bool mayRunInPlace = false;  ///< whether the output may be the input

    /// The bytes of scratch that a call with these arguments needs.
    template <typename From, Utf8Byte Byte, ElementCount N>
    [[nodiscard]] std::size_t scratchBytes(const From*, const Byte*, const Result*, N n) const {
        const std::size_t most = capacityOf(n);
        Arguments::requireSize<From>(most);
        const std::size_t tiles = TextInMemory::mostTiles(most * sizeof(From), EncodeShape<From>::bytes);
        Arguments::requireAtMost("parts of the text", tiles, Common::mostBlocks / EncodeShape<From>::warps);
        return most == 0 ? 0 : ChainTiles{tiles, tiles}.scratchBytes();
    }

    /// Encodes n elements.
    template <typename From, Utf8Byte Byte, ElementCount N>
    void operator()(const From* in, Byte* out, Result* result, N n, Scratch scratch, cudaStream_t stream) const {
        encode(TextOf<N>(in, n), in, bytesOf(out), result, countOf(n), scratch, stream);
    }

    /// Encodes n elements that are cut out of a larger text in UTF-16 of either order, anywhere, given what lies around
    /// them in device memory. Of the four bytes of a pair, two come from each surrogate. Everything else is as for
    /// Decode.
    template <typename From>
    requires isUtf16<From>
    void operator()(const From* in, const TextAround* around, std::uint8_t* out, Result* result, std::size_t n,
                    Scratch scratch, cudaStream_t stream) const {
        Arguments::requireArray("around", around, 1);
        encode(CutText(in, n, around), in, out, result, n, scratch, stream);
    }

  private:
    template <typename Text, typename From, typename Count>
    void encode(const Text& text, const From* in, std::uint8_t* out, Result* result, Count n, Scratch scratch,
                cudaStream_t stream) const;
};

/// Takes `errors` when it runs.
using Encode = EncodeWith<Errors>;

// Not inline, as Decode::decode.
template <typename SomeErrors>
template <typename Text, typename From, typename Count>
void EncodeWith<SomeErrors>::encode(const Text& text, const From* in, std::uint8_t* out, Result* result, Count n,
                                    Scratch scratch, cudaStream_t stream) const {
    requireConversionArrays(in, out, result, n, maxOut);
    ScratchArena arena(scratch, scratchBytes(in, out, result, n));
    if (capacityOf(n) == 0) {
        tellExceeded(n, stream);
        beginResult(result, 0, stream);
        return;
    }
    using Shape = EncodeShape<From>;
    const std::size_t tiles = text.tiles(Shape::bytes);
    withErrors(errors, [&](auto mode) {
        constexpr auto together = kernEncode<From, mode(), TextGridChain, Text>;
        launchChain({tiles, tiles}, onCurrentDevice<together>(Shape::threads).residentBlocks, orderFor<Count>(order),
                    result, countAtBegin(errors), arena, stream, [&](auto chain, std::size_t, Begin begin) {
                        using Chain = decltype(chain);
                        constexpr auto kernel = kernEncode<From, mode(), Chain, Text>;
                        return tryLaunch<kernel>({blocksForTiles<kernel, TileCount<Text, Chain>>(tiles, Shape::threads),
                                                  Shape::threads, 0, begin},
                                                 stream, text, out, chain);
                    });
    });
}

}  // namespace StreamCompaction::Utf8
