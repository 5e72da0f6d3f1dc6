#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <string_view>
#include <utility>

#include "device_fixture.cuh"
#include "stream_compaction/histogram.cuh"
#include "stream_compaction/multi_partition.cuh"
#include "stream_compaction/radix_sort.cuh"
#include "stream_compaction/row_sum.cuh"
#include "stream_compaction/runs.cuh"
#include "stream_compaction/segments.cuh"
#include "stream_compaction/single_pass.cuh"
#include "stream_compaction/top_k.cuh"
#include "stream_compaction/utf8.cuh"

/// Operations that take their number of elements from device memory. The same call with the number from the host is the
/// reference; other tests compare that with the standard library.
namespace StreamCompaction::Testing {
namespace {

using Word = std::uint32_t;

/// Many short runs of few different values.
struct ShortRuns {
    std::uint64_t seed;
    Word operator()(std::size_t i) const { return static_cast<Word>(randomBits(seed, i / 3) % 700); }
};

/// The arrays of a call. An operation uses some of the outputs.
struct Arrays {
    explicit Arrays(std::size_t capacity)
        : capacity(capacity),
          in(std::span<const Word>(hostArray(capacity, ShortRuns{capacity}))),
          out(capacity),
          otherOut(capacity),
          counts(countsSize) {
        poison();
    }

    void poison() {
        out.poison(capacity, nullptr);
        otherOut.poison(capacity, nullptr);
        counts.poison(countsSize, nullptr);
    }

    static constexpr std::size_t countsSize = 257;

    std::size_t capacity;
    DeviceBuffer<Word> in;
    GuardedArray<Word> out;
    GuardedArray<Word> otherOut;
    GuardedArray<std::size_t> counts;
};

/// A number of elements in device memory, and whether an operation has found that it exceeds the capacity.
class DeviceCount {
  public:
    explicit DeviceCount(std::size_t capacity) : capacity_(capacity) {}

    void set(std::size_t value) {
        value_.copyFrom({&value, 1});
        Common::checkCUDAError(cudaMemset(exceeded_.data(), 0xA5, 1), "cudaMemset");
    }
    [[nodiscard]] CountInDeviceMemory get() {
        return {std::as_const(value_).data(), capacity_, reinterpret_cast<bool*>(exceeded_.data())};
    }
    [[nodiscard]] int exceeded() const {
        std::uint8_t byte = 0;
        exceeded_.copyTo({&byte, 1});
        return byte;
    }

  private:
    std::size_t capacity_;
    DeviceBuffer<std::size_t> value_{1};
    DeviceBuffer<std::uint8_t> exceeded_{1};
};

class DeviceCountTest : public DeviceTest {
  protected:
    /// Arrays for one block, for resident blocks, and for look-back with several tiles per block.
    [[nodiscard]] static std::vector<std::size_t> capacities() {
        if (quick()) {
            return {0, 1, 700, 150000};
        }
        return {0, 1, 700, 5000, 300000, 50'000'000};
    }

    /// Expects the operation to treat a number in device memory like the same number from the host, and to write
    /// nothing else. `call(arrays, n, scratch, stream)` enqueues it, `scratchBytes(arrays, n)` is the scratch that it
    /// takes.
    template <typename ScratchBytes, typename Call>
    static void expectLikeHost(ScratchBytes scratchBytes, Call call) {
        expectLikeHost(capacities(), scratchBytes, call);
    }
    /// The same with the given capacities, in ascending order.
    template <typename ScratchBytes, typename Call>
    static void expectLikeHost(const std::vector<std::size_t>& capacities, ScratchBytes scratchBytes, Call call) {
        for (const std::size_t capacity : capacities) {
            Arrays expected(capacity);
            Arrays actual(capacity);
            DeviceCount count(capacity);
            auto scratch = usedScratch(scratchBytes(actual, count.get()));
            for (const std::size_t number : numbersUpTo(capacity)) {
                SCOPED_TRACE("capacity " + std::to_string(capacity) + ", number " + std::to_string(number));
                const std::size_t n = std::min(number, capacity);
                expected.poison();
                actual.poison();
                count.set(number);
                auto scratchOfHost = usedScratch(scratchBytes(expected, n), 0x55, std::size_t{1} << number % 8);
                call(expected, n, scratchOfHost.bytes(), nullptr);
                call(actual, count.get(), scratch.bytes(), nullptr);
                ASSERT_NO_FATAL_FAILURE(expectSame(actual, expected));
                ASSERT_EQ(count.exceeded(), number > capacity ? 1 : 0);
            }
        }
        expectReplays(std::min<std::size_t>(capacities.back(), 60000), scratchBytes, call);
    }

    /// The same for an operation, of which `arguments(arrays, n, with)` calls with(arguments).
    template <typename Op, typename Arguments>
    static void expectOperationLikeHost(const Op& op, const std::vector<std::size_t>& capacities, Arguments arguments) {
        expectLikeHost(capacities, scratchBytesOf(op, arguments), callOf(op, arguments));
    }
    template <typename Op, typename Arguments>
    static void expectOperationLikeHost(const Op& op, Arguments arguments) {
        expectOperationLikeHost(op, capacities(), arguments);
    }
    template <typename Op, typename Arguments>
    static void expectOperationReplays(const Op& op, std::size_t capacity, Arguments arguments) {
        expectReplays(capacity, scratchBytesOf(op, arguments), callOf(op, arguments));
    }

