#include "worker/worker.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "runtime/base/first_cause.h"
#include "runtime/base/log.h"
#include "runtime/base/status_macros.h"

namespace cohort {

namespace {

// A group that is joined at the moment it is ended may miss the news: they are repeated.
constexpr absl::Duration kAbortAgain = absl::Milliseconds(100);

}  // namespace

struct Worker::Entry {
  Entry(SessionSpec s, const SessionEnvironment& e)
      : spec(std::move(s)), environment(e), thread(std::make_unique<ThreadPool>("session", 1)) {}

  // False once the thread is gone: the session is closed.
  bool Post(std::function<void()> work) {
    MutexLock lock(&mu);
    if (thread == nullptr) return false;
    thread->Post(std::move(work));
    return true;
  }

  // Whoever waits for peers wakes; later work finds the reason.
  void Abort(const absl::Status& reason) {
    {
      MutexLock lock(&mu);
      if (closed.ok()) closed = reason;
      if (session != nullptr) session->Abort(closed);
    }
    environment.abort_group(spec, Closed());  // the first reason wins
  }

  absl::Status Closed() {
    MutexLock lock(&mu);
    return closed;
  }

  // What is asked before there is a session is told to it as soon as there is one.
  void Stop(bool leave) {
    MutexLock lock(&mu);
    stopping = true;
    leaving |= leave;
    PassStop();
  }

  void PassStop() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    if (session == nullptr || !stopping) return;
    leaving ? session->Leave() : session->RequestStop();
  }

  // Frees the session on its own thread, behind the work that is queued there, and joins that. On the reaper's thread.
  void Free(const Done<bool>& done) {
    std::unique_ptr<ThreadPool> last;
    {
      MutexLock lock(&mu);
      last = std::move(thread);
    }
    last->Post([this, &done] {
      FreeSession();
      done(true);
      MutexLock lock(&mu);
      free = true;
    });
    while (!AwaitFree(absl::Now() + kAbortAgain)) environment.abort_group(spec, Closed());
  }

  void FreeSession() {
    std::unique_ptr<WorkerSession> freed;  // without the lock
    MutexLock lock(&mu);
    freed = std::move(session);
  }

  bool AwaitFree(absl::Time deadline) {
    MutexLock lock(&mu);
    const auto is_free = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) { return free; };
    return mu.AwaitWithDeadline(is_free, deadline);
  }

  const SessionSpec spec;
  const SessionEnvironment& environment;
  Mutex mu;
  absl::Status closed ABSL_GUARDED_BY(mu);
  bool stopping ABSL_GUARDED_BY(mu) = false;
  bool leaving ABSL_GUARDED_BY(mu) = false;
  bool free ABSL_GUARDED_BY(mu) = false;
  // Set and freed by the session's thread; used by others under the lock only.
  std::unique_ptr<WorkerSession> session;
  std::unique_ptr<ThreadPool> thread ABSL_GUARDED_BY(mu);
};

absl::StatusOr<std::unique_ptr<Worker>> Worker::Create(SessionEnvironment environment, WorkerOptions options) {
  if (options.threads < 1)
    return absl::InvalidArgumentError(absl::StrCat("--threads=", options.threads, " is less than 1"));
  return std::unique_ptr<Worker>(new Worker(std::move(environment), std::move(options)));
}

Worker::Worker(SessionEnvironment environment, WorkerOptions options)
    : options_(std::move(options)), environment_(std::move(environment)), reaper_("reaper", 1) {
  environment_.threads = options_.threads;
  environment_.chaos = &options_.chaos;
}

Worker::~Worker() { CloseAllSessions(absl::CancelledError("the worker is shutting down")); }

std::shared_ptr<Worker::Entry> Worker::Find(uint64_t session) const {
  MutexLock lock(&mu_);
  const auto it = sessions_.find(session);
  return it == sessions_.end() ? nullptr : it->second;
}

absl::Status Worker::NoSession(uint64_t session) const {
  return absl::NotFoundError(absl::StrCat(environment_.self.task.ToString(), " has no session ", session,
                                          "; it was closed, or the task restarted"));
}

template <typename T, typename Work>
void Worker::Post(uint64_t session, Done<T> done, Work work) {
  std::shared_ptr<Entry> entry = Find(session);
  if (entry == nullptr) {
    done(NoSession(session));
    return;
  }
  const bool posted = entry->Post([this, entry, done, work = std::move(work)] {
    const absl::Status closed = entry->Closed();
    if (!closed.ok() || entry->session == nullptr) {
      done(closed.ok() ? NoSession(entry->spec.session) : closed);
      return;
    }
    done(work(*entry->session));
  });
  if (!posted) done(entry->Closed());
}

absl::Status Worker::Add(const std::shared_ptr<Entry>& entry) {
  MutexLock lock(&mu_);
  if (leaving_) {
    absl::Status status = absl::UnavailableError(absl::StrCat(environment_.self.task.ToString(), " is ending"));
    SetFirstCause(
        status,
        {environment_.self.task, environment_.self.address, environment_.self.incarnation, 0, kPreempted, {}, {}});
    return status;
  }
  if (entry->spec.epoch < epoch_) {
    return absl::AbortedError(absl::StrCat(environment_.self.task.ToString(), ": a session of epoch ",
                                           entry->spec.epoch, ", but the cluster is at epoch ", epoch_));
  }
  if (sessions_.emplace(entry->spec.session, entry).second) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrCat(environment_.self.task.ToString(), " has a session ", entry->spec.session, " already"));
}

