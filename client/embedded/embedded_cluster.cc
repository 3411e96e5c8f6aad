#include "client/embedded/embedded_cluster.h"

#include <string>
#include <utility>

#include "runtime/base/incarnation.h"
#include "runtime/base/status_macros.h"
#include "runtime/remote/program_bytes.h"
#include "worker/leader.h"
#include "worker/worker.h"

namespace cohort {
namespace {

class EmbeddedCluster final : public JobControl {
 public:
  EmbeddedCluster(TaskAddress self, std::unique_ptr<Worker> worker)
      : worker_(std::move(worker)), leader_(LeaderOf(self), Environment(), Clock::Real()) {}

  absl::StatusOr<int64_t> Submit(const Program& program, const JobOptions& options, absl::Time deadline) override {
    return leader_.Submit(program, options, deadline);
  }
  absl::Status Follow(int64_t job, bool from_now, std::function<bool(const JobEvent&)> event) override {
    return leader_.Follow(job, from_now, std::move(event));
  }
  absl::Status Cancel(int64_t job, absl::Time deadline) override { return leader_.Cancel(job, deadline); }
  absl::StatusOr<std::vector<JobInfo>> Jobs(absl::Time deadline) override { return leader_.Jobs(deadline); }
  absl::Status Logs(int64_t job, bool follow, std::function<bool(const std::string&)> line) override {
    return leader_.Logs(job, follow, std::move(line));
  }
  absl::StatusOr<ClusterStatus> Status(absl::Time deadline) override { return leader_.Status(deadline); }
  absl::StatusOr<std::unique_ptr<ClientSession>> OpenSession(const ClientSessionOptions& options,
                                                             absl::Time deadline) override {
    return leader_.OpenSession(options, deadline);
  }
  absl::Status Shutdown(absl::Time) override { return absl::OkStatus(); }  // it ends with this object

 private:
  static LeaderOptions LeaderOf(const TaskAddress& self) {
    LeaderOptions options;
    options.membership.expected = {{self.task, self.address}};
    options.self.task = self.task;
    options.self.address = self.address;
    options.self.incarnation = self.incarnation;
    options.self.devices = {"CPU:0"};
    return options;
  }

  LeaderEnvironment Environment() {
    LeaderEnvironment environment;
    environment.link_worker = [this](const TaskAddress&) {
      return std::shared_ptr<WorkerLink>(worker_.get(), [](WorkerLink*) {});  // the worker outlives every training
    };
    environment.serialize_program = SerializeProgram;
    environment.parse_program = ParseProgram;
    environment.on_job_end = [](int64_t, const absl::Status&) {};
    environment.on_shutdown = [] {};
    return environment;
  }

  const std::unique_ptr<Worker> worker_;  // before the leader, whose trainings use it
  Leader leader_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<JobControl>> MakeEmbeddedCluster(const EmbeddedOptions& options) {
  const TaskAddress self{{"worker", 0}, "in-process", NewIncarnation()};
  SessionEnvironment environment;
  environment.self = self;
  environment.join_group = [](const SessionSpec&, absl::Time) -> absl::StatusOr<std::unique_ptr<Communicator>> {
    return absl::InternalError("a group of several replicas in a cluster of one");
  };
  environment.abort_group = [](const SessionSpec&, const absl::Status&) {};
  environment.connect_parameter_servers = [](const SessionSpec&) -> absl::StatusOr<std::unique_ptr<ParameterClient>> {
    return absl::InternalError("parameter servers in a cluster of one worker");
  };
  COHORT_ASSIGN_OR_RETURN(std::unique_ptr<Worker> worker,
                          Worker::Create(std::move(environment), {.threads = options.threads, .chaos = {}}));
  return std::make_unique<EmbeddedCluster>(self, std::move(worker));
}

}  // namespace cohort
