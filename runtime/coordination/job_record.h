#ifndef COHORT_RUNTIME_COORDINATION_JOB_RECORD_H_
#define COHORT_RUNTIME_COORDINATION_JOB_RECORD_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace cohort {

enum class JobState { kQueued, kRunning, kDone, kFailed, kCancelled };

// "queued", "running", "done", "failed", "cancelled".
absl::string_view JobStateName(JobState state);

inline bool HasEnded(JobState state) { return state != JobState::kQueued && state != JobState::kRunning; }

// Where a running job is; from the leader's own step header, summed over all workers.
struct JobProgress {
  int64_t step = 0;
  int64_t steps_total = 0;  // 0: not known
  int64_t examples = 0;
  double loss = 0;  // mean over the examples since the last report
  double examples_per_second = 0;

  friend bool operator==(const JobProgress&, const JobProgress&) = default;
};

// One job as the leader and the members keep it. Program and options never change.
struct JobRecord {
  int64_t id = 0;  // from 1, in the order of submission; goes on above the highest known id when a leader restarts
  std::string name;
  std::string program_bytes;  // the Program's file form, opaque here; freed when the job has ended
  std::map<std::string, std::string> options;
  bool synchronous = true;  // takes its turn in the AdmissionQueue
  JobState state = JobState::kQueued;
  absl::Status result;      // of a failed or cancelled job: the first cause, with its FirstCause payload
  std::string result_json;  // of a done job
  std::string behind;       // while queued: who goes first
  absl::Time submitted = absl::InfinitePast();
  absl::Time started = absl::InfinitePast();  // InfinitePast: not yet
  absl::Time ended = absl::InfinitePast();
  JobProgress progress;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_COORDINATION_JOB_RECORD_H_
