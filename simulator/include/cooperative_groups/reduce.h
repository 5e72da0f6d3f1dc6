#pragma once

#include "cooperative_groups.h"

namespace cooperative_groups {

template <typename T>
struct plus {
    T operator()(T a, T b) const { return a + b; }
};

template <typename T, typename Op>
T reduce(const thread_block_tile<32>&, T value, Op op) {
    return Simulator::exchange(~0U, value, "cooperative_groups::reduce",
                               [&](const auto& valueOf, const Simulator::Meeting& meeting) {
                                   T sum = valueOf(0);
                                   for (unsigned lane = 1; lane < 32; ++lane) {
                                       sum = (meeting.mask >> lane & 1) != 0 ? op(sum, valueOf(lane)) : sum;
                                   }
                                   return sum;
                               });
}

}  // namespace cooperative_groups
