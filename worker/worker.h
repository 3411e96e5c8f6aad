#ifndef COHORT_WORKER_WORKER_H_
#define COHORT_WORKER_WORKER_H_

#include <atomic>
#include <map>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "runtime/base/mutex.h"
#include "runtime/base/thread_pool.h"
#include "runtime/driver/worker_link.h"
#include "worker/session.h"

namespace cohort {

struct WorkerOptions {
  int threads = 1;  // that compute in each session, its own included
  Chaos chaos;
};

// Everything a worker task does for its sessions: the whole daemon but for the socket. The in-process WorkerLink; the
// gRPC service calls the same methods. Calls return at once; each session has one thread on which its work runs in
// order. Safe from any thread.
class Worker final : public WorkerLink {
 public:
  // `environment` brings self and the two factories; threads and chaos come with the options.
  static absl::StatusOr<std::unique_ptr<Worker>> Create(SessionEnvironment environment, WorkerOptions options);
  ~Worker() override;  // ends all sessions

  const TaskAddress& task() const override { return environment_.self; }
  void OpenSession(const SessionSpec& spec, absl::Time deadline, Done<OpenedSession> done) override;
  void InitializeVariables(uint64_t session, absl::Time deadline, Done<bool> done) override;
  void Run(uint64_t session, const RunSpec& run, std::function<void(StepReport)> report, Done<RunResult> done) override;
  void RequestStop(uint64_t session, absl::Time deadline, Done<bool> done) override;
  void Summarize(uint64_t session, absl::Time deadline, Done<WorkerSummary> done) override;
  void CloseSession(uint64_t session, absl::Status reason, absl::Time deadline, Done<bool> done) override;

  // Sessions of older epochs than the cluster's are refused from now on (Aborted); those that are open go on.
  void SetEpoch(int64_t epoch);
  // Ends every session with `reason` (the leader was lost, shutdown), or those that `task` takes part in. Do not wait.
  void CloseAllSessions(const absl::Status& reason);
  void CloseSessionsWith(const TaskId& task, const absl::Status& reason);
  // This process is to end: every session stops after a step of its group, new ones are refused (Unavailable).
  // WaitIdle: whether no session is left at the deadline.
  void Leave();
  bool WaitIdle(absl::Time deadline);
  int64_t last_step() const { return last_step_; }    // of any session
  int64_t bytes_sent() const { return bytes_sent_; }  // of all sessions
  size_t session_count() const;

 private:
  struct Entry;  // a session and its thread

  Worker(SessionEnvironment environment, WorkerOptions options);
  std::shared_ptr<Entry> Find(uint64_t session) const;
  absl::Status Add(const std::shared_ptr<Entry>& entry);
  void CloseSessionsIf(absl::FunctionRef<bool(const SessionSpec&)> condition, const absl::Status& reason);
  absl::Status NoSession(uint64_t session) const;
  // Runs `work` on the session's thread and answers what it returns; NotFound without such a session.
  template <typename T, typename Work>
  void Post(uint64_t session, Done<T> done, Work work);
  // On the session's thread.
  absl::StatusOr<OpenedSession> Open(Entry& entry, absl::Time deadline);
  // Ends what runs, then frees the session on its own thread and joins that on the reaper's.
  void Close(const std::shared_ptr<Entry>& entry, const absl::Status& reason, Done<bool> done);

  const WorkerOptions options_;
  SessionEnvironment environment_;
  std::atomic<int64_t> last_step_ = 0;
  std::atomic<int64_t> bytes_sent_ = 0;

  mutable Mutex mu_;
  int64_t epoch_ ABSL_GUARDED_BY(mu_) = 0;
  bool leaving_ ABSL_GUARDED_BY(mu_) = false;
  std::map<uint64_t, std::shared_ptr<Entry>> sessions_ ABSL_GUARDED_BY(mu_);
  // Joins the threads of closed sessions: a session's thread cannot join itself. Last, so that it is destroyed first.
  ThreadPool reaper_;
};

}  // namespace cohort

#endif  // COHORT_WORKER_WORKER_H_
