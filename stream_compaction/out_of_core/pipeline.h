#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "stream_compaction/out_of_core/host_link.h"
#include "stream_compaction/out_of_core/options.h"
#include "stream_compaction/runtime/scratch.h"

namespace StreamCompaction::OutOfCore {

/// A chunk of an array: the elements [begin, begin + size).
struct Chunk {
    std::size_t step;   ///< of the plan
    std::size_t begin;  ///< index of the first element
    std::size_t size;   ///< elements

    [[nodiscard]] constexpr std::size_t end() const { return begin + size; }
};

/// How an array of n elements is processed: it is cut into `count` chunks, whose sizes differ by at most one.
struct Plan {
    std::size_t n = 0;
    std::size_t count = 0;          ///< chunks
    std::size_t chunksPerCard = 0;  ///< that a card holds at a time
    std::size_t trips = 1;          ///< how often each chunk is processed

    /// The number of times that a chunk is processed.
    [[nodiscard]] constexpr std::size_t steps() const { return trips * count; }

    [[nodiscard]] __host__ __device__ constexpr Chunk chunk(std::size_t step) const {
        const std::size_t index = step % count;
        return {step, n / count * index + Common::lesser(index, n % count), n / count + (index < n % count ? 1 : 0)};
    }
};

/// The device memory of a job.
struct Footprint {
    std::size_t chunkBytes;         ///< for each chunk on the card
    std::size_t scratchBytes;       ///< for the work on one chunk
    std::size_t residentBytes = 0;  ///< for the whole job

    /// The bytes for all of it.
    [[nodiscard]] std::size_t total(std::size_t chunksPerCard) const {
        return residentBytes + chunksPerCard * chunkBytes + scratchBytes;
    }
};

/// The place of a chunk on a card.
struct Place {
    std::size_t slot;  ///< the number of the place, below Pipeline::slots()
    Scratch memory;    ///< of the chunk
    Scratch resident;  ///< of the job; its contents stay from chunk to chunk
};

/// What is done with the chunks of an array. Each function is called once per step, in the order of the steps.
class Job {
  public:
    virtual ~Job() = default;

    /// For chunks of at most this many elements.
    [[nodiscard]] virtual Footprint footprint(std::size_t elements) const = 0;

    /// The copies that bring a chunk to its place.
    [[nodiscard]] virtual std::vector<Copy> up(const Chunk& chunk, const Place& place) = 0;

    /// Enqueues the work on a chunk on a stream of the current device. May wait for the stream.
    virtual void work(const Chunk& chunk, const Place& place, Scratch scratch, cudaStream_t stream) = 0;

    /// The copies that take the results of a chunk to host memory. Called when its work is done.
    [[nodiscard]] virtual std::vector<Copy> down(const Chunk& chunk, const Place& place) = 0;

    /// Whether the work on a chunk needs the result of the work on the one before.
    [[nodiscard]] virtual bool isChained() const { return false; }

    /// The size below which chunks are not worth their launches and events. By default they take a third of a
    /// millisecond on the bus.
    [[nodiscard]] virtual std::size_t leastChunkBytes() const { return std::size_t{1} << 24; }
};

/// The ring of chunk buffers that scan, compaction and sort share.
///
/// A chunk is copied up, worked on and copied down. These overlap with those of its neighbours: a card holds three
/// chunks and has a stream for each of the three steps, and events order the steps of a chunk. Chunks go to the cards
/// in turn. A trip begins when the work of the one before is done. The calling thread copies up and waits for the work;
/// another one copies down, because pageable memory keeps both busy.
class Pipeline {
  public:
    /// One that is copied up, one that is worked on and one that is copied down.
    static constexpr std::size_t mostChunksPerCard = 3;

    /// A plan has no more chunks than this, unless memory is so small that they must be smaller.
    static constexpr std::size_t mostChunks = 100;

    /// Throws std::invalid_argument for a device that does not exist, and CudaError.
    explicit Pipeline(Options options);
    ~Pipeline();
    Pipeline(const Pipeline&) = delete;
    Pipeline& operator=(const Pipeline&) = delete;

    /// A plan for n elements of `elementBytes` bytes in host memory: chunks that fit into the memory of a card, but not
    /// so large that the bus waits long for the first or the last one. Throws std::invalid_argument if not even chunks
    /// of one element fit.
    [[nodiscard]] Plan plan(const Job& job, std::size_t n, std::size_t elementBytes) const;

    /// The same, but no plan in place of the exception.
    [[nodiscard]] std::optional<Plan> planIfItFits(const Job& job, std::size_t n, std::size_t elementBytes) const;

    [[nodiscard]] std::size_t cards() const { return cards_.size(); }
    /// Lets the cards reach each other's memory where there are links. Returns whether each reaches that of all others.
    [[nodiscard]] bool connectCards();
    /// The most chunks that are in device memory at a time.
    [[nodiscard]] std::size_t slots() const { return cards() * mostChunksPerCard; }
    [[nodiscard]] const Progress& progress() const { return options_.progress; }

    /// Carries out a job. Returns or throws only when no copy to or from the caller's memory is in flight. Allocates
    /// device memory if the job needs more than earlier ones.
    void run(Job& job, const Plan& plan, Tally& tally);

  private:
    class Card;
    struct Slot;

    [[nodiscard]] std::vector<Slot> slotsFor(const Job& job, const Plan& plan);
    void runTrip(Job& job, const Plan& plan, std::size_t trip, const std::vector<Slot>& slots, Tally& tally);
    static void begin(Job& job, const Chunk& chunk, const std::vector<Slot>& slots);
    static void finish(Job& job, const Chunk& chunk, const std::vector<Slot>& slots);

    Options options_;
    std::size_t deviceBytes_;
    std::vector<std::unique_ptr<Card>> cards_;
};

}  // namespace StreamCompaction::OutOfCore
