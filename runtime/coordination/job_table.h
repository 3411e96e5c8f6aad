#ifndef COHORT_RUNTIME_COORDINATION_JOB_TABLE_H_
#define COHORT_RUNTIME_COORDINATION_JOB_TABLE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"
#include "runtime/coordination/admission_queue.h"
#include "runtime/coordination/callback_queue.h"
#include "runtime/coordination/job_record.h"

namespace cohort {

struct JobRequest {
  std::string name;
  std::string program_bytes;
  std::map<std::string, std::string> options;
  bool synchronous = true;                         // false: runs beside others, without waiting
  absl::Duration wait = absl::InfiniteDuration();  // for its turn; zero: now or not at all
};

// What the table tells the job runner; without locks, in order, one call at a time. Must not block.
struct JobHooks {
  std::function<void(const JobRecord&)> start;  // its turn has come; the record holds the program
  std::function<void(int64_t id)> cancel;       // a running job is to stop; Finish follows
};

// The leader's jobs, from submission to result. Safe from any thread.
//   queued -> running -> done | failed | cancelled      queued -> cancelled | failed (its wait is over)
// Jobs that have ended stay listed (the last 1,000), without their programs.
class JobTable {
 public:
  using Watcher = std::function<void(const JobRecord&)>;

  // `admission` and `clock` outlive this.
  JobTable(JobHooks hooks, AdmissionQueue& admission, const Clock& clock);

  // Queues a job and answers its id; `hooks.start` follows, at once if nobody holds the cluster.
  //   ResourceExhausted: `wait` is zero and somebody does; names who.   The reason of AdmissionQueue::Close.
  absl::StatusOr<int64_t> Submit(JobRequest request);

  // Ends a queued job at once; asks a running one to stop. Cancelling twice is fine.
  //   NotFound: unknown id.  FailedPrecondition: done or failed already.
  absl::Status Cancel(int64_t id, absl::string_view reason);

  // For the job runner: how a running job ended, after everything it held on the tasks was freed; lets the next one in.
  // ok: done. Cancelled, after Cancel: cancelled. Otherwise failed. Ignored unless `id` is running.
  void Finish(int64_t id, absl::Status result, std::string result_json);

  // Ignored unless `id` is running.
  void SetProgress(int64_t id, const JobProgress& progress);

  // Takes over what a member knows of jobs of an earlier leader; ids given later are above all of them. Queued ones
  // queue again. Running ones have failed with Unavailable, since they died with their leader, unless a member knows
  // better. Ids of this leader's own jobs are ignored. Restore before the first Submit.
  void Restore(std::vector<JobRecord> known);

  // NotFound: unknown id. List is ascending by id and without programs.
  absl::StatusOr<JobRecord> Get(int64_t id) const;
  std::vector<JobRecord> List() const;

  // Calls `watcher` with the job's record (without its program) now and after each change, until it has ended or
  // Unwatch(the returned id). A call that has begun may end after Unwatch returns. NotFound: unknown id.
  absl::StatusOr<int64_t> Watch(int64_t id, Watcher watcher);
  void Unwatch(int64_t watch);

 private:
  struct Job {
    JobRecord record;
    int64_t ticket = 0;
    bool cancel_requested = false;
    std::string cancel_reason;
    bool own = true;           // submitted to this leader, not restored
    bool end_is_known = true;  // false: restored as running, so its end is inferred
    std::map<int64_t, Watcher> watchers;
  };

  absl::Status Enqueue(int64_t id, absl::Duration wait);
  void OnTurn(int64_t id, const absl::Status& status);
  void Start(Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void End(Job& job, JobState state, absl::Status result) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RestoreOne(JobRecord record, std::vector<int64_t>& queued) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ForgetOldest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Notify(Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  JobRecord View(const Job& job) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const JobHooks hooks_;
  AdmissionQueue& admission_;
  const Clock& clock_;
  CallbackQueue callbacks_;
  mutable Mutex mu_;  // before admission_'s lock
  std::map<int64_t, Job> jobs_ ABSL_GUARDED_BY(mu_);
  int64_t next_id_ ABSL_GUARDED_BY(mu_) = 1;
  int64_t next_watch_ ABSL_GUARDED_BY(mu_) = 1;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_COORDINATION_JOB_TABLE_H_
