#include "executor.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <semaphore>
#include <set>
#include <span>

#include "annotations.h"
#include "cuda_runtime.h"
#include "memory.h"
#include "simulator.h"
#include "trace.h"

namespace Simulator {

void giveUp() {
    std::fprintf(stderr, "simulator: repeat it with STREAM_COMPACTION_SIMULATOR=seed=%llu\n",
                 static_cast<unsigned long long>(seed()));
    std::abort();
}

namespace {

using boost::context::fiber;

/// Draws every free choice from the seed. With seed 0 nothing is drawn.
class Adversary {
  public:
    void begin() {
        isThere_ = seed() != 0;
        random_.seed(seed());
    }
    [[nodiscard]] bool isThere() const { return isThere_; }
    /// One of `n` numbers, with equal probability.
    [[nodiscard]] unsigned draw(std::size_t n) { return static_cast<unsigned>(random_() % n); }
    /// True with probability 1 / n; false without a seed.
    [[nodiscard]] bool happens(unsigned n) { return isThere_ && draw(n) == 0; }

  private:
    bool isThere_ = false;
    std::mt19937_64 random_;
};

[[nodiscard]] std::byte* pages(std::size_t bytes) {
    void* const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        std::perror("simulator: no more memory of the host");
        std::abort();
    }
    return static_cast<std::byte*>(memory);
}

/// Stacks of fibers, each behind a guard page. They are used in turn: the race detector takes each stack for a thread,
/// and must not take threads of different blocks for one. Many are mapped at once, because the race detector adds some
/// mappings to each of these, and Linux lets a process have 65,530.
struct Stack {
    char* top;
    Watched watched;
};
class Stacks {
  public:
    static constexpr std::size_t bytes = std::size_t{128} << 10;
    static constexpr std::size_t guard = 4096;
    static constexpr std::size_t usable = bytes - guard - (std::size_t{12} << 10);

    Stack take() {
        if (free_.empty() || (free_.size() < fewest && made_ < most)) {
            return make();
        }
        const Stack stack = free_.front();
        free_.pop_front();
        return stack;
    }
    void giveBack(const Stack& stack) { free_.push_back(stack); }

  private:
    Stack make() {
        if (unused_.empty()) {
            constexpr std::size_t atOnce = 64;
            unused_ = {pages(atOnce * bytes), atOnce * bytes};
        }
        auto* const memory = reinterpret_cast<char*>(unused_.data());
        unused_ = unused_.subspan(bytes);
        mprotect(memory, guard, PROT_NONE);
        // Stacks begin at different cache lines, so that those of a block do not compete for the same ones.
        constexpr std::size_t lines = 64;
        constexpr std::size_t spread = 3 * 64;
        return {memory + bytes - made_++ % lines * spread, Watched::create()};
    }

    static constexpr std::size_t fewest = watchesRaces ? 1024 : 1;
    static constexpr std::size_t most = 7000;  // unless so many are in use; the race detector knows 8,128 threads
    std::size_t made_ = 0;
    std::span<std::byte> unused_;
    std::deque<Stack> free_;
};

/// The stack allocator of a fiber.
struct LentStack {
    const Stack& stack;
    boost::context::stack_context allocate() const {
        boost::context::stack_context context;
        context.size = Stacks::usable;
        context.sp = stack.top;
        return context;
    }
    void deallocate(boost::context::stack_context&) const {}
};

class Block;

/// A running grid.
struct Run {
    Run(const Grid& grid, Run* before) : grid(grid), before(before), order(grid.blocks) {
        std::iota(order.begin(), order.end(), 0U);
    }

    Grid grid;
    const unsigned long long number = ++launches;
    static inline unsigned long long launches = 0;
    Run* before;                  ///< the previous grid of the stream, or nullptr
    std::vector<unsigned> order;  ///< order in which blocks begin
    unsigned begun = 0;
    unsigned lettingLaterBegin = 0;  ///< blocks that let later grids begin, or have ended
    unsigned ended = 0;
    unsigned arrivals = 0;  ///< threads that have arrived at the grid's barrier
    unsigned phase = 0;
    std::vector<StoreBuffer> unseen;  ///< writes of ended blocks that are not visible to all yet
    Order launched, atBarrier[2], done;

