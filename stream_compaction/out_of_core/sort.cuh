#pragma once

#include <cuda_runtime.h>

#include <future>

#include "stream_compaction/out_of_core/pipeline.h"
#include "stream_compaction/out_of_core/runs.cuh"
#include "stream_compaction/out_of_core/sorters.cuh"
#include "stream_compaction/pinned_array.h"

/// Sorting by two trips over the chunks. Where the cards hold the array, it crosses the bus once.
///
/// The first trip sorts the chunks of the array: each becomes a run. The second trip goes through the parts of the
/// sorted array. Each consists of a piece of each run. The pieces are brought together on a card, sorted and copied
/// to their place. As the runs are sorted, they can be cut exactly where a part ends, so all parts have one size,
/// whatever the keys. A merge would do less work than a second sort. But it would not be faster, because sorting takes
/// less time than the bus.
namespace StreamCompaction::OutOfCore {

/// Neighbouring elements of an array.
struct Piece {
    std::size_t begin;
    std::size_t size;
};

/// The arrays of a chunk on the card.
template <std::size_t count>
struct ChunkColumns {
    Columns<count> in;
    Columns<count> out;
};

/// What all trips of a sort share. `Sorter` is one of those in sorters.cuh.
template <typename Sorter>
class SortJob : public Job {
  public:
    /// Parts are gathered from all chunks, so many chunks would make many small copies.
    [[nodiscard]] std::size_t leastChunkBytes() const final { return std::size_t{1} << 26; }

  protected:
    static constexpr std::size_t columns = Sorter::columns;

    explicit SortJob(const Sorter& sorter) : sorter_(sorter), elementBytes_(sorter.elementBytes()) {}

    [[nodiscard]] const Sorter& sorter() const { return sorter_; }
    [[nodiscard]] std::size_t elementBytes(std::size_t column) const { return elementBytes_[column]; }

    /// The bytes of all columns of n elements on the card.
    [[nodiscard]] std::size_t columnBytes(std::size_t n) const {
        std::size_t bytes = 0;
        for (const std::size_t size : elementBytes_) {
            bytes += scratchBytesFor<std::byte>(n * size);
        }
        return bytes;
    }
    [[nodiscard]] Columns<columns> takeColumns(ScratchArena& arena, std::size_t n) const {
        Columns<columns> taken{};
        for (std::size_t c = 0; c < columns; ++c) {
            taken[c] = arena.take<std::byte>(n * elementBytes_[c]);
        }
        return taken;
    }
    [[nodiscard]] ChunkColumns<columns> columnsOf(const Chunk& chunk, const Place& place) const {
        ScratchArena arena(place.memory, 0);
        const Columns<columns> in = takeColumns(arena, chunk.size);
        return {in, takeColumns(arena, chunk.size)};
    }

    /// Element `index` of each column.
    template <typename Byte>
    [[nodiscard]] std::array<Byte*, columns> at(std::size_t index, std::array<Byte*, columns> elements) const {
        for (std::size_t c = 0; c < columns; ++c) {
            elements[c] += index * elementBytes_[c];
        }
        return elements;
    }

    /// The copies that put pieces of arrays side by side.
    [[nodiscard]] std::vector<Copy> gather(const std::vector<Piece>& pieces, const ConstColumns<columns>& from,
                                           const Columns<columns>& to) const {
        std::vector<Copy> copies;
        std::size_t done = 0;
        for (const Piece& piece : pieces) {
            for (std::size_t c = 0; c < columns; ++c) {
                copies.push_back({at(done, to)[c], at(piece.begin, from)[c], piece.size * elementBytes_[c]});
            }
            done += piece.size;
        }
        return copies;
    }

    /// The copies that take a sorted chunk to its place in arrays in host memory.
    [[nodiscard]] std::vector<Copy> deliver(const Chunk& chunk, const Place& place, const Columns<columns>& to) const {
        const Columns<columns> out = columnsOf(chunk, place).out;
        ConstColumns<columns> from;
        std::ranges::copy(out, from.begin());
        return gather({{0, chunk.size}}, from, at(chunk.begin, to));
    }

  private:
    Sorter sorter_;
    std::array<std::size_t, columns> elementBytes_;
};

/// A trip from host memory to host memory: gathers the pieces of a chunk, sorts them, and copies them to the chunk's
/// place.
template <typename Sorter>
class SortTrip : public SortJob<Sorter> {
  protected:
    using Base = SortJob<Sorter>;
    using Base::columns;

    SortTrip(const Sorter& sorter, const ConstColumns<columns>& from, const Columns<columns>& to)
        : Base(sorter), from_(from), to_(to) {}

