#pragma once

#include <cstddef>
#include <functional>
#include <stream_compaction/common.cuh>
#include <string_view>
#include <vector>

/// What the library's kernels are measured against.
namespace Bench::Tune {

/// An operation of a peer on given arrays.
struct PeerCall {
    std::string_view peer;
    std::size_t scratchBytes;
    std::function<void(StreamCompaction::Scratch, cudaStream_t)> run;
};

/// CUB of the toolkit, or of the newest CCCL. peers.cu is compiled once for each and has all the instances.
template <bool latest>
struct CubPeer {
    static constexpr std::string_view name = latest ? "cub-latest" : "cub";

    template <typename In, typename T>
    [[nodiscard]] static PeerCall scan(const In* in, T* out, std::size_t n);
    template <typename T>
    [[nodiscard]] static PeerCall compact(const T* in, T* out, std::size_t* count, std::size_t n);
    template <typename K>
    [[nodiscard]] static PeerCall sort(const K* in, K* out, std::size_t n);
    template <typename K, typename V>
    [[nodiscard]] static PeerCall sortPairs(const K* keysIn, K* keysOut, const V* valuesIn, V* valuesOut,
                                            std::size_t n);
    [[nodiscard]] static PeerCall rowSum(const int* in, int* out, std::size_t rows, std::size_t cols);
};

/// `callOf(CubPeer)` for every peer that this build has, that of the toolkit first.
template <typename CallOf>
[[nodiscard]] std::vector<PeerCall> callsOfPeers(CallOf callOf) {
    return {
        callOf(CubPeer<false>{}),
#ifdef STREAM_COMPACTION_HAS_LATEST_CCCL
        callOf(CubPeer<true>{}),
#endif
    };
}

}  // namespace Bench::Tune
