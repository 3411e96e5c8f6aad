#ifndef COHORT_TESTS_TESTING_FAKE_JOB_CONTROL_H_
#define COHORT_TESTS_TESTING_FAKE_JOB_CONTROL_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/driver/job_control.h"

namespace cohort::testing {

// A leader's jobs that do what the test says: each call is answered by the function of its name, or with a default
// value. Set the functions before the first call.
class FakeJobControl final : public JobControl {
 public:
  using Event = std::function<bool(const JobEvent&)>;
  using Line = std::function<bool(const std::string&)>;

  std::function<absl::StatusOr<int64_t>(const Program&, const JobOptions&)> on_submit;
  std::function<absl::Status(int64_t job, bool from_now, const Event&)> on_follow;
  std::function<absl::Status(int64_t job)> on_cancel;
  std::function<absl::StatusOr<std::vector<JobInfo>>()> on_jobs;
  std::function<absl::Status(int64_t job, bool follow, const Line&)> on_logs;
  std::function<absl::StatusOr<ClusterStatus>()> on_status;
  std::function<absl::Status()> on_shutdown;

  absl::StatusOr<int64_t> Submit(const Program& program, const JobOptions& options, absl::Time) override {
    return on_submit ? on_submit(program, options) : 1;
  }
  absl::Status Follow(int64_t job, bool from_now, Event event) override {
    return on_follow ? on_follow(job, from_now, event) : absl::OkStatus();
  }
  absl::Status Cancel(int64_t job, absl::Time) override { return on_cancel ? on_cancel(job) : absl::OkStatus(); }
  absl::StatusOr<std::vector<JobInfo>> Jobs(absl::Time) override {
    return on_jobs ? on_jobs() : std::vector<JobInfo>();
  }
  absl::Status Logs(int64_t job, bool follow, Line line) override {
    return on_logs ? on_logs(job, follow, line) : absl::OkStatus();
  }
  absl::StatusOr<ClusterStatus> Status(absl::Time) override {
    ClusterStatus status;
    status.leader = {"chief", 0};
    return on_status ? on_status() : status;
  }
  absl::StatusOr<std::unique_ptr<ClientSession>> OpenSession(const ClientSessionOptions&, absl::Time) override {
    return absl::UnimplementedError("sessions are tested with real leaders");
  }
  absl::Status Shutdown(absl::Time) override { return on_shutdown ? on_shutdown() : absl::OkStatus(); }
};

}  // namespace cohort::testing

#endif  // COHORT_TESTS_TESTING_FAKE_JOB_CONTROL_H_
