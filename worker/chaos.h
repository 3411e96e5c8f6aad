#ifndef COHORT_WORKER_CHAOS_H_
#define COHORT_WORKER_CHAOS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/base/task_id.h"

namespace cohort {

// Trouble on purpose, for tests: what `--chaos` asks of a daemon. Off unless asked.
//   kill:/job:worker/task:1@step=7         SIGKILL to itself before its step 7
//   stop:/job:worker/task:1@step=7         SIGSTOP: alive for the kernel, silent for everybody else
//   delay=2s:/job:worker/task:1@step=7     the step begins 2 s late (1 s if no time is given; 1 h at most)
// Several are separated by commas.
class Chaos {
 public:
  struct Event {
    enum class Kind { kKill, kStop, kDelay } kind = Kind::kKill;
    TaskId task;
    int64_t step = 0;
    absl::Duration delay = absl::Seconds(1);
  };

  // InvalidArgument shows the form.
  static absl::StatusOr<Chaos> Parse(absl::string_view text);

  // Does to this process what is due for `self` before `step`.
  void BeforeStep(const TaskId& self, int64_t step) const;
  const std::vector<Event>& events() const { return events_; }

 private:
  std::vector<Event> events_;
};

}  // namespace cohort

#endif  // COHORT_WORKER_CHAOS_H_
