#include "runtime/collective/group.h"

#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cohort {

std::string GroupId::ToString() const {
  return absl::StrCat("session ", session, ", epoch ", epoch, ", group ", group);
}

std::string GroupMember::ToString() const {
  return address.empty() ? task.ToString() : absl::StrCat(task.ToString(), " at ", address);
}

absl::Status Validate(const GroupSpec& spec) {
  if (spec.members.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("the group of ", spec.id.ToString(), " has no members"));
  }
  if (spec.rank < 0 || spec.rank >= static_cast<int>(spec.members.size())) {
    return absl::InvalidArgumentError(absl::StrCat("rank ", spec.rank, " is not one of the ", spec.members.size(),
                                                   " ranks of the group of ", spec.id.ToString()));
  }
  return absl::OkStatus();
}

FirstCause Blame(const GroupMember& member) {
  FirstCause cause;
  cause.task = member.task;
  cause.address = member.address;
  cause.incarnation = member.incarnation;
  return cause;
}

absl::Status NotComplete(const GroupSpec& spec, const std::vector<bool>& arrived) {
  std::vector<std::string> missing;
  FirstCause cause;
  for (size_t r = 0; r < spec.members.size(); ++r) {
    const GroupMember& member = spec.members[r];
    if (arrived[r]) {
      cause.arrived.push_back(member.task);
      continue;
    }
    if (missing.empty())
      std::tie(cause.task, cause.address, cause.incarnation) =
          std::tie(member.task, member.address, member.incarnation);
    cause.missing.push_back(member.task);
    missing.push_back(member.ToString());
  }
  cause.name = "join";
  absl::Status status = absl::DeadlineExceededError(absl::StrCat(
      "the group of ", spec.id.ToString(), " did not come together in time; missing: ", absl::StrJoin(missing, ", ")));
  SetFirstCause(status, cause);
  return status;
}

}  // namespace cohort
