#include "runtime/rpc/call_context.h"

#include <gmock/gmock.h>
#include <grpcpp/server_context.h>

#include "proto/common.pb.h"
#include "runtime/base/first_cause.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(CallContextTest, CallerIsRead) {
  wire::Caller caller;
  caller.mutable_task()->set_job("worker");
  caller.mutable_task()->set_index(3);
  caller.set_incarnation(0xfedcba9876543210);
  caller.set_callee_incarnation(9);
  caller.set_epoch(4);
  caller.set_session(8);
  grpc::ServerContext server;
  const CallContext call = ReadCallContext(caller, server);
  EXPECT_EQ(call.caller, (TaskId{"worker", 3}));
  EXPECT_EQ(call.caller_incarnation, 0xfedcba9876543210);
  EXPECT_EQ(call.callee_incarnation, 9u);
  EXPECT_EQ(call.epoch, 4);
  EXPECT_EQ(call.session, 8u);
}

TEST(CallContextTest, CallForAnotherLifeIsRefused) {
  CallContext call;
  EXPECT_THAT(CheckCallee(call, {"ps", 0}, 0x11), testing::IsOk());  // for any life
  call.callee_incarnation = 0x11;
  EXPECT_THAT(CheckCallee(call, {"ps", 0}, 0x11), testing::IsOk());
  const absl::Status stale = CheckCallee(call, {"ps", 0}, 0x22);
  EXPECT_THAT(stale, testing::StatusIs(absl::StatusCode::kAborted,
                                       AllOf(HasSubstr("/job:ps/task:0"), HasSubstr("0000000000000011"),
                                             HasSubstr("0000000000000022"))));
  EXPECT_EQ(GetFirstCause(stale)->task, (TaskId{"ps", 0}));
}

}  // namespace
}  // namespace cohort
