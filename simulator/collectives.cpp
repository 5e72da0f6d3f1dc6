#include "collectives.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <numeric>

#include "streams.h"

namespace Simulator {

namespace {

constexpr std::array<std::size_t, ncclNumTypes> sizes{1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
constexpr std::array<const char*, ncclNumTypes> typeNames{
    "ncclInt8",    "ncclUint8",   "ncclInt32",   "ncclUint32",   "ncclInt64",      "ncclUint64",
    "ncclFloat16", "ncclFloat32", "ncclFloat64", "ncclBfloat16", "ncclFloat8e4m3", "ncclFloat8e5m2"};
constexpr std::array<const char*, 4> kindNames{"AllGather", "AllReduce", "Send", "Recv"};

/// Calls f(zero of the type). Returns false if sums of the type are not simulated. Integers are unsigned, so they wrap.
template <typename F>
bool withType(ncclDataType_t type, const F& f) {
    const auto ifIs = [&](std::initializer_list<ncclDataType_t> types, auto zero) {
        const bool is = std::ranges::find(types, type) != types.end();
        if (is) {
            f(zero);
        }
        return is;
    };
    return ifIs({ncclInt32, ncclUint32}, std::uint32_t{}) || ifIs({ncclInt64, ncclUint64}, std::uint64_t{}) ||
           ifIs({ncclFloat32}, float{}) || ifIs({ncclFloat64}, double{});
}

template <typename T>
void reduce(const Call& call, const std::vector<Bytes>& contributions, const std::vector<std::size_t>& order) {
    std::vector<T> result(call.count);
    std::memcpy(result.data(), contributions[order[0]].data(), call.bytes());
    for (std::size_t i = 1; i < order.size(); ++i) {
        for (std::size_t at = 0; at < call.count; ++at) {
            T theirs;
            std::memcpy(&theirs, contributions[order[i]].data() + at * sizeof(T), sizeof(T));
            result[at] += theirs;
        }
    }
    copyInPieces(call.to, result.data(), call.bytes());
}

bool overlap(const std::byte* a, std::size_t bytesOfA, const std::byte* b, std::size_t bytesOfB) {
    const std::less<> before;
    return before(a, b + bytesOfB) && before(b, a + bytesOfA);
}

}  // namespace

std::size_t Call::bytes() const { return count * sizes.at(type); }

std::string Call::description() const {
    return std::string(kindNames.at(static_cast<std::size_t>(kind))) + " of " + std::to_string(count) +
           " elements of type " + typeNames.at(type) +
           (kind == Kind::AllReduce ? " by operation " + std::to_string(operation) : "");
}

bool isReducible(ncclDataType_t type, ncclRedOp_t operation) {
    return operation == ncclSum && withType(type, [](auto) {});
}

std::vector<std::size_t> drawOrder(std::size_t n) {
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = 0; i < n; ++i) {
        std::swap(order[i], order[i + draw(n - i)]);
    }
    return order;
}

void copyInPieces(void* to, const void* from, std::size_t bytes) {
    const std::size_t pieces = 1 + draw(8);
    const std::size_t piece = bytes / pieces + 1;
    for (const std::size_t i : drawOrder(pieces)) {
        const std::size_t begin = std::min(bytes, i * piece);
        std::memmove(static_cast<std::byte*>(to) + begin, static_cast<const std::byte*>(from) + begin,
                     std::min(piece, bytes - begin));
    }
}

Bytes contributionOf(const Call& call) {
    const auto* const from = static_cast<const std::byte*>(call.from);
    return {from, from + call.bytes()};
}

void deliver(const Call& call, const std::vector<Bytes>& contributions, const std::vector<std::size_t>& order) {
    if (call.kind == Call::Kind::AllGather) {
        for (const std::size_t rank : drawOrder(contributions.size())) {
            copyInPieces(static_cast<std::byte*>(call.to) + rank * call.bytes(), contributions[rank].data(),
                         call.bytes());
        }
    } else {
        withType(call.type, [&](auto zero) { reduce<decltype(zero)>(call, contributions, order); });
    }
}

void checkMatch(const std::vector<Call>& callsOfRanks) {
    const std::string first = callsOfRanks.front().description();
    for (std::size_t rank = 1; rank < callsOfRanks.size(); ++rank) {
        if (const std::string other = callsOfRanks[rank].description(); other != first) {
            fail("ranks differ: rank 0 calls " + first + ", rank " + std::to_string(rank) + " calls " + other);
        }
    }
}

void checkMatch(const Call& send, int sender, const Call& recv, int receiver) {
    if (send.count != recv.count || send.type != recv.type) {
        fail("ranks differ: rank " + std::to_string(sender) + " calls " + send.description() + ", rank " +
             std::to_string(receiver) + " calls " + recv.description());
    }
}

void checkOverlap(const Call& call, int rank, int ranks) {
    const bool gathers = call.kind == Call::Kind::AllGather;
    const std::size_t received = call.bytes() * (gathers ? static_cast<std::size_t>(ranks) : 1);
    const auto* const from = static_cast<const std::byte*>(call.from);
    const auto* const to = static_cast<const std::byte*>(call.to);
    const auto* const inPlace = to + (gathers ? static_cast<std::size_t>(rank) * call.bytes() : 0);
    if (from != inPlace && overlap(from, call.bytes(), to, received)) {
        fail("the buffers of rank " + std::to_string(rank) + " overlap in " + call.description());
    }
}

}  // namespace Simulator
