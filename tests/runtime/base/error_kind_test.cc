#include "runtime/base/error_kind.h"

#include "runtime/base/status_macros.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using testing::StatusIs;

TEST(ErrorKindTest, AKindRefinesACode) {
  EXPECT_THAT(InvalidTypeError("not a list"), StatusIs(absl::StatusCode::kInvalidArgument, "not a list"));
  EXPECT_EQ(ErrorKindOf(InvalidTypeError("not a list")), ErrorKind::kInvalidType);
  EXPECT_THAT(WrongContextError("no scope"), StatusIs(absl::StatusCode::kFailedPrecondition, "no scope"));
  EXPECT_EQ(ErrorKindOf(WrongContextError("no scope")), ErrorKind::kWrongContext);
}

TEST(ErrorKindTest, OtherStatusesArePlain) {
  for (const absl::Status& status :
       {absl::OkStatus(), absl::InvalidArgumentError(""), absl::FailedPreconditionError(""), absl::InternalError("")}) {
    EXPECT_EQ(ErrorKindOf(status), ErrorKind::kPlain) << status;
  }
}

TEST(ErrorKindTest, ContextKeepsTheKind) {
  EXPECT_EQ(ErrorKindOf(Annotate(InvalidTypeError("not a list"), "cluster.worker")), ErrorKind::kInvalidType);
}

}  // namespace
}  // namespace cohort
