#include "runtime/coordination/member.h"

#include "absl/strings/str_cat.h"

namespace cohort {

absl::string_view MemberStateName(MemberState state) {
  switch (state) {
    case MemberState::kMissing:
      return "missing";
    case MemberState::kAlive:
      return "alive";
    case MemberState::kDisconnected:
      return "disconnected";
    case MemberState::kLost:
      return "lost";
  }
  return "unknown";
}

const RosterMember* Roster::Find(const TaskId& task) const {
  for (const RosterMember& member : members) {
    if (member.task == task) return &member;
  }
  return nullptr;
}

std::string IncarnationText(uint64_t incarnation) { return absl::StrCat(absl::Hex(incarnation, absl::kZeroPad16)); }

std::string TaskText(const TaskId& task, absl::string_view address) {
  if (address.empty()) return task.ToString();
  return absl::StrCat(task.ToString(), " at ", address);
}

}  // namespace cohort