void Worker::OpenSession(const SessionSpec& spec, absl::Time deadline, Done<OpenedSession> done) {
  auto entry = std::make_shared<Entry>(spec, environment_);
  if (absl::Status status = Add(entry); !status.ok()) {
    done(std::move(status));
    return;
  }
  const bool posted = entry->Post([this, entry, deadline, done] {
    absl::StatusOr<OpenedSession> info = Open(*entry, deadline);
    if (!info.ok()) Close(entry, info.status(), [](const absl::StatusOr<bool>&) {});
    done(std::move(info));
  });
  if (!posted) done(entry->Closed());
}

absl::StatusOr<OpenedSession> Worker::Open(Entry& entry, absl::Time deadline) {
  COHORT_RETURN_IF_ERROR(entry.Closed());
  COHORT_ASSIGN_OR_RETURN(std::unique_ptr<WorkerSession> session,
                          WorkerSession::Open(entry.spec, environment_, deadline));
  MutexLock lock(&entry.mu);
  if (!entry.closed.ok()) return entry.closed;
  entry.session = std::move(session);
  entry.PassStop();
  return entry.session->info();
}

void Worker::InitializeVariables(uint64_t session, absl::Time deadline, Done<bool> done) {
  Post(session, std::move(done), [deadline](WorkerSession& s) -> absl::StatusOr<bool> {
    const absl::Status status = s.InitializeVariables(deadline);
    if (!status.ok()) return status;
    return true;
  });
}

void Worker::Run(uint64_t session, const RunSpec& run, std::function<void(StepReport)> report, Done<RunResult> done) {
  Post(session, std::move(done), [this, run, report = std::move(report)](WorkerSession& s) {
    const int64_t sent = s.bytes_sent();
    absl::StatusOr<RunResult> result = s.Run(run, [&](StepReport r) {
      last_step_ = r.step;
      report(std::move(r));
    });
    bytes_sent_ += s.bytes_sent() - sent;
    if (result.ok() && run.data == RunSpec::Data::kNone) last_step_ = result->last_step;
    return result;
  });
}

void Worker::RequestStop(uint64_t session, absl::Time, Done<bool> done) {
  const std::shared_ptr<Entry> entry = Find(session);
  if (entry == nullptr) {
    done(NoSession(session));
    return;
  }
  entry->Stop(/*leave=*/false);
  done(true);
}

void Worker::Summarize(uint64_t session, absl::Time, Done<WorkerSummary> done) {
  Post(session, std::move(done), [](WorkerSession& s) { return s.Summarize(); });
}

void Worker::CloseSession(uint64_t session, absl::Status reason, absl::Time, Done<bool> done) {
  const std::shared_ptr<Entry> entry = Find(session);
  if (entry == nullptr) {
    done(true);
    return;
  }
  Close(entry, reason.ok() ? absl::CancelledError("the session was closed") : reason, std::move(done));
}

void Worker::Close(const std::shared_ptr<Entry>& entry, const absl::Status& reason, Done<bool> done) {
  entry->Abort(reason);
  bool here;
  {
    MutexLock lock(&mu_);
    const auto it = sessions_.find(entry->spec.session);
    here = it != sessions_.end() && it->second == entry;
    if (here) {
      sessions_.erase(it);
      // Under the lock, so that the destructor, which takes it, finds every session here or with the reaper.
      reaper_.Post([entry, done] { entry->Free(done); });
    }
  }
  if (!here) done(true);  // another call frees it
}

void Worker::SetEpoch(int64_t epoch) {
  MutexLock lock(&mu_);
  epoch_ = epoch;
}

void Worker::CloseSessionsIf(absl::FunctionRef<bool(const SessionSpec&)> condition, const absl::Status& reason) {
  std::vector<std::shared_ptr<Entry>> closed;
  {
    MutexLock lock(&mu_);
    for (const auto& [id, entry] : sessions_) {
      if (condition(entry->spec)) closed.push_back(entry);
    }
  }
  for (const std::shared_ptr<Entry>& entry : closed) {
    LogWarn("worker", absl::StrCat("session ", entry->spec.session, " is dropped: ", reason.message()));
    Close(entry, reason, [](const absl::StatusOr<bool>&) {});
  }
}

void Worker::CloseAllSessions(const absl::Status& reason) {
  CloseSessionsIf([](const SessionSpec&) { return true; }, reason);
}

void Worker::CloseSessionsWith(const TaskId& task, const absl::Status& reason) {
  const auto has = [&task](const std::vector<TaskAddress>& tasks) {
    return std::any_of(tasks.begin(), tasks.end(), [&](const TaskAddress& t) { return t.task == task; });
  };
  CloseSessionsIf([&](const SessionSpec& spec) { return has(spec.group) || has(spec.parameter_servers); }, reason);
}

void Worker::Leave() {
  std::vector<std::shared_ptr<Entry>> entries;
  {
    MutexLock lock(&mu_);
    leaving_ = true;
    for (const auto& [id, entry] : sessions_) entries.push_back(entry);
  }
  for (const std::shared_ptr<Entry>& entry : entries) entry->Stop(/*leave=*/true);
}

bool Worker::WaitIdle(absl::Time deadline) {
  MutexLock lock(&mu_);
  const auto idle = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return sessions_.empty(); };
  return mu_.AwaitWithDeadline(idle, deadline);
}

size_t Worker::session_count() const {
  MutexLock lock(&mu_);
  return sessions_.size();
}

}  // namespace cohort
