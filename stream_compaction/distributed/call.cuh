#pragma once

#include <exception>
#include <vector>

#include "stream_compaction/common.cuh"
#include "stream_compaction/distributed/rank.h"
#include "stream_compaction/runtime/launch.cuh"

namespace StreamCompaction::Distributed {

/// What a rank tells the others: one value.
template <typename T>
struct Told {
    Header header;
    T value;
};

/// Remembers a rank that failed, if there is one. `headerOf(rank)` is what it told. Called by one thread.
template <typename HeaderOf>
__device__ void noteFailure(int ranks, std::uint32_t* failure, HeaderOf headerOf) {
    for (int rank = 0; rank < ranks; ++rank) {
        if (headerOf(rank).failed != 0) {
            *failure = static_cast<std::uint32_t>(rank) + 1;
        }
    }
}
template <typename T>
__device__ void noteFailure(const Told<T>* told, int ranks, std::uint32_t* failure) {
    noteFailure(ranks, failure, [told](int rank) { return told[rank].header; });
}

/// What all ranks have told about arrays that are to be exchanged. An `Info` begins with a header, and has `n` and
/// `nOut`, the numbers of the rank's elements before and after. More may follow it.
template <typename Info>
struct ToldBy {
    const std::byte* slots;
    std::size_t slotBytes;
    int ranks;

    [[nodiscard]] __device__ const Info& of(int rank) const {
        return *reinterpret_cast<const Info*>(slots + rank * slotBytes);
    }

    /// The position among all results at which those of a rank begin.
    [[nodiscard]] __device__ std::uint64_t shareBegin(int rank) const {
        std::uint64_t begin = 0;
        for (int r = 0; r < rank; ++r) {
            begin += of(r).nOut;
        }
        return begin;
    }
    [[nodiscard]] __device__ std::uint64_t n() const {
        std::uint64_t sum = 0;
        for (int r = 0; r < ranks; ++r) {
            sum += of(r).n;
        }
        return sum;
    }
    /// Whether as many elements come out as go in.
    [[nodiscard]] __device__ bool areConsistent() const { return shareBegin(ranks) == n(); }
};

/// Remembers a rank that failed, or that rank `me` cannot go on because the numbers of elements do not fit.
template <typename Info>
__device__ void noteFailure(const ToldBy<Info>& all, int me, std::uint32_t* failure) {
    noteFailure(all.ranks, failure, [&](int rank) { return all.of(rank).header; });
    if (!all.areConsistent() && *failure == 0) {
        *failure = static_cast<std::uint32_t>(me) + 1;
    }
}

/// A call of an operation for the ranks of this process. An operation is a sequence of steps, and each step is carried
/// out for all ranks before the next, so that one thread can serve them all.
///
/// A `Part` is one rank's share of the arguments. It has a `rank`, a `stream`, a `scratch`, and `n`, the number of its
/// elements; also `nOut`, if the number of its results is an argument. If its arguments are invalid, the rank takes
/// part with no elements and tells the others that it failed. Otherwise they would wait for it for ever.
template <typename Part>
class Call {
  public:
    /// Checks the arguments of at least one rank. `check(part)` throws for invalid ones.
    template <typename Check>
    Call(const std::vector<Part>& parts, const Check& check) {
        if (parts.empty()) {
            throw std::invalid_argument("parts: expected at least one rank");
        }
        for (const Part& part : parts) {
            Member& member = members_.emplace_back(part);
            try {
                check(part);
            } catch (...) {
                failure_ = failure_ == nullptr ? std::current_exception() : failure_;
                member.isValid = false;
                member.part.n = 0;
                if constexpr (requires { member.part.nOut; }) {
                    member.part.nOut = 0;
                }
                member.part.scratch = {};
                const DeviceScope here(part.rank->device());
                tell(part, 1);
            }
        }
    }

    /// Whether kernels of these ranks can write to the windows of all ranks.
    [[nodiscard]] bool reachesAllRanks() const { return members_.front().part.rank->reachesAllRanks(); }

    /// Calls `work(part)` for each rank, on its device.
    template <typename Work>
    void forEach(const Work& work) const {
        forEachIf([](const Member&) { return true; }, work);
    }
    /// The same for the ranks whose arguments are valid: for steps that need more than the number of elements.
    template <typename Work>
    void forEachValid(const Work& work) const {
        forEachIf([](const Member& member) { return member.isValid; }, work);
    }
    /// The same for the others.
    template <typename Work>
    void forEachInvalid(const Work& work) const {
        forEachIf([](const Member& member) { return !member.isValid; }, work);
    }

    /// Exchanges the first `bytes` bytes of the ranks' slots. In a group nothing but NCCL may fail, because NCCL begins
    /// what is in it even then.
    void exchange(std::size_t bytes) const {
        forEach([](const Part& part) { part.rank->requireHealthy(); });
        inGroup([&] { forEach([&](const Part& part) { part.rank->exchange(bytes, part.stream); }); });
    }

    /// Later calls tell no failure unless they fail themselves.
    ~Call() {
        try {
            forEachInvalid([](const Part& part) { tell(part, 0); });
        } catch (...) {
            // The device has failed, and so will the next call.
        }
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    /// Throws what the check threw, if anything.
    void finish() const {
        if (failure_ != nullptr) {
            std::rethrow_exception(failure_);
        }
    }

  private:
    struct Member {
        explicit Member(const Part& part) : part(part) {}

        Part part;
        bool isValid = true;
    };

    template <typename Condition, typename Work>
    void forEachIf(const Condition& condition, const Work& work) const {
        for (const Member& member : members_) {
            if (condition(member)) {
                const DeviceScope here(member.part.rank->device());
                work(member.part);
            }
        }
    }

    static void tell(const Part& part, int failed) {
        Common::checkCUDAError(cudaMemsetAsync(part.rank->template mine<Header>(), failed, 1, part.stream),
                               "cudaMemsetAsync");
    }

    std::vector<Member> members_;
    std::exception_ptr failure_;
};

}  // namespace StreamCompaction::Distributed