    /// The pieces that make up a chunk.
    [[nodiscard]] virtual std::vector<Piece> piecesOf(const Chunk& chunk) = 0;

  public:
    [[nodiscard]] Footprint footprint(std::size_t elements) const final {
        return {2 * this->columnBytes(elements), this->sorter().scratchBytes(elements)};
    }
    [[nodiscard]] std::vector<Copy> up(const Chunk& chunk, const Place& place) final {
        return this->gather(piecesOf(chunk), from_, this->columnsOf(chunk, place).in);
    }
    void work(const Chunk& chunk, const Place& place, Scratch scratch, cudaStream_t stream) final {
        const auto on = this->columnsOf(chunk, place);
        this->sorter()(on.in, on.out, chunk.size, scratch, stream);
    }
    [[nodiscard]] std::vector<Copy> down(const Chunk& chunk, const Place& place) final {
        return this->deliver(chunk, place, to_);
    }

  private:
    ConstColumns<columns> from_;
    Columns<columns> to_;
};

/// The first trip: makes a run of each chunk.
template <typename Sorter>
class MakeRuns final : public SortTrip<Sorter> {
    using Base = SortTrip<Sorter>;

  public:
    MakeRuns(const Sorter& sorter, const ConstColumns<Base::columns>& from, const Columns<Base::columns>& to)
        : Base(sorter, from, to) {}

  private:
    [[nodiscard]] std::vector<Piece> piecesOf(const Chunk& chunk) override { return {{chunk.begin, chunk.size}}; }
};

/// The pieces of runs between two cuts of each.
[[nodiscard]] inline std::vector<Piece> piecesBetween(std::span<const std::size_t> cuts,
                                                      std::span<const std::size_t> nextCuts) {
    std::vector<Piece> pieces;
    for (std::size_t run = 0; run < cuts.size(); ++run) {
        if (cuts[run] < nextCuts[run]) {
            pieces.push_back({cuts[run], nextCuts[run] - cuts[run]});
        }
    }
    return pieces;
}

/// The second trip: sorts each part of the array. A part is as large as a run.
template <typename Sorter>
class SortParts final : public SortTrip<Sorter> {
    using Base = SortTrip<Sorter>;
    using Key = typename Sorter::Key;

  public:
    SortParts(const Sorter& sorter, const ConstColumns<Base::columns>& from, const Columns<Base::columns>& to,
              const Plan& runs)
        : Base(sorter, from, to),
          codes_(sorter.sort, from[0], this->elementBytes(0)),
          runs_(runs),
          cuts_(cutRuns(0, runs, codes_)) {
        findCutsBehind(runs.chunk(0));
    }

  private:
    /// The cuts behind the next part are sought while this one is copied.
    [[nodiscard]] std::vector<Piece> piecesOf(const Chunk& part) override {
        const std::vector<std::size_t> cuts = std::exchange(cuts_, nextCuts_.get());
        if (part.end() < runs_.n) {
            findCutsBehind(runs_.chunk(part.step + 1));
        }
        return piecesBetween(cuts, cuts_);
    }

    void findCutsBehind(const Chunk& part) {
        nextCuts_ = std::async(std::launch::async, [this, part] { return cutRuns(part.end(), runs_, codes_); });
    }

    Codes<Key> codes_;
    Plan runs_;
    std::vector<std::size_t> cuts_;
    std::future<std::vector<std::size_t>> nextCuts_;
};

/// Both trips of an array that fits on the cards: the runs stay there, so each element crosses the bus once in each
/// direction. A card gathers the pieces of a part from its own memory and from that of the others. The copies down
/// begin when the last chunk has arrived and the first part is sorted.
template <typename Sorter>
class SortOnCards final : public SortJob<Sorter> {
    using Base = SortJob<Sorter>;
    using Base::columns;
    using Key = typename Sorter::Key;

  public:
    /// Chunks go to the cards in turn.
    SortOnCards(const Sorter& sorter, const ConstColumns<columns>& from, const Columns<columns>& to, std::size_t n,
                std::size_t cards)
        : Base(sorter), from_(from), to_(to), n_(n), cards_(cards) {}

    /// Call before the job is run.
    void setRuns(const Plan& runs) {
        runs_ = runs;
        places_.resize(runs.count);
        taken_ = std::make_unique<PinnedArray<std::size_t>>((runs.count + 1) * runs.count);
    }

    [[nodiscard]] Footprint footprint(std::size_t elements) const override {
        return {2 * this->columnBytes(elements), this->sorter().scratchBytes(elements),
                this->columnBytes(elementsPerCard(elements))};
    }

