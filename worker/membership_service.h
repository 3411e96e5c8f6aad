#ifndef COHORT_WORKER_MEMBERSHIP_SERVICE_H_
#define COHORT_WORKER_MEMBERSHIP_SERVICE_H_

#include <memory>

#include "absl/status/status.h"
#include "runtime/coordination/coordination.h"
#include "runtime/driver/job_control.h"

namespace grpc {
class Service;
}  // namespace grpc

namespace cohort {

// The leader's end of its members' streams, over gRPC: hands joins, heartbeats, goodbyes and broken streams to
// `coordination`, and every change of the roster and every job to all members. Safe from any thread.
class MembershipService {
 public:
  // `coordination` outlives this, this outlives the server.
  explicit MembershipService(Coordination& coordination);
  ~MembershipService();

  grpc::Service& service();

  // Tells all members, now and from now on, about a job of the table, and about each change of its state.
  void PublishJob(int64_t job);
  // Tells all members that the cluster is to end.
  void SendShutdown();
  // Ends all streams, with `reason`, after what was sent to them, and refuses new ones: before the server stops, which
  // would wait for them.
  void Close(const absl::Status& reason);

  // Adds what members reported with their last heartbeats.
  void Complete(ClusterStatus& status) const;

 private:
  class Streams;
  class Stream;
  class Service;
  const std::shared_ptr<Streams> streams_;
  const std::unique_ptr<Service> service_;
};

}  // namespace cohort

#endif  // COHORT_WORKER_MEMBERSHIP_SERVICE_H_
