#ifndef COHORT_RUNTIME_DRIVER_JOB_CONTROL_H_
#define COHORT_RUNTIME_DRIVER_JOB_CONTROL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/coordination/job_record.h"
#include "runtime/driver/client_session.h"
#include "runtime/driver/worker_link.h"
#include "runtime/graph/program.h"

namespace cohort {

struct JobOptions {
  std::string name;     // shown in lists; need not be unique
  bool wait = true;     // false: ResourceExhausted if another job or session runs
  bool detach = false;  // false: the job is cancelled when its client is gone for longer than the lease
};

// What a finished job leaves.
struct JobResult {
  int64_t steps = 0;
  int64_t examples = 0;
  double loss = 0;        // mean over the last report
  double accuracy = -1;   // of the last evaluation; -1: none
  int64_t evaluated = 0;  // examples of that evaluation
  double examples_per_second = 0;
  double seconds = 0;  // of training, without start-up and evaluation
  std::string weights_crc32c;
  std::string state_crc32c;
  std::vector<WorkerSummary> workers;
};

struct JobInfo {
  int64_t id = 0;
  std::string name;
  JobState state = JobState::kQueued;
  std::string waits_for;  // "job 3" while queued behind it
  absl::Time submitted, started, ended;
  int64_t step = 0;
  int64_t steps_total = 0;  // 0: unknown
  absl::Status error;       // the first cause, once failed or cancelled
};

// What a follower of a job sees, in order.
struct JobEvent {
  enum class Kind { kState, kReport, kEvaluation, kLog, kEnd } kind = Kind::kState;
  JobInfo info;       // kState, kReport, kEnd
  StepReport report;  // kReport: the leader's
  std::vector<std::string> metric_names;
  double accuracy = 0;   // kEvaluation
  int64_t examples = 0;  // kEvaluation
  std::string line;      // kLog
  JobResult result;      // kEnd of a job that is done
};

struct MemberStatus {
  TaskAddress task;
  bool present = false;
  std::string devices;
  int64_t last_step = 0;
  double last_heartbeat_age_seconds = 0;
  int64_t bytes_sent = 0;
};

struct ClusterStatus {
  int64_t epoch = 0;
  TaskId leader;
  std::vector<MemberStatus> members;  // chief, workers, ps, evaluator, by index
  std::vector<JobInfo> jobs;          // unfinished first, then the newest
};

// What clients ask of the leader. Blocking calls with deadlines, from any thread. Implemented by the leader itself
// (worker/leader) and over gRPC (runtime/remote).
class JobControl {
 public:
  virtual ~JobControl() = default;
  virtual absl::StatusOr<int64_t> Submit(const Program& program, const JobOptions& options, absl::Time deadline) = 0;
  // Calls `event` for everything from the job's start (with `from_now`: from now on) until it ends, or until `event`
  // returns false. A kState event comes at least every second. Returns the job's own status: ok once done. Unavailable:
  // the leader is gone. Followers hold the lease of a job that is not detached.
  virtual absl::Status Follow(int64_t job, bool from_now, std::function<bool(const JobEvent&)> event) = 0;
  virtual absl::Status Cancel(int64_t job, absl::Time deadline) = 0;
  virtual absl::StatusOr<std::vector<JobInfo>> Jobs(absl::Time deadline) = 0;
  // The log lines of one job, or all that the leader has (job 0); follows while `line` returns true. An empty line is
  // none: it comes now and then, so that a caller can stop.
  virtual absl::Status Logs(int64_t job, bool follow, std::function<bool(const std::string&)> line) = 0;
  virtual absl::StatusOr<ClusterStatus> Status(absl::Time deadline) = 0;
  // A session on the cluster's tasks for a client that drives them itself, as soon as its turn has come.
  //   ResourceExhausted: somebody else has the cluster, and options.wait is false.  DeadlineExceeded: likewise, until
  //   the deadline; or tasks are missing. All name who.  InvalidArgument: the strategy needs tasks that are not there.
  virtual absl::StatusOr<std::unique_ptr<ClientSession>> OpenSession(const ClientSessionOptions& options,
                                                                     absl::Time deadline) = 0;
  // Ends every daemon of the cluster with exit 0.
  virtual absl::Status Shutdown(absl::Time deadline) = 0;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_DRIVER_JOB_CONTROL_H_
