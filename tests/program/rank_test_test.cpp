#include "measure/rank_test.h"

#include <gtest/gtest.h>

#include <vector>

namespace Bench {
namespace {

// Expected values are those of SciPy 1.17: mannwhitneyu, and with equal samples among a few, all permutations.

TEST(RankTest, IsExactForFewSamples) {
    EXPECT_NEAR(rankTest(std::vector{1.1, 2.2, 3.3, 4.4, 5.5}, std::vector{3.1, 4.6, 6.6, 7.7, 8.8, 9.9}),
                0.05194805194805195, 1e-12);
}

TEST(RankTest, SharesRanksAmongEqualSamples) {
    EXPECT_NEAR(rankTest(std::vector<double>{1, 2, 2, 3, 4}, std::vector<double>{2, 3, 4, 4, 5, 6}),
                0.12121212121212122, 1e-12);
    EXPECT_EQ(rankTest(std::vector<double>(15, 1), std::vector<double>(15, 1)), 1);
    EXPECT_EQ(rankTest(std::vector<double>(100, 1), std::vector<double>(100, 1)), 1);
}

TEST(RankTest, TakesTheNormalDistributionForMany) {
    std::vector<double> a;
    std::vector<double> b;
    for (int i = 0; i < 40; ++i) {
        a.push_back(2 * i);
        b.push_back(2 * i + 9);
    }
    EXPECT_NEAR(rankTest(a, b), 0.10288725776167064, 1e-9);
    EXPECT_NEAR(rankTest(b, a), 0.10288725776167064, 1e-9);
    a.clear();
    b.clear();
    for (int i = 0; i < 45; ++i) {
        if (i < 40) {
            a.push_back(i % 7);
        }
        b.push_back(i % 9);
    }
    EXPECT_NEAR(rankTest(a, b), 0.046484956690762615, 1e-9);
}

TEST(RankTest, KnowsDisjointSets) {
    std::vector<double> a(15);
    std::vector<double> b(15);
    for (int i = 0; i < 15; ++i) {
        a[static_cast<std::size_t>(i)] = i;
        b[static_cast<std::size_t>(i)] = 100 + i;
    }
    EXPECT_NEAR(rankTest(a, b), 1.28934500757877e-08, 1e-20);
    EXPECT_NEAR(rankTestOfDisjointSets(15, 15), 1.28934500757877e-08, 1e-20);
    EXPECT_EQ(rankTestOfDisjointSets(1, 1), 1);
    EXPECT_EQ(rankTestOfDisjointSets(0, 15), 1);
}

}  // namespace
}  // namespace Bench
