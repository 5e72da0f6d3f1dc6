// NCCL's interface to the simulated devices: checks of arguments, groups, communicators, windows.

#include <nccl_device.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "communicator.h"
#include "executor.h"
#include "memory.h"
#include "simulator.h"
#include "streams.h"

using Simulator::Call;
using Simulator::Clique;
using Simulator::Guard;
using Simulator::Registered;

struct ncclComm {
    std::shared_ptr<Clique> clique;
    int rank;
    int device;
    std::string id;
};
struct ncclWindow_vidmem {
    std::vector<Registered> memory;  ///< of the ranks that kernels can reach
};

namespace {

thread_local std::string lastError;
ncclResult_t failed(ncclResult_t result, const std::string& text) {
    lastError = text;
    return result;
}
ncclResult_t failed(cudaError_t error) {
    return failed(ncclUnhandledCudaError,
                  "Cuda failure " + std::to_string(error) + " '" + cudaGetErrorString(error) + "'");
}

std::set<const ncclComm*>& communicators() {
    static auto& all = *new std::set<const ncclComm*>;
    return all;
}
std::set<const void*>& allocations() {
    static auto& all = *new std::set<const void*>;
    return all;
}
std::set<const ncclWindow_vidmem*>& windows() {
    static auto& all = *new std::set<const ncclWindow_vidmem*>;
    return all;
}
/// Cliques that miss ranks, by their unique id.
std::vector<std::pair<std::string, std::shared_ptr<Clique>>>& incomplete() {
    static auto& all = *new std::vector<std::pair<std::string, std::shared_ptr<Clique>>>;
    return all;
}
std::optional<unsigned> callsBeforeFailure;

/// Whether a test wants this call to fail.
bool isToFail() {
    if (!callsBeforeFailure || (*callsBeforeFailure)-- > 0) {
        return false;
    }
    callsBeforeFailure.reset();
    return true;
}

ncclResult_t checkPointer(const void* pointer, const char* call, const char* name) {
    return pointer != nullptr ? ncclSuccess
                              : failed(ncclInvalidArgument, std::string(call) + " : " + name + " argument is NULL");
}

/// Whether the communicator can be used.
ncclResult_t checkCommunicator(const ncclComm* comm, const char* call) {
    if (const ncclResult_t result = checkPointer(comm, call, "comm"); result != ncclSuccess) {
        return result;
    }
    return communicators().contains(comm) ? ncclSuccess
                                          : failed(ncclInvalidArgument, "Error: corrupted comm object detected");
}
ncclResult_t checkNotAborted(const Clique& clique) {
    return clique.isAborted ? failed(ncclRemoteError, "another rank has aborted the communicator") : ncclSuccess;
}

// Groups.

struct Group {
    struct Init {
        ncclComm_t* to;
        ncclComm* comm;
    };
    struct Registration {
        std::shared_ptr<Clique> clique;
        std::size_t rank;
        ncclWindow_t* to;
        std::shared_ptr<std::vector<Registered>> memory;
    };
    struct Calls {
        ncclComm* comm;
        SimulatedStream* stream;
        std::vector<Call> calls;
    };