    /// Expects a graph to follow the number that it finds at each launch.
    template <typename ScratchBytes, typename Call>
    static void expectReplays(std::size_t capacity, ScratchBytes scratchBytes, Call call) {
        Arrays expected(capacity);
        Arrays actual(capacity);
        DeviceCount count(capacity);
        auto scratch = usedScratch(scratchBytes(actual, count.get()));
        const CudaStream stream;
        Graph graph(stream, [&](cudaStream_t s) { call(actual, count.get(), scratch.bytes(), s); });
        for (const std::size_t number : {capacity, std::size_t{1}, std::size_t{0}, capacity / 3 * 2, capacity + 1}) {
            SCOPED_TRACE("replay with capacity " + std::to_string(capacity) + ", number " + std::to_string(number));
            expected.poison();
            actual.poison();
            count.set(number);
            auto scratchOfHost = usedScratch(scratchBytes(expected, capacity));
            call(expected, std::min(number, capacity), scratchOfHost.bytes(), nullptr);
            Common::checkCUDAError(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
            graph.launch();
            ASSERT_NO_FATAL_FAILURE(expectSame(actual, expected));
            ASSERT_EQ(count.exceeded(), number > capacity ? 1 : 0);
        }
    }

  private:
    template <typename Op, typename Arguments>
    [[nodiscard]] static auto scratchBytesOf(const Op& op, Arguments arguments) {
        return [&op, arguments](Arrays& a, auto n) {
            return arguments(a, n, [&](auto... args) { return op.scratchBytes(args...); });
        };
    }
    template <typename Op, typename Arguments>
    [[nodiscard]] static auto callOf(const Op& op, Arguments arguments) {
        return [&op, arguments](Arrays& a, auto n, Scratch scratch, cudaStream_t stream) {
            arguments(a, n, [&](auto... args) { op(args..., scratch, stream); });
        };
    }

    /// A captured graph.
    class Graph {
      public:
        template <typename Enqueue>
        Graph(const CudaStream& stream, Enqueue enqueue) : stream_(stream) {
            Common::checkCUDAError(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "begin capture");
            enqueue(static_cast<cudaStream_t>(stream_));
            Common::checkCUDAError(cudaStreamEndCapture(stream_, &graph_), "end capture");
            Common::checkCUDAError(cudaGraphInstantiate(&executable_, graph_, 0), "cudaGraphInstantiate");
        }
        ~Graph() {
            cudaGraphExecDestroy(executable_);
            cudaGraphDestroy(graph_);
        }
        Graph(const Graph&) = delete;
        Graph& operator=(const Graph&) = delete;

        void launch() const {
            Common::checkCUDAError(cudaGraphLaunch(executable_, stream_), "cudaGraphLaunch");
            stream_.synchronize();
        }

      private:
        const CudaStream& stream_;
        cudaGraph_t graph_ = nullptr;
        cudaGraphExec_t executable_ = nullptr;
    };

    static void expectSame(const Arrays& actual, const Arrays& expected) {
        const std::size_t n = actual.capacity;
        ASSERT_TRUE(sameBits(actual.counts.read(Arrays::countsSize), expected.counts.read(Arrays::countsSize)));
        ASSERT_TRUE(sameBits(actual.out.read(n), expected.out.read(n)));
        ASSERT_TRUE(sameBits(actual.otherOut.read(n), expected.otherOut.read(n)));
    }

    [[nodiscard]] static std::vector<std::size_t> numbersUpTo(std::size_t capacity) {
        if (capacity == 0) {
            return {0, 3};
        }
        return {0, 1, capacity / 100, capacity / 2 + 1, capacity - 1, capacity, capacity + 3};
    }
};

TEST_F(DeviceCountTest, Scan) {
    for (const SinglePass::Scan scan : {SinglePass::Scan{}, SinglePass::Scan{.kind = SinglePass::ScanKind::Inclusive,
                                                            .reproducible = true,
                                                            .order = TileOrder::Ticket}}) {
        expectOperationLikeHost(
            scan, [&](Arrays& a, auto n, auto with) { return with(std::as_const(a.in).data(), a.out.data(), n); });
    }
}

struct Square {
    __host__ __device__ Word operator()(std::size_t i) const { return static_cast<Word>(i * i); }
};

TEST_F(DeviceCountTest, ScanOfAFunction) {
    const auto indices = generated(Square{});
    expectLikeHost([&](Arrays& a, auto n) { return SinglePass::Scan{}.scratchBytes(indices, a.out.data(), n); },
                   [&](Arrays& a, auto n, Scratch scratch, cudaStream_t stream) {
                       SinglePass::Scan{}(indices, a.out.data(), n, Max{}, scratch, stream);
                   });
}

TEST_F(DeviceCountTest, Compact) {
    for (const TileOrder order : {TileOrder::BlockIndex, TileOrder::Ticket}) {
        const SinglePass::Compact compact{order};
        expectOperationLikeHost(compact, [&](Arrays& a, auto n, auto with) {
            return with(std::as_const(a.in).data(), a.out.data(), a.counts.data(), n);
        });
    }
}

TEST_F(DeviceCountTest, CompactOfBytes) {
    // The last is large enough for look-back, and some blocks of a small card take several tiles.
    const std::vector<std::size_t> capacitiesOfBytes{0, 700, 150000, 4'300'000};
    const auto bytesOf = [](auto* words) { return reinterpret_cast<std::uint8_t*>(words); };
    for (const TileOrder order : {TileOrder::BlockIndex, TileOrder::Ticket}) {
        const SinglePass::Compact compact{order};
        expectOperationLikeHost(compact, capacitiesOfBytes, [&](Arrays& a, auto n, auto with) {
            const std::uint8_t* const in = bytesOf(a.in.data());
            return with(in, bytesOf(a.out.data()), a.counts.data(), n);
        });
    }
}

TEST_F(DeviceCountTest, Partition) {
    const SinglePass::Partition partition;
    expectOperationLikeHost(partition, [&](Arrays& a, auto n, auto with) {
        return with(std::as_const(a.in).data(), a.out.data(), a.counts.data(), n);
    });
    expectOperationLikeHost(partition, [&](Arrays& a, auto n, auto with) {
        return with(std::as_const(a.in).data(), a.out.data(), a.otherOut.data(), a.counts.data(), n);
    });
}

TEST_F(DeviceCountTest, CompactFlagged) {
    for (const TileOrder order : {TileOrder::BlockIndex, TileOrder::Ticket}) {
        const SinglePass::CompactFlagged compact{order};
        expectOperationLikeHost(compact, [&](Arrays& a, auto n, auto with) {
            const Word* const in = std::as_const(a.in).data();
            return with(in, in, a.out.data(), a.counts.data(), n);
        });
    }
}

TEST_F(DeviceCountTest, SegmentedScan) {
    const SegmentedScan scan{.kind = SinglePass::ScanKind::Inclusive};
    const std::vector<std::uint32_t> offsets{0, 1, 1, 40, 5000, 5001, 120000};
    const DeviceBuffer<std::uint32_t> begins{std::span(offsets)};
    const auto segments = segmentsAt(begins.data(), offsets.size());
    expectOperationLikeHost(scan, [&](Arrays& a, auto n, auto with) {
        const Word* const in = std::as_const(a.in).data();
        return with(in, in, a.out.data(), n);
    });
    expectOperationLikeHost(scan, [&](Arrays& a, auto n, auto with) {
        return with(std::as_const(a.in).data(), segments, a.out.data(), n);
    });
    const auto bytes = hostArray(capacities().back(), [](std::size_t i) {
        return static_cast<std::uint8_t>(randomBits(77, i) % 50 == 0 ? 1 + i % 255 : 0);
    });
    const DeviceBuffer<std::uint8_t> flags{std::span<const std::uint8_t>(bytes)};
    expectOperationLikeHost(scan, [&](Arrays& a, auto n, auto with) {
        return with(std::as_const(a.in).data(), flags.data(), a.out.data(), n);
    });
}

TEST_F(DeviceCountTest, SegmentedSort) {
    const SegmentedSort sort;
    // So many empty segments come first that each warp takes segments several times.
    std::vector<std::uint32_t> offsets(60000, 0);
    std::ranges::copy(std::array<std::uint32_t, 7>{1, 1, 40, 5000, 5001, 60000, 60200}, std::back_inserter(offsets));
    for (std::uint32_t begin = 60210; begin < 150000; begin += 10 + begin % 60) {
        offsets.push_back(begin);
    }
    const DeviceBuffer<std::uint32_t> begins{std::span<const std::uint32_t>(offsets)};
    const auto segments = segmentsAt(begins.data(), offsets.size());
    expectOperationLikeHost(sort, [&](Arrays& a, auto n, auto with) {
        const Word* const in = std::as_const(a.in).data();
        return with(in, segments, a.out.data(), in, a.otherOut.data(), n);
    });
}

TEST_F(DeviceCountTest, SortKeys) {
    for (const Radix::Sort sort : {Radix::Sort{}, Radix::Sort{.beginBit = 3, .endBit = 9, .order = TileOrder::Ticket},
                                   Radix::Sort{.beginBit = 9, .endBit = 9}}) {
        expectOperationLikeHost(
            sort, [&](Arrays& a, auto n, auto with) { return with(std::as_const(a.in).data(), a.out.data(), n); });
    }
}

TEST_F(DeviceCountTest, SortConsumedKeys) {
    for (const int endBit : {0, 8, 16}) {
        const Radix::Sort sort{.descending = true, .endBit = endBit};
        const auto consumed = [](Arrays& a) { return Radix::Consumed{a.otherOut.data()}; };
        expectLikeHost([&](Arrays& a, auto n) { return sort.scratchBytes(consumed(a), a.out.data(), n); },
                       [&](Arrays& a, auto n, Scratch scratch, cudaStream_t stream) {
                           Common::checkCUDAError(cudaMemcpyAsync(a.otherOut.data(), a.in.data(), a.in.byteCount(),
                                                                  cudaMemcpyDeviceToDevice, stream),
                                                  "cudaMemcpyAsync");
                           sort(consumed(a), a.out.data(), n, scratch, stream);
                           // What is left of the input is undefined.
                           a.otherOut.poison(a.capacity, stream);
                       });
    }
}

TEST_F(DeviceCountTest, SortPairs) {
    for (const int endBit : {0, allBits}) {
        const Radix::Sort sort{.endBit = endBit};
        expectOperationLikeHost(sort, [&](Arrays& a, auto n, auto with) {
            const Word* const in = std::as_const(a.in).data();
            return with(in, a.out.data(), in, a.otherOut.data(), n);
        });
    }
}

TEST_F(DeviceCountTest, ArgSort) {
    for (const int endBit : {0, allBits}) {
        const Radix::ArgSort sort{.endBit = endBit};
        expectOperationLikeHost(sort, [&](Arrays& a, auto n, auto with) {
            return with(std::as_const(a.in).data(), a.out.data(), a.otherOut.data(), n);
        });
    }
}

/// On a card most of the numbers are so large that the sort ends in spans.
TEST_F(DeviceCountTest, SortOfManyDifferentKeys) {
    const std::size_t capacity = sized(20'000'000, 20'000);
    const DeviceBuffer<Word> in{std::span<const Word>(hostArray(capacity, AnyBits<Word>{31}))};
    const Radix::Sort sort{.descending = true};
    expectOperationReplays(sort, capacity,
                           [&](Arrays& a, auto n, auto with) { return with(in.data(), a.out.data(), n); });
    const Radix::ArgSort argSort;
    expectOperationReplays(argSort, capacity, [&](Arrays& a, auto n, auto with) {
        return with(in.data(), a.out.data(), a.otherOut.data(), n);
    });
}

/// A host that knows of fewer than k elements asks for all of them.
template <typename N>
[[nodiscard]] std::size_t orAll(std::size_t k, const N& n) {
    return std::min(k, capacityOf(n));
}

TEST_F(DeviceCountTest, TopK) {
    for (const std::size_t k : {0, 1, 300, 40000}) {
        const Radix::TopK top{.largest = k == 300};
        expectOperationLikeHost(top, [&](Arrays& a, auto n, auto with) {
            return with(std::as_const(a.in).data(), a.out.data(), n, orAll(k, n));
        });
    }
}

TEST_F(DeviceCountTest, TopKOfPairs) {
    const Radix::TopK top;
    const auto expectFirst = [&](auto valuesOf) {
        for (const std::size_t k : {0, 300, 40000}) {
            expectLikeHost(
                [&](Arrays& a, auto n) {
                    return top.scratchBytes(a.in.data(), a.out.data(), valuesOf(a), a.otherOut.data(), n, orAll(k, n));
                },
                [&](Arrays& a, auto n, Scratch scratch, cudaStream_t stream) {
                    top(std::as_const(a.in).data(), a.out.data(), valuesOf(a), a.otherOut.data(), n, orAll(k, n),
                        scratch, stream);
                });
        }
    };
    expectFirst([](Arrays& a) { return std::as_const(a.in).data(); });
    expectFirst([](Arrays&) { return generated(Square{}); });
}

// With a count in device memory there is a filter for more elements than a sample has, so the arrays can be small.
TEST_F(DeviceCountTest, TopKBehindAFilter) {
    using Values = GeneratedSource<Square>;
    constexpr std::size_t k = 60;
    const Radix::RankOfBound rank{.k = k, .mostUnfiltered = Radix::sampleSize};
    const Radix::TopK top;
    expectLikeHost(
        [&](Arrays& a, auto n) {
            if constexpr (isOnDevice<decltype(n)>) {
                return Radix::TopK::scratchFor<Word, Values>(n, rank);
            } else {
                return top.scratchBytes(a.in.data(), a.out.data(), Values{}, a.otherOut.data(), n, orAll(k, n));
            }
        },
        [&](Arrays& a, auto n, Scratch scratch, cudaStream_t stream) {
            const Word* const in = std::as_const(a.in).data();
            if constexpr (isOnDevice<decltype(n)>) {
                top.select<Word, Values>({in, {}}, {a.out.data(), a.otherOut.data()}, n, orAll(k, n), rank,
                                         KeyCoding<Word>::of<Word>(), ScratchArena(scratch, scratch.size()), stream);
            } else {
                top(in, a.out.data(), Values{}, a.otherOut.data(), n, orAll(k, n), scratch, stream);
            }
        });
}

struct Remainder {
    __host__ __device__ Word operator()(Word x) const { return x % 37; }
};

TEST_F(DeviceCountTest, MultiPartition) {
    const Radix::MultiPartition partition;
    expectOperationLikeHost(partition, [&](Arrays& a, auto n, auto with) {
        return with(std::as_const(a.in).data(), a.out.data(), a.counts.data(), n, 37, Remainder{});
    });
}

TEST_F(DeviceCountTest, Histogram) {
    expectLikeHost([](Arrays&, auto) { return std::size_t{0}; },
                   [](Arrays& a, auto n, Scratch scratch, cudaStream_t stream) {
                       Histogram{}(std::as_const(a.in).data(), a.counts.data(), n, 257, Remainder{}, scratch, stream);
                   });
}

TEST_F(DeviceCountTest, Runs) {
    expectOperationLikeHost(Runs::Unique{}, [&](Arrays& a, auto n, auto with) {
        return with(std::as_const(a.in).data(), a.out.data(), a.counts.data(), n);
    });
    expectLikeHost(
        [](Arrays& a, auto n) {
            return Runs::Encode{}.scratchBytes(a.in.data(), a.out.data(), a.otherOut.data(), a.counts.data(), n);
        },
        [](Arrays& a, auto n, Scratch scratch, cudaStream_t stream) {
            Runs::Encode{}(std::as_const(a.in).data(), a.out.data(), a.otherOut.data(), a.counts.data(), n, scratch,
                           stream);
        });
    expectOperationLikeHost(Runs::ReduceByKey{}, [&](Arrays& a, auto n, auto with) {
        const Word* const in = std::as_const(a.in).data();
        return with(in, in, a.out.data(), a.otherOut.data(), a.counts.data(), n);
    });
}

/// Rows of all mappings: several per thread, teams of all sizes, and rows in parts.
TEST_F(DeviceCountTest, RowSums) {
    const RowSum::Adaptive sum;
    const std::size_t elements = quick() ? 150'000 : 40'000'000;
    const std::size_t mostRows = quick() ? 700 : 2'000'000;
    for (const std::size_t cols : {0, 1, 7, 30, 130, 1100, 3000, 70000}) {
        const DeviceBuffer<Word> matrix{std::span<const Word>(hostArray(elements, ShortRuns{cols}))};
        const Word* const in = matrix.data();
        for (const std::size_t pitch : {cols, cols + 3}) {
            const std::size_t capacity = std::min(mostRows, elements / std::max<std::size_t>(1, pitch));
            expectOperationLikeHost(sum, {capacity}, [&](Arrays& a, auto rows, auto with) {
                return with(in, a.out.data(), rows, cols, pitch);
            });
        }
    }
}

/// Text in UTF-8 of one to four bytes per code point, with errors. An operation gets a prefix, which may end in a unit.
TEST_F(DeviceCountTest, Utf8) {
    const std::size_t most = quick() ? 540'000 : 20'000'000;  // more tiles than resident blocks
    std::vector<std::uint8_t> text;
    for (std::size_t i = 0; text.size() < 2 * most + 100; ++i) {
        static constexpr std::string_view units[] = {"a",    "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x99\x82",
                                                     "\xFF", "bcd"};
        const std::string_view unit =
            units[randomBits(i / 40 % 50, i / 500) % 3 == 0 ? i / 400 % 4 : randomBits(7, i) % 6];
        text.insert(text.end(), unit.begin(), unit.end());
    }
    const DeviceBuffer<std::uint8_t> bytes{std::span<const std::uint8_t>(text)};
    const std::vector<std::size_t> capacities{0, 1, 700, most};
    for (const Utf8::Errors errors : {Utf8::Errors::Replace, Utf8::Errors::Skip, Utf8::Errors::Strict}) {
        // At an address that is not aligned, and at one that is, where an empty text has no tile.
        for (const std::size_t begin : {0, 5}) {
            const std::uint8_t* const in = bytes.data() + begin;
            const auto result = [](Arrays& a) { return reinterpret_cast<Utf8::Result*>(a.counts.data()); };
            const Utf8::Decode decode{.errors = errors,
                                      .order = begin == 0 ? TileOrder::BlockIndex : TileOrder::Ticket};
            // In strict mode elements behind the first error are unspecified.
            const auto forget = [errors](Arrays& a, cudaStream_t stream) {
                if (errors == Utf8::Errors::Strict) {
                    a.out.poison(a.capacity, stream);
                }
            };
            expectLikeHost(
                capacities,
                [&](Arrays& a, auto n) {
                    return decode.scratchBytes(in, reinterpret_cast<char32_t*>(a.out.data()), result(a), n);
                },
                [&](Arrays& a, auto n, Scratch scratch, cudaStream_t stream) {
                    decode(in, reinterpret_cast<char32_t*>(a.out.data()), result(a), n, scratch, stream);
                    forget(a, stream);
                });
            const Utf8::Encode encode{.errors = errors, .order = decode.order};
            const auto* const units = reinterpret_cast<const char16_t*>(bytes.data()) + begin;
            expectLikeHost(
                capacities,
                [&](Arrays& a, auto n) {
                    return encode.scratchBytes(units, reinterpret_cast<const std::uint8_t*>(a.out.data()), result(a),
                                               n);
                },
                [&](Arrays& a, auto n, Scratch scratch, cudaStream_t stream) {
                    encode(units, reinterpret_cast<std::uint8_t*>(a.out.data()), result(a), n, scratch, stream);
                    forget(a, stream);
                });
        }
        const Utf8::Validate validate{.errors = errors};
        expectOperationLikeHost(validate, capacities, [&](Arrays& a, auto n, auto with) {
            return with(bytes.data(), reinterpret_cast<Utf8::Result*>(a.counts.data()), n);
        });
    }
}

/// So many tiles that blocks take tickets. The second call, with the same scratch, finds half as many.
TEST_F(DeviceCountTest, ValidateALongText) {
    const std::size_t most = sized(110'000'000, 3'600'000);
    std::vector<std::uint8_t> text(most, 'a');
    for (std::size_t i = 0; i < most; i += 1000) {
        std::ranges::copy(std::string_view("\xE2\x82\xAC"), text.begin() + static_cast<std::ptrdiff_t>(i));
    }
    text[most - 500] = 0xFF;
    const DeviceBuffer<std::uint8_t> bytes{std::span<const std::uint8_t>(text)};
    DeviceBuffer<Utf8::Result> results(2);
    const Utf8::Validate validate;
    DeviceCount count(most);
    auto scratch = usedScratch(validate.scratchBytes(bytes.data(), results.data(), count.get()));
    auto scratchOfHost = usedScratch(validate.scratchBytes(bytes.data(), results.data(), most));
    for (const std::size_t n : {most, most / 2}) {
        count.set(n);
        validate(bytes.data(), results.data(), count.get(), scratch.bytes(), nullptr);
        validate(bytes.data(), results.data() + 1, n, scratchOfHost.bytes(), nullptr);
        std::vector<Utf8::Result> actual(2);
        results.copyTo(actual);
        EXPECT_EQ(actual[0].count, n - n / 1000 * 2);
        EXPECT_EQ(actual[0].count, actual[1].count);
        EXPECT_EQ(actual[0].firstError, actual[1].firstError);
        EXPECT_EQ(actual[0].isWellFormed(), n < most);
    }
}

struct IsMultipleOf3 {
    __host__ __device__ bool operator()(Word x) const { return x % 3 == 0; }
};

/// What one operation counts is the number of elements of the next.
TEST_F(DeviceCountTest, AChainNeedsNoHost) {
    constexpr std::size_t capacity = 20000;
    Arrays a(capacity);
    const IsMultipleOf3 isMultiple;
    const SinglePass::Compact compact;
    const Radix::Sort sort;
    auto compactScratch = usedScratch(compact.scratchBytes(a.in.data(), a.out.data(), a.counts.data(), capacity));
    std::size_t* const count = a.counts.data();
    DeviceBuffer<bool> exceeded(1);
    const CountInDeviceMemory kept{count, capacity, exceeded.data()};
    auto sortScratch = usedScratch(sort.scratchBytes(a.out.data(), a.otherOut.data(), kept));
    compact(std::as_const(a.in).data(), a.out.data(), count, capacity, isMultiple, compactScratch.bytes(), nullptr);
    const Word* const keptElements = a.out.data();
    sort(keptElements, a.otherOut.data(), kept, sortScratch.bytes(), nullptr);

    std::vector<Word> expected = hostArray(capacity, ShortRuns{capacity});
    std::erase_if(expected, std::not_fn(isMultiple));
    std::ranges::sort(expected);
    ASSERT_EQ(a.counts.read(Arrays::countsSize)[0], expected.size());
    bool isTooLarge = true;
    exceeded.copyTo({&isTooLarge, 1});
    EXPECT_FALSE(isTooLarge);
    std::vector<Word> sorted = a.otherOut.read(capacity);
    sorted.resize(expected.size());
    EXPECT_TRUE(sameBits(sorted, expected));
}

TEST_F(DeviceCountTest, RefusesBadArguments) {
    Arrays a(200);
    const SinglePass::Compact compact;
    const Word* const in = std::as_const(a.in).data();
    auto scratch = usedScratch(compact.scratchBytes(in, a.out.data(), a.counts.data(), std::size_t{100}));
    const CountInDeviceMemory none{nullptr, 100};
    EXPECT_THROW(compact(in, a.out.data(), a.counts.data(), none, scratch.bytes(), nullptr), std::invalid_argument);
    const CountInDeviceMemory tooMany{a.counts.data() + 1, 200};
    EXPECT_THROW(compact(in, a.out.data(), a.counts.data(), tooMany, Scratch{}, nullptr), std::invalid_argument);
}

/// A call with one output under test, of which only the device knows the length.
struct CountedCall {
    const Word* in;
    void* out;
    void* other;  ///< the other output, if there is one
    std::size_t* count;
    std::size_t maxOut;
    Scratch scratch;
};

/// The elements at index 0, 16, 32, ... are `rare`, the others `common`.
[[nodiscard]] std::vector<Word> oneInSixteen(Word rare, Word common) {
    return hostArray(1000, [=](std::size_t i) { return i % 16 == 0 ? rare : common; });
}

/// Calls operations with outputs near their inputs.
class OutputsTest : public DeviceTest {
  protected:
    static constexpr std::size_t few = 200;  // elements, which is more than any call here writes

    /// Expects an operation on `input` to check its output for `most` elements of `bytes` bytes, or for `few` if it is
    /// told so. `call(arguments, n)` enqueues the operation. It writes at most `few` elements.
    template <typename Call>
    static void expectChecked(const std::vector<Word>& input, std::size_t most, std::size_t bytes, Call call) {
        const std::size_t n = input.size();
        GuardedArray<Word> memory(2 * n);
        Word* const in = memory.data() + n;
        Common::checkCUDAError(cudaMemcpy(in, input.data(), n * sizeof(Word), cudaMemcpyHostToDevice), "cudaMemcpy");
        GuardedArray<Word> apart(n);
        GuardedArray<Word> other(n);
        GuardedArray<std::size_t> count(2);
        auto scratch = usedScratch(std::size_t{1} << 20);
        DeviceCount number(n);
        const auto before = [&](std::size_t elements) { return reinterpret_cast<std::byte*>(in) - elements * bytes; };
        const auto bytesAt = [&](const void* elements) {
            std::vector<std::uint8_t> copy(few * bytes);
            Common::checkCUDAError(cudaMemcpy(copy.data(), elements, copy.size(), cudaMemcpyDeviceToHost),
                                   "cudaMemcpy");
            return copy;
        };
        const auto inputIsIntact = [&] {
            std::vector<Word> all = memory.read(2 * n);
            all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n));
            return sameBits(all, input);
        };
        const auto run = [&](void* out, std::size_t maxOut, auto size) {
            call(CountedCall{in, out, other.data(), count.data(), maxOut, scratch.bytes()}, size);
            return count.read(2);
        };
        const auto expectCheckedWith = [&](auto size) {
            EXPECT_THROW((void)run(before(most - 1), noLimit, size), std::invalid_argument);
            EXPECT_THROW((void)run(before(few - 1), few, size), std::invalid_argument);
            EXPECT_THROW((void)run(nullptr, noLimit, size), std::invalid_argument);
            EXPECT_THROW((void)run(nullptr, few, size), std::invalid_argument);
            const auto countApart = run(apart.data(), noLimit, size);
            const auto countBefore = run(before(few), few, size);
            EXPECT_EQ(countApart, countBefore);
            EXPECT_GT(countBefore[0], 0U);
            EXPECT_EQ(bytesAt(before(few)), bytesAt(apart.data()));
            EXPECT_TRUE(inputIsIntact());
        };
        expectCheckedWith(n);
        number.set(n);
        expectCheckedWith(number.get());
        number.set(0);
        EXPECT_EQ(run(nullptr, 0, number.get())[0], 0U);
    }
};

TEST_F(OutputsTest, OfCompactionsMayNotReachIntoTheInput) {
    const std::vector<Word> fewKept = oneInSixteen(5, 0);
    const std::size_t n = fewKept.size();
    expectChecked(fewKept, n, sizeof(Word), [](const CountedCall& c, auto size) {
        SinglePass::Compact{.maxOut = c.maxOut}(c.in, static_cast<Word*>(c.out), c.count, size, c.scratch, nullptr);
    });
    expectChecked(fewKept, n, sizeof(Word), [](const CountedCall& c, auto size) {
        SinglePass::CompactFlagged{.maxOut = c.maxOut}(c.in, c.in, static_cast<Word*>(c.out), c.count, size, c.scratch,
                                                       nullptr);
    });
    expectChecked(fewKept, n, sizeof(Word), [](const CountedCall& c, auto size) {
        SinglePass::Partition{.maxOut = c.maxOut}(c.in, static_cast<Word*>(c.out), static_cast<Word*>(c.other), c.count,
                                                  size, c.scratch, nullptr);
    });
    expectChecked(oneInSixteen(0, 5), n, sizeof(Word), [](const CountedCall& c, auto size) {
        SinglePass::Partition{.maxRejected = c.maxOut}(c.in, static_cast<Word*>(c.other), static_cast<Word*>(c.out),
                                                       c.count, size, c.scratch, nullptr);
    });
}

TEST_F(OutputsTest, OfRunsMayNotReachIntoTheInput) {
    const std::vector<Word> fewRuns = oneInSixteen(5, 0);
    const std::size_t n = fewRuns.size();
    expectChecked(fewRuns, n, sizeof(Word), [](const CountedCall& c, auto size) {
        Runs::Unique{.maxOut = c.maxOut}(c.in, static_cast<Word*>(c.out), c.count, size, c.scratch, nullptr);
    });
    const auto expectBothChecked = [&](auto call) {
        expectChecked(fewRuns, n, sizeof(Word),
                      [&](const CountedCall& c, auto size) { call(c, c.out, c.other, size); });
        expectChecked(fewRuns, n, sizeof(Word),
                      [&](const CountedCall& c, auto size) { call(c, c.other, c.out, size); });
    };
    expectBothChecked([](const CountedCall& c, void* unique, void* lengths, auto size) {
        Runs::Encode{.maxOut = c.maxOut}(c.in, static_cast<Word*>(unique), static_cast<Word*>(lengths), c.count, size,
                                         c.scratch, nullptr);
    });
    expectBothChecked([](const CountedCall& c, void* keys, void* sums, auto size) {
        Runs::ReduceByKey{.maxOut = c.maxOut}(c.in, c.in, static_cast<Word*>(keys), static_cast<Word*>(sums), c.count,
                                              size, c.scratch, nullptr);
    });
}

TEST_F(OutputsTest, OfTextMayNotReachIntoTheInput) {
    const auto resultOf = [](const CountedCall& c) { return reinterpret_cast<Utf8::Result*>(c.count); };
    constexpr Utf8::Errors errors = Utf8::Errors::Skip;
    // Mostly bytes that begin no code point.
    const std::vector<Word> bytes = oneInSixteen(0xFFFFFF41, 0xFFFFFFFF);
    expectChecked(bytes, bytes.size(), sizeof(char32_t), [=](const CountedCall& c, auto size) {
        Utf8::Decode{.errors = errors, .maxOut = c.maxOut}(reinterpret_cast<const std::uint8_t*>(c.in),
                                                           static_cast<char32_t*>(c.out), resultOf(c), size, c.scratch,
                                                           nullptr);
    });
    // Mostly surrogates of no pair.
    const std::vector<Word> units = oneInSixteen(0xDC000041, 0xDC00DC00);
    expectChecked(units, 3 * units.size(), sizeof(std::uint8_t), [=](const CountedCall& c, auto size) {
        Utf8::Encode{.errors = errors, .maxOut = c.maxOut}(reinterpret_cast<const char16_t*>(c.in),
                                                           static_cast<std::uint8_t*>(c.out), resultOf(c), size,
                                                           c.scratch, nullptr);
    });
}

TEST_F(OutputsTest, MayNotReachIntoEachOther) {
    const std::vector<Word> input = oneInSixteen(5, 0);
    const std::size_t n = input.size();
    const DeviceBuffer<Word> buffer{std::span<const Word>(input)};
    const Word* const in = buffer.data();
    DeviceBuffer<Word> memory(2 * n);
    DeviceBuffer<std::size_t> count(1);
    auto scratch = usedScratch(std::size_t{1} << 20);
    const auto expectApart = [&](auto call) {
        Word* const first = memory.data();
        EXPECT_THROW(call(first, first + n - 1, noLimit), std::invalid_argument);
        EXPECT_THROW(call(first + n - 1, first, noLimit), std::invalid_argument);
        EXPECT_THROW(call(first, first + few - 1, few), std::invalid_argument);
        EXPECT_NO_THROW(call(first, first + few, few));
    };
    expectApart([&](Word* kept, Word* rejected, std::size_t maxOut) {
        SinglePass::Partition{.maxOut = maxOut}(in, kept, rejected, count.data(), n, scratch.bytes(), nullptr);
    });
    expectApart([&](Word* unique, Word* lengths, std::size_t maxOut) {
        Runs::Encode{.maxOut = maxOut}(in, unique, lengths, count.data(), n, scratch.bytes(), nullptr);
    });
    expectApart([&](Word* keys, Word* sums, std::size_t maxOut) {
        Runs::ReduceByKey{.maxOut = maxOut}(in, in, keys, sums, count.data(), n, scratch.bytes(), nullptr);
    });
}

static_assert(ElementCount<int> && ElementCount<std::size_t> && ElementCount<CountInDeviceMemory>);
static_assert(!ElementCount<bool> && !ElementCount<double>);

TEST_F(DeviceCountTest, NegativeNumbersAreRefused) {
    Arrays a(1);
    try {
        SinglePass::Scan{}(std::as_const(a.in).data(), a.out.data(), -1, Scratch{}, nullptr);
        FAIL() << "accepted";
    } catch (const std::invalid_argument& error) {
        EXPECT_STREQ(error.what(), "n: expected a number of elements >= 0, got -1");
    }
}

/// An operation, and the arrays that it writes.
struct Written {
    template <typename Call>
    Written(const char* name, Call call, std::vector<void*> outputs)
        : name(name), call(call), callByNumber(call), outputs(std::move(outputs)) {}

