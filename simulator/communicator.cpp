// Communicators: which calls of the ranks belong together, and when they go on.

#include "communicator.h"

#include <algorithm>
#include <cstring>
#include <ranges>
#include <span>
#include <utility>

namespace Simulator {

/// The calls of one rank in one group: one piece of work in its stream. They go on in any order.
class Batch : public Joint {
  public:
    Batch(std::shared_ptr<Clique> clique, int rank, const std::vector<Call>& calls, SimulatedStream* stream)
        : clique_(std::move(clique)), stream_(stream) {
        for (const Call& call : calls) {
            open_.push_back(clique_->transferOf(rank, call));
            open_.back()->parts.push_back({this, rank, call});
        }
    }

    [[nodiscard]] std::vector<SimulatedStream*> awaited() const override {
        std::vector<SimulatedStream*> streams;
        if (!clique_->isAborted) {
            for (const auto& transfer : open_) {
                for (const Transfer::Part& part : transfer->parts) {
                    streams.push_back(part.batch->stream_);
                }
            }
        }
        return streams;
    }
    [[nodiscard]] bool canGoOn() const override {
        return clique_->isAborted || open_.empty() || std::ranges::any_of(open_, isReady);
    }
    bool goOn() override {
        if (clique_->isAborted) {
            return true;
        }
        if (!open_.empty()) {
            carryOutOne();
        }
        return open_.empty();
    }
    [[nodiscard]] std::string description() const override {
        std::string text;
        for (const auto& transfer : open_) {
            text += (text.empty() ? "" : "; ") + transfer->description();
        }
        return text;
    }

  private:
    static bool isReady(const std::shared_ptr<Transfer>& transfer) { return transfer->isReady(); }

    void carryOutOne() {
        std::vector<std::shared_ptr<Transfer>> ready;
        std::ranges::copy_if(open_, std::back_inserter(ready), isReady);
        const auto transfer = ready[draw(ready.size())];
        transfer->carryOut();
        for (const Transfer::Part& part : transfer->parts) {
            std::erase(part.batch->open_, transfer);
        }
    }

    std::shared_ptr<Clique> clique_;
    SimulatedStream* stream_;
    std::vector<std::shared_ptr<Transfer>> open_;  // transfers that have not been carried out
};

namespace {

/// The same if the other ranks are in other processes, which go on at the same time. All calls go on at once.
class ProcessBatch : public Joint {
  public:
    ProcessBatch(std::shared_ptr<Clique> clique, int rank, std::vector<Call> calls)
        : clique_(std::move(clique)), rank_(rank), calls_(std::move(calls)) {
        clique_->processTurns.push_back(this);
    }

    [[nodiscard]] std::vector<SimulatedStream*> awaited() const override { return {}; }
    [[nodiscard]] bool canGoOn() const override { return clique_->isAborted || clique_->processTurns.front() == this; }
    bool goOn() override {
        if (!clique_->isAborted) {
            for (const Call& call : calls_ | std::views::filter(&Call::isCollective)) {
                carryOut(call);
            }
            exchange();
        }
        std::erase(clique_->processTurns, this);
        return true;
    }
    [[nodiscard]] std::string description() const override {
        return "rank " + std::to_string(rank_) + ": " + calls_.front().description();
    }

  private:
    void carryOut(const Call& call) {
        std::vector<Call> calls;
        for (const Bytes& bytes : clique_->processes->allGather(std::as_bytes(std::span(&call, 1)))) {
            std::memcpy(&calls.emplace_back(), bytes.data(), sizeof(Call));
        }
        checkMatch(calls);
        checkOverlap(call, rank_, clique_->ranks);
        // Each process must add up in the same order.
        const auto ranks = std::views::iota(0, clique_->ranks);
        deliver(call, clique_->processes->allGather(contributionOf(call)), {ranks.begin(), ranks.end()});
    }

    /// Sends and receives, first the calls and then the data.
    void exchange() {
        std::vector<Processes::Message> headers;
        std::vector<Processes::Message> data;
        std::deque<std::pair<Call, Call>> received;  // the call here, that of the sender
        for (const Call& call : calls_ | std::views::filter([](const Call& c) { return !c.isCollective(); })) {
            if (call.kind == Call::Kind::Send) {
                headers.push_back({const_cast<Call*>(&call), sizeof(Call), call.peer, true});
                data.push_back({const_cast<void*>(call.from), call.bytes(), call.peer, true});
            } else {
                auto& [here, there] = received.emplace_back(call, call);
                headers.push_back({&there, sizeof(Call), call.peer, false});
                data.push_back({call.to, call.bytes(), call.peer, false});
            }
        }
        clique_->processes->exchange(headers, 0);
        for (const auto& [here, there] : received) {
            checkMatch(there, here.peer, here, rank_);
        }
        clique_->processes->exchange(data, 1);
    }