    int depth = 0;
    ncclResult_t error = ncclSuccess;
    std::vector<Init> inits;
    std::vector<Registration> registrations;
    std::vector<Calls> calls;
};
thread_local Group group;

/// Ranks of the communicator that this thread makes in the group.
std::size_t ranksHere(const Group& group, const std::string& id) {
    return static_cast<std::size_t>(
        std::ranges::count(group.inits, id, [](const Group::Init& init) { return init.comm->id; }));
}

std::shared_ptr<Clique> incompleteClique(const ncclComm& comm) {
    auto& all = incomplete();
    const auto known = std::ranges::find(all, comm.id, [](const auto& entry) { return entry.first; });
    return known != all.end() ? known->second : all.emplace_back(comm.id, comm.clique).second;
}

/// Joins the ranks that have the same unique id.
ncclResult_t join(const Group& group, ncclComm& comm) {
    Clique& own = *comm.clique;
    const auto rank = static_cast<std::size_t>(comm.rank);
    if (ranksHere(group, comm.id) == 1 && Simulator::Processes::areThere(own.ranks)) {
        own.devices.assign(own.devices.size(), comm.device);
        own.isLinked = false;
        own.processes = std::make_unique<Simulator::Processes>(comm.id, comm.rank);
        return ncclSuccess;
    }
    const auto clique = incompleteClique(comm);
    if (clique->ranks != own.ranks || clique->devices[rank] != Clique::none) {
        return failed(ncclInvalidUsage, "rank " + std::to_string(comm.rank) + " of " + std::to_string(own.ranks) +
                                            " ranks has already checked in, or the ranks differ in their number");
    }
    comm.clique = clique;
    clique->devices[rank] = comm.device;
    if (clique->hasAllRanks()) {
        std::erase_if(incomplete(), [&](const auto& entry) { return entry.second == clique; });
    }
    Simulator::noteChange();
    return ncclSuccess;
}

ncclResult_t checkDevices(const ncclComm& comm) {
    const std::vector<int>& devices = comm.clique->devices;
    for (int rank = 0; rank < comm.clique->ranks && !comm.clique->processes; ++rank) {
        if (rank != comm.rank && devices[static_cast<std::size_t>(rank)] == comm.device) {
            return failed(ncclInvalidUsage, "Duplicate GPU detected : rank " + std::to_string(comm.rank) +
                                                " and rank " + std::to_string(rank) + " both on CUDA device " +
                                                std::to_string(comm.device));
        }
    }
    return ncclSuccess;
}

ncclResult_t awaitRanks(const ncclComm& comm) {
    const Clique& clique = *comm.clique;
    Simulator::await([&] { return clique.hasAllRanks(); },
                     [&] {
                         return "ncclCommInitRank of rank " + std::to_string(comm.rank) + " waits for ever for " +
                                clique.missingRanks() + "; in one thread it needs a group";
                     });
    return checkDevices(comm);
}

ncclResult_t makeCommunicators(const Group& group) {
    ncclResult_t result = ncclSuccess;
    const auto note = [&result](ncclResult_t other) { result = other != ncclSuccess ? other : result; };
    for (const auto& [to, comm] : group.inits) {
        note(join(group, *comm));
    }
    for (const auto& [to, comm] : group.inits) {
        if (result == ncclSuccess) {
            note(awaitRanks(*comm));
        }
    }
    return result;
}

void discard(const Group& group) {
    for (const auto& [to, comm] : group.inits) {
        communicators().erase(comm);
        delete comm;
        *to = nullptr;
    }
}

void awaitRegistrations(const Group::Registration& registration) {
    Clique& clique = *registration.clique;
    if (clique.processes) {
        // Another process may have to wait for work here before it gets to its registration.
        Simulator::drainDevice(clique.devices[registration.rank]);
        static_cast<void>(clique.processes->allGather({}));
        return;
    }
    const auto isThere = [](const Registered& part) { return part.memory != nullptr; };
    Simulator::await([&] { return clique.isAborted || std::ranges::all_of(*registration.memory, isThere); },
                     [&] {
                         return "ncclCommWindowRegister of rank " + std::to_string(registration.rank) +
                                " waits for ever for other ranks; in one thread it needs a group";
                     });
}

ncclResult_t checkSizes(const std::vector<Registered>& memory, std::size_t rank) {
    for (std::size_t other = 0; other < memory.size(); ++other) {
        if (memory[other].bytes != memory[rank].bytes) {
            return failed(ncclInvalidArgument, "CommWindowRegister : rank " + std::to_string(rank) + " registers " +
                                                   std::to_string(memory[rank].bytes) + " bytes, rank " +
                                                   std::to_string(other) + " " + std::to_string(memory[other].bytes));
        }
    }
    return ncclSuccess;
}

/// Where NCCL has its windows.
ncclWindow_vidmem* inDeviceMemory(ncclWindow_vidmem window) {
    int device = 0;
    cudaGetDevice(&device);
    void* const memory = Simulator::allocate(sizeof(ncclWindow_vidmem), device);
    if (memory == nullptr) {
        Simulator::fail("no device memory for a window");
    }
    return new (memory) ncclWindow_vidmem(std::move(window));
}
void destroy(ncclWindow_vidmem* window) {
    window->~ncclWindow_vidmem();
    (void)Simulator::release(window);
}

ncclResult_t makeWindow(const Group::Registration& registration) {
    awaitRegistrations(registration);
    const auto& [clique, rank, to, memory] = registration;
    ncclResult_t result = checkNotAborted(*clique);
    if (result == ncclSuccess && !clique->processes) {
        result = checkSizes(*memory, rank);
    }
    if (result == ncclSuccess) {
        *to = inDeviceMemory({clique->isLinked ? *memory : std::vector{(*memory)[rank]}});
        windows().insert(*to);
    }
    return result;
}

void enqueue(const Group::Calls& work) {
    Simulator::enqueueJoint(work.stream, [comm = work.comm, calls = work.calls](SimulatedStream* stream) {
        if (!communicators().contains(comm)) {
            Simulator::fail("a graph uses a communicator that no longer exists");
        }
        return Simulator::joined(comm->clique, comm->rank, calls, stream);
    });
}

ncclResult_t carryOut(const Group& group) {
    ncclResult_t result = group.error != ncclSuccess ? group.error : makeCommunicators(group);
    if (result != ncclSuccess) {
        discard(group);
        return result;
    }
    for (const Group::Registration& registration : group.registrations) {
        result = result != ncclSuccess ? result : makeWindow(registration);
    }
    std::ranges::for_each(group.calls, enqueue);
    return result;
}

ncclResult_t endGroup() { return --group.depth > 0 ? ncclSuccess : carryOut(std::exchange(group, {})); }

/// Adds to the group of the thread. Outside of a group each call is a group of its own.
template <typename Add>
ncclResult_t inGroup(const Add& add) {
    const Guard guard;
    ++group.depth;
    const ncclResult_t added = add();
    if (added != ncclSuccess) {
        group.error = added;
    }
    const ncclResult_t ended = endGroup();
    return added != ncclSuccess ? added : ended;
}

// Communicators.

constexpr char idPrefix[] = "simulator ";

ncclResult_t addInit(ncclComm_t* to, int ranks, const ncclUniqueId& id, int rank, int device) {
    if (const ncclResult_t result = checkPointer(to, "CommInitRank", "newcomm"); result != ncclSuccess) {
        return result;
    }
    *to = nullptr;
    if (ranks < 1 || rank < 0 || rank >= ranks) {
        return failed(ncclInvalidArgument,
                      "Invalid rank requested : " + std::to_string(rank) + "/" + std::to_string(ranks));
    }
    if (std::strncmp(id.internal, idPrefix, sizeof(idPrefix) - 1) != 0) {
        return failed(ncclInvalidArgument, "CommInitRank : commId is not from ncclGetUniqueId");
    }
    if (device >= Simulator::settings().devices) {
        return failed(cudaErrorInvalidDevice);
    }
    auto clique = std::make_shared<Clique>(ranks);
    clique->isLinked = Simulator::settings().links == Simulator::Links::Peer;
    *to = new ncclComm{std::move(clique), rank, device, id.internal};
    communicators().insert(*to);
    group.inits.push_back({to, *to});
    return ncclSuccess;
}

ncclResult_t checkDeviceList(const int* devices, int count) {
    std::set<int> seen;
    for (int i = 0; i < count && devices != nullptr; ++i) {
        if (devices[i] < 0 || devices[i] >= Simulator::settings().devices) {
            return failed(ncclInvalidArgument, "Invalid device " + std::to_string(devices[i]));
        }
        if (!seen.insert(devices[i]).second) {
            return failed(ncclInvalidUsage, "Duplicate device " + std::to_string(devices[i]));
        }
    }
    return ncclSuccess;
}

void remove(const ncclComm* comm) {
    communicators().erase(comm);
    delete comm;
    Simulator::noteChange();
}

template <typename Get>
ncclResult_t ask(const ncclComm* comm, const void* to, const char* call, const char* name, const Get& get) {
    const Guard guard;
    ncclResult_t result = checkCommunicator(comm, call);
    result = result != ncclSuccess ? result : checkPointer(to, call, name);
    if (result == ncclSuccess) {
        get();
    }
    return result;
}

// Calls that move data.

ncclResult_t checkCall(const Call& call, const ncclComm& comm, const std::string& name) {
    if (call.peer < 0 || call.peer >= comm.clique->ranks) {
        return failed(ncclInvalidArgument, name + " : invalid peer " + std::to_string(call.peer) + " of " +
                                               std::to_string(comm.clique->ranks) + " ranks");
    }
    if (call.type < 0 || call.type >= ncclNumTypes) {
        return failed(ncclInvalidArgument, name + " : invalid type " + std::to_string(call.type));
    }
    if (call.operation < 0 || call.operation >= ncclNumOps) {
        return failed(ncclInvalidArgument, name + " : invalid reduction operation " + std::to_string(call.operation));
    }
    if (call.kind == Call::Kind::AllReduce && !Simulator::isReducible(call.type, call.operation)) {
        return failed(ncclInvalidArgument, name + " : this type or operation is not simulated");
    }
    const bool sends = call.kind != Call::Kind::Recv;
    const bool receives = call.kind != Call::Kind::Send;
    if (call.count > 0 && ((sends && call.from == nullptr) || (receives && call.to == nullptr))) {
        return failed(ncclInvalidArgument, name + " : a buffer is not a valid pointer");
    }
    return ncclSuccess;
}

/// Adds a call to the work of its communicator in the group.
ncclResult_t add(const Call& call, ncclComm* comm, SimulatedStream* stream) {
    const auto known = std::ranges::find(group.calls, comm, &Group::Calls::comm);
    if (known == group.calls.end()) {
        group.calls.push_back({comm, stream, {call}});
        return ncclSuccess;
    }
    if (known->stream != stream) {
        return failed(ncclInvalidUsage, "several streams for one communicator in a group are not simulated");
    }
    known->calls.push_back(call);
    return ncclSuccess;
}

ncclResult_t checkAndAdd(const Call& call, ncclComm* comm, cudaStream_t stream, const char* name) {
    ncclResult_t result = checkCommunicator(comm, name);
    if (result == ncclSuccess && isToFail()) {
        result = failed(ncclSystemError, std::string(name) + " : fails because a test has asked for it");
    }
    result = result != ncclSuccess ? result : checkNotAborted(*comm->clique);
    result = result != ncclSuccess ? result : checkCall(call, *comm, name);
    if (result != ncclSuccess || (call.isCollective() && call.count == 0)) {
        return result;
    }
    SimulatedStream* const to = Simulator::streamOf(stream, comm->device);
    return Simulator::deviceOf(to) == comm->device ? add(call, comm, to) : failed(cudaErrorInvalidResourceHandle);
}
ncclResult_t perform(const Call& call, ncclComm* comm, cudaStream_t stream, const char* name) {
    return inGroup([&] { return checkAndAdd(call, comm, stream, name); });
}

// Windows.

/// Whether ncclMemAlloc has allocated the bytes, and they are aligned.
ncclResult_t checkWindow(const void* memory, std::size_t bytes) {
    const auto* const begin = static_cast<const std::byte*>(memory);
    if (bytes == 0 || !Simulator::isAllocated(begin) || !Simulator::isAllocated(begin + bytes - 1)) {
        return failed(cudaErrorInvalidValue);
    }
    const std::size_t offset = Simulator::offsetOf(begin);
    if (offset % NCCL_WIN_REQUIRED_ALIGNMENT != 0) {
        return failed(ncclInvalidArgument, "Window address must be suitably aligned.");
    }
    return allocations().contains(begin - offset) && Simulator::offsetOf(begin + bytes - 1) == offset + bytes - 1
               ? ncclSuccess
               : failed(cudaErrorInvalidValue);
}

/// Why a kernel must not use the offset in the memory of a rank; empty if it may.
std::string objection(const ncclWindow_vidmem* window, std::size_t rank, std::size_t offset) {
    if (Simulator::dynamicSharedMemory() == nullptr) {
        return "only kernels may call it";
    }
    if (!windows().contains(window)) {
        return "the window does not exist";
    }
    if (rank >= window->memory.size() || offset > window->memory[rank].bytes) {
        return "no offset " + std::to_string(offset) + " of rank " + std::to_string(rank) + " in a window of " +
               std::to_string(window->memory.size()) + " ranks and " + std::to_string(window->memory[0].bytes) +
               " bytes";
    }
    return "";
}

}  // namespace

