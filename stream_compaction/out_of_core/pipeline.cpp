#include "stream_compaction/out_of_core/pipeline.h"

#include <algorithm>
#include <future>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "stream_compaction/common.h"
#include "stream_compaction/cuda_event.h"
#include "stream_compaction/cuda_stream.h"
#include "stream_compaction/device_buffer.h"
#include "stream_compaction/runtime/arguments.h"
#include "stream_compaction/runtime/device_scope.h"
#include "stream_compaction/runtime/peer_access.h"

namespace StreamCompaction::OutOfCore {

namespace {

[[nodiscard]] std::vector<int> devicesOf(const Options& options) {
    if (options.devices.empty()) {
        return {currentDeviceIndex()};
    }
    int count = 0;
    Common::checkCUDAError(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    for (const int device : options.devices) {
        if (device < 0 || device >= count) {
            throw std::invalid_argument("devices: expected numbers from 0 to " + std::to_string(count - 1) + ", got " +
                                        std::to_string(device));
        }
    }
    return options.devices;
}

/// Three quarters of what is free on the device with the least, divided among the entries that name it.
[[nodiscard]] std::size_t sensibleBytes(const std::vector<int>& devices) {
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (const int device : devices) {
        const DeviceScope scope(device);
        std::size_t free = 0;
        std::size_t total = 0;
        Common::checkCUDAError(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
        least = std::min(least, free / 4 * 3 / static_cast<std::size_t>(std::ranges::count(devices, device)));
    }
    return least;
}

/// The largest value in [0, most] for which `holds` is true. It must be true for all values below.
template <typename Holds>
[[nodiscard]] std::size_t largest(std::size_t most, const Holds& holds) {
    std::size_t low = 0;
    std::size_t high = most;
    while (low < high) {
        const std::size_t middle = high - (high - low) / 2;
        if (holds(middle)) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

}  // namespace

/// A device: its memory and its streams.
class Pipeline::Card {
  public:
    /// On the current device.
    Card() : device_(currentDeviceIndex()) {}
    /// Waits for everything and ignores errors, because an exception may already have been thrown.
    ~Card() { waitWhatever(); }
    Card(const Card&) = delete;
    Card& operator=(const Card&) = delete;

    [[nodiscard]] int device() const { return device_; }
    [[nodiscard]] HostLink& in() { return in_; }
    [[nodiscard]] const CudaStream& work() const { return work_; }

    /// Device memory of at least this size.
    [[nodiscard]] Scratch reserve(std::size_t bytes) {
        if (memory_.size() < bytes) {
            memory_ = {};  // first, so that the two are never allocated at the same time
            memory_ = DeviceBuffer<std::byte>(bytes);
        }
        return memory_.bytes();
    }

    /// Begins to copy down, behind earlier deliveries. `left` is recorded at the end.
    void deliver(std::vector<Copy> copies, CudaEvent& left) {
        waitForDelivery();
        delivery_ = std::async(std::launch::async, [this, copies = std::move(copies), &left] {
            const DeviceScope scope(device_);
            std::ranges::for_each(copies, [this](const Copy& copy) { out_.down(copy); });
            left.record(out_.stream());
        });
    }
    /// Waits until the last delivery is done for pageable memory, or enqueued for page-locked memory.
    void waitForDelivery() {
        if (delivery_.valid()) {
            delivery_.get();
        }
    }
    /// Waits for everything.
    void wait() {
        waitForDelivery();
        in_.stream().synchronize();
        work_.synchronize();
        out_.stream().synchronize();
    }
    void waitWhatever() noexcept {
        if (delivery_.valid()) {
            delivery_.wait();
            delivery_ = {};
        }
        cudaStreamSynchronize(in_.stream());
        cudaStreamSynchronize(work_);
        cudaStreamSynchronize(out_.stream());
    }

  private:
    int device_;
    DeviceBuffer<std::byte> memory_;
    HostLink in_;
    CudaStream work_;
    HostLink out_;
    std::future<void> delivery_;
};

/// A place on a card, and the events that order the steps of the chunk that has it.
struct Pipeline::Slot {
    Card& card;
    Place place;
    Scratch scratch;
    std::unique_ptr<CudaEvent> arrived = std::make_unique<CudaEvent>();  ///< the chunk is on the card
    std::unique_ptr<CudaEvent> worked = std::make_unique<CudaEvent>();   ///< its work is done
    std::unique_ptr<CudaEvent> left = std::make_unique<CudaEvent>();     ///< its results are in host memory
};

Pipeline::Pipeline(Options options) : options_(std::move(options)) {
    const std::vector<int> devices = devicesOf(options_);
    deviceBytes_ = options_.deviceBytes != 0 ? options_.deviceBytes : sensibleBytes(devices);
    for (const int device : devices) {
        const DeviceScope scope(device);
        cards_.push_back(std::make_unique<Card>());
    }
}

Pipeline::~Pipeline() = default;

bool Pipeline::connectCards() {
    std::vector<int> devices;
    for (const auto& card : cards_) {
        devices.push_back(card->device());
    }
    return connectDevices(devices);
}

std::optional<Plan> Pipeline::planIfItFits(const Job& job, std::size_t n, std::size_t elementBytes) const {
    if (n == 0) {
        return Plan{};
    }
    // A hundredth of a large array is waited for at each end.
    const std::size_t most = std::min(
        n, std::max(Common::divideRoundUp(job.leastChunkBytes(), elementBytes), Common::divideRoundUp(n, mostChunks)));
    const std::size_t elements =
        largest(most, [&](std::size_t chunk) { return job.footprint(chunk).total(mostChunksPerCard) <= deviceBytes_; });
    if (elements == 0) {
        return std::nullopt;
    }
    const std::size_t count = Common::divideRoundUp(n, elements);
    return Plan{n, count, std::min(mostChunksPerCard, Common::divideRoundUp(count, cards()))};
}

Plan Pipeline::plan(const Job& job, std::size_t n, std::size_t elementBytes) const {
    if (const auto plan = planIfItFits(job, n, elementBytes)) {
        return *plan;
    }
    throw std::invalid_argument("deviceBytes: expected at least " +
                                std::to_string(job.footprint(1).total(mostChunksPerCard)) + ", got " +
                                std::to_string(deviceBytes_));
}

std::vector<Pipeline::Slot> Pipeline::slotsFor(const Job& job, const Plan& plan) {
    const Footprint footprint = job.footprint(plan.chunk(0).size);  // the first chunk is one of the largest
    std::vector<Slot> slots;
    for (std::size_t i = 0; i < plan.chunksPerCard; ++i) {
        for (const auto& card : cards_) {
            const DeviceScope scope(card->device());
            const Scratch memory = card->reserve(footprint.total(plan.chunksPerCard));
            const Scratch resident = memory.first(footprint.residentBytes);
            const Scratch chunks = memory.subspan(footprint.residentBytes);
            slots.push_back({*card,
                             {slots.size(), chunks.subspan(i * footprint.chunkBytes, footprint.chunkBytes), resident},
                             chunks.subspan(plan.chunksPerCard * footprint.chunkBytes)});
        }
    }
    return slots;
}

void Pipeline::begin(Job& job, const Chunk& chunk, const std::vector<Slot>& slots) {
    // The work on the chunk that had this place before has been waited for. Its results may still be on their way.
    const Slot& slot = slots[chunk.step % slots.size()];
    const CudaStream& work = slot.card.work();
    const DeviceScope scope(slot.card.device());
    for (const Copy& copy : job.up(chunk, slot.place)) {
        slot.card.in().up(copy);
    }
    slot.arrived->record(slot.card.in().stream());
    slot.arrived->holdBack(work);
    slot.left->holdBack(work);
    if (job.isChained() && chunk.step > 0) {
        slots[(chunk.step - 1) % slots.size()].worked->holdBack(work);
    }
    job.work(chunk, slot.place, slot.scratch, work);
    slot.worked->record(work);
}

void Pipeline::finish(Job& job, const Chunk& chunk, const std::vector<Slot>& slots) {
    const Slot& slot = slots[chunk.step % slots.size()];
    slot.worked->synchronize();
    slot.card.deliver(job.down(chunk, slot.place), *slot.left);
}

void Pipeline::run(Job& job, const Plan& plan, Tally& tally) {
    if (plan.steps() == 0) {
        return;
    }
    const std::vector<Slot> slots = slotsFor(job, plan);
    // No copy may outlive the call, nor an event what waits for it.
    struct WaitAtTheEnd {
        const std::vector<std::unique_ptr<Card>>& cards;
        ~WaitAtTheEnd() {
            for (const auto& card : cards) {
                card->waitWhatever();
            }
        }
    };
    const WaitAtTheEnd waitAtTheEnd{cards_};

    for (std::size_t trip = 0; trip < plan.trips; ++trip) {
        runTrip(job, plan, trip, slots, tally);
    }
    for (const auto& card : cards_) {
        card->wait();
    }
}

void Pipeline::runTrip(Job& job, const Plan& plan, std::size_t trip, const std::vector<Slot>& slots, Tally& tally) {
    const std::size_t ahead = cards_.size();  // chunks that are on the cards when the work on one is waited for
    const std::size_t first = trip * plan.count;
    const std::size_t end = first + plan.count;
    for (std::size_t step = first; step < end + ahead; ++step) {
        if (step < end) {
            begin(job, plan.chunk(step), slots);
        }
        if (step >= first + ahead) {
            const Chunk chunk = plan.chunk(step - ahead);
            finish(job, chunk, slots);
            tally.add(chunk.size);
        }
    }
}

}  // namespace StreamCompaction::OutOfCore