    std::shared_ptr<Clique> clique_;
    int rank_;
    std::vector<Call> calls_;
};

std::string list(const std::vector<int>& ranks) {
    std::string text = ranks.size() == 1 ? "rank" : "ranks";
    for (const int rank : ranks) {
        text += (rank == ranks.front() ? " " : ", ") + std::to_string(rank);
    }
    return text;
}

}  // namespace

std::shared_ptr<Joint> joined(const std::shared_ptr<Clique>& clique, int rank, const std::vector<Call>& calls,
                              SimulatedStream* stream) {
    if (clique->processes) {
        return std::make_shared<ProcessBatch>(clique, rank, calls);
    }
    return std::make_shared<Batch>(clique, rank, calls, stream);
}

bool Transfer::isReady() const {
    return parts.size() == parties && std::ranges::all_of(parts, [](const Part& part) { return part.batch->isFirst; });
}

std::string Transfer::description() const {
    const Call& call = parts.front().call;
    std::vector<int> here;
    std::ranges::transform(parts, std::back_inserter(here), &Part::rank);
    std::vector<int> missing;
    for (int rank = 0; rank < static_cast<int>(parties) && call.isCollective(); ++rank) {
        if (std::ranges::find(here, rank) == here.end()) {
            missing.push_back(rank);
        }
    }
    if (!call.isCollective() && parts.size() < parties) {
        missing.push_back(call.peer);
    }
    return call.description() + ", called by " + list(here) + (missing.empty() ? "" : " but not by " + list(missing));
}

void Transfer::carryOut() {
    if (!parts.front().call.isCollective()) {
        std::ranges::sort(parts, {}, [](const Part& part) { return part.call.kind; });
        const Part& send = parts[0];
        const Part& recv = parts[1];
        checkMatch(send.call, send.rank, recv.call, recv.rank);
        copyInPieces(recv.call.to, send.call.from, send.call.bytes());
        return;
    }
    std::ranges::sort(parts, {}, &Part::rank);
    std::vector<Call> calls;
    std::ranges::transform(parts, std::back_inserter(calls), &Part::call);
    checkMatch(calls);
    std::vector<Bytes> contributions;
    for (const Part& part : parts) {
        checkOverlap(part.call, part.rank, static_cast<int>(parties));
        contributions.push_back(contributionOf(part.call));
    }
    const std::vector<std::size_t> order = drawOrder(parties);
    for (const std::size_t rank : drawOrder(parties)) {
        deliver(calls[rank], contributions, order);
    }
}

std::shared_ptr<Transfer> Clique::transferOf(int rank, const Call& call) {
    const bool receives = call.kind == Call::Kind::Recv;
    const int from = call.isCollective() ? none : receives ? call.peer : rank;
    const int to = call.isCollective() ? none : receives ? rank : call.peer;
    const std::tuple key(from, to, calls_[{rank, from, to, receives}]++);
    const auto [known, isNew] = transfers_.try_emplace(key);
    if (isNew) {
        const int parties = call.isCollective() ? ranks : 2;
        known->second = std::make_shared<Transfer>(Transfer{static_cast<std::size_t>(parties), {}});
    }
    const std::shared_ptr<Transfer> transfer = known->second;
    if (transfer->parts.size() + 1 == transfer->parties) {
        transfers_.erase(known);
    }
    return transfer;
}

std::shared_ptr<std::vector<Registered>> Clique::registrationOf(int rank) {
    registrations_.resize(devices.size());
    auto& registered = registered_[registrations_[static_cast<std::size_t>(rank)]++];
    if (!registered) {
        registered = std::make_shared<std::vector<Registered>>(devices.size());
    }
    return registered;
}

bool Clique::hasAllRanks() const { return std::ranges::find(devices, none) == devices.end(); }

std::string Clique::missingRanks() const {
    std::vector<int> missing;
    for (int rank = 0; rank < ranks; ++rank) {
        if (devices[static_cast<std::size_t>(rank)] == none) {
            missing.push_back(rank);
        }
    }
    return list(missing);
}

}  // namespace Simulator
