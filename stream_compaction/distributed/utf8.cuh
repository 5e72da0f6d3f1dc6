#pragma once

#include <concepts>

#include "stream_compaction/distributed/call.cuh"
#include "stream_compaction/utf8.cuh"

namespace StreamCompaction::Distributed {

/// One rank's share of a conversion.
template <typename From, typename To>
struct ConversionPart {
    const From* in;       ///< the rank's part of the text, in device memory
    To* out;              ///< what comes from it, in device memory
    std::size_t* counts;  ///< how many elements come from each rank, in device memory; one per rank of the communicator
    Utf8::Result* result;  ///< of the whole text, in device memory
    std::size_t n;         ///< the rank's number of elements, 0 included
    Scratch scratch;       ///< on the rank's device
    const Rank* rank;      ///< of this process
    cudaStream_t stream;   ///< of the rank's device
};

/// One rank's share of a validation.
struct ValidationPart {
    const std::uint8_t* in;  ///< the rank's part of the text, in device memory
    std::size_t* counts;     ///< how many elements would come from each rank, in device memory; one per rank
    Utf8::Result* result;    ///< of the whole text, in device memory
    std::size_t n;           ///< the rank's number of bytes, 0 included
    Scratch scratch;         ///< on the rank's device
    const Rank* rank;        ///< of this process
    cudaStream_t stream;     ///< of the rank's device
};

/// What a rank tells the others about its part of a text.
struct TextOfRank {
    std::uint64_t n;      ///< its elements
    std::uint32_t first;  ///< its first four bytes, the first one in the lowest byte; zeros behind fewer
    std::uint32_t last;   ///< its last four bytes, the last one in the highest byte; zeros before fewer
    Utf8::Result result;  ///< of its conversion, once that is done
};

/// The number of a text's bytes that fit into a word.
[[nodiscard]] __device__ constexpr int bytesInWord(std::size_t bytes) {
    return bytes < 4 ? static_cast<int>(bytes) : 4;
}

/// Tells the ends of the rank's part. One thread.
template <typename = void>
__global__ void kernTellEnds(Told<TextOfRank>* mine, Utf8::TextInMemory text, std::size_t n) {
    const std::size_t bytes = text.end - text.lead;
    const int few = bytesInWord(bytes);
    mine->value.n = n;
    mine->value.first = text.windowAt(0);
    mine->value.last = static_cast<std::uint32_t>(std::uint64_t{text.windowAt(bytes - few)} << 8 * (4 - few));
}

/// Finds what lies around a rank's part. A rank may have less than a word, so the ends of several may count. One
/// thread. Work O(ranks).
template <typename = void>
__global__ void kernFindAround(Utf8::TextAround* around, const Told<TextOfRank>* told, int me, int ranks,
                               std::size_t elementBytes) {
    Utf8::TextAround found{0, 0, true};
    for (int rank = 0; rank < me; ++rank) {
        const TextOfRank& text = told[rank].value;
        const int bytes = bytesInWord(text.n * elementBytes);
        found.before = static_cast<std::uint32_t>(std::uint64_t{found.before} >> 8 * bytes) | text.last;
        found.isBeginning &= text.n == 0;
    }
    for (int rank = ranks - 1; rank > me; --rank) {
        const TextOfRank& text = told[rank].value;
        const int bytes = bytesInWord(text.n * elementBytes);
        found.behind = static_cast<std::uint32_t>(std::uint64_t{found.behind} << 8 * bytes) | text.first;
    }
    *around = found;
}

/// Joins the results of the ranks. In strict mode nothing behind the first error counts. One thread. Work O(ranks).
template <typename = void>
__global__ void kernJoinResults(std::size_t* counts, Utf8::Result* result, const Told<TextOfRank>* told, int ranks,
                                bool isStrict, std::uint32_t* failure) {
    Utf8::Result whole{0, Utf8::Result::noError};
    std::uint64_t before = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        const auto& [n, first, last, mine] = told[rank].value;
        counts[rank] = isStrict && !whole.isWellFormed() ? 0 : mine.count;
        whole.count += counts[rank];
        if (whole.isWellFormed() && !mine.isWellFormed()) {
            whole.firstError = Utf8::Result::errorAt(before + mine.errorOffset(), mine.errorKind());
        }
        before += n;
    }
    *result = whole;
    noteFailure(told, ranks, failure);
}

