#ifndef COHORT_WORKER_MISSING_TASK_PROBE_H_
#define COHORT_WORKER_MISSING_TASK_PROBE_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/base/mutex.h"
#include "runtime/base/thread.h"
#include "runtime/coordination/membership.h"

namespace cohort {

// Dials the tasks that have not joined, from a thread of its own, so that the messages about them can say why: name not
// resolved, connection refused, or up but not joined. Every second until the cluster is complete, and again whenever a
// task is missing.
class MissingTaskProbe {
 public:
  // ok: somebody answers at the address.
  using Dial = std::function<absl::Status(const std::string& address, absl::Time deadline)>;

  // `membership` outlives this.
  MissingTaskProbe(Membership& membership, Dial dial);
  ~MissingTaskProbe();  // waits for a dial under way: a second at most

 private:
  void Loop();

  Membership& membership_;
  const Dial dial_;
  Mutex mu_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  Thread thread_;
};

}  // namespace cohort

#endif  // COHORT_WORKER_MISSING_TASK_PROBE_H_
