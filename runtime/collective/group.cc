#include "runtime/collective/group.h"

#include "absl/strings/str_cat.h"

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

}  // namespace cohort
