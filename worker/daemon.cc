#include "worker/daemon.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "runtime/base/cpu_count.h"
#include "runtime/base/exit_code.h"
#include "runtime/base/log.h"
#include "runtime/base/signals.h"
#include "runtime/base/status_macros.h"
#include "runtime/collective/grpc/collective_service.h"
#include "runtime/daemon/daemon_state.h"
#include "runtime/daemon/identity.h"
#include "runtime/remote/cluster_service.h"
#include "runtime/remote/job_control.h"
#include "runtime/remote/member.h"
#include "runtime/remote/parameter_client.h"
#include "runtime/remote/program_bytes.h"
#include "runtime/remote/ps_link.h"
#include "runtime/remote/worker_link.h"
#include "runtime/rpc/server.h"
#include "worker/leader.h"
#include "worker/leader_service.h"
#include "worker/membership_service.h"
#include "worker/missing_task_probe.h"
#include "worker/worker.h"
#include "worker/worker_service.h"

namespace cohort {
namespace {

GroupSpec ToGroupSpec(const SessionSpec& session) {
  GroupSpec group;
  group.id = {session.session, session.epoch, 0};
  for (const TaskAddress& member : session.group)
    group.members.push_back({member.task, member.address, member.incarnation});
  group.rank = session.rank;
  return group;
}

constexpr absl::Duration kLastWords = absl::Seconds(2);  // for followers to hear how their job ended

// What leads a cluster, in the leader's own process.
struct Leadership {
  std::unique_ptr<Leader> leader;
  std::unique_ptr<MembershipService> members;
  std::unique_ptr<LeaderService> clients;
  std::unique_ptr<MissingTaskProbe> probe;
};

class WorkerDaemon {
 public:
  WorkerDaemon(const DaemonOptions& options, Identity identity)
      : options_(options),
        identity_(std::move(identity)),
        self_{identity_.self, identity_.address, identity_.incarnation} {}

  // Listens, and joins or leads.
  absl::Status Start();
  // Until every task is there, or the daemon is to stop.
  void Form();
  // Until it is told to stop; then lets work under way end. Returns the exit code.
  int Serve();

 private:
  absl::Status MakeWorker();
  void Lead();
  absl::Status Listen();
  void Join();
  LeaderOptions MakeLeaderOptions() const;
  LeaderEnvironment MakeLeaderEnvironment();
  bool Busy() const;
  void Drain(const StopReason& reason, absl::Time deadline);
  LinkOptions links() const { return {self_.task, self_.incarnation}; }

