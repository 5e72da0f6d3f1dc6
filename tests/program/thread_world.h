#pragma once

#include <barrier>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

#include "world/world.h"

namespace Bench {

/// What the ranks of a ThreadWorld share.
struct MeetingPlace {
    explicit MeetingPlace(int ranks) : barrier(ranks), texts(static_cast<std::size_t>(ranks)) {}

    std::barrier<> barrier;
    std::vector<std::string> texts;
};

/// A rank that is a thread of this process.
class ThreadWorld final : public World {
  public:
    ThreadWorld(Place place, MeetingPlace& meeting) : World(place, place), meeting_(meeting) {}

  private:
    [[nodiscard]] std::vector<std::string> gatherBytes(std::string_view bytes) const override {
        meeting_.texts[static_cast<std::size_t>(rank())] = bytes;
        meeting_.barrier.arrive_and_wait();
        std::vector<std::string> texts = meeting_.texts;
        meeting_.barrier.arrive_and_wait();  // so that no rank overwrites what another still reads
        return texts;
    }

    MeetingPlace& meeting_;
};

/// What `work(world)` returns on each of the ranks, which run at the same time.
template <typename Work>
[[nodiscard]] auto onRanks(int ranks, const Work& work) {
    MeetingPlace meeting(ranks);
    std::vector<std::invoke_result_t<Work, const World&>> results(static_cast<std::size_t>(ranks));
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
        threads.emplace_back([&, rank] {
            const ThreadWorld world({rank, ranks}, meeting);
            results[static_cast<std::size_t>(rank)] = work(world);
        });
    }
    threads.clear();  // joins them
    return results;
}

}  // namespace Bench
