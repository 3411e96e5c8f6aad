#include "ps/daemon.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "ps/ps_service.h"
#include "ps/shard.h"
#include "runtime/base/cpu_count.h"
#include "runtime/base/exit_code.h"
#include "runtime/base/log.h"
#include "runtime/base/signals.h"
#include "runtime/base/status_macros.h"
#include "runtime/base/thread_pool.h"
#include "runtime/daemon/daemon_state.h"
#include "runtime/daemon/identity.h"
#include "runtime/remote/cluster_service.h"
#include "runtime/remote/member.h"
#include "runtime/rpc/server.h"

namespace cohort {
namespace {

class PsDaemon {
 public:
  PsDaemon(const DaemonOptions& options, Identity identity)
      : options_(options),
        identity_(std::move(identity)),
        self_{identity_.self, identity_.address, identity_.incarnation},
        shard_(self_),
        compute_("compute", UsableCpuCount()) {}

  absl::Status Start();
  int Serve();

 private:
  absl::Status Listen();
  void Join();

  const DaemonOptions options_;
  const Identity identity_;
  const TaskAddress self_;
  const absl::Time start_ = absl::Now();
  DaemonState state_;
  std::unique_ptr<SignalWaiter> signals_;
  // Each outlives what stands below it.
  Shard shard_;
  ServicePtr service_;
  ServicePtr cluster_service_;
  ThreadPool compute_;  // updates and snapshots; has run all that was posted before the service goes
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<Member> membership_;
};

absl::Status PsDaemon::Start() {
  COHORT_ASSIGN_OR_RETURN(signals_, SignalWaiter::Start([this](int) { state_.Stop({StopReason::Kind::kSignal, {}}); }));
  COHORT_RETURN_IF_ERROR(Listen());
  Join();
  WaitFormed(state_, /*leads=*/false, start_, options_.start_timeout, [this] { return membership_->NotFormed(); });
  if (state_.formed()) LogInfo("daemon", absl::StrCat("ready: leader ", identity_.leader.ToString()));
  return absl::OkStatus();
}

absl::Status PsDaemon::Listen() {
  const CallChecker check = [this](const CallContext& call) {
    return CheckCallee(call, self_.task, self_.incarnation);
  };
  service_ = MakePsService(shard_, shard_, check, compute_);
  cluster_service_ = MakeClusterService(self_, [this] {
    return TaskAddress{identity_.leader, identity_.leader_address, 0};
  });
  RpcServerOptions server;
  server.listen_address = identity_.listen.ToString();
  server.services = {service_.get(), cluster_service_.get()};
  COHORT_ASSIGN_OR_RETURN(server_, RpcServer::Start(server));
  LogInfo("daemon", absl::StrCat("listens on ", server_->address(), ": ", identity_.listen.reason));
  return absl::OkStatus();
}

void PsDaemon::Join() {
  MemberHooks hooks;
  hooks.report = [] { return MemberReport{}; };
  hooks.on_roster = [](const Roster&) {};
  hooks.on_loss = [](const MemberLoss&) {};  // the driver ends the sessions of a lost worker
  hooks.on_leader_lost = [this](const absl::Status& lost) { shard_.CloseAllSessions(lost); };
  membership_ = std::make_unique<Member>(identity_, options_, state_, std::move(hooks));
}

int PsDaemon::Serve() {
  const StopReason reason = state_.WaitStop();
  const bool busy = shard_.session_count() > 0;
  const std::string why = absl::StrCat("stops: ", ToString(reason));
  reason.kind == StopReason::Kind::kRefused ? LogError("daemon", why) : LogInfo("daemon", why);
  const absl::Time deadline = absl::Now() + options_.drain;
  server_->SetNotServing();
  membership_->Leave(ToString(reason), deadline);
  shard_.CloseAllSessions(absl::UnavailableError(absl::StrCat(self_.task.ToString(), " ends: ", ToString(reason))));
  server_->Stop(std::min(deadline, absl::Now() + absl::Seconds(2)));
  return ExitCodeOf(reason, busy);
}

absl::Status RunDaemon(const DaemonOptions& options, int& exit_code) {
  COHORT_ASSIGN_OR_RETURN(Identity identity, Identify(options));
  PsDaemon daemon(options, std::move(identity));
  COHORT_RETURN_IF_ERROR(daemon.Start());
  exit_code = daemon.Serve();
  return absl::OkStatus();
}

}  // namespace

int RunPsDaemon(const DaemonOptions& options) {
  int exit_code = kExitOk;
  const absl::Status status = RunDaemon(options, exit_code);
  if (status.ok()) return exit_code;
  LogError("daemon", status.message());
  return ExitCodeOf(status);
}

}  // namespace cohort