void Simulator::failNextCollective(unsigned skipped) {
    const Guard guard;
    callsBeforeFailure = skipped;
}

ncclResult_t ncclGetVersion(int* version) {
    const ncclResult_t result = checkPointer(version, "GetVersion", "version");
    if (result == ncclSuccess) {
        *version = NCCL_VERSION_CODE;
    }
    return result;
}

const char* ncclGetErrorString(ncclResult_t result) {
    static const std::map<ncclResult_t, const char*> resultNames{
        {ncclSuccess, "no error"},
        {ncclUnhandledCudaError, "unhandled cuda error (run with NCCL_DEBUG=INFO for details)"},
        {ncclSystemError, "unhandled system error (run with NCCL_DEBUG=INFO for details)"},
        {ncclInternalError, "internal error - please report this issue to the NCCL developers"},
        {ncclInvalidArgument, "invalid argument (run with NCCL_DEBUG=WARN for details)"},
        {ncclInvalidUsage, "invalid usage (run with NCCL_DEBUG=WARN for details)"},
        {ncclRemoteError, "remote process exited or there was a network error"}};
    const auto known = resultNames.find(result);
    return known == resultNames.end() ? "unknown result code" : known->second;
}

const char* ncclGetLastError(ncclComm_t) { return lastError.c_str(); }