/// What the operations on text share. `convertLocally(part, around, result)` enqueues the conversion of the rank's own
/// part, given what lies around it in device memory. Elements of UTF-32 are whole units, which need nothing from around
/// them.
template <typename Part, typename ConvertLocally>
void convertOnRanks(const Call<Part>& call, bool isStrict, const ConvertLocally& convertLocally) {
    using Slot = Told<TextOfRank>;
    constexpr std::size_t elementBytes = sizeof(*Part::in);
    call.forEach([](const Part& part) {
        launch<kernTellEnds<>>({1, 1}, part.stream, part.rank->template mine<Slot>(),
                               Utf8::TextInMemory(part.in, part.n), part.n);
    });
    if constexpr (elementBytes < sizeof(char32_t)) {
        call.exchange(sizeof(Slot));
        call.forEach([](const Part& part) {
            const Rank& rank = *part.rank;
            launch<kernFindAround<>>({1, 1}, part.stream, rank.template state<Utf8::TextAround>(),
                                     rank.template all<Slot>(), rank.index(), rank.count(), elementBytes);
        });
    }
    call.forEach([&](const Part& part) {
        const Rank& rank = *part.rank;
        convertLocally(part, rank.template state<const Utf8::TextAround>(), &rank.template mine<Slot>()->value.result);
    });
    call.exchange(sizeof(Slot));
    call.forEachValid([&](const Part& part) {
        const Rank& rank = *part.rank;
        launch<kernJoinResults<>>({1, 1}, part.stream, part.counts, part.result, rank.template all<Slot>(),
                                  rank.count(), isStrict, rank.failure());
    });
    call.finish();
}

/// Checks the arguments of a rank.
template <typename From, typename To>
void requireConversion(const ConversionPart<From, To>& part, Utf8::Errors errors, std::size_t scratchBytes) {
    Utf8::withErrors(errors, [](auto) {});
    Utf8::requireConversionArrays(part.in, part.out, part.result, part.n);
    Arguments::requireArray("counts", part.counts, part.rank->count());
    (void)ScratchArena(part.scratch, scratchBytes);
}

/// Decodes UTF-8 that is spread over the ranks: `decode(in, out, counts, result, n, scratch, rank, stream)`. The text
/// is joined in the order of the ranks. It may be cut anywhere, also inside a sequence, and a rank may have any number
/// of bytes. What comes out is, joined, what Utf8::Decode makes of the whole text, and so is the result, which all
/// ranks get. It stays on the ranks, and all of them learn how many elements each has. `Balance` spreads them evenly.
///
/// A code point belongs to the rank with the first byte of its unit. In UTF-16 this is so for first surrogates. A
/// second surrogate belongs to the rank with the second byte of four, so that a rank never has more elements than
/// bytes. In strict mode the ranks behind the first error have none. Arrays are as for Utf8::Decode, but an output
/// always has room for all that can come out. May not run in place.
///
/// One exchange tells the bytes at the ends of the ranks' parts, one the results. Between them each rank converts its
/// part, in which each byte is read once.
///
/// How a call enqueues and fails is as for Distributed::Scan.
template <typename SomeErrors>
struct DecodeUtf8With {
    SomeErrors errors{};              ///< what becomes of ill-formed units: U+FFFD unless set
    Utf8::Bom bom = Utf8::Bom::Keep;  ///< whether a byte order mark at the beginning is kept

    /// How the blocks of large texts get their tiles.
    TileOrder order = TileOrder::BlockIndex;

    /// The bytes of scratch that a rank needs. Needs no device.
    template <typename To>
    [[nodiscard]] std::size_t scratchBytes(const std::uint8_t* in, const To* out, const std::size_t*,
                                           const Utf8::Result* result, std::size_t n) const {
        return local().scratchBytes(in, out, result, n);
    }

    /// For one rank of this process.
    template <typename To>
    void operator()(const std::uint8_t* in, To* out, std::size_t* counts, Utf8::Result* result, std::size_t n,
                    Scratch scratch, const Rank& rank, cudaStream_t stream) const {
        (*this)(std::vector<ConversionPart<std::uint8_t, To>>{{in, out, counts, result, n, scratch, &rank, stream}});
    }

    /// For several ranks of this process, by one thread.
    template <typename To>
    void operator()(const std::vector<ConversionPart<std::uint8_t, To>>& parts) const {
        using Part = ConversionPart<std::uint8_t, To>;
        const Call<Part> call(parts, [this](const Part& part) {
            requireConversion(part, errors, scratchBytes(part.in, part.out, part.counts, part.result, part.n));
        });
        convertOnRanks(call, errors == Utf8::Errors::Strict,
                       [this](const Part& part, const Utf8::TextAround* around, Utf8::Result* result) {
                           local()(part.in, around, part.out, result, part.n, part.scratch, part.stream);
                       });
    }

  private:
    [[nodiscard]] Utf8::DecodeWith<SomeErrors> local() const { return {.errors = errors, .bom = bom, .order = order}; }
};

/// Takes `errors` when it runs.
using DecodeUtf8 = DecodeUtf8With<Utf8::Errors>;

