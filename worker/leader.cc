#include "worker/leader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "runtime/base/log.h"
#include "runtime/base/status_macros.h"
#include "runtime/driver/fan_out.h"
#include "runtime/driver/job_result_json.h"
#include "runtime/driver/placement.h"
#include "worker/cluster_view.h"
#include "worker/roster_tasks.h"

namespace cohort {
namespace {

constexpr absl::Duration kTick = absl::Milliseconds(200);
constexpr absl::Duration kStartupReport = absl::Seconds(10);
constexpr absl::Duration kBeat = absl::Seconds(1);
constexpr int kRosterReads = 10;  // beyond the first, for one job

}  // namespace

Leader::Leader(LeaderOptions options, LeaderEnvironment environment, const Clock& clock)
    : options_(std::move(options)),
      environment_(std::move(environment)),
      clock_(clock),
      coordination_(MakeCoordinationOptions(), options_.self, clock),
      sessions_({options_.start_timeout, options_.lease, options_.training.control}, Links(), coordination_, clock),
      runner_("jobs", 1) {
  coordination_.membership().Watch([this](const RosterChange& change) { OnRosterChange(change); });
  ticker_ = Thread("leader", [this] { TickLoop(); });
}

Leader::~Leader() {
  Close(absl::CancelledError("the leader is shutting down"));
  ticker_.Join();
}

CoordinationOptions Leader::MakeCoordinationOptions() {
  CoordinationOptions coordination;
  coordination.membership = options_.membership;
  coordination.sessions.lease = options_.lease;
  // Above whatever an earlier life of this task gave out.
  coordination.sessions.first_id = absl::ToUnixMicros(clock_.Now());
  coordination.sessions.on_end = [this](int64_t session, const absl::Status& reason) {
    sessions_.OnEnd(session, reason);
  };
  coordination.jobs.start = [this](const JobRecord& record) { runner_.Post([this, record] { RunJob(record); }); };
  coordination.jobs.cancel = [this](int64_t job) { FindOrMakeRun(job, /*detached=*/true)->Stop(clock_.Now()); };
  return coordination;
}

void Leader::TickLoop() {
  MutexLock lock(&mu_);
  const auto closing = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return !closed_.ok(); };
  while (!mu_.AwaitWithDeadline(closing, absl::Now() + kTick)) {
    const absl::Time now = clock_.Now();
    const bool report = now >= next_startup_report_;
    if (report) next_startup_report_ = now + kStartupReport;
    mu_.Unlock();
    coordination_.Tick();
    EndAbandonedJobs(now);
    if (report) {
      const std::string missing = coordination_.membership().StartupReport();
      if (!missing.empty()) LogInfo("leader", missing);
    }
    mu_.Lock();
  }
}

void Leader::EndAbandonedJobs(absl::Time now) {
  for (const std::shared_ptr<JobRun>& run : Runs()) {
    EndIfOver(*run);
    if (run->Abandoned(now, options_.lease)) {
      const std::string reason =
          absl::StrCat("its client is gone for longer than the lease of ", absl::FormatDuration(options_.lease));
      LogJob(run->id(), reason);                                     // before the job's end
      coordination_.jobs().Cancel(run->id(), reason).IgnoreError();  // it may have ended this moment
    }
    if (run->StoppingSince(now - options_.training.drain)) {
      run->Abort(absl::CancelledError(absl::StrCat("cancelled, and not at the end of a step within ",
                                                   absl::FormatDuration(options_.training.drain))));
    }
  }
}

void Leader::OnRosterChange(const RosterChange& change) {
  for (const MemberLoss& loss : change.losses) {
    LogWarn("leader", absl::StrCat("epoch ", loss.epoch, ": ", loss.status.message()));
    std::shared_ptr<JobRun> run;
    {
      MutexLock lock(&mu_);
      const auto job = task_jobs_.find(loss.task);
      if (job != task_jobs_.end()) run = runs_[job->second];
    }
    if (run != nullptr) run->Abort(loss.status);
    sessions_.OnLoss(loss);
  }
  for (const TaskId& task : change.joined) LogInfo("leader", absl::StrCat(task.ToString(), " has joined"));
}

void Leader::EndIfOver(JobRun& run) {
  if (run.event_count() > 0) return;
  const absl::StatusOr<JobRecord> record = coordination_.jobs().Get(run.id());
  if (record.ok() && !HasEnded(record->state)) return;
  // Looked at again: a job that has run has its first event before its end, and is ended by its runner.
  if (run.event_count() > 0) return;
  JobEvent end;
  end.kind = JobEvent::Kind::kEnd;
  if (record.ok()) end.info = ToJobInfo(*record);
  run.End(end, record.ok() ? record->result : record.status());
}

