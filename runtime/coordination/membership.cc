#include "runtime/coordination/membership.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/first_cause.h"
#include "runtime/base/status_macros.h"
#include "runtime/coordination/configuration.h"

namespace cohort {
namespace {

// How many earlier incarnations of a task are remembered, so that a process that was thought dead cannot push out the
// one that took its place.
constexpr size_t kMaxReplaced = 16;

bool IsPresent(MemberState state) { return state == MemberState::kAlive || state == MemberState::kDisconnected; }

// Milliseconds are enough for a message.
std::string Text(absl::Duration duration) { return absl::FormatDuration(absl::Trunc(duration, absl::Milliseconds(1))); }

}  // namespace

Membership::Membership(MembershipOptions options, MemberInfo self, const Clock& clock)
    : options_(std::move(options)), self_(std::move(self)), clock_(clock) {
  MutexLock lock(&mu_);
  for (const ExpectedMember& expected : options_.expected) {
    Member member;
    member.expected = expected;
    members_.push_back(std::move(member));
  }
  if (Find(self_.task) == nullptr) {  // a leader that no list names: still a member
    Member member;
    member.expected = {self_.task, self_.address, true};
    members_.push_back(std::move(member));
  }
  Admit(*Find(self_.task), self_, clock_.Now());
  AnswerWaiters();
}

absl::StatusOr<JoinResult> Membership::Join(MemberInfo info) {
  absl::StatusOr<JoinResult> result;
  {
    MutexLock lock(&mu_);
    result = JoinLocked(std::move(info));
  }
  callbacks_.Run();
  return result;
}

absl::StatusOr<JoinResult> Membership::JoinLocked(MemberInfo info) {
  if (absl::Status same = CheckSameConfiguration(info, self_); !same.ok()) {
    Refuse(info, same);
    return same;
  }
  Member* member = Find(info.task);
  if (member == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(info.task.ToString(), " is not in the cluster of the leader, ",
                                                   TaskText(self_.task, self_.address)));
  }
  const absl::Time now = clock_.Now();
  COHORT_RETURN_IF_ERROR(CheckIdentity(*member, info, now));
  refused_.erase(info.task);
  std::vector<std::string> warnings = ConfigurationWarnings(info, self_);

  const bool same_life = member->info.incarnation == info.incarnation;
  if (same_life && IsPresent(member->state) && info.last_epoch <= epoch_) {
    member->state = MemberState::kAlive;
    member->disconnected = absl::InfiniteFuture();
    member->last_heard = now;
  } else {
    std::vector<MemberLoss> losses;
    if (!same_life && IsPresent(member->state)) {
      losses.push_back(
          Lose(*member, absl::StrCat("replaced by its new incarnation ", IncarnationText(info.incarnation))));
    }
    const TaskId task = info.task;
    Admit(*member, std::move(info), now);
    Notify(std::move(losses), {task});
  }
  AnswerWaiters();
  return JoinResult{RosterLocked(), std::move(warnings)};
}

void Membership::Refuse(const MemberInfo& info, const absl::Status& status) {
  if (Member* member = Find(info.task); member != nullptr && !IsPresent(member->state)) {
    member->connect_error = std::string(status.message());
  }
  if (was_complete_) return;  // a running cluster does not end because a stranger knocks
  refused_[info.task] = status;
  for (Waiter& waiter : waiters_) callbacks_.Post([done = std::move(waiter.done), status] { done(status); });
  waiters_.clear();
}

absl::Status Membership::CheckIdentity(const Member& member, const MemberInfo& info, absl::Time now) const {
  if (member.info.incarnation == info.incarnation) return absl::OkStatus();
  const FirstCause holder = {info.task, member.info.address, member.info.incarnation, 0, "join", {}, {}};
  if (std::count(member.replaced.begin(), member.replaced.end(), info.incarnation) > 0) {
    absl::Status status = absl::AbortedError(
        absl::StrCat("stale incarnation ", IncarnationText(info.incarnation), " of ", TaskText(info.task, info.address),
                     ": incarnation ", IncarnationText(member.info.incarnation), " has taken its place"));
    SetFirstCause(status, holder);
    return status;
  }
  const bool is_leader = info.task == self_.task;
  const bool heard_lately = now - member.last_heard < 2 * options_.heartbeat;
  if (!is_leader && (member.state != MemberState::kAlive || !heard_lately)) return absl::OkStatus();
  absl::Status status = absl::AlreadyExistsError(absl::StrCat(
      "two processes claim to be ", info.task.ToString(), ": incarnation ", IncarnationText(info.incarnation), " at ",
      info.address, " wants to join while incarnation ", IncarnationText(member.info.incarnation), " at ",
      member.info.address, is_leader ? " leads the cluster" : " is alive", "; give each process its own task"));
  SetFirstCause(status, holder);
  return status;
}