    [[nodiscard]] bool hasEnded() const { return ended == grid.blocks; }
    void showWrites() {
        std::ranges::for_each(unseen, &StoreBuffer::commitAll);
        unseen.clear();
    }
    [[nodiscard]] unsigned residentBlocks() const {
        return std::max(1U, card().residentBlocks(static_cast<int>(grid.threads), grid.sharedBytes));
    }
    [[nodiscard]] bool mayBegin() const {
        return begun < grid.blocks && (before == nullptr || before->hasEnded() ||
                                       (grid.isEarly && before->lettingLaterBegin == before->grid.blocks));
    }
};

constexpr std::size_t mostDynamicShared = std::size_t{256} << 10;

/// Dynamic shared memory for the blocks of a worker, behind a red zone.
std::byte* dynamicSharedPages() {
    constexpr std::size_t zone = 4096;
    std::byte* const begin = pages(zone + mostDynamicShared);
    allowAccess(begin, 0, zone);
    return begin + zone;
}

/// The right to run, which one host thread at a time has and passes on.
class Baton {
  public:
    void give() {
        order_.release();
        semaphore_.release();
    }
    void await() {
        semaphore_.acquire();
        order_.acquire();
    }

  private:
    std::binary_semaphore semaphore_{0};
    Order order_;  // orders the executor's own memory, not that of kernels
};

/// A host thread, which runs blocks one after another.
struct Worker {
    Baton baton;
    Block* block = nullptr;
    unsigned blocks = 0;
    std::byte* const dynamicShared = dynamicSharedPages();
    std::array<Order, 2> sharedMemory;  // orders the threads of a block after those of the previous block, which used
                                        // the same shared memory
};

struct Copy {
    void* to;
    const void* from;
    std::size_t bytes;
    std::uint64_t* barrier;

    void operator()() const { std::memcpy(to, from, bytes); }
};

/// A fiber. It runs threads of its block one after another until one of them waits. Then another fiber runs the
/// remaining threads.
struct Runner {
    fiber context;
    Stack stack;
    unsigned thread = 0;
    bool hasFenced = false;
};

/// The order that goes with an address in memory.
Order& orderAt(const void* address) { return *static_cast<Order*>(const_cast<void*>(address)); }

/// The running card: decides which block runs.
class Machine {
  public:
    void run(const std::vector<Grid>& grids);

    /// Lets other blocks run. Returns when it is this block's turn again.
    void yield(Block& block);
    /// Ends the worker's block. Returns whether the worker got another block, which it must run at once.
    bool end(Worker& worker);

    Stack takeStack() { return stacks_.take(); }
    void giveBack(const Stack& stack) { stacks_.giveBack(stack); }

    /// Delays a block with probability 1 / n.
    void putToSleep(Block& block, unsigned n);

    /// Called when something happens that an endless wait would never reach.
    void noteProgress() { pollsInVain_ = 0; }
    void notePoll();

    std::vector<Block*>& blocks() { return blocks_; }

    Block* current = nullptr;
    Adversary adversary;

  private:
    [[nodiscard]] Run* beginnable();
    [[nodiscard]] Block* chooseOther(Block* from);
    Block* begin(Run& run, Worker& worker);
    Worker& idleWorker();
    void give(Block* to);
    void commitSomeWrites();
    [[noreturn]] void serve(Worker& self);

    Stacks stacks_;
    std::vector<std::unique_ptr<Run>> runs_;
    std::vector<Block*> blocks_;
    std::deque<Worker> workers_;
    std::vector<Worker*> idle_;
    Baton finished_;
    unsigned long long pollsInVain_ = 0;
    unsigned long long turns_ = 0;
};

constinit bool atWork = false;  // constant, because the hooks below are called before anything is initialised
constinit thread_local bool runsBlocks = false;  // other threads of the host may read and write while kernels run
Machine& theMachine = *new Machine;              // never destroyed, because its workers outlive main()
Machine& machine() { return theMachine; }

class Block {
  public:
    Block(Run& run, unsigned index, Worker& worker)
        : run(run),
          worker(worker),
          index_(index),
          live_(run.grid.threads),
          warps_((run.grid.threads + 31) / 32),
          order_(run.grid.threads),
          blockOfWorker_(worker.blocks++) {
        std::iota(order_.begin(), order_.end(), 0U);
        if (Adversary& adversary = machine().adversary; adversary.isThere()) {
            shuffle(order_);
            lateWarp_ = adversary.draw(2 * warps_.size());
            std::ranges::stable_partition(order_, [this](unsigned thread) { return !isLate(thread); });
            writes.lateness = 1 << adversary.draw(8);
        }
        allowAccess(dynamicShared(), run.grid.sharedBytes, mostDynamicShared);
        // Not by memset, which the race detector watches: it knows no order between the executor and earlier blocks.
        for (volatile std::byte& byte : std::span(dynamicShared(), run.grid.sharedBytes)) {
            byte = std::byte{0x5A};
        }
        made_.release();
    }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    ~Block() {
        for (Runner& runner : runners_) {
            machine().giveBack(runner.stack);
        }
    }

