#include "worker/missing_task_probe.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/time/clock.h"

namespace cohort {
namespace {

constexpr absl::Duration kPause = absl::Seconds(1);
constexpr absl::Duration kDial = absl::Seconds(1);

std::string Describe(const absl::Status& dialled) {
  if (dialled.ok()) return "it answers, but has not joined";
  // How gRPC puts it; users know it by this name.
  if (absl::StrContains(dialled.message(), "DNS resolution failed")) return "name not resolved";
  if (absl::StrContains(dialled.message(), "onnection refused")) return "connection refused";
  return std::string(dialled.message());
}

}  // namespace

MissingTaskProbe::MissingTaskProbe(Membership& membership, Dial dial)
    : membership_(membership), dial_(std::move(dial)), thread_("probe", [this] { Loop(); }) {}

MissingTaskProbe::~MissingTaskProbe() {
  {
    MutexLock lock(&mu_);
    stopping_ = true;
  }
  thread_.Join();
}

void MissingTaskProbe::Loop() {
  MutexLock lock(&mu_);
  const auto stopping = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return stopping_; };
  while (!mu_.AwaitWithDeadline(stopping, absl::Now() + kPause)) {
    for (const TaskId& task : membership_.Missing()) {
      if (stopping_) return;
      const Roster roster = membership_.GetRoster();
      const RosterMember* const member = roster.Find(task);
      if (member == nullptr) continue;
      mu_.Unlock();
      membership_.NoteConnectError(task, Describe(dial_(member->address, absl::Now() + kDial)));
      mu_.Lock();
    }
  }
}

}  // namespace cohort
