#include "runtime/coordination/barrier.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/first_cause.h"
#include "runtime/base/status_macros.h"

namespace cohort {
namespace {

constexpr size_t kMaxEnded = 1000;  // barriers whose outcome is remembered for those who come late

std::string Text(const BarrierKey& key) { return absl::StrCat("barrier '", key.name, "' #", key.seq); }

std::string Text(const std::vector<TaskId>& tasks) {
  return absl::StrJoin(tasks, ", ",
                       [](std::string* out, const TaskId& task) { absl::StrAppend(out, task.ToString()); });
}

absl::Status Differs(const BarrierKey& key, absl::string_view field, const TaskId& task, absl::string_view value,
                     const TaskId& first, absl::string_view first_value) {
  return absl::FailedPreconditionError(absl::StrCat(Text(key), ": ", field, " is ", value, " on ", task.ToString(),
                                                    " and ", first_value, " on ", first.ToString()));
}

using Fields = std::map<std::string, std::string>;

std::string ValueOf(const Fields& fields, const std::string& field) {
  const auto it = fields.find(field);
  return it == fields.end() ? "absent" : absl::StrCat("'", it->second, "'");
}

// Ok, or the alphabetically first field that differs.
absl::Status Compare(const BarrierKey& key, const TaskId& task, const Fields& values, const TaskId& first,
                     const Fields& first_values) {
  if (values == first_values) return absl::OkStatus();
  Fields all = values;
  all.insert(first_values.begin(), first_values.end());
  for (const auto& [field, unused] : all) {
    const std::string value = ValueOf(values, field);
    const std::string first_value = ValueOf(first_values, field);
    if (value != first_value) return Differs(key, absl::StrCat("'", field, "'"), task, value, first, first_value);
  }
  return absl::OkStatus();
}

FirstCause CauseOf(const BarrierKey& key) {
  FirstCause cause;
  cause.seq = key.seq;
  cause.name = key.name;
  return cause;
}

}  // namespace

BarrierTable::BarrierTable(std::map<TaskId, std::string> addresses,
                           std::function<std::optional<MemberLoss>(const TaskId&)> loss_of, const Clock& clock)
    : addresses_(std::move(addresses)), loss_of_(std::move(loss_of)), clock_(clock) {}

void BarrierTable::Arrive(BarrierArrival arrival, std::function<void(absl::Status)> done) {
  {
    MutexLock lock(&mu_);
    ArriveLocked(std::move(arrival), std::move(done));
  }
  callbacks_.Run();
}

void BarrierTable::ArriveLocked(BarrierArrival arrival, std::function<void(absl::Status)> done) {
  const BarrierKey& key = arrival.key;
  std::sort(arrival.tasks.begin(), arrival.tasks.end());
  if (!std::binary_search(arrival.tasks.begin(), arrival.tasks.end(), arrival.task)) {
    absl::Status status = absl::InvalidArgumentError(
        absl::StrCat(Text(key), ": ", arrival.task.ToString(), " is not one of its tasks, ", Text(arrival.tasks)));
    callbacks_.Post([done = std::move(done), status = std::move(status)] { done(status); });
    return;
  }
  if (const auto ended = ended_.find(key); ended != ended_.end()) {
    callbacks_.Post([done = std::move(done), status = ended->second] { done(status); });
    return;
  }
  auto it = open_.find(key);
  absl::Status verdict;
  if (it == open_.end()) {
    Barrier barrier = {std::move(arrival.tasks), {}, arrival.task, std::move(arrival.agree), arrival.deadline};
    it = open_.emplace(key, std::move(barrier)).first;
  } else if (arrival.tasks != it->second.tasks) {
    verdict =
        Differs(key, "the list of tasks", arrival.task, Text(arrival.tasks), it->second.first, Text(it->second.tasks));
  } else {
    verdict = Compare(key, arrival.task, arrival.agree, it->second.first, it->second.agree);
  }
  Barrier& barrier = it->second;
  barrier.deadline = std::min(barrier.deadline, arrival.deadline);
  std::function<void(absl::Status)>& slot = barrier.arrived[arrival.task];
  if (slot != nullptr) {
    absl::Status repeated =
        absl::AbortedError(absl::StrCat(Text(key), ": ", arrival.task.ToString(), " arrived again in a later call"));
    callbacks_.Post([earlier = std::move(slot), repeated = std::move(repeated)] { earlier(repeated); });
  }
  slot = std::move(done);

  for (const TaskId& task : barrier.tasks) {
    if (!verdict.ok()) break;
    if (const auto loss = loss_of_(task)) verdict = LostStatus(key, barrier, *loss);
  }
  if (!verdict.ok() || barrier.arrived.size() == barrier.tasks.size()) End(it, verdict);
}

BarrierTable::Barriers::iterator BarrierTable::End(Barriers::iterator it, const absl::Status& status) {
  for (auto& [task, done] : it->second.arrived) {
    callbacks_.Post([done = std::move(done), status] { done(status); });
  }
  ended_[it->first] = status;
  ended_order_.push_back(it->first);
  if (ended_order_.size() > kMaxEnded) {
    ended_.erase(ended_order_.front());
    ended_order_.pop_front();
  }
  return open_.erase(it);
}

void BarrierTable::MemberLost(const MemberLoss& loss) {
  {
    MutexLock lock(&mu_);
    for (auto it = open_.begin(); it != open_.end();) {
      const std::vector<TaskId>& tasks = it->second.tasks;
      const bool hit = it->first.epoch < loss.epoch && std::binary_search(tasks.begin(), tasks.end(), loss.task);
      it = hit ? End(it, LostStatus(it->first, it->second, loss)) : std::next(it);
    }
  }
  callbacks_.Run();
}

void BarrierTable::EndSession(int64_t session, const absl::Status& reason) {
  {
    MutexLock lock(&mu_);
    for (auto it = open_.begin(); it != open_.end();) {
      it = it->first.session == session ? End(it, Annotate(reason, Text(it->first))) : std::next(it);
    }
  }
  callbacks_.Run();
}

void BarrierTable::Tick() {
  {
    MutexLock lock(&mu_);
    const absl::Time now = clock_.Now();
    for (auto it = open_.begin(); it != open_.end();) {
      it = it->second.deadline <= now ? End(it, LateStatus(it->first, it->second)) : std::next(it);
    }
  }
  callbacks_.Run();
}

absl::Status BarrierTable::LateStatus(const BarrierKey& key, const Barrier& barrier) const {
  FirstCause cause = CauseOf(key);
  std::vector<std::string> missing;
  for (const TaskId& task : barrier.tasks) {
    if (barrier.arrived.count(task) > 0) {
      cause.arrived.push_back(task);
      continue;
    }
    cause.missing.push_back(task);
    const auto address = addresses_.find(task);
    missing.push_back(TaskText(task, address == addresses_.end() ? "" : address->second));
    if (cause.missing.size() > 1) continue;
    cause.task = task;
    cause.address = address == addresses_.end() ? "" : address->second;
  }
  absl::Status status = absl::DeadlineExceededError(
      absl::StrCat(Text(key), ": ", cause.arrived.size(), " of ", barrier.tasks.size(), " tasks came in time; arrived ",
                   Text(cause.arrived), "; missing ", absl::StrJoin(missing, ", ")));
  SetFirstCause(status, cause);
  return status;
}

absl::Status BarrierTable::LostStatus(const BarrierKey& key, const Barrier& barrier, const MemberLoss& loss) const {
  FirstCause cause = CauseOf(key);
  cause.task = loss.task;
  cause.address = loss.address;
  cause.incarnation = loss.incarnation;
  for (const TaskId& task : barrier.tasks) {
    (barrier.arrived.count(task) > 0 ? cause.arrived : cause.missing).push_back(task);
  }
  absl::Status status(loss.status.code(), absl::StrCat(Text(key), ": ", loss.status.message()));
  SetFirstCause(status, cause);
  return status;
}

}  // namespace cohort
