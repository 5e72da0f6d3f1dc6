// On a machine without a device, GPU variants must give the reason and change nothing.
#include <gtest/gtest.h>

#include "stream_compaction/cub.h"
#include "stream_compaction/efficient.h"
#include "stream_compaction/naive.h"
#include "stream_compaction/radix_sort.h"
#include "stream_compaction/row_sum.h"
#include "stream_compaction/shared_mem.h"
#include "stream_compaction/single_pass.h"
#include "stream_compaction/thrust.h"

namespace StreamCompaction {
namespace {

using Transform = void (*)(int, int*, const int*);
using Compact = int (*)(int, int*, const int*);

constexpr int untouched = -1;

template <typename Call>
void expectThrows(Call call) {
    const int in = 1;
    int out = untouched;
    try {
        call(1, &out, &in);
        FAIL();
    } catch (const CudaError& error) {
        EXPECT_NE(error.code(), 0);
    }
    EXPECT_EQ(out, untouched);
}

TEST(CudaError, KeepsItsCode) { EXPECT_EQ(CudaError("no memory", 2).code(), 2); }

TEST(NoDevice, EveryCallThrows) {
    if (!Common::cudaUnavailableReason()) {
        GTEST_SKIP() << "there is a device";
    }
    for (const Transform call :
         {Naive::scan, Naive::sort, Efficient::scan, Efficient::optimizedScan, Efficient::sort, SharedMem::scan,
          SharedMem::sort, SinglePass::scan, Thrust::scan, Thrust::sort, Cub::scan, Cub::sort}) {
        expectThrows(call);
    }
    for (const Compact call : {Naive::compact, Efficient::compact, Efficient::optimizedCompact, SharedMem::compact,
                               SinglePass::compact, Thrust::compact, Cub::compact}) {
        expectThrows(call);
    }
    expectThrows([](int n, int* odata, const int* idata) { Radix::sort(n, odata, idata); });
    expectThrows([](int n, int* odata, const int* idata) { Radix::sort(n, odata, idata, 8); });

    const float in = 1;
    float out = untouched;
    EXPECT_THROW(RowSum::sum(1, 1, &out, &in), CudaError);
    EXPECT_EQ(out, untouched);
}

TEST(NoDevice, SortsRefuseBadNumbersOfBitsAllTheSame) {
    for (const int bits : {-1, 0, 33}) {
        EXPECT_THROW(Radix::sort(0, nullptr, nullptr, bits), std::invalid_argument);
        EXPECT_THROW(Radix::splitSort(0, nullptr, nullptr, bits), std::invalid_argument);
    }
    EXPECT_NO_THROW(Radix::sort(0, nullptr, nullptr, 32));
}

TEST(NoDevice, TheReasonIsOneLine) {
    const auto reason = Common::cudaUnavailableReason();
    if (!reason) {
        GTEST_SKIP() << "there is a device";
    }
    EXPECT_FALSE(reason->empty());
    EXPECT_EQ(reason->find('\n'), std::string::npos);
}

}  // namespace
}  // namespace StreamCompaction
