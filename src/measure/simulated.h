#pragma once

namespace Bench {

/// Whether GPU variants run in the simulator, on the CPU: on the same results, but without times.
#ifdef STREAM_COMPACTION_SIMULATED
inline constexpr bool isSimulated = true;
#else
inline constexpr bool isSimulated = false;
#endif

}  // namespace Bench
