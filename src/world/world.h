#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace Bench {

/// A process among several.
struct Place {
    int rank = 0;
    int size = 1;
};

/// The ranks of a run: this process alone, or all that mpirun has started. All ranks must call the functions that
/// gather, in the same order; the calls wait for one another.
class World {
  public:
    World() = default;
    virtual ~World() = default;
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    [[nodiscard]] int rank() const { return place_.rank; }
    [[nodiscard]] int size() const { return place_.size; }
    [[nodiscard]] bool isAlone() const { return size() == 1; }
    /// The place among the ranks on the same machine.
    [[nodiscard]] Place onMachine() const { return onMachine_; }

    /// What each rank passes, in the order of the ranks.
    template <typename T>
    [[nodiscard]] std::vector<T> gather(const T& value) const {
        static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>);
        const std::vector<std::string> bytes =
            gatherBytes(std::string_view(reinterpret_cast<const char*>(&value), sizeof(T)));
        std::vector<T> values(bytes.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
            std::memcpy(&values[i], bytes[i].data(), sizeof(T));
        }
        return values;
    }

    /// What rank 0 passes.
    template <typename T>
    [[nodiscard]] T ofFirst(const T& value) const {
        return gather(value).front();
    }
    template <typename T>
    [[nodiscard]] T largest(const T& value) const {
        return std::ranges::max(gather(value));
    }
    template <typename T>
    [[nodiscard]] T sum(const T& value) const {
        const std::vector<T> values = gather(value);
        return std::accumulate(values.begin(), values.end(), T{});
    }
    /// Whether one of the ranks passes true.
    [[nodiscard]] bool any(bool condition) const { return largest(condition ? 1 : 0) == 1; }
    /// The sum of what the ranks before this one pass.
    template <typename T>
    [[nodiscard]] T sumBefore(const T& value) const {
        const std::vector<T> values = gather(value);
        return std::accumulate(values.begin(), values.begin() + rank(), T{});
    }
    /// The text of the first rank that has one, which must not be empty. That of a rank other than 0 gets its number.
    [[nodiscard]] std::optional<std::string> firstText(const std::optional<std::string>& text) const;
    /// Waits for all ranks.
    void meet() const { static_cast<void>(gather('\0')); }

    /// Ends all other ranks, and this one too, if there are others.
    virtual void end(int /*status*/) const {}

  protected:
    World(Place place, Place onMachine) : place_(place), onMachine_(onMachine) {}

  private:
    [[nodiscard]] virtual std::vector<std::string> gatherBytes(std::string_view bytes) const {
        return {std::string(bytes)};
    }

    Place place_;
    Place onMachine_;
};

/// This process alone.
inline const World alone;

/// The ranks that mpirun has started. Throws UsageError if there are several and this build has no MPI.
[[nodiscard]] std::unique_ptr<const World> openWorld();

/// How many processes mpirun has started, by what it says in the environment; 1 without mpirun.
[[nodiscard]] int startedProcesses();

}  // namespace Bench