void Leader::ForgetOldRuns() {
  std::vector<int64_t> forgotten;
  for (const std::shared_ptr<JobRun>& run : Runs()) {
    if (run->ended().has_value() && !coordination_.jobs().Get(run->id()).ok()) forgotten.push_back(run->id());
  }
  MutexLock lock(&mu_);
  for (const int64_t id : forgotten) runs_.erase(id);
}

std::shared_ptr<JobRun> Leader::FindOrMakeRun(int64_t job, bool detached) {
  MutexLock lock(&mu_);
  std::shared_ptr<JobRun>& run = runs_[job];
  if (run == nullptr) {
    run = std::make_shared<JobRun>(job, detached, clock_.Now());
    if (!closed_.ok()) run->Abort(closed_);
  }
  return run;
}

std::vector<std::shared_ptr<JobRun>> Leader::Runs() const {
  MutexLock lock(&mu_);
  std::vector<std::shared_ptr<JobRun>> runs;
  for (const auto& [id, run] : runs_) runs.push_back(run);
  return runs;
}

void Leader::LogJob(int64_t job, const std::string& line) {
  LogInfo("leader", absl::StrCat("job ", job, ": ", line));
  coordination_.logs().Append(line, job);
}

absl::StatusOr<int64_t> Leader::Submit(const Program& program, const JobOptions& options, absl::Time) {
  COHORT_RETURN_IF_ERROR(program.Validate()) << "program '" << program.name << "'";
  if (program.loop.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("program '", program.name, "' has no loop that a job could run; a client runs it in a session"));
  }
  const Roster roster = coordination_.membership().GetRoster();
  COHORT_RETURN_IF_ERROR(WorkersFor(program.strategy, ComputingTasksOf(roster), TasksOf(roster, "ps")).status());
  JobRequest request;
  request.name = options.name.empty() ? program.name : options.name;
  request.program_bytes = environment_.serialize_program(program);
  request.options = {{"detach", options.detach ? "true" : "false"}};
  if (!options.wait) request.wait = absl::ZeroDuration();
  COHORT_ASSIGN_OR_RETURN(const int64_t id, coordination_.jobs().Submit(std::move(request)));
  FindOrMakeRun(id, options.detach);
  ForgetOldRuns();
  return id;
}

absl::StatusOr<std::unique_ptr<ClientSession>> Leader::OpenSession(const ClientSessionOptions& options,
                                                                   absl::Time deadline) {
  return OpenLocalSession(sessions_, Links(), options, deadline);
}

void Leader::RunJob(const JobRecord& record) {
  const bool detached = record.options.contains("detach") && record.options.at("detach") == "true";
  const std::shared_ptr<JobRun> run = FindOrMakeRun(record.id, detached);
  LogJob(record.id, absl::StrCat("'", record.name, "' begins"));
  JobEvent begin;
  begin.info = ToJobInfo(record);
  run->Append(begin);

  absl::StatusOr<JobResult> result = RunTraining(*run, record);
  JobEvent end;
  end.kind = JobEvent::Kind::kEnd;
  if (result.ok()) end.result = *result;
  LogJob(record.id, result.ok() ? absl::StrFormat("done after step %d: loss %.4f, accuracy %.4f", result->steps,
                                                  result->loss, result->accuracy)
                                : absl::StrCat("ended: ", absl::StatusCodeToString(result.status().code()), ": ",
                                               result.status().message()));
  coordination_.jobs().Finish(record.id, result.status(), result.ok() ? JobResultToJson(*result) : "");
  if (const auto ended = coordination_.jobs().Get(record.id); ended.ok()) {
    end.info = ToJobInfo(*ended);
    result = ended->state == JobState::kDone ? result : absl::StatusOr<JobResult>(ended->result);
  }
  run->End(end, result.status());
  environment_.on_job_end(record.id, result.status());
}

absl::StatusOr<Roster> Leader::WaitForTasks(const JobRun& run, const std::vector<TaskId>& tasks) {
  auto answer = std::make_shared<FanOut<Roster>>(1);
  const absl::Time deadline = clock_.Now() + options_.start_timeout;
  coordination_.membership().WhenAlive(tasks, deadline, FanOut<Roster>::Slot(answer, 0));
  if (!answer->WaitForAll(absl::Now())) {
    LogJob(run.id(), absl::StrCat("is ", coordination_.membership().StartupReport()));
  }
  while (!answer->WaitForAll(absl::Now() + kTick)) {
    COHORT_RETURN_IF_ERROR(run.interrupted());
    MutexLock lock(&mu_);
    if (!draining_.ok()) return draining_;
  }
  return *answer->answers()[0];
}

