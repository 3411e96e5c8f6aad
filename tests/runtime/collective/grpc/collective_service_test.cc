// How groups come together over gRPC, and who is refused.
#include "runtime/collective/grpc/collective_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "runtime/base/first_cause.h"
#include "runtime/base/mutex.h"
#include "runtime/base/thread.h"
#include "runtime/rpc/server.h"
#include "tests/runtime/collective/world.h"
#include "tests/testing/status_matchers.h"

namespace cohort::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Joined = absl::StatusOr<std::unique_ptr<Communicator>>;

// One task with its server. Its incarnation is 1000 + index unless told.
struct Task {
  explicit Task(int index, const ExchangeOptions& exchange = {}) {
    CollectiveServiceOptions options;
    options.exchange = exchange;
    service = CollectiveService::Create(Worker(index), options);
    RpcServerOptions server_options;
    server_options.listen_address = "127.0.0.1:0";
    server_options.services = {service->service()};
    server = *RpcServer::Start(server_options);
    member = Worker(index);
    member.address = server->address();
  }

  Joined Join(std::vector<GroupMember> members, int rank, GroupId id = {1, 1, 0},
              absl::Duration timeout = absl::Seconds(10)) {
    return service->Join({id, std::move(members), rank}, absl::Now() + timeout);
  }

  std::unique_ptr<CollectiveService> service;
  std::unique_ptr<RpcServer> server;  // gone before the service
  GroupMember member;
};

// Both join at once; what came of it, by rank.
std::vector<Joined> JoinBoth(Task& a, Task& b, const std::vector<GroupMember>& seen_by_a,
                             const std::vector<GroupMember>& seen_by_b, absl::Duration timeout = absl::Seconds(10)) {
  std::vector<Joined> joined(2);
  Thread other("join", [&] { joined[1] = b.Join(seen_by_b, 1, {1, 1, 0}, timeout); });
  joined[0] = a.Join(seen_by_a, 0, {1, 1, 0}, timeout);
  other.Join();
  return joined;
}

TEST(CollectiveServiceTest, StreamsWaitForTheLocalRankToJoin) {
  Task a(0), b(1);
  const std::vector<GroupMember> members = {a.member, b.member};
  Joined first;
  Thread early("early", [&] { first = a.Join(members, 0); });
  // Whichever comes first, the other's stream is there or comes.
  Joined second = b.Join(members, 1);
  early.Join();
  COHORT_ASSERT_OK(first);
  COHORT_ASSERT_OK(second);
  Thread other("other", [&] { COHORT_EXPECT_OK((*second)->Barrier(Call("b"))); });
  COHORT_EXPECT_OK((*first)->Barrier(Call("b")));
  other.Join();
}

TEST(CollectiveServiceTest, AbsentRankIsNamed) {
  Task a(0), b(1), c(2);
  const std::vector<GroupMember> members = {a.member, b.member, c.member};
  Thread other("join", [&] { EXPECT_THAT(b.Join(members, 1), StatusIs(absl::StatusCode::kDeadlineExceeded)); });
  const Joined joined = a.Join(members, 0, {1, 1, 0}, absl::Milliseconds(300));
  EXPECT_THAT(joined, StatusIs(absl::StatusCode::kDeadlineExceeded,
                               AllOf(HasSubstr("session 1, epoch 1"), HasSubstr("/job:worker/task:2 at 127.0.0.1:"))));
  EXPECT_EQ(GetFirstCause(joined.status())->task, c.member.task);
  EXPECT_THAT(GetFirstCause(joined.status())->missing, ElementsAre(c.member.task));
  other.Join();
}

TEST(CollectiveServiceTest, AnEarlierLifeOfTheCalleeIsRefused) {
  Task a(0), b(1);
  GroupMember old = b.member;
  old.incarnation = 77;
  const Joined joined = a.Join({a.member, old}, 0);
  EXPECT_THAT(joined, StatusIs(absl::StatusCode::kAborted,
                               AllOf(HasSubstr("/job:worker/task:1"), HasSubstr("4d"), HasSubstr("3e9"))));
}

TEST(CollectiveServiceTest, AnEarlierLifeOfTheCallerIsRefused) {
  Task a(0), b(1);
  GroupMember restarted = a.member;
  restarted.incarnation = 77;  // b has read a newer roster than a
  std::vector<Joined> joined = JoinBoth(a, b, {a.member, b.member}, {restarted, b.member}, absl::Seconds(1));
  EXPECT_THAT(joined[0], StatusIs(absl::StatusCode::kAborted, HasSubstr("/job:worker/task:0")));
  EXPECT_FALSE(joined[1].ok());
}

TEST(CollectiveServiceTest, DifferentMembersAreNamedOnBoth) {
  Task a(0), b(1), c(2);
  std::vector<Joined> joined = JoinBoth(a, b, {a.member, b.member}, {a.member, b.member, c.member});
  for (const Joined& one : joined) {
    EXPECT_THAT(one, StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("disagree about the number of ranks")));
  }
}

