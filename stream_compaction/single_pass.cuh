#pragma once

#include "stream_compaction/single_pass.h"
#include "stream_compaction/single_pass/compact.cuh"
#include "stream_compaction/single_pass/scan.cuh"

/// Scan, compaction and partition that read each element once and write it once.
///
/// What is known of the array's size decides how blocks learn what stands before their part of it:
///
///   one block           has nobody before it;
///   a few MiB           all blocks keep their parts in registers and meet once, at a barrier of the grid (on an H200
///                       up to 16 MiB for a scan of ints, 2 MiB for a compaction);
///   beyond              a block takes a tile and looks back (primitives/look_back.cuh).
///
/// The first two are one launch a call. The third has a launch before it that clears the status words, which the card
/// overlaps with the beginning of the other. Whatever the scratch held before is of no concern.
namespace StreamCompaction::SinglePass {}