    static void shuffle(std::vector<unsigned>& order) {
        for (std::size_t i = order.size(); i > 1; --i) {
            std::swap(order[i - 1], order[machine().adversary.draw(i)]);
        }
    }

    /// Runs the block to its end. The caller has the baton.
    void operator()() {
        self_ = Watched::current();
        takeOver();
        while (live_ > 0) {
            if (!canGoOn() || yields_) {
                yields_ = false;
                machine().yield(*this);
                continue;
            }
            switchTo(choose().context, blockItself_);
        }
    }

    /// Whether one of its threads can run.
    [[nodiscard]] bool canGoOn() const { return !ready_.empty() || begun_ < run.grid.threads; }

    /// Sets the built-in variables to this block's.
    void takeOver() const {
        blockIdx = {index_, 0, 0};
        blockDim = {run.grid.threads};
        gridDim = {run.grid.blocks};
        machine().current = const_cast<Block*>(this);
    }

    unsigned sync(bool yes) {
        const unsigned phase = phase_;
        barrier_[phase % 2].release();
        const InExecutor here(*this);
        ++arrived_;
        votes_ += yes ? 1 : 0;
        if (arrived_ == live_) {
            completeBarrier();
            step();
        } else {
            suspendAt(atBarrier_);
        }
        here.leave();
        barrier_[phase % 2].acquire();
        return result_[phase % 2];
    }
    [[nodiscard]] unsigned live() const { return live_; }

    const Meeting& arrive(std::uint32_t mask, std::uint64_t value, const char* operation, bool ordersMemory) {
        const unsigned warp = threadIdx.x / 32;
        const unsigned lane = threadIdx.x % 32;
        const unsigned lanes = std::min(32U, run.grid.threads - warp * 32);
        mask &= lanes == 32 ? ~0U : (1U << lanes) - 1;
        if ((mask >> lane & 1) == 0) {
            fail(operation, "is called by a lane that its mask does not name");
        }
        const InExecutor here(*this);
        WarpMeeting& meeting = meetingOf(warps_[warp], mask, operation);
        if (ordersMemory) {
            here.leave();
            meeting.order.release();
            here.enter();
        }
        meeting.values_[lane] = value;
        meeting.arrived |= 1U << lane;
        meeting.nonzero_ |= value != 0 ? 1U << lane : 0;
        if (meeting.arrived == mask) {
            ready_.insert(ready_.end(), meeting.waiting.begin(), meeting.waiting.end());
            meeting.waiting.clear();
            step();
        } else {
            suspendAt(meeting.waiting);
        }
        meeting.left |= 1U << lane;
        if (ordersMemory) {
            here.leave();
            meeting.order.acquire();
        }
        return meeting;
    }

    /// Lets other threads run. Once all threads of the block have polled in vain, other blocks run.
    void poll() {
        machine().notePoll();
        yields_ = ++polls_ > live_ || machine().adversary.happens(4);
        polls_ = yields_ ? 0 : polls_;
        goLast();
    }
    /// A point at which the adversary may let others run.
    void step() {
        Adversary& adversary = machine().adversary;
        if (adversary.happens(4)) {
            yields_ = adversary.happens(2);
            if (yields_) {
                machine().putToSleep(*this, 3);
            }
            goLast();
        }
    }
    /// The same at an access to global or shared memory. It calls step() only now and then, because there are many
    /// accesses.
    void stepAtAccess() {
        if (stepsLeft_ == 0) {
            stepsLeft_ = 1 + machine().adversary.draw(64);
        }
        if (--stepsLeft_ == 0) {
            step();
        }
    }

    unsigned arriveAtGrid() {
        const unsigned phase = run.phase;
        if (++arrivedAtGrid_ == run.grid.threads) {
            arrivedAtGrid_ = 0;
            writes.commitAll();
        }
        run.atBarrier[phase % 2].release();
        const InExecutor here(*this);
        if (++run.arrivals == run.grid.blocks * run.grid.threads) {
            run.arrivals = 0;
            ++run.phase;
            machine().noteProgress();
            for (Block* const block : machine().blocks()) {
                if (&block->run == &run) {
                    block->ready_.insert(block->ready_.end(), block->atGrid_.begin(), block->atGrid_.end());
                    block->atGrid_.clear();
                }
            }
        }
        return phase;
    }
    void waitForGrid(unsigned arrival) {
        {
            const InExecutor here(*this);
            if (run.phase == arrival) {
                suspendAt(atGrid_);
            }
        }
        run.atBarrier[arrival % 2].acquire();
    }

