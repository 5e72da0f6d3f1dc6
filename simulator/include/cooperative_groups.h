#pragma once

#include "cuda_runtime.h"

namespace cooperative_groups {

/// All blocks of a cooperative launch, or of a cluster, which is a grid of its own here.
struct grid_group {
    using arrival_token = unsigned;
    [[nodiscard]] arrival_token barrier_arrive() const { return Simulator::arriveAtGrid(); }
    void barrier_wait(arrival_token&& token) const { Simulator::waitForGrid(token); }
    void sync() const { barrier_wait(barrier_arrive()); }
};
inline grid_group this_grid() { return {}; }
inline grid_group this_cluster() { return {}; }

}  // namespace cooperative_groups
