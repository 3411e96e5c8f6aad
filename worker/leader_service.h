#ifndef COHORT_WORKER_LEADER_SERVICE_H_
#define COHORT_WORKER_LEADER_SERVICE_H_

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "runtime/driver/job_control.h"
#include "runtime/rpc/call_context.h"
#include "worker/leader_sessions.h"

namespace grpc {
class Service;
}  // namespace grpc

namespace cohort {

// What the service does beside translating.
struct LeaderServiceHooks {
  CallChecker check;                              // each call
  std::function<void(int64_t job)> on_submitted;  // tells the members (MembershipService::PublishJob)
  std::function<void(ClusterStatus&)> complete;   // MembershipService::Complete
  LeaderSessions* sessions = nullptr;             // of attached clients; outlives the service
  int max_followers = 64;                         // of jobs and logs together: each has a thread
};

// The gRPC face of the leader's JobControl: decodes, checks, calls, encodes. Blocking calls run on threads of its own.
class LeaderService {
 public:
  // `jobs` outlives this, this outlives the server.
  LeaderService(JobControl& jobs, LeaderServiceHooks hooks);
  ~LeaderService();

  grpc::Service& service();

  // Whether no follower is left at the deadline: all have been told how what they follow ended.
  bool WaitFollowers(absl::Time deadline) const;
  // Ends all followers: before the server stops, which would wait for them. `reason` is what those whose job goes on
  // are told.
  void Close(const absl::Status& reason);

 private:
  class Service;
  const std::unique_ptr<Service> service_;
};

}  // namespace cohort

#endif  // COHORT_WORKER_LEADER_SERVICE_H_
