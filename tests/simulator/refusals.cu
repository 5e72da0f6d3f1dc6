// Mistakes of users. Each ends with some words of the one error that the compiler prints for it (refusals_test.py). A
// check that has failed for some types says no more about these, so each mistake has types of its own.
#include <cstddef>
#include <cstdint>

#include "stream_compaction/histogram.cuh"
#include "stream_compaction/multi_partition.cuh"
#include "stream_compaction/radix_sort.cuh"
#include "stream_compaction/row_sum.cuh"
#include "stream_compaction/runs.cuh"
#include "stream_compaction/segments.cuh"
#include "stream_compaction/single_pass.cuh"
#include "stream_compaction/top_k.cuh"

using namespace StreamCompaction;
using namespace StreamCompaction::Radix;
using namespace StreamCompaction::Runs;
using namespace StreamCompaction::SinglePass;

template <int>
struct NotConst {
    template <typename... T>
    __device__ int operator()(T...) {
        return 1;
    }
};

template <int>
struct NotConstOperator : NotConst<0> {
    template <typename T>
    __device__ T identity() const {
        return {};
    }
};

template <int>
struct NoIdentity {
    __device__ int operator()(int a, int b) const { return a + b; }
};

template <int>
struct OfStrings {
    __device__ bool operator()(const char*) const { return true; }
};

// Of 12 bytes, so that no machine word stands for it.
template <int>
struct FromInt {
    int members[3];

    explicit FromInt(int x) : members{x, x, x} {}
    __host__ __device__ bool operator==(const FromInt&) const = default;
};

template <int>
struct NotCopyable {
    int x = 0;

    NotCopyable() = default;
    NotCopyable(const NotCopyable& other) : x(other.x) {}
};

struct Always {
    template <typename T>
    __device__ int operator()(const T&) const {
        return 1;
    }
};

struct First {
    template <typename T>
    __device__ T identity() const;
    template <typename T>
    __device__ T operator()(const T& a, const T&) const {
        return a;
    }
};

const int* in;
int* out;
std::size_t* count;
std::size_t n;
Scratch scratch;
cudaStream_t stream;
const auto segments = segmentsAt(count, n);

template <typename T>
T* at;

void functions() {
    Scan{}(in, out, n, NotConstOperator<1>{}, scratch, stream);                          // error: has to be const
    Scan{}(in, out, n, NotConstOperator<2>{}, 1, scratch, stream);                       // error: has to be const
    Scan{}(in, out, n, NoIdentity<1>{}, scratch, stream);                                // error: needs an identity
    Scan{}(in, out, n, NoIdentity<2>{}, 1, scratch, stream);                             // error: needs an identity
    Scan{}(in, out, n, NoIdentity<3>{}, InDeviceMemory<int>{in}, scratch, stream);       // error: needs an identity
    Scan{}(transformed(in, NotConst<3>{}), out, n, scratch, stream);                     // error: has to be const
    Scan{}(generated(NotConst<4>{}), at<std::size_t>, n, scratch, stream);               // error: has to be const
    Compact{}(in, out, count, n, NotConst<5>{}, scratch, stream);                        // error: has to be const
    Compact{}(in, out, count, n, WithIndex<NotConst<6>>{}, scratch, stream);             // error: has to be const
    Compact{}(in, out, count, n, WithPrevious<NotConst<7>>{}, scratch, stream);          // error: has to be const
    Compact{}(in, out, count, n, OfStrings<1>{}, scratch, stream);                       // error: cannot be called
    CompactFlagged{}(in, in, out, count, n, NotConst<8>{}, scratch, stream);             // error: has to be const
    Partition{}(in, out, count, n, NotConst<9>{}, scratch, stream);                      // error: has to be const
    Partition{}(in, out, out, count, n, NotConst<10>{}, scratch, stream);                // error: has to be const
    Unique{}(in, out, count, n, NotConst<11>{}, scratch, stream);                        // error: has to be const
    Encode{}(in, out, out, count, n, NotConst<12>{}, scratch, stream);                   // error: has to be const
    ReduceByKey{}(in, in, out, out, count, n, NotConstOperator<13>{}, scratch, stream);  // error: has to be const
    ReduceByKey{}(in, in, out, out, count, n, NoIdentity<4>{}, scratch, stream);         // error: needs an identity
    ReduceByKey{}(in, in, out, out, count, n, Sum{}, NotConst<14>{}, scratch, stream);   // error: has to be const
    SegmentedScan{}(in, segments, out, n, NotConstOperator<15>{}, scratch, stream);      // error: has to be const
    SegmentedScan{}(in, segments, out, n, NoIdentity<5>{}, 1, scratch, stream);          // error: needs an identity
    Histogram{}(in, at<std::uint32_t>, n, 256, NotConst<16>{}, scratch, stream);         // error: has to be const
    MultiPartition{}(in, out, count, n, 4, NotConst<17>{}, scratch, stream);             // error: has to be const
    RowSum::Adaptive{}(transformed(in, NotConst<18>{}), out, n, n, n, scratch, stream);  // error: has to be const
}

