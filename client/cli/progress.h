#ifndef COHORT_CLIENT_CLI_PROGRESS_H_
#define COHORT_CLIENT_CLI_PROGRESS_H_

#include <cstdio>
#include <string>

#include "absl/time/time.h"
#include "runtime/driver/job_control.h"

namespace cohort {

// Shows how a job goes on: on a terminal one line that is drawn again (step, loss, examples/s, time left), elsewhere a
// plain line every few seconds. Used by one thread.
class Progress {
 public:
  // `out` is not closed.
  Progress(std::FILE* out, bool terminal) : out_(out), terminal_(terminal) {}
  ~Progress() { EndLine(); }

  void Show(const JobEvent& event);

 private:
  void ShowReport(const JobEvent& event);
  void Line(const std::string& text);
  void Redraw(const std::string& text);
  void EndLine();

  std::FILE* const out_;
  const bool terminal_;
  bool drawn_ = false;  // a line without its end
  JobState state_ = JobState::kDone;
  std::string waits_for_;
  StepSums since_;      // since the last plain line
  double seconds_ = 0;  // likewise
  double rate_ = 0;     // steps a second, smoothed
  absl::Time next_line_ = absl::InfinitePast();
};

// The table that ends a training: steps, examples, loss, accuracy, speed, checksums, a line for each worker.
std::string ResultTable(const JobResult& result);

}  // namespace cohort

#endif  // COHORT_CLIENT_CLI_PROGRESS_H_
