#pragma once

#include <array>
#include <climits>

#include "stream_compaction/primitives/block.cuh"
#include "stream_compaction/primitives/run_copy.cuh"
#include "stream_compaction/primitives/shared_address.cuh"
#include "stream_compaction/utf8/byte_planes.h"
#include "stream_compaction/utf8/chain.cuh"
#include "stream_compaction/utf8/encode_uniform.cuh"
#include "stream_compaction/utf8/report.cuh"
#include "stream_compaction/utf8/text_tile.cuh"

namespace StreamCompaction::Utf8 {

/// How a tile is shared out: every warp has a part of its own, which it goes through in groups of four rows; of a row
/// every lane has a word. Measured on an H200.
template <typename From>
struct EncodeShape {
    static constexpr int threads = 256;
    static constexpr int blocksPerMultiprocessor = sizeof(From) == sizeof(char16_t) ? 7 : 6;
    static constexpr int warps = threads / Warp::lanes;
    static constexpr int groups = sizeof(From) == sizeof(char16_t) ? 5 : 8;  // of a warp
    static constexpr int rows = 4;                                           // of a group
    static constexpr int rowBytes = Warp::lanes * static_cast<int>(sizeof(std::uint32_t));
    static constexpr int groupBytes = rows * rowBytes;
    static constexpr int warpBytes = groups * groupBytes;
    static constexpr int bytes = warps * warpBytes;
    using Text = TextTile<Warp::lanes, warpBytes>;

    static constexpr int perWord = sizeof(std::uint32_t) / sizeof(From);
    static constexpr int quads = perWord;  // of a lane in a group: the elements of its words in the same place
    static constexpr int most = sizeof(From) == sizeof(char16_t) ? 3 : 4;  // bytes an element
    static constexpr int warpBytesOut = warpBytes / static_cast<int>(sizeof(From)) * most;

    /// Of shared memory a warp has, behind what stands behind the part before, room for as much as its bytes become
    /// more, and for what stands before them; then they follow, aligned.
    static constexpr int roomBytes =
        static_cast<int>(Common::divideRoundUp(warpBytesOut - warpBytes + 2 * Text::halo, TextInMemory::alignment) *
                         TextInMemory::alignment);
    static constexpr int partBytes = roomBytes + warpBytes;

    /// How far behind the first of a lane's elements in a group another one lies.
    [[nodiscard]] __device__ static constexpr int offsetOf(int element) {
        return element % rows * rowBytes + element / rows * static_cast<int>(sizeof(From));
    }
};

/// A lane's elements of a group in UTF-8, each of which takes at most so many bytes, as those of the other lanes.
template <int quadCount, int most_>
struct EncodedGroup {
    static constexpr int most = most_;
    EncodedQuad quads[quadCount];

    [[nodiscard]] __device__ int length(int element) const {
        return static_cast<int>(quads[element / 4].lengths >> 8 * (element % 4) & 0xFF);
    }
    /// In the lowest byte, that byte of an element that so many are behind.
    [[nodiscard]] __device__ std::uint32_t byte(int element, int place) const {
        return quads[element / 4].planes[place] >> 8 * (element % 4);
    }
    /// The same by a sum.
    [[nodiscard]] __device__ std::uint32_t byteBySum(int element, int place) const {
        const std::uint32_t plane = quads[element / 4].planes[place];
        return element % 4 == 0 ? plane : addByte(plane, element % 4, 0);
    }
};

[[nodiscard]] __device__ inline bool anyLane(bool isSo) { return __any_sync(Warp::allLanes, isSo) != 0; }

/// Encodes the groups of a part, one after the other. A call takes a lane's words of a group and the position of the
/// group's end, and gives the packer an EncodedGroup: quad i has element number i of each word. The packer says which
/// elements are text, and is told which are ill-formed.
template <typename From, typename Text>
class GroupEncoder;

template <typename Text>
class GroupEncoder<char32_t, Text> {
  public:
    __device__ explicit GroupEncoder(const Text&) {}

