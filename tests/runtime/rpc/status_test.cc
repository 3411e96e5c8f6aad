#include "runtime/rpc/status.h"

#include <gmock/gmock.h>
#include <grpcpp/support/status.h>

#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const Callee kWorker1{{"worker", 1}, "10.0.0.1:2222", 77};

FirstCause CauseOf(const std::string& job, int index, const std::string& address, uint64_t incarnation,
                   const std::string& name) {
  FirstCause cause;
  cause.task = {job, index};
  cause.address = address;
  cause.incarnation = incarnation;
  cause.name = name;
  return cause;
}

TEST(StatusTest, AnswerComesBackAsItWas) {
  absl::Status sent = absl::UnavailableError("rank 2 is gone: \xc3\xa9\n\"quoted\"");
  FirstCause cause = CauseOf("worker", 2, "10.0.0.2:2222", 5, "grads/0");
  cause.seq = 41;
  cause.arrived.push_back({"worker", 0});
  cause.missing.push_back({"worker", 2});
  SetFirstCause(sent, cause);
  const absl::Status received = FromGrpcStatus(ToGrpcStatus(sent), kWorker1, "Run");
  EXPECT_EQ(received, sent);
  EXPECT_EQ(GetFirstCause(received), cause);
}

TEST(StatusTest, EveryCodeSurvives) {
  for (int code = 1; code <= 16; ++code) {
    const absl::Status sent(static_cast<absl::StatusCode>(code), "m");
    EXPECT_EQ(FromGrpcStatus(ToGrpcStatus(sent), kWorker1, "Run"), sent) << code;
  }
  EXPECT_THAT(FromGrpcStatus(ToGrpcStatus(absl::OkStatus()), kWorker1, "Run"), testing::IsOk());
}

TEST(StatusTest, AnsweredUnavailableWithoutCauseGetsNone) {
  const absl::Status received = FromGrpcStatus(ToGrpcStatus(absl::UnavailableError("m")), kWorker1, "Run");
  EXPECT_EQ(GetFirstCause(received), std::nullopt);
}

TEST(StatusTest, BrokenConnectionBlamesTheCallee) {
  const grpc::Status broken(grpc::StatusCode::UNAVAILABLE, "Socket closed");
  const absl::Status received = FromGrpcStatus(broken, kWorker1, "Run");
  EXPECT_THAT(received, testing::StatusIs(absl::StatusCode::kUnavailable,
                                          "/job:worker/task:1 at 10.0.0.1:2222: Run: Socket closed"));
  const FirstCause want = CauseOf("worker", 1, "10.0.0.1:2222", 77, "Run");
  EXPECT_EQ(GetFirstCause(received), want);
}

TEST(StatusTest, UnknownNameIsCalledThat) {
  const grpc::Status unknown(grpc::StatusCode::UNAVAILABLE, "DNS resolution failed for w1.test:2222: C-ares status");
  EXPECT_THAT(FromGrpcStatus(unknown, kWorker1, "Attend"),
              testing::StatusIs(absl::StatusCode::kUnavailable, HasSubstr("name not resolved: DNS resolution failed")));
}

TEST(StatusTest, ExpiredDeadlineMissesTheCallee) {
  const grpc::Status late(grpc::StatusCode::DEADLINE_EXCEEDED, "Deadline Exceeded");
  FirstCause want = CauseOf("worker", 1, "10.0.0.1:2222", 77, "Summarize");
  want.missing.push_back({"worker", 1});
  EXPECT_EQ(GetFirstCause(FromGrpcStatus(late, kWorker1, "Summarize")), want);
}

TEST(StatusTest, CancelledBlamesNobody) {
  const auto cause =
      GetFirstCause(FromGrpcStatus(grpc::Status(grpc::StatusCode::CANCELLED, "CANCELLED"), kWorker1, "Run"));
  ASSERT_TRUE(cause.has_value());
  EXPECT_EQ(cause->task, TaskId{});
}

TEST(StatusTest, OverlongMessageIsCut) {
  const absl::Status received =
      FromGrpcStatus(ToGrpcStatus(absl::InternalError(std::string(70000, 'x'))), kWorker1, "Run");
  EXPECT_THAT(received, testing::StatusIs(absl::StatusCode::kInternal, HasSubstr("... (4464 bytes cut)")));
}

}  // namespace
}  // namespace cohort
