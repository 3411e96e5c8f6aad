#ifndef COHORT_WORKER_JOB_RUN_H_
#define COHORT_WORKER_JOB_RUN_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/base/mutex.h"
#include "runtime/driver/job_control.h"
#include "runtime/driver/training.h"

namespace cohort {

// One job of this leader, from its submission on: the events that its followers read, each at its own pace, and the
// hold on its training while that runs. Safe from any thread.
class JobRun {
 public:
  JobRun(int64_t id, bool detached, absl::Time now) : id_(id), detached_(detached), followed_until_(now) {}

  int64_t id() const { return id_; }

  void Append(JobEvent event);
  // The last event of all; `status` is the job's own. Once; later calls are ignored.
  void End(JobEvent event, absl::Status status);

  // Event number `index` (from 0), once there is one. nullopt at the deadline, or if there will be none.
  std::optional<JobEvent> Next(size_t index, absl::Time deadline);
  size_t event_count() const;
  // nullopt while the job lives.
  std::optional<absl::Status> ended() const;
  bool WaitEnded(absl::Time deadline) const;

  void AddFollower();
  void RemoveFollower(absl::Time now);
  // Whether nobody has followed an attached job for longer than `lease`, and it is not asked to stop yet.
  bool Abandoned(absl::Time now, absl::Duration lease) const;

  // What Stop and Abort act on; null once it has ended: nobody uses it any more when the call returns. What came before
  // is passed on at once.
  void SetTraining(Training* training);
  // Ends the training after a common step, or, if it has not begun, as soon as it does.
  void Stop(absl::Time now);
  // Ends the training at once, or, if it has not begun, as soon as it does. The first reason wins.
  void Abort(const absl::Status& reason);
  // Why what the job waits for before its training is to be given up: Abort's reason, Cancelled after Stop, or ok.
  absl::Status interrupted() const;
  // Whether it was asked to stop before `time` and has not ended.
  bool StoppingSince(absl::Time time) const;

 private:
  // The training, to be called without the lock (its links may answer within the call), and given back by Leave.
  Training* Enter() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Leave();

  const int64_t id_;
  const bool detached_;
  mutable Mutex mu_;
  std::vector<JobEvent> events_ ABSL_GUARDED_BY(mu_);
  std::optional<absl::Status> ended_ ABSL_GUARDED_BY(mu_);
  int followers_ ABSL_GUARDED_BY(mu_) = 0;
  absl::Time followed_until_ ABSL_GUARDED_BY(mu_);
  Training* training_ ABSL_GUARDED_BY(mu_) = nullptr;
  int calls_ ABSL_GUARDED_BY(mu_) = 0;  // into the training
  absl::Time stop_requested_ ABSL_GUARDED_BY(mu_) = absl::InfiniteFuture();
  absl::Status aborted_ ABSL_GUARDED_BY(mu_);
};

}  // namespace cohort

#endif  // COHORT_WORKER_JOB_RUN_H_
