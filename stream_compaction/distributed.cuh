#pragma once

#include "stream_compaction/distributed/balance.cuh"
#include "stream_compaction/distributed/compact.cuh"
#include "stream_compaction/distributed/row_sum.cuh"
#include "stream_compaction/distributed/scan.cuh"
#include "stream_compaction/distributed/sort.cuh"
#include "stream_compaction/distributed/utf8.cuh"

/// Scan, compaction, partition, sort, row sums and UTF-8 conversion of arrays that are spread over several GPUs, one
/// rank per GPU, by NCCL. The communicator and the stream are the caller's.
namespace StreamCompaction::Distributed {}