  const DaemonOptions options_;
  const Identity identity_;
  const TaskAddress self_;
  const absl::Time start_ = absl::Now();
  DaemonState state_;
  std::unique_ptr<SignalWaiter> signals_;
  // Each outlives what stands below it.
  std::unique_ptr<CollectiveService> collectives_;
  std::unique_ptr<Worker> worker_;
  Leadership leading_;  // empty on other tasks
  ServicePtr worker_service_;
  ServicePtr cluster_service_;
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<Member> membership_;  // null on the leader
};

absl::Status WorkerDaemon::Start() {
  COHORT_ASSIGN_OR_RETURN(signals_, SignalWaiter::Start([this](int) { state_.Stop({StopReason::Kind::kSignal, {}}); }));
  COHORT_RETURN_IF_ERROR(MakeWorker());
  if (identity_.leads()) Lead();
  COHORT_RETURN_IF_ERROR(Listen());
  if (!identity_.leads()) Join();
  return absl::OkStatus();
}

absl::Status WorkerDaemon::MakeWorker() {
  collectives_ = CollectiveService::Create({self_.task, self_.address, self_.incarnation});
  SessionEnvironment environment;
  environment.self = self_;
  environment.join_group = [this](const SessionSpec& session, absl::Time deadline) {
    return collectives_->Join(ToGroupSpec(session), deadline);
  };
  environment.abort_group = [this](const SessionSpec& session, const absl::Status& reason) {
    collectives_->AbortGroup(ToGroupSpec(session).id, reason);
  };
  environment.connect_parameter_servers =
      [this](const SessionSpec& session) -> absl::StatusOr<std::unique_ptr<ParameterClient>> {
    return ConnectParameters(session, links());
  };
  WorkerOptions worker;
  worker.threads = options_.threads > 0 ? options_.threads : UsableCpuCount();
  COHORT_ASSIGN_OR_RETURN(worker.chaos, Chaos::Parse(options_.chaos));
  COHORT_ASSIGN_OR_RETURN(worker_, Worker::Create(std::move(environment), std::move(worker)));
  return absl::OkStatus();
}

void WorkerDaemon::Lead() {
  leading_.leader = std::make_unique<Leader>(MakeLeaderOptions(), MakeLeaderEnvironment(), Clock::Real());
  Coordination& coordination = leading_.leader->coordination();
  leading_.members = std::make_unique<MembershipService>(coordination);
  LeaderServiceHooks hooks;
  hooks.check = [this](const CallContext& call) { return CheckCallee(call, self_.task, self_.incarnation); };
  hooks.on_submitted = [this](int64_t job) { leading_.members->PublishJob(job); };
  hooks.complete = [this](ClusterStatus& status) {
    leading_.members->Complete(status);
    for (MemberStatus& member : status.members) {
      if (member.task.task != self_.task) continue;
      member.last_step = worker_->last_step();
      member.bytes_sent = worker_->bytes_sent();
    }
  };
  hooks.sessions = &leading_.leader->sessions();
  leading_.clients = std::make_unique<LeaderService>(*leading_.leader, std::move(hooks));
  const auto on_roster = [this](const Roster& roster) {
    worker_->SetEpoch(roster.epoch);
    ShowRoster(roster, state_);
  };
  coordination.membership().Watch([this, on_roster](const RosterChange& change) {
    on_roster(change.roster);
    for (const MemberLoss& loss : change.losses) worker_->CloseSessionsWith(loss.task, loss.status);
  });
  on_roster(coordination.membership().GetRoster());
  leading_.probe = std::make_unique<MissingTaskProbe>(
      coordination.membership(), [this](const std::string& address, absl::Time deadline) {
        return ConnectCluster(address, deadline, {self_.task, self_.incarnation, absl::ZeroDuration()}).status();
      });
}

LeaderOptions WorkerDaemon::MakeLeaderOptions() const {
  LeaderOptions leader;
  for (const TaskId& task : identity_.config.cluster.tasks()) {
    const bool required = task.job != "evaluator";
    leader.membership.expected.push_back({task, *identity_.config.cluster.task_address(task), required});
  }
  leader.membership.heartbeat = options_.heartbeat;
  leader.membership.peer_lost = options_.peer_lost;
  leader.membership.disconnect_grace = options_.peer_lost * 3 / 5;
  leader.self = MakeMemberInfo(identity_);
  leader.start_timeout = options_.start_timeout;
  leader.lease = options_.lease;
  leader.training.collective = options_.collective_timeout;
  leader.training.drain = options_.drain;
  return leader;
}

LeaderEnvironment WorkerDaemon::MakeLeaderEnvironment() {
  LeaderEnvironment environment;
  environment.link_worker = [this](const TaskAddress& task) {
    if (task.task != self_.task) return std::shared_ptr<WorkerLink>(ConnectWorker(task, links()));
    return std::shared_ptr<WorkerLink>(worker_.get(), [](WorkerLink*) {});  // outlives every training
  };
  environment.link_parameter_server = [this](const TaskAddress& task) {
    return std::shared_ptr<PsLink>(ConnectParameterServer(task, links()));
  };
  environment.serialize_program = SerializeProgram;
  environment.parse_program = ParseProgram;
  environment.on_job_end = [this](int64_t, const absl::Status& status) {
    if (options_.end_with_job) state_.Stop({StopReason::Kind::kJobEnded, status});
  };
  environment.on_shutdown = [this] {
    leading_.members->SendShutdown();
    state_.Stop({StopReason::Kind::kShutdown, {}});
  };
  return environment;
}

absl::Status WorkerDaemon::Listen() {
  const CallChecker check = [this](const CallContext& call) {
    return CheckCallee(call, self_.task, self_.incarnation);
  };
  worker_service_ = MakeWorkerService(*worker_, check);
  cluster_service_ = MakeClusterService(self_, [this] {
    return identity_.leads() ? self_ : TaskAddress{identity_.leader, identity_.leader_address, 0};
  });
  RpcServerOptions server;
  server.listen_address = identity_.listen.ToString();
  server.services = {worker_service_.get(), cluster_service_.get(), collectives_->service()};
  if (identity_.leads()) {
    server.services.push_back(&leading_.members->service());
    server.services.push_back(&leading_.clients->service());
  }
  COHORT_ASSIGN_OR_RETURN(server_, RpcServer::Start(server));
  LogInfo("daemon", absl::StrCat("listens on ", server_->address(), ": ", identity_.listen.reason));
  return absl::OkStatus();
}

void WorkerDaemon::Join() {
  MemberHooks hooks;
  hooks.report = [this] { return MemberReport{worker_->last_step(), worker_->bytes_sent()}; };
  hooks.on_roster = [this](const Roster& roster) { worker_->SetEpoch(roster.epoch); };
  hooks.on_loss = [this](const MemberLoss& loss) { worker_->CloseSessionsWith(loss.task, loss.status); };
  hooks.on_leader_lost = [this](const absl::Status& lost) { worker_->CloseAllSessions(lost); };
  membership_ = std::make_unique<Member>(identity_, options_, state_, std::move(hooks));
}

void WorkerDaemon::Form() {
  if (leading_.leader != nullptr) {
    // A task with another configuration ends the start for all.
    const auto refused = [this](const absl::StatusOr<Roster>& roster) {
      if (absl::IsFailedPrecondition(roster.status())) state_.Stop({StopReason::Kind::kRefused, roster.status()});
    };
    leading_.leader->coordination().membership().WhenComplete(absl::InfiniteFuture(), refused);
  }
  WaitFormed(state_, identity_.leads(), start_, options_.start_timeout, [this] {
    if (membership_ != nullptr) return membership_->NotFormed();
    return absl::DeadlineExceededError(leading_.leader->coordination().membership().StartupReport());
  });
  if (state_.formed()) {
    LogInfo("daemon", absl::StrCat("ready: ", identity_.config.cluster.tasks().size(), " tasks, leader ",
                                   identity_.leader.ToString(), identity_.leads() ? " (this one)" : ""));
  }
}

bool WorkerDaemon::Busy() const {
  return worker_->session_count() > 0 || (leading_.leader != nullptr && leading_.leader->busy());
}

int WorkerDaemon::Serve() {
  const StopReason reason = state_.WaitStop();
  const bool busy = Busy();
  const std::string why = absl::StrCat("stops: ", ToString(reason));
  reason.kind == StopReason::Kind::kRefused ? LogError("daemon", why) : LogInfo("daemon", why);
  const absl::Time deadline = absl::Now() + options_.drain;
  server_->SetNotServing();
  Drain(reason, deadline);
  return ExitCodeOf(reason, busy);
}

void WorkerDaemon::Drain(const StopReason& reason, absl::Time deadline) {
  absl::Status ended = absl::UnavailableError(absl::StrCat(self_.task.ToString(), " ends: ", ToString(reason)));
  if (reason.kind == StopReason::Kind::kRefused) ended = reason.status;  // that others are told the same
  if (leading_.leader != nullptr) leading_.leader->StopAdmission(ended);
  // Who has work under way ends it at a common step, if it is asked in time.
  if (reason.kind == StopReason::Kind::kSignal) {
    worker_->Leave();
    worker_->WaitIdle(deadline);
    if (leading_.leader != nullptr) leading_.leader->WaitIdle(deadline);
  }
  if (leading_.leader != nullptr) {
    leading_.leader->Close(ended);
    const absl::Time soon = std::min(deadline, absl::Now() + kLastWords);
    leading_.leader->WaitIdle(soon);
    leading_.clients->WaitFollowers(soon);
    leading_.clients->Close(ended);
    leading_.members->Close(ended);
  }
  worker_->CloseAllSessions(ended);
  if (membership_ != nullptr) membership_->Leave(ToString(reason), deadline);
  server_->Stop(std::min(deadline, absl::Now() + absl::Seconds(2)));
}

absl::Status RunDaemon(const DaemonOptions& options, int& exit_code) {
  COHORT_ASSIGN_OR_RETURN(Identity identity, Identify(options));
  WorkerDaemon daemon(options, std::move(identity));
  COHORT_RETURN_IF_ERROR(daemon.Start());
  daemon.Form();
  exit_code = daemon.Serve();
  return absl::OkStatus();
}

}  // namespace

int RunWorkerDaemon(const DaemonOptions& options) {
  int exit_code = kExitOk;
  const absl::Status status = RunDaemon(options, exit_code);
  if (status.ok()) return exit_code;
  LogError("daemon", status.message());
  return ExitCodeOf(status);
}

}  // namespace cohort