    template <typename Packer>
    __device__ void operator()(const std::array<std::uint32_t, 4>& words, int, Packer& packer) const {
        const auto [low, high, above, top] = planesOf(words);
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

template <typename Text>
class GroupEncoder<char16_t, Text> {
  public:
    __device__ explicit GroupEncoder(const Text& text) : text_(text) {
        const char16_t before = text.template at<char16_t>(-static_cast<int>(sizeof(char16_t)));
        before_ = linkOf(isFirstSurrogate(before) ? highBits : 0, static_cast<std::uint32_t>(before) << 24);
    }

    template <typename Packer>
    __device__ void operator()(const std::array<std::uint32_t, 4>& words, int end, Packer& packer) {
        const auto [frontLow, frontHigh, backLow, backHigh] = planesOf(words);
        if (anyLane((surrogatesIn(frontHigh) | surrogatesIn(backHigh)) != 0)) {
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
    /// What an element must know of the one before it: in the highest bit whether that is a first surrogate, and its
    /// lowest bits.
    [[nodiscard]] __device__ static std::uint32_t linkOf(std::uint32_t first, std::uint32_t low) {
        return choose(highBits, first, low);
    }

    /// Encodes the lower and the upper elements of the words, of which some in some lane are surrogates.
    template <typename Packer>
    [[nodiscard]] __device__ EncodedGroup<2, 3> encodeSurrogates(Utf16Quad front, Utf16Quad back, int end,
                                                                 Packer& packer) {
        // What is before the lower and behind the upper ones is another lane's; to either side of a row, another row's.
        const std::uint32_t link = __shfl_sync(Warp::allLanes, linkOf(back.first, back.low), Warp::lane() - 1);
        const std::uint32_t before = Warp::lane() == 0 ? __funnelshift_l(before_, link, 8) : link;
        before_ = link;
        const std::uint32_t afterEnd = isSecondSurrogate(text_.template at<char16_t>(end)) ? highBits : 0;
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

/// What a warp has packed, and of its elements each lane the first that is ill-formed.
struct Packed {
    int bytes = 0;
    int illFormedAt = INT_MAX;           ///< its position
    std::uint32_t bytesBeforeError = 0;  ///< for strict mode
};

/// Packs the elements of a part, group by group, into consecutive bytes of shared memory. By a warp.
///
/// First a scan of the lengths says where each element ends. Then the bytes are stored in rounds, from the first byte
/// of an element to its last; a round is byte `place` from the end. A shorter element has no such byte. What is stored
/// in its stead lies among the bytes before it, which a later round overwrites. So no lane needs to ask for lengths:
///
///     elements, lengths     a: 1    ü: 2          中: 3
///     ends                  1       3             6
///     bytes                 0       1      2      3      4      5
///     round, place 2        (ü)                   E4                  a: byte -2, guarded
///     round, place 1                C3                   B8           a: byte -1, guarded
///     round, place 0        61             BC                   AD
///
/// Before the group's first bytes lies what has been packed. So the elements of row 0 are guarded, of which the first
/// ones may reach there. Where elements are left out, every element is: that is the exact way.
template <typename From, Errors errors>
class GroupPacker {
    using Shape = EncodeShape<From>;
    using Text = typename Shape::Text;
    static constexpr int elements = 4 * Shape::quads;  // of a lane in a group

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

    /// Flags those of a quad that are text.
    [[nodiscard]] __device__ std::uint32_t isText(int quad) const {
        std::uint32_t flags = isWhole_ ? highBits : 0;
#pragma unroll
        for (int i = 0; i < 4 && !isWhole_; ++i) {
            const int at = position_ + Shape::offsetOf(4 * quad + i);
            flags |= static_cast<std::uint32_t>(at >= tile_.first() && at < tile_.end()) << (8 * i + 7);
        }
        return flags;
    }

    /// Takes note of the ill-formed ones of a quad.
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

    /// Packs an EncodedGroup behind those before.
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

    /// After the last group.
    [[nodiscard]] __device__ Packed packed() const {
        Packed packed = packed_;
        packed.bytes = static_cast<int>(end_ - begin_);
        return packed;
    }

  private:
    /// What is not text, and what is skipped, takes no bytes.
    template <typename Group>
    __device__ void leaveOut(Group& group) const {
#pragma unroll
        for (int quad = 0; quad < Shape::quads; ++quad) {
            group.quads[quad].lengths &= wholeBytes(isText(quad) & ~skipped_[quad]);
        }
    }

    /// The address behind each of the lane's elements; returns the one behind the group. The text goes through a group
    /// row by row. The counts of four rows share a word.
    template <typename Group>
    [[nodiscard]] __device__ std::uint32_t findEnds(const Group& group, std::uint32_t (&ends)[elements]) const {
        // What the elements of a row take, up to each quad's element of this lane.
        std::uint32_t counts = 0;
#pragma unroll
        for (int quad = 0; quad < Shape::quads; ++quad) {
            counts += group.quads[quad].lengths;
        }
        std::uint32_t upTo[Shape::quads];
        std::uint32_t& upToLast = upTo[Shape::quads - 1];
        upToLast = fourTimes(Shape::perWord) * (Warp::lane() + 1);
        std::uint32_t totals = fourTimes(Shape::perWord) * Warp::lanes;
        if (Group::most > 1 || isExact_) {
            upToLast = Warp::inclusiveScan(counts, Sum{});
            totals = Warp::broadcast(upToLast, Warp::lanes - 1);
        }
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
            rowBegin = addByte(totals, row, rowBegin);
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
    // Of the group:
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
        const int position = groupBegin + Warp::lane() * static_cast<int>(sizeof(std::uint32_t));
        std::array<std::uint32_t, Shape::rows> words;
#pragma unroll
        for (int row = 0; row < Shape::rows; ++row) {
            words[row] = tile.template at<std::uint32_t>(position + row * Shape::rowBytes);
        }
        packer.beginGroup(position);
        encodeGroup(words, groupBegin + Shape::groupBytes, packer);
    }
    return packer.packed();
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
/// A part whose elements all take the same number of bytes goes a shorter way (encode_uniform.cuh).
///
/// Work O(n), steps O(n / resident elements). 4 bytes read an element of UTF-32, 2 of UTF-16, and 1 to 4 written.
/// DRAM limits it where one script prevails; in mixed text the instructions, most of them logic on planes.
template <typename From, Errors errors, typename Chain>
__global__ void __launch_bounds__(EncodeShape<From>::threads,
                                  blocksThatFit<Chain>(EncodeShape<From>::threads,
                                                       EncodeShape<From>::blocksPerMultiprocessor))
    kernEncode(TextInMemory text, std::uint8_t* odata, Chain chain) {
    using Shape = EncodeShape<From>;
    using Text = typename Shape::Text;
    __shared__ struct {
        alignas(TextInMemory::alignment) std::byte parts[Shape::warps * Shape::partBytes + Text::halo];
        BulkCopy copies[Shape::warps];
        std::uint32_t warpCounts[Shape::warps];
        int firstIllFormed;
        std::uint32_t known;  ///< of parts whose bytes are: their number, and the bytes
    } shared;
    const int warp = Warp::broadcast(Warp::index(), 0);  // which the compiler thus knows to be the same in all lanes
    std::byte* const part = shared.parts + warp * Shape::partBytes;
    auto* const packed = reinterpret_cast<std::uint8_t*>(part + Text::halo);
    const int tileIndex = chain.takeTile();
    chain.begin(countAtBegin(errors));
    Text tile(part + Shape::roomBytes, shared.copies[warp], text, tileIndex * Shape::warps + warp);
    if (threadIdx.x == 0) {
        shared.firstIllFormed = INT_MAX;
        shared.known = 0;
    }
    __syncthreads();
    tile.finish();

    // Where all parts of a tile have elements of one length, it is known what they take before they are encoded.
    constexpr std::uint32_t onePart = 1u << 24;  // above the bytes of a tile
    static_assert(Shape::warps * Shape::warpBytesOut < onePart);
    Packed result;
    const UniformPart uniform = findUniform<From>(tile);
    if (uniform.length != 0) {
        result.bytes = bytesOf<From, Text>(uniform);
        const std::uint32_t mine = onePart + result.bytes;
        const std::uint32_t known = Warp::broadcast(Warp::lane() == 0 ? atomicAdd(&shared.known, mine) + mine : 0, 0);
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

    // Report: the first error of the tile, and by the last tile the number of bytes.
    if (result.illFormedAt != INT_MAX && warp * Shape::warpBytes + result.illFormedAt == shared.firstIllFormed) {
        const auto in = reinterpret_cast<const From*>(text.base + text.lead);
        const std::size_t index = tile.offsetOf(result.illFormedAt) / sizeof(From);
        reportError(chain.result, index,
                    [&] { return isSurrogate(in[index]) ? ErrorKind::Surrogate : ErrorKind::AboveLast; });
        if constexpr (errors == Errors::Strict) {
            reportCount(chain.result, begin + result.bytesBeforeError);
        }
    }
    if (tileIndex == static_cast<int>(gridDim.x) - 1 && threadIdx.x == 0) {
        reportEnd<errors>(chain.result, before + place.all);
    }

    copyRunByWarp(odata + begin, packed, result.bytes);
}

/// Encodes UTF-32 (From is char32_t) or UTF-16 (char16_t, native byte order) into UTF-8, and writes the number of bytes
/// and the first error, as the index of an element, to `result` in device memory. Surrogates that are not of a pair and
/// what lies above U+10FFFF become U+FFFD, are dropped, or end the text: in strict mode `result->count` is what stands
/// before the first error, and bytes of `out` behind it are unspecified.
///
/// `out` must have room for what comes out, at most 4 bytes an element of UTF-32 and 3 of UTF-16, in strict mode for as
/// many; in everything else like Decode.
struct Encode {
    Errors errors = Errors::Replace;
    TileOrder order = TileOrder::BlockIndex;
    static constexpr bool mayRunInPlace = false;

    template <typename From>
    [[nodiscard]] std::size_t scratchBytes(const From*, const std::uint8_t*, const Result*, std::size_t n) const {
        Arguments::requireSize<From>(n);
        const std::size_t tiles = TextInMemory::mostTiles(n * sizeof(From), EncodeShape<From>::bytes);
        Arguments::requireAtMost("parts of the text", tiles, Common::mostBlocks / EncodeShape<From>::warps);
        return n == 0 ? 0 : ChainTiles{tiles, tiles}.scratchBytes();
    }

    template <typename From>
    void operator()(const From* in, std::uint8_t* out, Result* result, std::size_t n, Scratch scratch,
                    cudaStream_t stream) const {
        requireConversionArrays(in, out, result, n);
        ScratchArena arena(scratch, scratchBytes(in, out, result, n));
        if (n == 0) {
            beginResult(result, 0, stream);
            return;
        }
        using Shape = EncodeShape<From>;
        const TextInMemory text(in, n);
        const std::size_t tiles = text.tiles(Shape::bytes);
        withErrors(errors, [&](auto mode) {
            constexpr auto together = kernEncode<From, mode(), TextGridChain>;
            launchChain({tiles, tiles}, onCurrentDevice<together>(Shape::threads).residentBlocks, order, result,
                        countAtBegin(errors), arena, stream, [&](auto chain, std::size_t, Begin begin) {
                            launch<kernEncode<From, mode(), decltype(chain)>>({tiles, Shape::threads, 0, begin}, stream,
                                                                              text, out, chain);
                        });
        });
    }
};

}  // namespace StreamCompaction::Utf8