TEST(CollectiveServiceTest, DifferentCutsAreNamedOnBoth) {
  Task a(0, {.piece_bytes = 4096}), b(1);
  std::vector<Joined> joined = JoinBoth(a, b, {a.member, b.member}, {a.member, b.member});
  for (const Joined& one : joined) {
    EXPECT_THAT(one, StatusIs(absl::StatusCode::kFailedPrecondition,
                              AllOf(HasSubstr("piece_bytes"), HasSubstr("4096"), HasSubstr("1048576"))));
  }
}

TEST(CollectiveServiceTest, ANewerEpochEndsTheOlder) {
  Task a(0), b(1);
  const std::vector<GroupMember> members = {a.member, b.member};
  std::vector<Joined> old = JoinBoth(a, b, members, members);
  COHORT_ASSERT_OK(old[0]);
  COHORT_ASSERT_OK(old[1]);
  Joined fresh;
  Thread other("join", [&] { fresh = b.Join(members, 1, {1, 2, 0}); });
  COHORT_ASSERT_OK_AND_ASSIGN(const auto comm, a.Join(members, 0, {1, 2, 0}));
  other.Join();
  COHORT_ASSERT_OK(fresh);
  EXPECT_THAT((*old[0])->Barrier(Call("b")), StatusIs(absl::StatusCode::kAborted, HasSubstr("epoch 2 has begun")));
  EXPECT_THAT((*old[1])->Barrier(Call("b")), StatusIs(absl::StatusCode::kAborted, HasSubstr("epoch 2 has begun")));
  old.clear();
  EXPECT_THAT(a.Join(members, 0, {1, 1, 0}), StatusIs(absl::StatusCode::kAborted, HasSubstr("epoch 2 has begun")));
}

TEST(CollectiveServiceTest, TheSameGroupCanBeMadeAgainAfterItsEnd) {
  Task a(0), b(1);
  const std::vector<GroupMember> members = {a.member, b.member};
  for (int round = 0; round < 5; ++round) {
    std::vector<Joined> joined = JoinBoth(a, b, members, members);
    COHORT_ASSERT_OK(joined[0]);
    COHORT_ASSERT_OK(joined[1]);
    Thread other("leave", [&] { joined[1]->reset(); });
    joined[0]->reset();
    other.Join();
  }
}

TEST(CollectiveServiceTest, ARankJoinsOnce) {
  Task a(0), b(1);
  const std::vector<GroupMember> members = {a.member, b.member};
  std::vector<Joined> joined = JoinBoth(a, b, members, members);
  COHORT_ASSERT_OK(joined[0]);
  EXPECT_THAT(a.Join(members, 0), StatusIs(absl::StatusCode::kAlreadyExists));
}

TEST(CollectiveServiceTest, AbortGroupEndsAJoinThatWaits) {
  Task a(0), b(1);
  Mutex mu;
  Joined joined;
  bool done = false;
  Thread join("join", [&] {
    Joined result = a.Join({a.member, b.member}, 0);
    MutexLock lock(&mu);
    joined = std::move(result);
    done = true;
  });
  const absl::Time deadline = absl::Now() + absl::Seconds(10);
  bool ended = false;
  while (!ended && absl::Now() < deadline) {  // nothing to abort until the Join has begun
    a.service->AbortGroup({1, 1, 0}, absl::CancelledError("never mind"));
    MutexLock lock(&mu);
    ended = mu.AwaitWithDeadline([&] { return done; }, absl::Now() + absl::Milliseconds(1));
  }
  join.Join();
  EXPECT_THAT(joined, StatusIs(absl::StatusCode::kCancelled, HasSubstr("never mind")));
}

TEST(CollectiveServiceTest, AServerThatStopsIsAPeerThatIsGone) {
  Task a(0), b(1);
  const std::vector<GroupMember> members = {a.member, b.member};
  std::vector<Joined> joined = JoinBoth(a, b, members, members);
  COHORT_ASSERT_OK(joined[0]);
  Thread stop("stop", [&] { b.server->Stop(absl::Now()); });
  const absl::Status status = (*joined[0])->Barrier(Call("b"));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable, HasSubstr("/job:worker/task:1 at 127.0.0.1:")));
  EXPECT_EQ(GetFirstCause(status)->task, b.member.task);
  stop.Join();
}

TEST(CollectiveServiceTest, SeveralRanksOfOneTask) {
  Task a(0), b(1);
  const std::vector<GroupMember> members = {a.member, a.member, b.member};
  std::vector<Joined> joined(3);
  std::vector<Thread> threads;
  for (int r = 0; r < 3; ++r) {
    threads.emplace_back("rank", [&, r] {
      joined[r] = (r < 2 ? a : b).Join(members, r);
      COHORT_ASSERT_OK(joined[r]);
      std::vector<float> values = {static_cast<float>(r)};
      COHORT_EXPECT_OK((*joined[r])->AllReduce(Span(values), ReduceOp::kSum, Call("g")));
      EXPECT_EQ(values[0], 3.0f);
    });
  }
  for (Thread& thread : threads) thread.Join();
  threads.clear();
  for (int r = 0; r < 3; ++r) threads.emplace_back("leave", [&, r] { joined[r]->reset(); });
  for (Thread& thread : threads) thread.Join();
}

}  // namespace
}  // namespace cohort::testing
