#include "runtime/distribute/nest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using testing::StatusIs;

TEST(NestTest, LeavesKeepTheirKind) {
  EXPECT_EQ(Nest().kind(), Nest::Kind::kNone);
  EXPECT_EQ(Nest(true).kind(), Nest::Kind::kBool);
  EXPECT_EQ(Nest(1).kind(), Nest::Kind::kInt);
  EXPECT_EQ(Nest(size_t{1}).kind(), Nest::Kind::kInt);
  EXPECT_EQ(Nest(1.5f).kind(), Nest::Kind::kDouble);
  EXPECT_EQ(Nest("x").kind(), Nest::Kind::kString);
  EXPECT_EQ(Nest(Tensor::Scalar<float>(1)).kind(), Nest::Kind::kTensor);
}

TEST(NestTest, Prints) {
  const Nest nest = Nest::Map({{"b", Nest::Tuple({1})}, {"a", Nest::List({true, 0.5, "x", Nest()})}});
  EXPECT_EQ(nest.ToString(), "{a: [true, 0.5, 'x', none], b: (1,)}");
  EXPECT_EQ(Nest::PerReplica({1, 2}).ToString(), "PerReplica:{0: 1, 1: 2}");
  EXPECT_EQ(Nest::List({}).ToString(), "[]");
}

TEST(NestTest, MapLeavesKeepsTheStructureAndNamesThePath) {
  const Nest nest = Nest::Map({{"a", Nest::List({1, Nest::PerReplica({2, 3})})}, {"b", Nest::Tuple({4})}});
  const auto kinds = MapLeaves(
      nest, [](const Nest& leaf) -> absl::StatusOr<Nest> { return Nest(std::string(KindName(leaf.kind()))); });
  EXPECT_EQ(kinds->ToString(), "{a: ['int', 'PerReplica'], b: ('int',)}");
  const auto failed = MapLeaves(nest, [](const Nest& leaf) -> absl::StatusOr<Nest> {
    if (leaf.is_distributed()) return absl::InvalidArgumentError("no");
    return leaf;
  });
  EXPECT_THAT(failed, StatusIs(absl::StatusCode::kInvalidArgument, "['a'][1]: no"));
  // A leaf alone has no path.
  EXPECT_THAT(MapLeaves(1, [](const Nest&) -> absl::StatusOr<Nest> { return absl::InternalError("no"); }),
              StatusIs(absl::StatusCode::kInternal, "no"));
}

TEST(NestTest, CopiesShareTheirChildren) {
  const Nest nest = Nest::List({1, 2});
  const Nest copy = nest;
  EXPECT_EQ(copy.children().data(), nest.children().data());
}

}  // namespace
}  // namespace cohort