    /// A grid that begins early and does not wait need not see the writes of an earlier grid's ended blocks. This one
    /// has waited.
    void showWritesOf(Run& earlier) {
        const InExecutor here(*this);
        earlier.showWrites();
    }
    void letLaterGridBegin() {
        if (!letsLaterBegin_) {
            letsLaterBegin_ = true;
            ++run.lettingLaterBegin;
            machine().putToSleep(*this, 2);  // so that it is late for grids that do not wait for it
            yields_ = true;
            goLast();
        }
    }

    /// Returns whether the copy is fast, so that its bytes arrive before anybody asks.
    [[nodiscard]] bool copyInBulk(const Copy& copy) {
        const InExecutor here(*this);
        bulkCopies_.push_back(copy);
        return machine().adversary.happens(2);
    }
    /// Carries out the copies that signal `barrier`, and calls `then(copy)` for each.
    template <typename Then>
    void finishBulkCopies(const std::uint64_t* barrier, const Then& then) {
        std::erase_if(bulkCopies_, [&](const Copy& copy) {
            if (copy.barrier != barrier) {
                return false;
            }
            copy();
            then(copy);
            return true;
        });
    }
    // For the race detector. An atomic write after a fence publishes the accesses before the fence. A thread that has
    // read the value atomically, or another thread of its block, is ordered after them once it executes a fence.
    void noteAtomicRead(const void* address) {
        if (watchesRaces) {
            const InExecutor here(*this);
            readAtomically_.insert(address);
        }
    }
    void noteAtomicWrite(const void* address) const {
        if (runner_->hasFenced) {
            orderAt(address).release();
        }
    }
    void noteFence() {
        for (const void* const address : readAtomically_) {
            orderAt(address).acquire();
        }
        runner_->hasFenced = true;
    }
    /// Must be called before each write to global memory.
    void addWrite(void* address, std::size_t bytes) {
        const InExecutor here(*this);
        writes.add(address, bytes);
    }

    [[nodiscard]] std::byte* dynamicShared() const { return worker.dynamicShared; }
    [[nodiscard]] unsigned index() const { return index_; }

    [[noreturn]] void fail(const char* operation, const char* what) const {
        std::fprintf(stderr, "simulator: %s, block %u, thread %u: %s %s\n", run.grid.name, index_, threadIdx.x,
                     operation, what);
        giveUp();
    }
    void describeWaits() const {
        std::fprintf(
            stderr,
            "  block %u: %u threads have not ended, %zu wait at a barrier of the block, %zu at one of the grid\n",
            index_, live_, atBarrier_.size(), atGrid_.size());
        for (std::size_t warp = 0; warp < warps_.size(); ++warp) {
            for (const WarpMeeting& meeting : warps_[warp]) {
                if (meeting.left != meeting.mask_ && meeting.arrived != meeting.mask_) {
                    std::fprintf(stderr, "    warp %zu: %s of lanes %08x, to which only %08x came\n", warp,
                                 meeting.operation, meeting.mask_, meeting.arrived);
                }
            }
        }
    }

    Run& run;
    Worker& worker;
    StoreBuffer writes;
    unsigned long long asleepUntil = 0;  ///< others run first until this turn
    bool letsLaterBegin() const { return letsLaterBegin_; }

  private:
    struct WarpMeeting : Meeting {
        using Meeting::mask_;
        using Meeting::nonzero_;
        using Meeting::values_;
        std::uint32_t arrived = 0;
        std::uint32_t left = 0;
        const char* operation = nullptr;
        std::vector<Runner*> waiting;
        Order order;
    };

    /// While a thread runs code of the executor, the race detector must take it for the executor.
    class InExecutor {
      public:
        explicit InExecutor(Block& block) : block_(block), runner_(*block.runner_) { enter(); }
        ~InExecutor() { leave(); }
        InExecutor(const InExecutor&) = delete;
        InExecutor& operator=(const InExecutor&) = delete;
        void enter() const { block_.self_.enter(); }
        void leave() const { runner_.stack.watched.enter(); }

      private:
        Block& block_;
        Runner& runner_;
    };

    Runner& choose() {
        Adversary& adversary = machine().adversary;
        const bool canBegin = begun_ < run.grid.threads;
        if (canBegin && (ready_.empty() || !adversary.isThere() || adversary.happens(2))) {
            if (free_.empty()) {
                free_.push_back(&runners_.emplace_back(Runner{{}, machine().takeStack(), 0, false}));
            }
            Runner& runner = *free_.back();
            free_.pop_back();
            runner.context = fiber(std::allocator_arg, LentStack{runner.stack}, [this, &runner](fiber&&) {
                runThreads(runner);
                isFree(runner);
                return std::move(blockItself_);
            });
            runner_ = &runner;
            return runner;
        }
        if (adversary.isThere()) {
            std::size_t chosen = adversary.draw(ready_.size());
            for (int again = 0; again < 4 && isLate(ready_[chosen]->thread); ++again) {
                chosen = adversary.draw(ready_.size());
            }
            std::swap(ready_.front(), ready_[chosen]);
        }
        runner_ = ready_.front();
        ready_.pop_front();
        threadIdx = {runner_->thread, 0, 0};
        return *runner_;
    }

