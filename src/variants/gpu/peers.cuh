#pragma once

#include <string_view>

/// The peers that are header libraries, with their versions as CUB and Thrust encode them.
/// CUB needs a card. Thrust also runs on the host if its headers are found. In a simulated build, the names of absent
/// peers stand for a type whose variants are skipped with a reason.
#ifdef STREAM_COMPACTION_SIMULATED
namespace StreamCompaction::Cub {
struct NotSimulated {
    static constexpr std::string_view reasonForAbsence = "CUB is not simulated";
};
using Scan = NotSimulated;
using Compact = NotSimulated;
using CompactFlagged = NotSimulated;
using Partition = NotSimulated;
using Sort = NotSimulated;
using SortPairs = NotSimulated;
using TopK = NotSimulated;
using RowSum = NotSimulated;
using SegmentedScan = NotSimulated;
using SegmentedSort = NotSimulated;
using Unique = NotSimulated;
using Encode = NotSimulated;
using ReduceByKey = NotSimulated;
using Histogram = NotSimulated;
}  // namespace StreamCompaction::Cub
#define CUB_VERSION 0
#else
#include <cub/version.cuh>
#include <stream_compaction/cub.cuh>
#include <stream_compaction/cub_row_sum.cuh>
#include <stream_compaction/cub_runs.cuh>
#include <stream_compaction/cub_segments.cuh>
#include <stream_compaction/cub_top_k.cuh>
#endif

#if defined(STREAM_COMPACTION_SIMULATED) && !defined(STREAM_COMPACTION_HAS_THRUST)
namespace StreamCompaction::Thrust {
struct NotSimulated {
    static constexpr std::string_view reasonForAbsence = "Thrust is not simulated: its headers were not found";
};
using Scan = NotSimulated;
using Compact = NotSimulated;
using Partition = NotSimulated;
using Sort = NotSimulated;
using SortPairs = NotSimulated;
using RowSum = NotSimulated;
}  // namespace StreamCompaction::Thrust
#define THRUST_VERSION 0
#else
#include <thrust/version.h>

#include <stream_compaction/thrust.cuh>
#include <stream_compaction/thrust_row_sum.cuh>
#endif
