#pragma once

#include "stream_compaction/single_pass.h"
#include "stream_compaction/single_pass/compact.cuh"
#include "stream_compaction/single_pass/compact_flagged.cuh"
#include "stream_compaction/single_pass/scan.cuh"

/// Scan, compaction and partition that read each element once and write it once. Only a partition of a large array into
/// one array takes a second pass over the rejected elements.
///
/// The size of the array decides how a block learns the sum of the elements before its tile:
///
///   one block           there are no elements before its tile;
///   a few MiB           all blocks keep their tiles in registers and meet once, at a barrier of the grid (on an H200
///                       up to 12 MiB for a scan of ints, 4 MiB for a compaction);
///   beyond              a block takes a tile and looks back (primitives/look_back.cuh).
///
/// `CompactFlagged` has only the first and the third way.
///
/// The first two take one launch per call. The third takes two: the first launch clears the status words, and overlaps
/// with the beginning of the second from compute capability 9.0 on. The scratch may hold anything.
namespace StreamCompaction::SinglePass {}
