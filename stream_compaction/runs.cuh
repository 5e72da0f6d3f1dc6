#pragma once

#include "stream_compaction/runs/reduce_by_key.cuh"
#include "stream_compaction/runs/unique.cuh"

/// Runs of equal neighbours in an array. `Unique` keeps the first element of each run, `Encode` also counts the
/// elements of each run (run-length encoding), and `ReduceByKey` adds up the values that belong to them.
///
/// Each reads its input once and writes only its results. `Unique` is a compaction (single_pass/compact.cuh) whose
/// predicate sees the element before. `Encode` is `ReduceByKey` with a one for each element.
namespace StreamCompaction::Runs {}