void Membership::Admit(Member& member, MemberInfo info, absl::Time now) {
  epoch_ = std::max(epoch_, info.last_epoch) + 1;
  info.known_jobs.clear();  // the job table's business
  if (member.info.incarnation != 0 && member.info.incarnation != info.incarnation) {
    member.replaced.push_back(member.info.incarnation);
    if (member.replaced.size() > kMaxReplaced) member.replaced.erase(member.replaced.begin());
  }
  member.info = std::move(info);
  member.state = MemberState::kAlive;
  member.last_heard = now;
  member.disconnected = absl::InfiniteFuture();
  member.connect_error.clear();
}

MemberLoss Membership::Lose(Member& member, absl::string_view why) {
  ++epoch_;
  member.state = MemberState::kLost;
  const MemberInfo& info = member.info;
  MemberLoss loss = {info.task, info.address, info.incarnation, epoch_,
                     absl::UnavailableError(absl::StrCat(TaskText(info.task, info.address), " is lost: ", why))};
  SetFirstCause(loss.status, {info.task, info.address, info.incarnation, 0, "", {}, {}});
  member.loss = loss;
  return loss;
}

absl::StatusOr<int64_t> Membership::Heartbeat(const TaskId& task, uint64_t incarnation) {
  int64_t epoch = 0;
  {
    MutexLock lock(&mu_);
    COHORT_RETURN_IF_ERROR(CheckCallerLocked(task, incarnation));
    Member& member = *Find(task);
    member.last_heard = clock_.Now();
    member.disconnected = absl::InfiniteFuture();
    const bool came_back = std::exchange(member.state, MemberState::kAlive) != MemberState::kAlive;
    if (came_back) AnswerWaiters();
    epoch = epoch_;
  }
  callbacks_.Run();
  return epoch;
}

absl::Status Membership::CheckCaller(const TaskId& task, uint64_t incarnation) const {
  MutexLock lock(&mu_);
  return CheckCallerLocked(task, incarnation);
}

absl::Status Membership::CheckCallerLocked(const TaskId& task, uint64_t incarnation) const {
  const Member* member = Find(task);
  absl::Status status;
  if (member == nullptr || member->state == MemberState::kMissing) {
    status = absl::AbortedError(
        absl::StrCat(task.ToString(), " has not joined its leader, ", TaskText(self_.task, self_.address)));
  } else if (member->info.incarnation != incarnation) {
    status = absl::AbortedError(absl::StrCat("stale incarnation ", IncarnationText(incarnation), " of ",
                                             TaskText(task, member->info.address), ": the leader knows incarnation ",
                                             IncarnationText(member->info.incarnation)));
  } else if (member->state == MemberState::kLost) {
    status =
        absl::AbortedError(absl::StrCat("incarnation ", IncarnationText(incarnation),
                                        " was declared lost and has to join again: ", member->loss.status.message()));
  } else {
    return absl::OkStatus();
  }
  const bool known = member != nullptr;
  SetFirstCause(status,
                {task, known ? member->expected.address : "", known ? member->info.incarnation : 0, 0, "", {}, {}});
  return status;
}

void Membership::MarkDisconnected(const TaskId& task, uint64_t incarnation) {
  MutexLock lock(&mu_);
  Member* member = Find(task);
  if (member == nullptr || member->info.incarnation != incarnation || member->state != MemberState::kAlive) return;
  if (task == self_.task) return;
  member->state = MemberState::kDisconnected;
  member->disconnected = clock_.Now();
}

void Membership::MarkLost(const TaskId& task, uint64_t incarnation, absl::string_view why) {
  {
    MutexLock lock(&mu_);
    Member* member = Find(task);
    if (member == nullptr || member->info.incarnation != incarnation || !IsPresent(member->state)) return;
    if (task == self_.task) return;
    Notify({Lose(*member, why)}, {});
  }
  callbacks_.Run();
}

void Membership::Tick() {
  {
    MutexLock lock(&mu_);
    const absl::Time now = clock_.Now();
    std::vector<MemberLoss> losses;
    for (Member& member : members_) {
      if (!IsPresent(member.state) || member.info.task == self_.task) continue;
      const absl::Duration silent = now - member.last_heard;
      if (silent >= options_.peer_lost) {
        losses.push_back(Lose(member, absl::StrCat("silent for ", Text(silent))));
      } else if (now - member.disconnected >= options_.disconnect_grace) {
        losses.push_back(Lose(member, absl::StrCat("its connection broke ", Text(now - member.disconnected),
                                                   " ago and it did not come back")));
      }
    }
    if (!losses.empty()) Notify(std::move(losses), {});
    for (auto it = waiters_.begin(); it != waiters_.end();) {
      if (now < it->deadline) {
        ++it;
        continue;
      }
      callbacks_.Post([done = std::move(it->done), status = MissingStatus(it->tasks)] { done(status); });
      it = waiters_.erase(it);
    }
  }
  callbacks_.Run();
}

int64_t Membership::Watch(Watcher watcher) {
  MutexLock lock(&mu_);
  watchers_[next_watch_] = std::move(watcher);
  return next_watch_++;
}

void Membership::Unwatch(int64_t id) {
  MutexLock lock(&mu_);
  watchers_.erase(id);
}

