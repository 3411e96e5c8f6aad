#include "runtime/coordination/job_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"

namespace cohort {
namespace {

constexpr int kMaxEnded = 1000;

std::string Text(const JobRecord& record) {
  return record.name.empty() ? absl::StrCat("job ", record.id)
                             : absl::StrCat("job ", record.id, " '", record.name, "'");
}

absl::Status UnknownJob(int64_t id) { return absl::NotFoundError(absl::StrCat("there is no job ", id)); }

}  // namespace

JobTable::JobTable(JobHooks hooks, AdmissionQueue& admission, const Clock& clock)
    : hooks_(std::move(hooks)), admission_(admission), clock_(clock) {}

absl::StatusOr<int64_t> JobTable::Submit(JobRequest request) {
  int64_t id = 0;
  {
    MutexLock lock(&mu_);
    id = next_id_++;
    Job& job = jobs_[id];
    job.record.id = id;
    job.record.name = std::move(request.name);
    job.record.program_bytes = std::move(request.program_bytes);
    job.record.options = std::move(request.options);
    job.record.synchronous = request.synchronous;
    job.record.submitted = clock_.Now();
  }
  if (absl::Status status = Enqueue(id, request.wait); !status.ok()) {
    MutexLock lock(&mu_);
    jobs_.erase(id);
    return status;
  }
  return id;
}

absl::Status JobTable::Enqueue(int64_t id, absl::Duration wait) {
  std::string who;
  int64_t ticket = 0;
  {
    MutexLock lock(&mu_);
    Job& job = jobs_.at(id);
    who = Text(job.record);
    if (job.record.synchronous) ticket = job.ticket = admission_.NewTicket();
  }
  if (ticket == 0) {
    OnTurn(id, absl::OkStatus());
    return absl::OkStatus();
  }
  return admission_.Enter(ticket, std::move(who), clock_.Now() + wait,
                          [this, id](const absl::Status& status) { OnTurn(id, status); });
}

void JobTable::OnTurn(int64_t id, const absl::Status& status) {
  {
    MutexLock lock(&mu_);
    const auto it = jobs_.find(id);
    if (it == jobs_.end() || it->second.record.state != JobState::kQueued) return;  // cancelled at this moment
    if (status.ok()) {
      Start(it->second);
    } else {
      End(it->second, absl::IsCancelled(status) ? JobState::kCancelled : JobState::kFailed, status);
    }
  }
  callbacks_.Run();
}

void JobTable::Start(Job& job) {
  job.record.state = JobState::kRunning;
  job.record.started = clock_.Now();
  if (hooks_.start) callbacks_.Post([this, record = job.record] { hooks_.start(record); });
  Notify(job);
}

absl::Status JobTable::Cancel(int64_t id, absl::string_view reason) {
  int64_t give_back = 0;
  {
    MutexLock lock(&mu_);
    const auto it = jobs_.find(id);
    if (it == jobs_.end()) return UnknownJob(id);
    Job& job = it->second;
    const JobState state = job.record.state;
    if (state == JobState::kDone || state == JobState::kFailed) {
      return absl::FailedPreconditionError(
          absl::StrCat(Text(job.record), " cannot be cancelled: it is ", JobStateName(state)));
    }
    if (state == JobState::kQueued) {
      give_back = job.ticket;
      End(job, JobState::kCancelled, absl::CancelledError(absl::StrCat(Text(job.record), " was cancelled: ", reason)));
    } else if (state == JobState::kRunning && !job.cancel_requested) {
      job.cancel_requested = true;
      job.cancel_reason = std::string(reason);
      if (hooks_.cancel) callbacks_.Post([this, id] { hooks_.cancel(id); });
    }
  }
  callbacks_.Run();
  if (give_back != 0) admission_.Leave(give_back);
  return absl::OkStatus();
}

void JobTable::Finish(int64_t id, absl::Status result, std::string result_json) {
  int64_t ticket = 0;
  {
    MutexLock lock(&mu_);
    const auto it = jobs_.find(id);
    if (it == jobs_.end() || it->second.record.state != JobState::kRunning) return;
    Job& job = it->second;
    ticket = job.ticket;
    job.record.result_json = std::move(result_json);
    if (result.ok()) {
      End(job, JobState::kDone, absl::OkStatus());
    } else {
      const bool cancelled = job.cancel_requested && absl::IsCancelled(result);
      if (cancelled) result = Annotate(result, absl::StrCat(Text(job.record), " was cancelled: ", job.cancel_reason));
      End(job, cancelled ? JobState::kCancelled : JobState::kFailed, std::move(result));
    }
  }
  callbacks_.Run();
  if (ticket != 0) admission_.Leave(ticket);
}

void JobTable::End(Job& job, JobState state, absl::Status result) {
  job.record.state = state;
  job.record.result = std::move(result);
  job.record.ended = clock_.Now();
  job.record.program_bytes.clear();
  job.record.program_bytes.shrink_to_fit();
  Notify(job);
  job.watchers.clear();
  ForgetOldest();
}

void JobTable::ForgetOldest() {
  int ended = 0;
  for (auto it = jobs_.rbegin(); it != jobs_.rend(); ++it) {
    if (!HasEnded(it->second.record.state) || ++ended <= kMaxEnded) continue;
    jobs_.erase(std::next(it).base());
    return;
  }
}

void JobTable::SetProgress(int64_t id, const JobProgress& progress) {
  {
    MutexLock lock(&mu_);
    const auto it = jobs_.find(id);
    if (it == jobs_.end() || it->second.record.state != JobState::kRunning) return;
    it->second.record.progress = progress;
    Notify(it->second);
  }
  callbacks_.Run();
}

void JobTable::Restore(std::vector<JobRecord> known) {
  std::vector<int64_t> queued;
  {
    MutexLock lock(&mu_);
    for (JobRecord& record : known) RestoreOne(std::move(record), queued);
  }
  callbacks_.Run();
  std::sort(queued.begin(), queued.end());
  for (const int64_t id : queued) {
    if (absl::Status status = Enqueue(id, absl::InfiniteDuration()); !status.ok()) OnTurn(id, status);
  }
}

void JobTable::RestoreOne(JobRecord record, std::vector<int64_t>& queued) {
  const int64_t id = record.id;
  const auto [it, is_new] = jobs_.try_emplace(id);
  Job& job = it->second;
  if (!is_new &&
      (job.own || job.end_is_known || record.state == JobState::kQueued || record.state == JobState::kRunning)) {
    return;
  }
  next_id_ = std::max(next_id_, id + 1);
  job.own = false;
  job.record = std::move(record);
  job.end_is_known = true;
  if (job.record.state == JobState::kQueued) {
    queued.push_back(id);
  } else if (job.record.state == JobState::kRunning) {
    job.end_is_known = false;
    End(job, JobState::kFailed,
        absl::UnavailableError(absl::StrCat("the leader restarted while ", Text(job.record), " ran")));
  } else {
    job.record.program_bytes.clear();
  }
}

JobRecord JobTable::View(const Job& job) const {
  JobRecord view = job.record;
  if (view.state == JobState::kQueued) view.behind = admission_.Behind(job.ticket);
  return view;
}

absl::StatusOr<JobRecord> JobTable::Get(int64_t id) const {
  MutexLock lock(&mu_);
  const auto it = jobs_.find(id);
  if (it == jobs_.end()) return UnknownJob(id);
  return View(it->second);
}

std::vector<JobRecord> JobTable::List() const {
  MutexLock lock(&mu_);
  std::vector<JobRecord> list;
  for (const auto& [id, job] : jobs_) {
    list.push_back(View(job));
    list.back().program_bytes.clear();
  }
  return list;
}

void JobTable::Notify(Job& job) {
  if (job.watchers.empty()) return;
  JobRecord view = View(job);
  view.program_bytes.clear();
  for (const auto& [id, watcher] : job.watchers) callbacks_.Post([watcher = watcher, view] { watcher(view); });
}

absl::StatusOr<int64_t> JobTable::Watch(int64_t id, Watcher watcher) {
  int64_t watch = 0;
  {
    MutexLock lock(&mu_);
    const auto it = jobs_.find(id);
    if (it == jobs_.end()) return UnknownJob(id);
    Job& job = it->second;
    watch = next_watch_++;
    JobRecord view = View(job);
    view.program_bytes.clear();
    callbacks_.Post([watcher, view = std::move(view)] { watcher(view); });
    if (!HasEnded(job.record.state)) job.watchers[watch] = std::move(watcher);
  }
  callbacks_.Run();
  return watch;
}

void JobTable::Unwatch(int64_t watch) {
  MutexLock lock(&mu_);
  for (auto& [id, job] : jobs_) {
    if (job.watchers.erase(watch) > 0) return;
  }
}

}  // namespace cohort