    void runThreads(Runner& runner) {
        do {
            runner.thread = order_[begun_++];
            runner.stack.watched.enter();
            run.launched.acquire();
            made_.acquire();
            worker.sharedMemory[blockOfWorker_ % 2].acquire();
            if (run.before != nullptr && !run.grid.isEarly) {
                run.before->done.acquire();
            }
            threadIdx = {runner.thread, 0, 0};
            runner.hasFenced = false;
            run.grid.thread();
            run.done.release();
            worker.sharedMemory[(blockOfWorker_ + 1) % 2].release();
            self_.enter();
            machine().noteProgress();
            --live_;
            if (live_ > 0 && arrived_ == live_) {
                completeBarrier();
            }
        } while (begun_ < run.grid.threads && !machine().adversary.isThere() && !watchesRaces);
    }
    /// For the race detector each thread needs a fiber of its own.
    void isFree(Runner& runner) {
        if (!watchesRaces) {
            free_.push_back(&runner);
        }
    }

    /// Goes on at `to`. This fiber goes on once somebody switches to `left`.
    static void switchTo(fiber& to, fiber& left) {
        std::move(to).resume_with([&left](fiber&& here) {
            left = std::move(here);
            return fiber();
        });
    }
    /// Another thread of the block goes on; the block itself if there is none, or if other blocks shall run.
    void suspend() {
        Runner& self = *runner_;
        if (!canGoOn() || yields_) {
            switchTo(blockItself_, self.context);
        } else if (Runner& next = choose(); &next != &self) {
            switchTo(next.context, self.context);
        }
    }
    template <typename Place>
    void suspendAt(Place& place) {
        place.push_back(runner_);
        suspend();
    }
    void goLast() {
        const InExecutor here(*this);
        suspendAt(ready_);
    }

    WarpMeeting& meetingOf(std::deque<WarpMeeting>& meetings, std::uint32_t mask, const char* operation) {
        WarpMeeting* free = nullptr;
        for (WarpMeeting& meeting : meetings) {
            if (meeting.left == meeting.mask_) {
                free = &meeting;
            } else if (meeting.mask_ == mask && meeting.arrived != mask) {
                if (meeting.operation != operation && std::strcmp(meeting.operation, operation) != 0) {
                    fail(operation, (std::string("meets ") + meeting.operation).c_str());
                }
                return meeting;
            }
        }
        if (free == nullptr) {
            free = &meetings.emplace_back();
        }
        free->mask_ = mask;
        free->arrived = free->left = free->nonzero_ = 0;
        free->operation = operation;
        return *free;
    }

    void completeBarrier() {
        result_[phase_ % 2] = votes_;
        ++phase_;
        votes_ = arrived_ = 0;
        machine().noteProgress();
        ready_.insert(ready_.end(), atBarrier_.begin(), atBarrier_.end());
        atBarrier_.clear();
    }

    [[nodiscard]] bool isLate(unsigned thread) const { return thread / 32 == lateWarp_; }

    unsigned index_;
    unsigned live_;
    unsigned begun_ = 0;
    std::vector<std::deque<WarpMeeting>> warps_;
    std::vector<unsigned> order_;  // order in which threads begin
    std::vector<Copy> bulkCopies_;
    std::set<const void*> readAtomically_;

    std::deque<Runner> runners_;
    std::vector<Runner*> free_;
    std::deque<Runner*> ready_;
    Runner* runner_ = nullptr;
    fiber blockItself_;  // goes on if no thread can, and lets other blocks run
    Watched self_ = Watched::current();
    unsigned blockOfWorker_;
    Order made_;
    bool yields_ = false;
    unsigned polls_ = 0;
    unsigned stepsLeft_ = 0;
    std::size_t lateWarp_ = ~std::size_t{0};  // a warp whose threads run after the others