ncclResult_t ncclGetUniqueId(ncclUniqueId* uniqueId) {
    const Guard guard;
    const ncclResult_t result = checkPointer(uniqueId, "GetUniqueId", "out");
    if (result == ncclSuccess) {
        static unsigned long long ids = 0;
        *uniqueId = {};
        std::snprintf(uniqueId->internal, sizeof(uniqueId->internal), "%s%d %llu", idPrefix, getpid(), ++ids);
    }
    return result;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank) {
    int device = 0;
    cudaGetDevice(&device);
    return inGroup([&] { return addInit(comm, nranks, commId, rank, device); });
}

ncclResult_t ncclCommInitAll(ncclComm_t* comm, int ndev, const int* devlist) {
    const Guard guard;
    ncclResult_t result = checkPointer(comm, "CommInitAll", "comms");
    if (result == ncclSuccess && ndev < 0) {
        result = failed(ncclInvalidArgument, "Invalid device count requested : " + std::to_string(ndev));
    }
    result = result != ncclSuccess ? result : checkDeviceList(devlist, ndev);
    if (result != ncclSuccess) {
        return result;
    }
    ncclUniqueId id;
    ncclGetUniqueId(&id);
    ncclGroupStart();
    for (int rank = 0; rank < ndev; ++rank) {
        inGroup([&] { return addInit(comm + rank, ndev, id, rank, devlist != nullptr ? devlist[rank] : rank); });
    }
    return ncclGroupEnd();
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
    return ask(comm, comm, "CommDestroy", "comm", [&] { remove(comm); });
}
ncclResult_t ncclCommAbort(ncclComm_t comm) {
    return ask(comm, comm, "CommAbort", "comm", [&] {
        comm->clique->isAborted = true;
        remove(comm);
    });
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* asyncError) {
    return ask(comm, asyncError, "CommGetAsyncError", "asyncError",
               [&] { *asyncError = comm->clique->isAborted ? ncclRemoteError : ncclSuccess; });
}
ncclResult_t ncclCommCount(ncclComm_t comm, int* count) {
    return ask(comm, count, "CommCount", "count", [&] { *count = comm->clique->ranks; });
}
ncclResult_t ncclCommCuDevice(ncclComm_t comm, int* device) {
    return ask(comm, device, "CommCuDevice", "device", [&] { *device = comm->device; });
}
ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank) {
    return ask(comm, rank, "CommUserRank", "rank", [&] { *rank = comm->rank; });
}

