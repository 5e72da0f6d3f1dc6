// Compiled over the CCCL of the toolkit and, if the build knows a newer one, once more over that.
#ifdef STREAM_COMPACTION_LATEST_CCCL
// The tuner holds the wrappers of both, so they need two names.
#define Cub LatestCub
#endif

#include <cstdint>
#include <stream_compaction/cub.cuh>
#include <stream_compaction/cub_row_sum.cuh>

#include "tune/peers.cuh"

namespace Bench::Tune {
namespace {

#ifdef STREAM_COMPACTION_LATEST_CCCL
constexpr bool isLatest = true;
#else
constexpr bool isLatest = false;
#endif

using Peer = CubPeer<isLatest>;
using namespace StreamCompaction;

template <typename Operation, typename... Arguments>
[[nodiscard]] PeerCall callOf(Operation operation, Arguments... arguments) {
    return {Peer::name, operation.scratchBytes(arguments...),
            [=](Scratch scratch, cudaStream_t stream) { operation(arguments..., scratch, stream); }};
}

}  // namespace

template <>
template <typename In, typename T>
PeerCall Peer::scan(const In* in, T* out, std::size_t n) {
    return callOf(Cub::Scan{}, in, out, n);
}

template <>
template <typename T>
PeerCall Peer::compact(const T* in, T* out, std::size_t* count, std::size_t n) {
    return callOf(Cub::Compact{}, in, out, count, n);
}

template <>
template <typename K>
PeerCall Peer::sort(const K* in, K* out, std::size_t n) {
    return callOf(Cub::Sort{}, in, out, n);
}

template <>
template <typename K, typename V>
PeerCall Peer::sortPairs(const K* keysIn, K* keysOut, const V* valuesIn, V* valuesOut, std::size_t n) {
    return callOf(Cub::SortPairs{}, keysIn, keysOut, valuesIn, valuesOut, n);
}

template <>
PeerCall Peer::rowSum(const int* in, int* out, std::size_t rows, std::size_t cols) {
    return callOf(Cub::RowSum{}, in, out, rows, cols, cols);
}

template PeerCall Peer::scan(const int*, int*, std::size_t);
template PeerCall Peer::scan(const std::int64_t*, std::int64_t*, std::size_t);
template PeerCall Peer::scan(const double*, double*, std::size_t);
template PeerCall Peer::scan(const std::int8_t*, int*, std::size_t);
template PeerCall Peer::compact(const int*, int*, std::size_t*, std::size_t);
template PeerCall Peer::compact(const std::int64_t*, std::int64_t*, std::size_t*, std::size_t);
template PeerCall Peer::compact(const std::uint8_t*, std::uint8_t*, std::size_t*, std::size_t);
template PeerCall Peer::sort(const int*, int*, std::size_t);
template PeerCall Peer::sort(const std::int64_t*, std::int64_t*, std::size_t);
template PeerCall Peer::sortPairs(const int*, int*, const int*, int*, std::size_t);
template PeerCall Peer::sortPairs(const std::int64_t*, std::int64_t*, const int*, int*, std::size_t);

}  // namespace Bench::Tune