    const char* name;
    std::function<void(Arrays&, CountInDeviceMemory)> call;
    std::function<void(Arrays&, std::size_t)> callByNumber;
    std::vector<void*> outputs;
};

/// Calls `work(operation)` for every operation that takes a count in device memory.
template <typename Work>
void forEveryOperation(Arrays& a, DeviceBuffer<std::byte>& memory, const Work& work) {
    const Word* const in = std::as_const(a.in).data();
    const auto scratch = [&] { return memory.bytes(); };
    void* const out = a.out.data();
    void* const otherOut = a.otherOut.data();
    void* const counts = a.counts.data();
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(in);
    auto* const result = reinterpret_cast<Utf8::Result*>(a.counts.data());
    const std::vector<Written> operations{
        {"Scan", [&](Arrays& to, auto n) { SinglePass::Scan{}(in, to.out.data(), n, scratch(), nullptr); }, {out}},
        {"Compact",
         [&](Arrays& to, auto n) { SinglePass::Compact{}(in, to.out.data(), to.counts.data(), n, scratch(), nullptr); },
         {out, counts}},
        {"Partition",
         [&](Arrays& to, auto n) {
             SinglePass::Partition{}(in, to.out.data(), to.counts.data(), n, scratch(), nullptr);
         },
         {out, counts}},
        {"Partition into two arrays",
         [&](Arrays& to, auto n) {
             SinglePass::Partition{}(in, to.out.data(), to.otherOut.data(), to.counts.data(), n, scratch(), nullptr);
         },
         {out, otherOut, counts}},
        {"CompactFlagged",
         [&](Arrays& to, auto n) {
             SinglePass::CompactFlagged{}(in, in, to.out.data(), to.counts.data(), n, scratch(), nullptr);
         },
         {out, counts}},
        {"Unique",
         [&](Arrays& to, auto n) { Runs::Unique{}(in, to.out.data(), to.counts.data(), n, scratch(), nullptr); },
         {out, counts}},
        {"Encode",
         [&](Arrays& to, auto n) {
             Runs::Encode{}(in, to.out.data(), to.otherOut.data(), to.counts.data(), n, scratch(), nullptr);
         },
         {out, otherOut, counts}},
        {"ReduceByKey",
         [&](Arrays& to, auto n) {
             Runs::ReduceByKey{}(in, in, to.out.data(), to.otherOut.data(), to.counts.data(), n, scratch(), nullptr);
         },
         {out, otherOut, counts}},
        {"SegmentedScan",
         [&](Arrays& to, auto n) { SegmentedScan{}(in, in, to.out.data(), n, scratch(), nullptr); },
         {out}},
        {"SegmentedSort",
         [&](Arrays& to, auto n) {
             SegmentedSort{}(in, segmentsAt(in, 1), to.out.data(), in, to.otherOut.data(), n, scratch(), nullptr);
         },
         {out, otherOut}},
        {"Sort", [&](Arrays& to, auto n) { Radix::Sort{}(in, to.out.data(), n, scratch(), nullptr); }, {out}},
        {"Sort of pairs",
         [&](Arrays& to, auto n) { Radix::Sort{}(in, to.out.data(), in, to.otherOut.data(), n, scratch(), nullptr); },
         {out, otherOut}},
        {"ArgSort",
         [&](Arrays& to, auto n) { Radix::ArgSort{}(in, to.out.data(), to.otherOut.data(), n, scratch(), nullptr); },
         {out, otherOut}},
        {"TopK",
         [&](Arrays& to, auto n) {
             Radix::TopK{}(in, to.out.data(), in, to.otherOut.data(), n, capacityOf(n), scratch(), nullptr);
         },
         {out, otherOut}},
        {"MultiPartition",
         [&](Arrays& to, auto n) {
             Radix::MultiPartition{}(in, to.out.data(), to.counts.data(), n, 37, Remainder{}, scratch(), nullptr);
         },
         {out, counts}},
        {"Histogram",
         [&](Arrays& to, auto n) { Histogram{}(in, to.counts.data(), n, 257, Remainder{}, scratch(), nullptr); },
         {counts}},
        {"RowSum",
         [&](Arrays& to, auto n) { RowSum::Adaptive{}(in, to.out.data(), n, 1, 1, scratch(), nullptr); },
         {out}},
        {"Decode",
         [&](Arrays& to, auto n) {
             Utf8::Decode{}(bytes, reinterpret_cast<char32_t*>(to.out.data()), result, n, scratch(), nullptr);
         },
         {out, counts}},
        {"Encode of UTF-16",
         [&](Arrays& to, auto n) {
             Utf8::Encode{}(reinterpret_cast<const char16_t*>(in), reinterpret_cast<std::uint8_t*>(to.out.data()),
                            result, n, scratch(), nullptr);
         },
         {out, counts}},
        {"Validate", [&](Arrays&, auto n) { Utf8::Validate{}(bytes, result, n, scratch(), nullptr); }, {counts}},
    };
    for (const Written& operation : operations) {
        SCOPED_TRACE(operation.name);
        work(operation);
    }
}

// Every operation that takes a count in device memory refuses one that it would overwrite. It also refuses to write
// `exceeded` where it reads.
TEST_F(DeviceCountTest, ArraysAreNeitherTheCountNorExceeded) {
    constexpr std::size_t capacity = 100;
    Arrays a(capacity);
    DeviceBuffer<std::byte> memory(1 << 20);
    const auto scratch = [&] { return memory.bytes(); };
    const Word* const in = std::as_const(a.in).data();
    DeviceBuffer<std::size_t> other(1);
    forEveryOperation(a, memory, [&](const Written& operation) {
        for (void* const output : operation.outputs) {
            const CountInDeviceMemory asCount{static_cast<const std::size_t*>(output), capacity};
            EXPECT_THROW(operation.call(a, asCount), std::invalid_argument);
            const CountInDeviceMemory asExceeded{other.data(), capacity, static_cast<bool*>(output)};
            EXPECT_THROW(operation.call(a, asExceeded), std::invalid_argument);
        }
        const CountInDeviceMemory inAsExceeded{other.data(), capacity, reinterpret_cast<bool*>(a.in.data())};
        EXPECT_THROW(operation.call(a, inAsExceeded), std::invalid_argument);
    });

    DeviceBuffer<Word> heads(capacity);
    const Word* const flags = heads.data();
    const CountInDeviceMemory n{other.data(), capacity, reinterpret_cast<bool*>(heads.data())};
    EXPECT_THROW(SegmentedScan{}(in, flags, a.out.data(), n, scratch(), nullptr), std::invalid_argument);
    EXPECT_THROW(SegmentedScan{}(in, segmentsAt(flags, 1), a.out.data(), n, scratch(), nullptr), std::invalid_argument);
}

// An error that the caller has not looked at is neither reported by an operation nor cleared.
TEST_F(DeviceCountTest, AnErrorOfTheCallerStays) {
    for (const std::size_t capacity : {std::size_t{700}, std::size_t{150000}}) {
        SCOPED_TRACE("capacity " + std::to_string(capacity));
        Arrays a(capacity);
        DeviceCount count(capacity);
        count.set(capacity / 2 + 1);
        DeviceBuffer<std::byte> memory((std::size_t{1} << 23) + 64 * capacity);
        const auto written = [&](const Written& operation) {
            a.poison();
            operation.call(a, count.get());
            auto words = a.out.read(capacity);
            auto counts = a.counts.read(Arrays::countsSize);
            operation.callByNumber(a, capacity);
            std::ranges::copy(a.out.read(capacity), std::back_inserter(words));
            std::ranges::copy(a.counts.read(Arrays::countsSize), std::back_inserter(counts));
            return std::pair(words, counts);
        };
        forEveryOperation(a, memory, [&](const Written& operation) {
            const auto expected = written(operation);
            void* tooMuch = nullptr;
            ASSERT_EQ(cudaMalloc(&tooMuch, std::size_t{1} << 50), cudaErrorMemoryAllocation);
            EXPECT_EQ(written(operation), expected);
            EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
        });
    }
}

}  // namespace
}  // namespace StreamCompaction::Testing
