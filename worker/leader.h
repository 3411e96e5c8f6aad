#ifndef COHORT_WORKER_LEADER_H_
#define COHORT_WORKER_LEADER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"
#include "runtime/base/thread.h"
#include "runtime/base/thread_pool.h"
#include "runtime/coordination/coordination.h"
#include "runtime/driver/job_control.h"
#include "runtime/driver/training.h"
#include "worker/job_run.h"
#include "worker/leader_sessions.h"

namespace cohort {

struct LeaderOptions {
  MembershipOptions membership;
  MemberInfo self;
  absl::Duration start_timeout = absl::Minutes(5);  // a job waits as long for missing tasks
  absl::Duration lease = absl::Seconds(10);
  TrainingTimeouts training;
};

// What the leader takes from the process it lives in. All of it outlives the leader.
struct LeaderEnvironment {
  // The hold on a task of the roster; for the leader's own task the worker in this process.
  std::function<std::shared_ptr<WorkerLink>(const TaskAddress&)> link_worker;
  std::function<std::shared_ptr<PsLink>(const TaskAddress&)> link_parameter_server;
  // A program's file form and back (runtime/remote).
  std::function<std::string(const Program&)> serialize_program;
  std::function<absl::StatusOr<Program>(absl::string_view)> parse_program;
  // A job has ended, and nobody holds anything of it any more; and: a client asked for the cluster's end. From any
  // thread; must not block.
  std::function<void(int64_t job, const absl::Status& status)> on_job_end;
  std::function<void()> on_shutdown;
};

// The task that keeps roster and jobs: coordination's state machine with a clock that ticks, and the runner that trains
// one job after the other. Safe from any thread.
class Leader final : public JobControl {
 public:
  Leader(LeaderOptions options, LeaderEnvironment environment, const Clock& clock);
  ~Leader() override;  // ends what runs

  Coordination& coordination() { return coordination_; }
  LeaderSessions& sessions() { return sessions_; }

  absl::StatusOr<int64_t> Submit(const Program& program, const JobOptions& options, absl::Time deadline) override;
  absl::Status Follow(int64_t job, bool from_now, std::function<bool(const JobEvent&)> event) override;
  absl::Status Cancel(int64_t job, absl::Time deadline) override;
  absl::StatusOr<std::vector<JobInfo>> Jobs(absl::Time deadline) override;
  absl::Status Logs(int64_t job, bool follow, std::function<bool(const std::string&)> line) override;
  absl::StatusOr<ClusterStatus> Status(absl::Time deadline) override;
  absl::StatusOr<std::unique_ptr<ClientSession>> OpenSession(const ClientSessionOptions& options,
                                                             absl::Time deadline) override;
  absl::Status Shutdown(absl::Time deadline) override;

  // No new jobs; those in line end with `reason`, the running one goes on.
  void StopAdmission(const absl::Status& reason);
  // Nor that: it ends with `reason`, and the log with it. Does not wait.
  void Close(const absl::Status& reason);
  // Whether a job runs or waits.
  bool busy() const;
  // Whether none does at the deadline.
  bool WaitIdle(absl::Time deadline);

 private:
  CoordinationOptions MakeCoordinationOptions();
  TaskLinks Links() const { return {environment_.link_worker, environment_.link_parameter_server}; }
  void TickLoop();
  void EndAbandonedJobs(absl::Time now);
  void OnRosterChange(const RosterChange& change);
  void RunJob(const JobRecord& record);
  absl::StatusOr<JobResult> RunTraining(JobRun& run, const JobRecord& record);
  absl::StatusOr<JobResult> RunTrainingOnce(JobRun& run, int64_t job, const Program& program);
  absl::StatusOr<Roster> WaitForTasks(const JobRun& run, const std::vector<TaskId>& tasks);
  void OnTrainingEvent(JobRun& run, const JobEvent& event);
  std::shared_ptr<JobRun> FindOrMakeRun(int64_t job, bool detached);
  std::vector<std::shared_ptr<JobRun>> Runs() const;
  // Ends the run of a job that ended in line (cancelled, the leader closed) or under an earlier leader.
  void EndIfOver(JobRun& run);
  void ForgetOldRuns();  // of jobs that are no longer listed
  void LogJob(int64_t job, const std::string& line);

  const LeaderOptions options_;
  const LeaderEnvironment environment_;
  const Clock& clock_;

  mutable Mutex mu_;
  std::map<int64_t, std::shared_ptr<JobRun>> runs_ ABSL_GUARDED_BY(mu_);
  std::map<TaskId, int64_t> task_jobs_ ABSL_GUARDED_BY(mu_);  // who trains on a task
  absl::Status draining_ ABSL_GUARDED_BY(mu_);                // why no more jobs begin
  absl::Status closed_ ABSL_GUARDED_BY(mu_);
  absl::Time next_startup_report_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();

  Coordination coordination_;
  LeaderSessions sessions_;
  ThreadPool runner_;  // its thread runs one job after the other
  Thread ticker_;
};

}  // namespace cohort

#endif  // COHORT_WORKER_LEADER_H_