void elements() {
    Scan{}(at<FromInt<1>>, at<FromInt<1>>, n, First{}, scratch, stream);               // error: constructor
    Scan{}(at<NotCopyable<1>>, out, n, scratch, stream);                               // error: trivially copyable
    Compact{}(at<FromInt<2>>, at<FromInt<2>>, count, n, Always{}, scratch, stream);    // error: constructor
    CompactFlagged{}(at<FromInt<3>>, in, at<FromInt<3>>, count, n, scratch, stream);   // error: constructor
    Partition{}(at<FromInt<4>>, at<FromInt<4>>, count, n, Always{}, scratch, stream);  // error: constructor
    Unique{}(at<FromInt<5>>, at<FromInt<5>>, count, n, scratch, stream);               // error: constructor
    Encode{}(at<FromInt<6>>, at<FromInt<6>>, out, count, n, scratch, stream);          // error: constructor
    ReduceByKey{}(in, at<FromInt<7>>, out, at<FromInt<7>>, count, n, First{}, scratch, stream);  // error: constructor
    SegmentedScan{}(at<FromInt<8>>, in, at<FromInt<8>>, n, First{}, scratch, stream);            // error: constructor
    Histogram{}(at<FromInt<9>>, at<std::uint32_t>, n, 256, Always{}, scratch, stream);           // error: constructor
    MultiPartition{}(at<FromInt<10>>, at<FromInt<10>>, count, n, 4, Always{}, scratch, stream);  // error: constructor
    Sort{}(in, out, at<FromInt<11>>, at<FromInt<11>>, n, scratch, stream);                       // error: constructor
    SegmentedSort{}(in, segments, out, at<FromInt<12>>, at<FromInt<12>>, n, scratch, stream);    // error: constructor
    TopK{}(in, out, at<FromInt<13>>, at<FromInt<13>>, n, n, scratch, stream);                    // error: constructor
    RowSum::Adaptive{}(in, at<FromInt<14>>, n, n, n, scratch, stream);                           // error: constructor
}

void counts() {
    (void)Compact{}.scratchBytes(in, out, at<int>, n);                       // error: is a std::size_t
    Compact{}(in, out, at<unsigned>, n, scratch, stream);                    // error: is a std::size_t
    CompactFlagged{}(in, in, out, at<short>, n, scratch, stream);            // error: is a std::size_t
    Partition{}(in, out, at<char>, n, scratch, stream);                      // error: is a std::size_t
    Partition{}(in, out, out, at<signed char>, n, scratch, stream);          // error: is a std::size_t
    Unique{}(in, out, at<unsigned char>, n, scratch, stream);                // error: is a std::size_t
    Encode{}(in, out, out, at<unsigned short>, n, scratch, stream);          // error: is a std::size_t
    ReduceByKey{}(in, in, out, out, at<char16_t>, n, scratch, stream);       // error: is a std::size_t
    MultiPartition{}(in, out, at<double>, n, 4, Always{}, scratch, stream);  // error: is a std::size_t
}
