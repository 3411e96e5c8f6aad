#ifndef COHORT_TESTS_TESTING_FAKE_WORKER_H_
#define COHORT_TESTS_TESTING_FAKE_WORKER_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/mutex.h"
#include "runtime/base/thread_pool.h"
#include "runtime/driver/worker_link.h"

namespace cohort::testing {

// A worker that does what the test says: each call is noted, and answered on a thread of its own by the function of its
// name, or with a default value. Set the functions before the first call. Passes worker_link_test's contract.
class FakeWorker final : public WorkerLink {
 public:
  using Report = std::function<void(StepReport)>;

  explicit FakeWorker(TaskAddress self) : self_(std::move(self)), pool_("fake-worker", 2) {}

  std::function<absl::StatusOr<OpenedSession>(const SessionSpec&)> on_open;
  std::function<absl::StatusOr<bool>(uint64_t session)> on_initialize;
  std::function<absl::StatusOr<RunResult>(uint64_t session, const RunSpec&, const Report&)> on_run;
  std::function<absl::StatusOr<WorkerSummary>(uint64_t session)> on_summarize;
  std::function<absl::StatusOr<bool>(uint64_t session, const absl::Status& reason)> on_close;

  const TaskAddress& task() const override { return self_; }

  void OpenSession(const SessionSpec& spec, absl::Time, Done<OpenedSession> done) override {
    Note(absl::StrCat("open ", spec.session));
    pool_.Post([this, spec, done = std::move(done)] { done(on_open ? on_open(spec) : OpenedSession()); });
  }
  void InitializeVariables(uint64_t session, absl::Time, Done<bool> done) override {
    Note(absl::StrCat("initialize ", session));
    pool_.Post([=, this] { done(on_initialize ? on_initialize(session) : true); });
  }
  void Run(uint64_t session, const RunSpec& run, Report report, Done<RunResult> done) override {
    Note(absl::StrCat("run ", session));
    pool_.Post([=, this] { done(on_run ? on_run(session, run, report) : RunResult()); });
  }
  void RequestStop(uint64_t session, absl::Time, Done<bool> done) override {
    Note(absl::StrCat("stop ", session));
    pool_.Post([done = std::move(done)] { done(true); });
  }
  void Summarize(uint64_t session, absl::Time, Done<WorkerSummary> done) override {
    Note(absl::StrCat("summarize ", session));
    pool_.Post([=, this] {
      WorkerSummary summary;
      summary.task = self_.task;
      done(on_summarize ? on_summarize(session) : summary);
    });
  }
  void CloseSession(uint64_t session, absl::Status reason, absl::Time, Done<bool> done) override {
    Note(absl::StrCat("close ", session));
    pool_.Post([=, this] { done(on_close ? on_close(session, reason) : true); });
  }

  // "open 7", "run 7", ... in the order in which they came.
  std::vector<std::string> calls() const {
    MutexLock lock(&mu_);
    return calls_;
  }

 private:
  void Note(std::string call) {
    MutexLock lock(&mu_);
    calls_.push_back(std::move(call));
  }

  const TaskAddress self_;
  mutable Mutex mu_;
  std::vector<std::string> calls_ ABSL_GUARDED_BY(mu_);
  ThreadPool pool_;
};

}  // namespace cohort::testing

#endif  // COHORT_TESTS_TESTING_FAKE_WORKER_H_