/// Counts the elements that DecodeUtf8 would write, and finds the first error: `validate(in, counts, result, n,
/// scratch, rank, stream)`. Strict mode counts as Replace does. Everything else is as for DecodeUtf8.
template <typename SomeErrors>
struct ValidateUtf8With {
    SomeErrors errors{};                           ///< what becomes of ill-formed units: U+FFFD unless set
    Utf8::CountIn countIn = Utf8::CountIn::Utf32;  ///< the elements to count

    /// The bytes of scratch that a rank needs. Needs no device.
    [[nodiscard]] std::size_t scratchBytes(const std::uint8_t* in, const std::size_t*, const Utf8::Result* result,
                                           std::size_t n) const {
        return local().scratchBytes(in, result, n);
    }

    /// For one rank of this process. A template, so that only code that calls it compiles its kernels.
    template <std::same_as<std::uint8_t> Byte>
    void operator()(const Byte* in, std::size_t* counts, Utf8::Result* result, std::size_t n, Scratch scratch,
                    const Rank& rank, cudaStream_t stream) const {
        (*this)(std::vector<ValidationPart>{{in, counts, result, n, scratch, &rank, stream}});
    }

    /// For several ranks of this process, by one thread.
    template <std::same_as<ValidationPart> Part>
    void operator()(const std::vector<Part>& parts) const {
        const Call<Part> call(parts, [this](const Part& part) {
            Utf8::withErrors(errors, [](auto) {});
            Arguments::requireArray("in", part.in, part.n);
            Arguments::requireArray("counts", part.counts, part.rank->count());
            Arguments::requireArray("result", part.result, 1);
            (void)ScratchArena(part.scratch, scratchBytes(part.in, part.counts, part.result, part.n));
        });
        convertOnRanks(call, false, [this](const Part& part, const Utf8::TextAround* around, Utf8::Result* result) {
            local()(part.in, around, result, part.n, part.scratch, part.stream);
        });
    }

  private:
    [[nodiscard]] Utf8::ValidateWith<SomeErrors> local() const { return {.errors = errors, .countIn = countIn}; }
};

/// Takes `errors` when it runs.
using ValidateUtf8 = ValidateUtf8With<Utf8::Errors>;

/// Encodes text that is spread over the ranks, of any type of element that Utf8::Encode takes, into UTF-8: `encode(in,
/// out, counts, result, n, scratch, rank, stream)`. The text may also be cut inside a pair of surrogates. Then its
/// first two bytes belong to the rank with the first surrogate, and its last two to the rank with the second one, so
/// that no rank has more than 3 bytes per element. Results and arrays are otherwise as for DecodeUtf8 and Utf8::Encode.
/// UTF-32 takes one exchange.
template <typename SomeErrors>
struct EncodeUtf8With {
    SomeErrors errors{};  ///< what becomes of ill-formed units: U+FFFD unless set

    /// How the blocks of large texts get their tiles.
    TileOrder order = TileOrder::BlockIndex;

    /// The bytes of scratch that a rank needs. Needs no device.
    template <typename From>
    [[nodiscard]] std::size_t scratchBytes(const From* in, const std::uint8_t* out, const std::size_t*,
                                           const Utf8::Result* result, std::size_t n) const {
        return local().scratchBytes(in, out, result, n);
    }

    /// For one rank of this process.
    template <typename From>
    void operator()(const From* in, std::uint8_t* out, std::size_t* counts, Utf8::Result* result, std::size_t n,
                    Scratch scratch, const Rank& rank, cudaStream_t stream) const {
        (*this)(std::vector<ConversionPart<From, std::uint8_t>>{{in, out, counts, result, n, scratch, &rank, stream}});
    }

    /// For several ranks of this process, by one thread.
    template <typename From>
    void operator()(const std::vector<ConversionPart<From, std::uint8_t>>& parts) const {
        using Part = ConversionPart<From, std::uint8_t>;
        const Call<Part> call(parts, [this](const Part& part) {
            requireConversion(part, errors, scratchBytes(part.in, part.out, part.counts, part.result, part.n));
        });
        convertOnRanks(call, errors == Utf8::Errors::Strict,
                       [this](const Part& part, [[maybe_unused]] const Utf8::TextAround* around, Utf8::Result* result) {
                           if constexpr (Utf8::isUtf16<From>) {
                               local()(part.in, around, part.out, result, part.n, part.scratch, part.stream);
                           } else {
                               local()(part.in, part.out, result, part.n, part.scratch, part.stream);
                           }
                       });
    }

  private:
    [[nodiscard]] Utf8::EncodeWith<SomeErrors> local() const { return {.errors = errors, .order = order}; }
};

/// Takes `errors` when it runs.
using EncodeUtf8 = EncodeUtf8With<Utf8::Errors>;

}  // namespace StreamCompaction::Distributed