    std::vector<Runner*> atBarrier_;
    std::vector<Runner*> atGrid_;
    unsigned arrived_ = 0;
    unsigned votes_ = 0;
    unsigned phase_ = 0;
    std::array<unsigned, 2> result_{};
    std::array<Order, 2> barrier_;
    unsigned arrivedAtGrid_ = 0;
    bool letsLaterBegin_ = false;
};

void Machine::run(const std::vector<Grid>& grids) {
    adversary.begin();
    atWork = adversary.isThere() || isTracing();
    runs_.clear();
    for (const Grid& grid : grids) {
        Run& added = *runs_.emplace_back(std::make_unique<Run>(grid, runs_.empty() ? nullptr : runs_.back().get()));
        added.launched.release();
        if (card().order == BlockOrder::Reverse) {
            std::ranges::reverse(added.order);
        } else if (card().order == BlockOrder::Any && adversary.isThere()) {
            Block::shuffle(added.order);
        }
    }
    noteProgress();
    Worker& worker = idleWorker();
    give(begin(*runs_.front(), worker));
    finished_.await();
    atWork = false;
    for (const auto& run : runs_) {
        run->done.acquire();
    }
}

/// A grid of which a block may begin now.
Run* Machine::beginnable() {
    double occupied = 0;
    for (const auto& run : runs_) {
        occupied += static_cast<double>(run->begun - run->ended) / run->residentBlocks();
    }
    for (const auto& run : runs_) {
        if (run->mayBegin() && ((run->grid.isTogether && run->grid.blocks <= run->residentBlocks()) ||
                                occupied + 1.0 / run->residentBlocks() <= 1 + 1e-9)) {
            return run.get();
        }
    }
    return nullptr;
}

Block* Machine::begin(Run& run, Worker& worker) {
    noteProgress();
    worker.block = new Block(run, run.order[run.begun++], worker);
    putToSleep(*worker.block, 4);
    blocks_.push_back(worker.block);
    return worker.block;
}

void Machine::putToSleep(Block& block, unsigned n) {
    if (adversary.happens(n)) {
        block.asleepUntil = turns_ + adversary.draw(std::size_t{1} << adversary.draw(20));
    }
}

Worker& Machine::idleWorker() {
    // Blocks of one worker are ordered, because they use the same memory. To find races between blocks, workers are
    // used in turn.
    constexpr std::size_t fewest = watchesRaces ? 16 : 1;
    if (idle_.size() < fewest) {
        Worker& worker = workers_.emplace_back();
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, std::size_t{256} << 20);  // holds the shared arrays of all kernels
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        pthread_t thread{};
        const int status = pthread_create(
            &thread, &attributes, [](void* self) -> void* { machine().serve(*static_cast<Worker*>(self)); }, &worker);
        pthread_attr_destroy(&attributes);
        if (status != 0) {
            std::fprintf(stderr, "simulator: no more threads for blocks\n");
            std::abort();
        }
        return worker;
    }
    if (watchesRaces) {
        std::ranges::rotate(idle_, idle_.begin() + 1);
    }
    Worker& worker = *idle_.back();
    idle_.pop_back();
    return worker;
}

void Machine::serve(Worker& self) {
    self.sharedMemory[0].release();  // initialised with this thread
    runsBlocks = true;
    for (;;) {
        self.baton.await();
        findSharedMemory();
        do {
            (*self.block)();
        } while (end(self));
    }
}

/// Another block that can run, or one that begins now. `from` itself if there is no other block; nullptr if no block
/// can run.
Block* Machine::chooseOther(Block* from) {
    ++turns_;
    Run* const next = beginnable();
    std::vector<Block*> able;
    for (Block* const block : blocks_) {
        if (block->canGoOn()) {
            able.push_back(block);
        }
    }
    if (adversary.isThere()) {
        std::vector<Block*> awake;
        std::ranges::copy_if(able, std::back_inserter(awake), [&](Block* b) { return b->asleepUntil <= turns_; });
        // If the others have only polled for a while, they may be waiting for a late block.
        constexpr unsigned long long patience = 256;
        if (!awake.empty() && pollsInVain_ < patience) {
            able = awake;
        }
        const unsigned choice = able.empty() && next == nullptr ? 0 : adversary.draw(able.size() + (next != nullptr));
        return choice < able.size() ? able[choice] : next != nullptr ? begin(*next, idleWorker()) : nullptr;
    }
    if (next != nullptr) {
        return begin(*next, idleWorker());
    }
    // Round robin, beginning after `from`.
    const auto behind = std::ranges::find(able, from);
    return able.empty() ? nullptr : behind == able.end() || behind + 1 == able.end() ? able.front() : *(behind + 1);
}

void Machine::give(Block* to) {
    if (to == nullptr) {
        std::fprintf(stderr, "simulator: %s waits for ever\n", runs_.front()->grid.name);
        for (const Block* const block : blocks_) {
            block->describeWaits();
        }
        giveUp();
    }
    to->worker.baton.give();
}

void Machine::yield(Block& block) {
    traceWritten();
    Block* const next = chooseOther(&block);
    if (next == &block) {
        commitSomeWrites();
        return;
    }
    block.writes.park();
    commitSomeWrites();
    give(next);
    block.worker.baton.await();
    block.writes.unpark();
    block.takeOver();
}

