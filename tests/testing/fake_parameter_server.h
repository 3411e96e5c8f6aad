#ifndef COHORT_TESTS_TESTING_FAKE_PARAMETER_SERVER_H_
#define COHORT_TESTS_TESTING_FAKE_PARAMETER_SERVER_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/mutex.h"
#include "runtime/driver/ps_link.h"
#include "runtime/variable/parameter_server.h"

namespace cohort::testing {

// A ps that keeps what it is told and computes nothing: a push becomes the variable's value.
class FakeParameterServer final : public PsLink, public ParameterServer {
 public:
  explicit FakeParameterServer(TaskAddress self) : self_(std::move(self)) {}

  struct Pushed {
    uint64_t session = 0;
    TaskId worker;
    ParameterClient::Update update;
    std::vector<std::string> variables;
  };

  const TaskAddress& task() const override { return self_; }
  void OpenSession(const PsSessionSpec& spec, absl::Time, Done<bool> done) override {
    {
      MutexLock lock(&mu_);
      opened_ = spec;
    }
    done(true);
  }
  void Summarize(uint64_t session, absl::Time, Done<PsSummary> done) override {
    PsSummary summary;
    summary.updates = static_cast<int64_t>(session);
    {
      MutexLock lock(&mu_);
      for (const auto& [name, value] : values_) summary.values.emplace_back(name, value);
    }
    done(summary);
  }
  void CloseSession(uint64_t, absl::Status reason, absl::Time, Done<bool> done) override {
    {
      MutexLock lock(&mu_);
      closed_ = std::move(reason);
    }
    done(true);
  }

  absl::StatusOr<std::vector<Tensor>> Pull(uint64_t, absl::Span<const std::string> names) override {
    MutexLock lock(&mu_);
    std::vector<Tensor> values;
    for (const std::string& name : names) {
      if (!values_.contains(name)) return absl::FailedPreconditionError(absl::StrCat("'", name, "' has no value"));
      values.push_back(values_.at(name));
    }
    return values;
  }
  absl::Status Push(uint64_t session, const TaskId& worker, const ParameterClient::Update& update,
                    absl::Span<const Gradient> gradients) override {
    MutexLock lock(&mu_);
    Pushed& pushed = pushes_.emplace_back();
    pushed.session = session;
    pushed.worker = worker;
    pushed.update = update;
    for (const Gradient& gradient : gradients) {
      pushed.variables.push_back(gradient.variable);
      values_[gradient.variable] = gradient.value;
    }
    return absl::OkStatus();
  }

  void SetValue(const std::string& name, Tensor value) {
    MutexLock lock(&mu_);
    values_[name] = std::move(value);
  }
  std::vector<Pushed> pushes() const {
    MutexLock lock(&mu_);
    return pushes_;
  }
  PsSessionSpec opened() const {
    MutexLock lock(&mu_);
    return opened_;
  }
  absl::Status closed() const {
    MutexLock lock(&mu_);
    return closed_;
  }

 private:
  const TaskAddress self_;
  mutable Mutex mu_;
  std::map<std::string, Tensor> values_ ABSL_GUARDED_BY(mu_);
  std::vector<Pushed> pushes_ ABSL_GUARDED_BY(mu_);
  PsSessionSpec opened_ ABSL_GUARDED_BY(mu_);
  absl::Status closed_ ABSL_GUARDED_BY(mu_);
};

}  // namespace cohort::testing

#endif  // COHORT_TESTS_TESTING_FAKE_PARAMETER_SERVER_H_
