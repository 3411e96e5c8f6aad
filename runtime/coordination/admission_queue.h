#ifndef COHORT_RUNTIME_COORDINATION_ADMISSION_QUEUE_H_
#define COHORT_RUNTIME_COORDINATION_ADMISSION_QUEUE_H_

#include <cstdint>
#include <functional>
#include <list>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/base/clock.h"
#include "runtime/base/mutex.h"
#include "runtime/coordination/callback_queue.h"

namespace cohort {

// Lets one synchronous job or session at a time use the cluster, first come first served. Safe from any thread;
// callbacks run without locks and must not block.
class AdmissionQueue {
 public:
  using Admitted = std::function<void(absl::Status)>;

  explicit AdmissionQueue(const Clock& clock) : clock_(clock) {}

  // A number for Enter and Leave, never given twice.
  int64_t NewTicket();

  // Stands in line under `ticket`; `who` ("job 3 'mlp'") is what those behind are told. Calls `admitted` with ok when
  // its turn has come, or with
  //   ResourceExhausted: still waiting at `deadline`; names who holds the cluster.   the reason given to Close.
  // An error that is known at once (the deadline has passed, closed) is returned and `admitted` is dropped.
  absl::Status Enter(int64_t ticket, std::string who, absl::Time deadline, Admitted admitted);

  // Gives back the turn or the place in line; `admitted` will not be called with ok any more unless that call is
  // already under way. Nothing happens if `ticket` is not in line.
  void Leave(int64_t ticket);

  // Who is directly before `ticket` in line; empty if it has its turn or is not in line.
  std::string Behind(int64_t ticket) const;

  // Ends the waits whose deadline has passed.
  void Tick();

  // Ends all waits with `reason`, and refuses later ones with it. Who has the turn keeps it.
  void Close(absl::Status reason);

 private:
  struct Entry {
    int64_t ticket;
    std::string who;
    absl::Time deadline;
    Admitted admitted;
  };

  absl::Status BusyStatus(absl::string_view who) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Clock& clock_;
  CallbackQueue callbacks_;
  mutable Mutex mu_;
  int64_t next_ticket_ ABSL_GUARDED_BY(mu_) = 1;
  std::list<Entry> line_ ABSL_GUARDED_BY(mu_);  // the first one has the turn
  absl::Status closed_ ABSL_GUARDED_BY(mu_);
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_COORDINATION_ADMISSION_QUEUE_H_
