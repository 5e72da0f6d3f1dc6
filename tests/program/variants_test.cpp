#include "variants/variants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/values.h"
#include "problem_on.h"
#include "variants/implementation.h"

namespace Bench {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::Not;
using testing::ThrowsMessage;

/// Those of one operation and type among these names.
[[nodiscard]] std::vector<Variant> select(Operation operation, const std::vector<std::string>& names,
                                          ElementType type = ElementType::Int32) {
    return selectVariants(allVariants(), std::array{operation}, std::array{type}, names);
}

TEST(AllVariants, HaveDistinctNames) {
    std::set<std::tuple<Operation, ElementType, std::string_view>> names;
    std::set<std::pair<ElementType, std::string_view>> titles;
    for (const Variant& variant : allVariants()) {
        EXPECT_TRUE(names.emplace(variant.operation, variant.type, variant.name).second) << variant.title;
        EXPECT_TRUE(titles.emplace(variant.type, variant.title).second) << variant.title;
    }
}

/// Whether the build does not have the variant and only gives a reason.
[[nodiscard]] bool isAbsent(const Variant& variant) {
    return !variant.prepare && variant.reasonToSkip &&
           variant.reasonToSkip(*problemOn(Operation::Scan, std::vector{1}));
}

TEST(AllVariants, CanBePreparedWhereTheBuildHasThemOrSayWhyNot) {
    const bool hasGpuVariants = !gpuImplementations().empty();
    for (const Variant& variant : allVariants()) {
        const bool onGpu = variant.hardware == Hardware::Gpu;
        const bool isThere = !isAbsent(variant);
        EXPECT_EQ(static_cast<bool>(variant.prepare), !onGpu || (hasGpuVariants && isThere)) << variant.title;
        EXPECT_EQ(static_cast<bool>(variant.deviceBytes), onGpu && hasGpuVariants && isThere) << variant.title;
    }
}

#if defined(STREAM_COMPACTION_HAS_CUDA) && !defined(STREAM_COMPACTION_SIMULATED)
/// A problem of which only the size is asked for.
class LargeProblem : public Problem {
  public:
    [[nodiscard]] std::size_t size() const override { return std::size_t{1} << 31; }
    [[nodiscard]] std::size_t total() const override { return size(); }
    [[nodiscard]] std::size_t bytesMoved() const override { return 0; }
    [[nodiscard]] std::optional<std::string> mismatch() const override { return std::nullopt; }
};

TEST(AllVariants, OfCubAreSkippedWhereTheyTakeFewerElements) {
    const auto reason = [](Operation operation, ElementType type) {
        for (const Variant& variant : allVariants()) {
            if (variant.operation == operation && variant.type == type && variant.name == "cub") {
                return variant.reasonToSkip(LargeProblem());
            }
        }
        throw std::logic_error("there is no such variant");
    };
    const std::optional<std::string> tooMany = "takes at most 2147483647 elements of this type";
    EXPECT_EQ(reason(Operation::Sort, ElementType::Float), tooMany);
    EXPECT_EQ(reason(Operation::RowSum, ElementType::Int32), tooMany);
    EXPECT_EQ(reason(Operation::Sort, ElementType::Int32), std::nullopt);
    EXPECT_EQ(reason(Operation::Compact, ElementType::Float), std::nullopt);
}
#endif

TEST(AllVariants, AreThereButForPeers) {
    const std::set<std::string_view> peers{"thrust", "cub", "cublas", "distributed"};  // the last one needs NCCL
    for (const Variant& variant : allVariants()) {
        EXPECT_TRUE(!isAbsent(variant) || peers.contains(variant.name)) << variant.title;
        EXPECT_TRUE(!isAbsent(variant) || variant.library.empty()) << variant.title << ": " << variant.library;
    }
}

TEST(SelectVariants, RefusesANameOfAnotherOperation) {
    const std::vector<Variant> few{{{}, Operation::Scan, ElementType::Int32, Hardware::Cpu, "cpu", "", {}},
                                   {{}, Operation::Scan, ElementType::Int32, Hardware::Gpu, "naive", "", {}},
                                   {{}, Operation::Compact, ElementType::Int32, Hardware::Gpu, "naive", "", {}},
                                   {{}, Operation::Sort, ElementType::Int32, Hardware::Gpu, "radix", "", {}}};
    const auto selectRadixOf = [&](const std::vector<Operation>& operations) {
        (void)selectVariants(few, operations, std::array{ElementType::Int32}, std::vector<std::string>{"radix"});
    };
    EXPECT_THAT([&] { selectRadixOf({Operation::Scan}); },
                ThrowsMessage<UsageError>("--variant: radix is not a variant of scan; scan has cpu, naive"));
    EXPECT_THAT(
        [&] {
            selectRadixOf({Operation::Scan, Operation::Compact});
        },
        ThrowsMessage<UsageError>("--variant: radix is not a variant of scan or compact; they have cpu, naive"));
    EXPECT_THAT([] { (void)select(Operation::Sort, {"radx"}); },
                ThrowsMessage<UsageError>("--variant: unknown variant 'radx': did you mean radix?"));
    EXPECT_THAT([] { (void)select(Operation::Scan, {"cpu-parallel"}, ElementType::Float); },
                ThrowsMessage<UsageError>("--variant: cpu-parallel does not take float"));
}

TEST(SelectVariants, LeavesOutExcludedNames) {
    const auto most = select(Operation::Sort, {"^cpu", "^thrust"});
    EXPECT_EQ(most.size() + 2, select(Operation::Sort, {}).size());
    EXPECT_THAT(most, Each(Field(&Variant::name, Not(testing::AnyOf("cpu", "thrust")))));
    EXPECT_THAT(select(Operation::Sort, {"cub", "cpu", "^cpu"}), ElementsAre(Field(&Variant::name, "cub")));
}

TEST(WithBlockSizes, RepeatsVariantsWithAChoice) {
    const auto variants = select(Operation::Scan, {"naive", "cub"});
    const auto isOf = [](const char* name, int blockSize) {
        return testing::AllOf(Field(&Variant::name, name), Field(&Variant::defaultBlockSize, blockSize));
    };
    EXPECT_THAT(withBlockSizes(variants, std::array{64, 128}),
                ElementsAre(isOf("naive", 64), isOf("naive", 128), isOf("cub", 0)));
    EXPECT_THAT([&] { (void)withBlockSizes(variants, std::array{100}); },
                ThrowsMessage<UsageError>(
                    "--block-size: naive scan takes 32, 64, 128, 256, 512, 1024 threads per block, not 100"));
}

}  // namespace
}  // namespace Bench
