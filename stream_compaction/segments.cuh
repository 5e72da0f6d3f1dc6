#pragma once

#include "stream_compaction/segments/scan.cuh"
#include "stream_compaction/segments/sort.cuh"

/// Operations on each segment of an array as if it were an array of its own: `SegmentedScan` and `SegmentedSort`.
/// `segmentsAt` describes segments by offsets. A scan also takes a flag per element.
namespace StreamCompaction::Segments {}