absl::StatusOr<JobResult> Leader::RunTraining(JobRun& run, const JobRecord& record) {
  COHORT_ASSIGN_OR_RETURN(const Program program, environment_.parse_program(record.program_bytes));
  const size_t events = run.event_count();
  absl::StatusOr<JobResult> result = RunTrainingOnce(run, record.id, program);
  // Aborted: a task joined or came back between the roster and the first step. The roster is read again, as long as
  // nobody has seen anything of the training.
  for (int i = 0; i < kRosterReads && absl::IsAborted(result.status()) && run.event_count() == events; ++i) {
    COHORT_RETURN_IF_ERROR(run.interrupted());
    LogJob(record.id, absl::StrCat("reads the roster again: ", result.status().message()));
    result = RunTrainingOnce(run, record.id, program);
  }
  return result;
}

absl::StatusOr<JobResult> Leader::RunTrainingOnce(JobRun& run, int64_t job, const Program& program) {
  COHORT_ASSIGN_OR_RETURN(const std::vector<TaskId> used,
                          TasksUsed(program.strategy, coordination_.membership().GetRoster()));
  COHORT_ASSIGN_OR_RETURN(const Roster roster, WaitForTasks(run, used));
  std::unique_ptr<Training> training;  // before the links: they may still answer while they go
  TrainingTasks tasks;
  tasks.session = coordination_.sessions().OpenForJob(job);
  tasks.epoch = roster.epoch;
  std::vector<std::shared_ptr<WorkerLink>> workers;
  std::vector<std::shared_ptr<PsLink>> servers;
  for (const TaskAddress& task : ComputingTasksOf(roster)) {
    tasks.workers.push_back(workers.emplace_back(environment_.link_worker(task)).get());
  }
  for (const TaskAddress& task : TasksOf(roster, "ps")) {
    tasks.parameter_servers.push_back(servers.emplace_back(environment_.link_parameter_server(task)).get());
  }
  {
    MutexLock lock(&mu_);
    for (const TaskId& task : used) task_jobs_[task] = job;
  }
  training = std::make_unique<Training>(tasks, options_.training,
                                        [this, &run](const JobEvent& event) { OnTrainingEvent(run, event); });
  run.SetTraining(training.get());
  for (const TaskId& task : used) {  // a loss since the roster was read has found no training to end
    if (const auto loss = coordination_.membership().LossOf(task); loss.has_value()) training->Abort(loss->status);
  }
  absl::StatusOr<JobResult> result = training->Run(program);
  run.SetTraining(nullptr);
  {
    MutexLock lock(&mu_);
    task_jobs_.clear();
  }
  coordination_.sessions().Close(static_cast<int64_t>(tasks.session)).IgnoreError();
  coordination_.sessions().Freed(static_cast<int64_t>(tasks.session));
  return result;
}

void Leader::OnTrainingEvent(JobRun& run, const JobEvent& event) {
  JobEvent stamped = event;
  if (const auto record = coordination_.jobs().Get(run.id()); record.ok()) stamped.info = ToJobInfo(*record);
  stamped.info.step = event.info.step;
  stamped.info.steps_total = event.info.steps_total;
  if (event.kind == JobEvent::Kind::kReport) {
    JobProgress progress;
    const StepSums& sums = event.report.sums;
    progress.step = event.info.step;
    progress.steps_total = event.info.steps_total;
    progress.examples = sums.examples;
    progress.loss = sums.examples == 0 ? 0 : sums.loss_sum / sums.examples;
    progress.examples_per_second = event.report.seconds > 0 ? sums.examples / event.report.seconds : 0;
    coordination_.jobs().SetProgress(run.id(), progress);
    coordination_.logs().Append(absl::StrFormat("step %d/%d  loss %.4f  %.0f examples/s", progress.step,
                                                progress.steps_total, progress.loss, progress.examples_per_second),
                                run.id());
  } else if (event.kind == JobEvent::Kind::kEvaluation) {
    coordination_.logs().Append(
        absl::StrFormat("step %d  accuracy %.4f on %d examples", event.info.step, event.accuracy, event.examples),
        run.id());
  }
  run.Append(std::move(stamped));
}