void Membership::Notify(std::vector<MemberLoss> losses, std::vector<TaskId> joined) {
  if (watchers_.empty()) return;
  const RosterChange change = {RosterLocked(), std::move(losses), std::move(joined)};
  for (const auto& [id, watcher] : watchers_) callbacks_.Post([watcher = watcher, change] { watcher(change); });
}

void Membership::WhenComplete(absl::Time deadline, std::function<void(absl::StatusOr<Roster>)> done) {
  WhenAlive(Required(), deadline, std::move(done));
}

void Membership::WhenAlive(std::vector<TaskId> tasks, absl::Time deadline,
                           std::function<void(absl::StatusOr<Roster>)> done) {
  {
    MutexLock lock(&mu_);
    if (!refused_.empty() && !was_complete_) {
      callbacks_.Post([done = std::move(done), status = refused_.begin()->second] { done(status); });
    } else {
      waiters_.push_back({std::move(tasks), deadline, std::move(done)});
      AnswerWaiters();
    }
  }
  callbacks_.Run();
}

void Membership::AnswerWaiters() {
  if (MissingOf(Required()).empty()) {
    was_complete_ = true;
    refused_.clear();
  }
  for (auto it = waiters_.begin(); it != waiters_.end();) {
    if (!MissingOf(it->tasks).empty()) {
      ++it;
      continue;
    }
    callbacks_.Post([done = std::move(it->done), roster = RosterLocked()] { done(roster); });
    it = waiters_.erase(it);
  }
}

absl::Status Membership::MissingStatus(const std::vector<TaskId>& tasks) const {
  const std::vector<TaskId> missing = MissingOf(tasks);
  if (missing.empty()) return absl::InternalError("nobody is missing");
  const Member& first = *Find(missing.front());
  FirstCause cause = {first.expected.task, first.expected.address, first.info.incarnation, 0, "start-up", {}, missing};
  for (const TaskId& task : tasks) {
    if (Find(task)->state == MemberState::kAlive) cause.arrived.push_back(task);
  }
  absl::Status status = absl::DeadlineExceededError(
      absl::StrCat("the cluster did not come together in time, missing ", MissingText(tasks)));
  SetFirstCause(status, cause);
  return status;
}

std::string Membership::MissingText(const std::vector<TaskId>& tasks) const {
  std::vector<std::string> texts;
  for (const TaskId& task : MissingOf(tasks)) {
    const Member& member = *Find(task);
    std::string text = TaskText(member.expected.task, member.expected.address);
    if (!member.connect_error.empty()) {
      absl::StrAppend(&text, " (", member.connect_error, ")");
    } else if (member.state == MemberState::kLost) {
      absl::StrAppend(&text, " (lost)");
    }
    texts.push_back(std::move(text));
  }
  if (texts.empty()) return "";
  return absl::StrCat(texts.size(), " of ", tasks.size(), " tasks: ", absl::StrJoin(texts, ", "));
}

std::vector<TaskId> Membership::Missing() const {
  MutexLock lock(&mu_);
  return MissingOf(Required());
}

std::vector<TaskId> Membership::MissingOf(const std::vector<TaskId>& tasks) const {
  std::vector<TaskId> missing;
  for (const TaskId& task : tasks) {
    const Member* member = Find(task);
    if (member != nullptr && member->state != MemberState::kAlive) missing.push_back(task);
  }
  return missing;
}

std::vector<TaskId> Membership::Required() const {
  std::vector<TaskId> required;
  for (const ExpectedMember& expected : options_.expected) {
    if (expected.required) required.push_back(expected.task);
  }
  return required;
}

std::optional<MemberLoss> Membership::LossOf(const TaskId& task) const {
  MutexLock lock(&mu_);
  const Member* member = Find(task);
  if (member == nullptr || member->state != MemberState::kLost) return std::nullopt;
  return member->loss;
}

void Membership::NoteConnectError(const TaskId& task, absl::string_view error) {
  MutexLock lock(&mu_);
  if (Member* member = Find(task); member != nullptr && member->state != MemberState::kAlive) {
    member->connect_error = std::string(error);
  }
}

std::string Membership::StartupReport() const {
  MutexLock lock(&mu_);
  const std::string missing = MissingText(Required());
  return missing.empty() ? "" : absl::StrCat("waiting for ", missing);
}

Roster Membership::GetRoster() const {
  MutexLock lock(&mu_);
  return RosterLocked();
}

int64_t Membership::epoch() const {
  MutexLock lock(&mu_);
  return epoch_;
}

Roster Membership::RosterLocked() const {
  Roster roster = {epoch_, self_.task, {}};
  for (const Member& member : members_) {
    const bool own = member.expected.task == self_.task;
    roster.members.push_back({member.expected.task, member.expected.address, member.info.incarnation, member.state,
                              member.info.devices, own ? clock_.Now() : member.last_heard});
  }
  return roster;
}

Membership::Member* Membership::Find(const TaskId& task) {
  for (Member& member : members_) {
    if (member.expected.task == task) return &member;
  }
  return nullptr;
}

const Membership::Member* Membership::Find(const TaskId& task) const {
  return const_cast<Membership*>(this)->Find(task);
}

}  // namespace cohort
