// What every backend's Communicator says when a call cannot succeed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/base/first_cause.h"
#include "runtime/base/thread.h"
#include "tests/runtime/collective/world.h"
#include "tests/testing/status_matchers.h"

namespace cohort::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr absl::StatusCode kUnavailable = absl::StatusCode::kUnavailable;
constexpr absl::StatusCode kDeadlineExceeded = absl::StatusCode::kDeadlineExceeded;
constexpr absl::StatusCode kInvalidArgument = absl::StatusCode::kInvalidArgument;

class CommunicatorFailureTest : public ::testing::TestWithParam<Backend> {
 protected:
  // All ranks reduce `count` ones.
  static absl::Status Reduce(Communicator& comm, absl::string_view name, int64_t count,
                             absl::Duration timeout = absl::Seconds(20)) {
    std::vector<float> values(count, 1.0f);
    return comm.AllReduce(Span(values), ReduceOp::kSum, Call(name, timeout));
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, CommunicatorFailureTest, ::testing::Values(Backend::kInProcess, Backend::kGrpc),
                         [](const auto& test) { return BackendName(test.param); });

const TaskId kWorker0{"worker", 0};
const TaskId kWorker1{"worker", 1};
const TaskId kWorker2{"worker", 2};
const TaskId kWorker3{"worker", 3};

TEST_P(CommunicatorFailureTest, TimeOutNamesTheAbsentRankOnAll) {
  for (const int64_t count : {10, 100000}) {
    World world(GetParam(), 4);
    for (int i = 1; i <= 6; ++i) world.Run([&](Communicator& comm) { COHORT_ASSERT_OK(Reduce(comm, "g", count)); });
    world.RunOn({0, 1, 3}, [&](Communicator& comm) {
      const absl::Status status = Reduce(comm, "g", count, absl::Milliseconds(200));
      EXPECT_THAT(status,
                  StatusIs(kDeadlineExceeded,
                           AllOf(HasSubstr("operation 7, all-reduce 'g' (sum of float32 [" + std::to_string(count) +
                                           "], step 1)"),
                                 HasSubstr("arrived /job:worker/task:0, /job:worker/task:1, /job:worker/task:3;"),
                                 HasSubstr("missing /job:worker/task:2"), HasSubstr("last finished operation 6"))));
      const auto cause = GetFirstCause(status);
      ASSERT_TRUE(cause.has_value());
      EXPECT_EQ(cause->task, kWorker2);
      EXPECT_EQ(cause->incarnation, 1002u);
      EXPECT_EQ(cause->seq, 7);
      EXPECT_EQ(cause->name, "g");
      EXPECT_THAT(cause->arrived, ElementsAre(kWorker0, kWorker1, kWorker3));
      EXPECT_THAT(cause->missing, ElementsAre(kWorker2));
    });
    // Who comes too late learns what happened; one call may still succeed, if all it needs had come before.
    absl::Status late = Reduce(world.comm(2), "g", count);
    if (late.ok()) late = world.comm(2).Barrier(Call("b"));
    EXPECT_THAT(late, StatusIs(kDeadlineExceeded, HasSubstr("missing /job:worker/task:2")));
  }
}

TEST_P(CommunicatorFailureTest, LonelyBroadcastNamesAllOthers) {
  World world(GetParam(), 4);
  std::vector<float> values(3);
  const absl::Status status = world.comm(0).Broadcast(Span(values), 0, Call("init", absl::Milliseconds(200)));
  EXPECT_THAT(status, StatusIs(kDeadlineExceeded, HasSubstr("operation 1, broadcast 'init'")));
  EXPECT_THAT(GetFirstCause(status)->missing, ElementsAre(kWorker1, kWorker2, kWorker3));
}

TEST_P(CommunicatorFailureTest, OrderOfCallsDiffers) {
  World world(GetParam(), 2);
  world.Run([&](Communicator& comm) {
    std::vector<float> values(4, comm.rank() == 0 ? 1.0f : 10.0f);
    EXPECT_THAT(
        comm.AllReduce(Span(values), ReduceOp::kSum, Call(comm.rank() == 0 ? "a" : "b")),
        StatusIs(kInvalidArgument,
                 AllOf(HasSubstr("position 1"),
                       HasSubstr("/job:worker/task:0 (rank 0) calls all-reduce 'a' (sum of float32 [4], step 1)"),
                       HasSubstr("/job:worker/task:1 (rank 1) calls all-reduce 'b' (sum of float32 [4]"))));
  });
}

TEST_P(CommunicatorFailureTest, DTypesCountsOpsRootsOrKindsDiffer) {
  const std::vector<std::function<absl::Status(Communicator&)>> calls = {
      [](Communicator& comm) {
        std::vector<float> values(4);
        return comm.AllReduce(Span(values), ReduceOp::kSum, Call("x"));
      },
      [](Communicator& comm) {
        std::vector<int32_t> values(4);
        return comm.AllReduce(Span(values), ReduceOp::kSum, Call("x"));
      },
      [](Communicator& comm) {
        std::vector<float> values(100000);
        return comm.AllReduce(Span(values), ReduceOp::kSum, Call("x"));
      },
      [](Communicator& comm) {
        std::vector<float> values(4);
        return comm.AllReduce(Span(values), ReduceOp::kMax, Call("x"));
      },
      [](Communicator& comm) {
        std::vector<float> values(4);
        return comm.Broadcast(Span(values), 0, Call("x"));
      },
      [](Communicator& comm) {
        std::vector<float> values(4);
        return comm.Broadcast(Span(values), 1, Call("x"));
      },
      [](Communicator& comm) {
        std::vector<float> values(4), all(12);
        return comm.AllGather(Span(values), Span(all), Call("x"));
      },
      [](Communicator& comm) { return comm.Barrier(Call("x")); },
  };
  for (size_t i = 1; i < calls.size(); ++i) {
    World world(GetParam(), 3);
    world.Run([&](Communicator& comm) {
      EXPECT_THAT(calls[comm.rank() == 2 ? i : i - 1](comm), StatusIs(kInvalidArgument, HasSubstr("position 1"))) << i;
    });
  }
}

TEST_P(CommunicatorFailureTest, LostRankIsNamed) {
  for (const int64_t count : {10, 1000000}) {
    World world(GetParam(), 3);
    for (int i = 1; i <= 2; ++i) world.Run([&](Communicator& comm) { COHORT_ASSERT_OK(Reduce(comm, "g", count)); });
    Thread leave("leave", [&] { world.Destroy(1); });
    world.RunOn({0, 2}, [&](Communicator& comm) {
      const absl::Status status = Reduce(comm, "g", count);
      EXPECT_THAT(status, StatusIs(kUnavailable, HasSubstr("/job:worker/task:1")));
      const auto cause = GetFirstCause(status);
      ASSERT_TRUE(cause.has_value());
      EXPECT_EQ(cause->task, kWorker1);
      EXPECT_EQ(cause->incarnation, 1001u);
      EXPECT_EQ(cause->seq, 3);
      EXPECT_EQ(Reduce(comm, "g", count), status);  // unusable from now on
    });
    leave.Join();
  }
}

TEST_P(CommunicatorFailureTest, LastResultsReachEverybodyWhenRanksLeaveAtOnce) {
  for (int round = 0; round < 10; ++round) {
    World world(GetParam(), 3);
    world.Run([&](Communicator& comm) {
      const int rank = comm.rank();
      COHORT_EXPECT_OK(Reduce(comm, "g", round % 2 == 0 ? 1 : 100000));
      world.Destroy(rank);
    });
  }
}

TEST_P(CommunicatorFailureTest, AbortEndsPendingAndLaterCallsOnAllRanks) {
  for (const int64_t count : {10, 1000000}) {
    World world(GetParam(), 3);
    Thread abort("abort", [&] { world.comm(2).Abort(absl::CancelledError("the user asked")); });
    world.RunOn({0, 1}, [&](Communicator& comm) {
      EXPECT_THAT(Reduce(comm, "g", count), StatusIs(absl::StatusCode::kCancelled, HasSubstr("the user asked")));
    });
    abort.Join();
    world.comm(2).Abort(absl::InternalError("too late"));
    world.Run([&](Communicator& comm) {
      EXPECT_THAT(comm.Barrier(Call("b")), StatusIs(absl::StatusCode::kCancelled, HasSubstr("the user asked")));
    });
  }
}

TEST_P(CommunicatorFailureTest, NotAnArrayOfNumbers) {
  World world(GetParam(), 2);
  world.Run([&](Communicator& comm) {
    EXPECT_THAT(comm.AllReduce({nullptr, 1, DType::kString}, ReduceOp::kSum, Call("s")), StatusIs(kInvalidArgument));
  });
}

TEST_P(CommunicatorFailureTest, OutputOfAllGatherHasTheWrongSize) {
  World world(GetParam(), 2);
  world.Run([&](Communicator& comm) {
    std::vector<float> input(3), output(5);
    EXPECT_THAT(comm.AllGather(Span(input), Span(output), Call("all")),
                StatusIs(kInvalidArgument, HasSubstr("must be float32 [6], not float32 [5]")));
  });
}

}  // namespace
}  // namespace cohort::testing