absl::Status Leader::Follow(int64_t job, bool from_now, std::function<bool(const JobEvent&)> event) {
  COHORT_RETURN_IF_ERROR(coordination_.jobs().Get(job).status());
  const std::shared_ptr<JobRun> run = FindOrMakeRun(job, /*detached=*/true);
  EndIfOver(*run);
  run->AddFollower();
  size_t index = from_now ? run->event_count() : 0;
  absl::Status status;
  while (true) {
    std::optional<JobEvent> next = run->Next(index, absl::Now() + kBeat);
    if (!next.has_value()) {
      EndIfOver(*run);
      const std::optional<absl::Status> ended = run->ended();
      if (ended.has_value() && run->event_count() > index) continue;  // it ended after Next had looked
      if (ended.has_value()) {
        status = *ended;
        break;
      }
      if (const auto record = coordination_.jobs().Get(job); record.ok()) next.emplace().info = ToJobInfo(*record);
      if (!next.has_value()) continue;
    } else {
      ++index;
    }
    if (next.has_value() && !event(*next)) break;
  }
  run->RemoveFollower(clock_.Now());
  return status;
}

absl::Status Leader::Cancel(int64_t job, absl::Time) {
  COHORT_RETURN_IF_ERROR(coordination_.jobs().Cancel(job, "cancelled by a client"));
  LogJob(job, "is to stop: cancelled by a client");
  EndIfOver(*FindOrMakeRun(job, /*detached=*/true));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<JobInfo>> Leader::Jobs(absl::Time) {
  std::vector<JobInfo> jobs;
  for (const JobRecord& record : coordination_.jobs().List()) jobs.push_back(ToJobInfo(record));
  return jobs;
}

absl::Status Leader::Logs(int64_t job, bool follow, std::function<bool(const std::string&)> line) {
  if (job != 0) COHORT_RETURN_IF_ERROR(coordination_.jobs().Get(job).status());
  LogBuffer& logs = coordination_.logs();
  int64_t seq = 1;
  while (true) {
    // Whether the job had ended is asked before reading: its last line is written before its end.
    const absl::StatusOr<JobRecord> record = coordination_.jobs().Get(job);
    const bool over = !follow || (job != 0 && (!record.ok() || HasEnded(record->state)));
    const LogChunk chunk = logs.Read(seq, 1000, job);
    for (const LogLine& text : chunk.lines) {
      if (!line(text.text)) return absl::OkStatus();
    }
    const bool moved = chunk.next_seq != seq;
    seq = chunk.next_seq;
    if (moved) continue;
    if (over || chunk.closed) return absl::OkStatus();
    auto news = std::make_shared<FanOut<bool>>(1);
    const int64_t waiter = logs.NotifyAt(seq, [slot = FanOut<bool>::Slot(news, 0)] { slot(true); });
    news->WaitForAll(absl::Now() + kBeat);
    logs.CancelNotify(waiter);
    if (!line("")) return absl::OkStatus();
  }
}

absl::StatusOr<ClusterStatus> Leader::Status(absl::Time) {
  return DescribeCluster(coordination_.membership().GetRoster(), coordination_.jobs().List(), clock_.Now());
}

absl::Status Leader::Shutdown(absl::Time) {
  LogInfo("leader", "a client asked for the end of the cluster");
  Close(absl::CancelledError("the cluster was shut down by a client"));  // before members leave, which says less
  environment_.on_shutdown();
  return absl::OkStatus();
}

void Leader::StopAdmission(const absl::Status& reason) {
  {
    MutexLock lock(&mu_);
    if (!draining_.ok()) return;
    draining_ = reason;
  }
  coordination_.admission().Close(reason);
  sessions_.CloseAll(reason);  // nobody can say when a client comes to an end
  for (const std::shared_ptr<JobRun>& run : Runs()) EndIfOver(*run);
}

void Leader::Close(const absl::Status& reason) {
  StopAdmission(reason);
  {
    MutexLock lock(&mu_);
    if (!closed_.ok()) return;
    closed_ = reason.ok() ? absl::CancelledError("the leader is closed") : reason;
  }
  coordination_.Close(reason);
  for (const std::shared_ptr<JobRun>& run : Runs()) {
    EndIfOver(*run);
    run->Abort(reason);
  }
}

bool Leader::busy() const {
  for (const std::shared_ptr<JobRun>& run : Runs()) {
    if (!run->ended().has_value()) return true;
  }
  return false;
}

bool Leader::WaitIdle(absl::Time deadline) {
  for (const std::shared_ptr<JobRun>& run : Runs()) {
    if (!run->WaitEnded(deadline)) return false;
  }
  return true;
}

}  // namespace cohort