bool Machine::end(Worker& worker) {
    Block& block = *worker.block;
    Run& run = block.run;
    run.lettingLaterBegin += block.letsLaterBegin() ? 0 : 1;
    ++run.ended;
    traceWritten();
    block.writes.park();
    run.unseen.push_back(std::move(block.writes));
    current = nullptr;
    std::erase(blocks_, &block);
    delete &block;
    if (std::ranges::all_of(runs_, [](const auto& run) { return run->hasEnded(); })) {
        std::ranges::for_each(runs_, [](const auto& run) { run->showWrites(); });
        idle_.push_back(&worker);
        finished_.give();
        return false;
    }
    commitSomeWrites();
    idle_.push_back(&worker);
    Block* const next = chooseOther(nullptr);
    if (next != nullptr && &next->worker == &worker) {
        return true;
    }
    give(next);
    return false;
}

/// Makes some writes visible that only their block has seen so far.
void Machine::commitSomeWrites() {
    if (!adversary.isThere()) {
        return;
    }
    const auto isChosen = [this] { return adversary.draw(2) == 0; };
    const auto commitSomeOf = [&](StoreBuffer& writes) {
        if (writes.isParked() && adversary.happens(writes.lateness)) {
            writes.commitSome(isChosen);
        }
    };
    for (Block* const block : blocks_) {
        commitSomeOf(block->writes);
    }
    for (const auto& run : runs_) {
        std::ranges::for_each(run->unseen, commitSomeOf);
    }
}

void Machine::notePoll() {
    const unsigned long long most = adversary.isThere() ? 1'000'000 : 10'000'000;
    if (++pollsInVain_ > most) {
        std::fprintf(stderr, "simulator: %s polls for ever\n", runs_.front()->grid.name);
        for (const Block* const block : blocks_) {
            block->describeWaits();
        }
        giveUp();
    }
}

Block& here() { return *machine().current; }

}  // namespace

void run(const std::vector<Grid>& grids) { machine().run(grids); }

unsigned syncBlock(bool yes) {
    traceStep("barrier", nullptr, 0, __builtin_return_address(0));
    return here().sync(yes);
}
unsigned threadsNotEnded() { return here().live(); }
unsigned arriveAtGrid() {
    traceStep("barrier of the grid", nullptr, 0, __builtin_return_address(0));
    return here().arriveAtGrid();
}
void waitForGrid(unsigned arrival) { here().waitForGrid(arrival); }
void waitForEarlierGrid() {
    Run* const before = here().run.before;
    if (before != nullptr) {
        while (!before->hasEnded()) {
            here().poll();
        }
        here().showWritesOf(*before);
        before->done.acquire();
    }
}
void letLaterGridBegin() { here().letLaterGridBegin(); }
void poll() { here().poll(); }
void fence() {
    traceStep("fence", nullptr, 0, __builtin_return_address(0));
    here().writes.commitAll();
    here().noteFence();
}
void beforeAtomic(const void* address, std::size_t bytes, bool isRead, const char* operation) {
    if (isRead) {
        here().poll();
    } else {
        here().step();
    }
    here().writes.commit(address, bytes);
    here().noteAtomicRead(address);
    if (!isRead) {
        here().noteAtomicWrite(address);
    }
    traceStep(operation, address, bytes, __builtin_return_address(0));
}
void beforeRelaxedStore(void* address, std::size_t bytes) {
    if (machine().adversary.isThere()) {
        here().step();
        here().addWrite(address, bytes);
    }
    here().noteAtomicWrite(address);
    traceStep("atomic store", address, bytes, __builtin_return_address(0));
}

namespace {

/// The contents of a barrier of the copy engine.
struct CopyBarrier {
    std::int32_t missingBytes;
    std::uint8_t arrivals;  ///< arrivals per phase
    std::uint8_t missingArrivals;
    std::uint8_t phase;
    std::uint8_t mark;  ///< `begun` once it has been initialised

    static constexpr std::uint8_t begun = 0xB1;

    void turnIfComplete() {
        if (missingArrivals == 0 && missingBytes == 0) {
            missingArrivals = arrivals;
            phase ^= 1;
        }
    }
};

template <typename Change>
void changeBarrier(std::uint64_t* word, const char* operation, const Change& change) {
    auto barrier = std::bit_cast<CopyBarrier>(*word);
    if (barrier.mark != CopyBarrier::begun) {
        here().fail(operation, "comes before mbarrier_init");
    }
    change(barrier);
    barrier.turnIfComplete();
    *word = std::bit_cast<std::uint64_t>(barrier);
}

}  // namespace