ncclResult_t ncclGroupStart() {
    ++group.depth;
    return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
    const Guard guard;
    return group.depth > 0 ? endGroup() : failed(ncclInvalidUsage, "ncclGroupEnd: not in a group call.");
}

ncclResult_t ncclAllGather(const void* sendbuff, void* recvbuff, size_t sendcount, ncclDataType_t datatype,
                           ncclComm_t comm, cudaStream_t stream) {
    return perform({Call::Kind::AllGather, sendbuff, recvbuff, sendcount, datatype, ncclSum, 0}, comm, stream,
                   "AllGather");
}
ncclResult_t ncclAllReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
    return perform({Call::Kind::AllReduce, sendbuff, recvbuff, count, datatype, op, 0}, comm, stream, "AllReduce");
}
ncclResult_t ncclSend(const void* sendbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
    return perform({Call::Kind::Send, sendbuff, nullptr, count, datatype, ncclSum, peer}, comm, stream, "Send");
}
ncclResult_t ncclRecv(void* recvbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
    return perform({Call::Kind::Recv, nullptr, recvbuff, count, datatype, ncclSum, peer}, comm, stream, "Recv");
}

ncclResult_t ncclMemAlloc(void** ptr, size_t size) {
    const Guard guard;
    if (const ncclResult_t result = checkPointer(ptr, "MemAlloc", "ptr"); result != ncclSuccess) {
        return result;
    }
    int device = 0;
    cudaGetDevice(&device);
    *ptr = Simulator::allocate(size, device, NCCL_WIN_REQUIRED_ALIGNMENT);
    if (*ptr == nullptr) {
        return failed(cudaErrorMemoryAllocation);
    }
    allocations().insert(*ptr);
    return ncclSuccess;
}
ncclResult_t ncclMemFree(void* ptr) {
    const Guard guard;
    if (ptr == nullptr) {
        return ncclSuccess;
    }
    const bool isKnown = allocations().erase(ptr) != 0;
    return isKnown && cudaFree(ptr) == cudaSuccess ? ncclSuccess : failed(cudaErrorInvalidValue);
}

ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void* buff, size_t size, ncclWindow_t* win, int winFlags) {
    return inGroup([&] {
        constexpr const char* call = "CommWindowRegister";
        ncclResult_t result = checkCommunicator(comm, call);
        result = result != ncclSuccess ? result : checkPointer(buff, call, "buff");
        result = result != ncclSuccess ? result : checkPointer(win, call, "win");
        if (result == ncclSuccess && winFlags != NCCL_WIN_DEFAULT && winFlags != NCCL_WIN_COLL_SYMMETRIC) {
            result = failed(ncclInvalidArgument, "CommWindowRegister : invalid flags " + std::to_string(winFlags));
        }
        result = result != ncclSuccess ? result : checkNotAborted(*comm->clique);
        result = result != ncclSuccess ? result : checkWindow(buff, size);
        if (result == ncclSuccess) {
            const auto rank = static_cast<std::size_t>(comm->rank);
            const auto memory = comm->clique->registrationOf(comm->rank);
            (*memory)[rank] = {static_cast<std::byte*>(buff), size};
            group.registrations.push_back({comm->clique, rank, win, memory});
            Simulator::noteChange();
        }
        return result;
    });
}
ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t win) {
    const Guard guard;
    const ncclResult_t result = checkCommunicator(comm, "CommWindowDeregister");
    if (result != ncclSuccess) {
        return result;
    }
    if (windows().erase(win) == 0) {
        return failed(ncclInvalidArgument, "CommWindowDeregister : the window does not exist");
    }
    destroy(win);
    return ncclSuccess;
}

ncclTeam_t ncclTeamLsa(ncclComm_t comm) {
    return comm->clique->isLinked ? ncclTeam_t{comm->clique->ranks, comm->rank, 1} : ncclTeam_t{1, 0, 1};
}

void* ncclGetLsaPointer(ncclWindow_t w, size_t offset, int peer) {
    const auto rank = static_cast<std::size_t>(peer);
    if (const std::string text = objection(w, rank, offset); !text.empty()) {
        Simulator::fail("ncclGetLsaPointer: " + text);
    }
    return w->memory[rank].memory + offset;
}
