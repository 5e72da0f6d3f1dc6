#pragma once

#include "stream_compaction/single_pass.h"
#include "stream_compaction/single_pass_compact.cuh"
#include "stream_compaction/single_pass_scan.cuh"

/// Scan, compaction and partition that read each element once and write it once.
///
/// What is known of the array's size decides how blocks learn what stands before their part of it:
///
///   one block           has nobody before it;
///   up to 2 MiB or so   all blocks keep their parts in registers and meet once, at a barrier of the grid;
///   beyond              blocks work through the array in order and look back (primitives/look_back.cuh).
///
/// All of it is one launch a call, and whatever the scratch held before is of no concern: what has to be cleared is
/// cleared by the launch that uses it.
namespace StreamCompaction::SinglePass {}
