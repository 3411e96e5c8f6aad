#include "runtime/collective/collective_call.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/first_cause.h"
#include "runtime/base/status_macros.h"

namespace cohort {
namespace {

// By rank: whether it has opened this collective.
std::vector<bool> Arrived(const CollectiveCall& call, const Transport& transport) {
  std::vector<bool> arrived;
  for (int r = 0; r < static_cast<int>(transport.group().members.size()); ++r) {
    arrived.push_back(r == transport.group().rank || transport.latest_seq(r) >= call.seq);
  }
  return arrived;
}

void AddRanks(const std::vector<bool>& arrived, const GroupSpec& group, FirstCause& cause) {
  for (size_t r = 0; r < arrived.size(); ++r) {
    (arrived[r] ? cause.arrived : cause.missing).push_back(group.members[r].task);
  }
}

std::string TaskList(const std::vector<TaskId>& tasks) {
  return absl::StrJoin(tasks, ", ", [](std::string* out, const TaskId& task) { out->append(task.ToString()); });
}

}  // namespace

std::string CollectiveCall::ToString() const { return absl::StrCat("operation ", seq, ", ", signature.ToString(name)); }

absl::Status Late(const CollectiveCall& call, const Transport& transport, int waited_for) {
  const GroupSpec& group = transport.group();
  std::vector<bool> arrived = Arrived(call, transport);
  bool all = true;
  for (const bool there : arrived) all = all && there;
  if (all) arrived[waited_for] = false;  // began, but stopped on the way

  FirstCause cause;
  std::vector<std::string> missing;
  for (size_t r = 0; r < arrived.size(); ++r) {
    if (arrived[r]) continue;
    if (missing.empty()) cause = Blame(group.members[r]);
    missing.push_back(group.members[r].ToString());
  }
  cause.seq = call.seq;
  cause.name = std::string(call.name);
  AddRanks(arrived, group, cause);
  // No rank finishes a collective before all have begun it, so who has not begun this one has finished the last.
  const std::string last = all ? "began, but did not finish in time"
                               : absl::StrCat("last finished operation ", call.seq - 1, call.seq == 1 ? " (none)" : "");
  absl::Status status = absl::DeadlineExceededError(
      absl::StrCat(group.members[group.rank].task.ToString(), ": ", call.ToString(), ", timed out: arrived ",
                   TaskList(cause.arrived), "; missing ", absl::StrJoin(missing, ", "), " (", last, ")"));
  SetFirstCause(status, cause);
  return status;
}

absl::Status Mismatch(const CollectiveCall& call, const GroupSpec& group, int from, const Frame& theirs) {
  std::string lower = absl::StrCat(group.members[group.rank].task.ToString(), " (rank ", group.rank, ") calls ",
                                   call.signature.ToString(call.name));
  std::string upper = absl::StrCat(group.members[from].task.ToString(), " (rank ", from, ") calls ",
                                   theirs.header.signature.ToString(theirs.name));
  if (from < group.rank) std::swap(lower, upper);
  return absl::InvalidArgumentError(absl::StrCat("ranks disagree at position ", call.seq, ": ", lower, ", ", upper,
                                                 "; all must make the same calls in the same order"));
}

absl::Status WithPosition(absl::Status status, const CollectiveCall& call, const Transport& transport) {
  std::optional<FirstCause> cause = GetFirstCause(status);
  if (!cause.has_value() || cause->seq != 0) return status;
  cause->seq = call.seq;
  cause->name = std::string(call.name);
  AddRanks(Arrived(call, transport), transport.group(), *cause);
  status = Annotate(std::move(status), absl::StrCat(transport.group().members[transport.group().rank].task.ToString(),
                                                    ": ", call.ToString()));
  status.ErasePayload(kFirstCauseUrl);
  SetFirstCause(status, *cause);
  return status;
}

}  // namespace cohort