void beginBarrier(std::uint64_t* barrier, std::uint32_t arrivals) {
    const auto awaited = static_cast<std::uint8_t>(arrivals);
    *barrier = std::bit_cast<std::uint64_t>(CopyBarrier{0, awaited, awaited, 0, CopyBarrier::begun});
}
void arriveExpecting(std::uint64_t* barrier, std::uint32_t bytes) {
    orderAt(barrier).release();
    changeBarrier(barrier, "mbarrier_arrive_expect_tx", [bytes](CopyBarrier& b) {
        b.missingBytes += static_cast<std::int32_t>(bytes);
        --b.missingArrivals;
    });
}
void copyInBulk(void* to, const void* from, std::uint32_t bytes, std::uint64_t* barrier) {
    traceStep("bulk copy", to, bytes, __builtin_return_address(0), from);
    constexpr std::uintptr_t width = 16;
    if ((reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from) | bytes) % width != 0) {
        here().fail("cp_async_bulk", "of addresses or bytes that are no multiples of 16");
    }
    const Copy copy{to, from, bytes, barrier};
    if (here().copyInBulk(copy)) {
        copy();
    }
}
bool hasTurned(const std::uint64_t* barrier, std::uint32_t parity) {
    here().poll();
    traceWritten();
    here().finishBulkCopies(barrier, [barrier](const Copy& copy) {
        orderAt(barrier).release();
        changeBarrier(copy.barrier, "cp_async_bulk",
                      [&](CopyBarrier& b) { b.missingBytes -= static_cast<std::int32_t>(copy.bytes); });
    });
    orderAt(barrier).acquire();
    return std::bit_cast<CopyBarrier>(*barrier).phase != parity;
}

std::byte* dynamicSharedMemory() { return machine().current == nullptr ? nullptr : here().dynamicShared(); }
std::size_t dynamicSharedBytes() { return machine().current == nullptr ? 0 : here().run.grid.sharedBytes; }
Launch currentLaunch() { return {here().run.number, here().run.grid.name}; }
bool Meeting::has(unsigned lane) const { return (mask_ >> lane & 1) != 0; }
std::uint64_t Meeting::valueOf(unsigned lane) const { return values_[lane]; }
std::uint32_t Meeting::nonzero() const { return nonzero_; }
const Meeting& arrive(std::uint32_t mask, std::uint64_t value, const char* operation, bool ordersMemory) {
    if (ordersMemory) {
        traceStep("barrier of the warp", nullptr, 0, __builtin_return_address(0));
    }
    return here().arrive(mask, value, operation, ordersMemory);
}

// g++ calls these before each access to memory, if it compiles with -fsanitize=kernel-address and without inline
// checks.

namespace {

void beforeLoad(const void* address, std::size_t bytes, const void* where) {
    if (!runsBlocks || !atWork || machine().current == nullptr) {
        return;
    }
    // The executor's own accesses are not to memory of the card. They come here through templates that it shares with
    // kernels.
    if (machine().adversary.isThere() && spaceOf(address) != Space::Other) {
        here().stepAtAccess();
    }
    traceStep("load", address, bytes, where);
}
void beforeStore(void* address, std::size_t bytes, const void* where) {
    if (!runsBlocks || !atWork || machine().current == nullptr) {
        return;
    }
    const bool isOpposed = machine().adversary.isThere();
    if (!isOpposed && !isTracing()) {
        return;
    }
    if (const Space space = spaceOf(address); isOpposed && space != Space::Other) {
        here().stepAtAccess();
        if (space == Space::Global) {
            here().addWrite(address, bytes);
        }
    }
    traceStep("store", address, bytes, where);
}

}  // namespace

}  // namespace Simulator

extern "C" {
#define SIMULATOR_HOOKS(bytes)                                               \
    void __asan_load##bytes##_noabort(void* address) {                       \
        Simulator::beforeLoad(address, bytes, __builtin_return_address(0));  \
    }                                                                        \
    void __asan_store##bytes##_noabort(void* address) {                      \
        Simulator::beforeStore(address, bytes, __builtin_return_address(0)); \
    }
SIMULATOR_HOOKS(1)
SIMULATOR_HOOKS(2)
SIMULATOR_HOOKS(4)
SIMULATOR_HOOKS(8)
SIMULATOR_HOOKS(16)
#undef SIMULATOR_HOOKS
void __asan_loadN_noabort(void* address, std::size_t bytes) {
    Simulator::beforeLoad(address, bytes, __builtin_return_address(0));
}
void __asan_storeN_noabort(void* address, std::size_t bytes) {
    Simulator::beforeStore(address, bytes, __builtin_return_address(0));
}
void __asan_handle_no_return() {}
void __asan_before_dynamic_init(const char*) {}
void __asan_after_dynamic_init() {}
}