    [[nodiscard]] std::vector<Copy> up(const Chunk& chunk, const Place& place) override {
        return isFirstTrip(chunk) ? this->gather({{chunk.begin, chunk.size}}, from_, this->columnsOf(chunk, place).in)
                                  : std::vector<Copy>{};
    }

    void work(const Chunk& chunk, const Place& place, Scratch scratch, cudaStream_t stream) override {
        const auto on = this->columnsOf(chunk, place);
        if (isFirstTrip(chunk)) {
            this->sorter()(on.in, takePlace(chunk, place), chunk.size, scratch, stream);
            return;
        }
        if (chunk.begin == 0) {
            cutAll(stream);
        }
        gatherPart(chunk.step - runs_.count, on.in, stream);
        this->sorter()(on.in, on.out, chunk.size, scratch, stream);
    }

    [[nodiscard]] std::vector<Copy> down(const Chunk& chunk, const Place& place) override {
        return isFirstTrip(chunk) ? std::vector<Copy>{} : this->deliver(chunk, place, to_);
    }

  private:
    /// A run in the memory of its card, whose runs lie side by side.
    struct RunPlace {
        Columns<columns> begin;
        std::size_t endOnCard;  ///< the elements of the card's runs up to this one
    };

    [[nodiscard]] bool isFirstTrip(const Chunk& chunk) const { return chunk.step < runs_.count; }

    /// The most elements of the runs of a card, if runs have at most `elements`. The first card has at most one run
    /// more than its share.
    [[nodiscard]] std::size_t elementsPerCard(std::size_t elements) const {
        return std::min(n_, Common::divideRoundUp(n_, cards_) + elements);
    }

    /// The place of the run that a chunk becomes.
    [[nodiscard]] Columns<columns> takePlace(const Chunk& chunk, const Place& place) {
        ScratchArena arena(place.resident, 0);
        const Columns<columns> onCard = this->takeColumns(arena, elementsPerCard(runs_.chunk(0).size));
        const std::size_t before = chunk.step < cards_ ? 0 : places_[chunk.step - cards_].endOnCard;
        places_[chunk.step] = {this->at(before, onCard), before + chunk.size};
        return places_[chunk.step].begin;
    }

    /// Cuts the runs at all borders of parts, and waits for the cuts.
    void cutAll(cudaStream_t stream) {
        RunStarts runs{};
        std::ranges::transform(places_, runs.starts, [](const RunPlace& place) { return place.begin[0]; });
        const Codes<Key> codes(this->sorter().sort, runs.starts[0], this->elementBytes(0));
        launch<kernCutRuns<Key>>(plainShape(runs_.count + 1, cutThreads(runs_.count)), stream, runs_, runs, codes,
                                 taken_->elements().data());
        Common::checkCUDAError(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    }

    void gatherPart(std::size_t part, const Columns<columns>& to, cudaStream_t stream) const {
        for (std::size_t c = 0; c < columns; ++c) {
            withWordOf(this->elementBytes(c), [&](auto word) { gatherColumn<decltype(word)>(part, c, to[c], stream); });
        }
    }

    /// By a kernel: copies by the cards' copy engines would slow down the copies to the host.
    template <typename Word>
    void gatherColumn(std::size_t part, std::size_t column, std::byte* to, cudaStream_t stream) const {
        const std::size_t words = this->elementBytes(column) / sizeof(Word);
        const auto taken = taken_->elements().subspan(part * runs_.count, 2 * runs_.count);
        Pieces<Word> pieces{};
        std::size_t largest = 0;
        for (std::size_t run = 0; run < runs_.count; ++run) {
            const std::size_t size = (taken[runs_.count + run] - taken[run]) * words;
            pieces.from[run] = reinterpret_cast<const Word*>(places_[run].begin[column]) + taken[run] * words;
            pieces.begin[run + 1] = pieces.begin[run] + size;
            largest = std::max(largest, size);
        }
        constexpr std::size_t mostBlocks = 64;  // enough to fill the link
        const auto blocksPerPiece = static_cast<unsigned>(std::clamp(
            Common::divideRoundUp(largest, std::size_t{gatherThreads * gatheredAtOnce}), std::size_t{1}, mostBlocks));
        launch<kernGatherPieces<Word>>(plainShape(runs_.count * blocksPerPiece, gatherThreads), stream, pieces,
                                       blocksPerPiece, reinterpret_cast<Word*>(to));
    }

    ConstColumns<columns> from_;
    Columns<columns> to_;
    std::size_t n_;
    std::size_t cards_;
    Plan runs_;
    std::vector<RunPlace> places_;                     ///< of each run
    std::unique_ptr<PinnedArray<std::size_t>> taken_;  ///< by the parts before p from run r: element p * runs + r
};

}  // namespace StreamCompaction::OutOfCore
