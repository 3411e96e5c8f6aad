#include "runtime/coordination/coordination.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cohort {
namespace {

std::map<TaskId, std::string> Addresses(const MembershipOptions& options) {
  std::map<TaskId, std::string> addresses;
  for (const ExpectedMember& member : options.expected) addresses[member.task] = member.address;
  return addresses;
}

}  // namespace

Coordination::Coordination(CoordinationOptions options, MemberInfo self, const Clock& clock)
    : membership_(options.membership, self, clock),
      barriers_(
          Addresses(options.membership), [this](const TaskId& task) { return membership_.LossOf(task); }, clock),
      admission_(clock),
      jobs_(std::move(options.jobs), admission_, clock),
      sessions_(WithBarriersEnded(std::move(options.sessions)), admission_, clock) {
  membership_.Watch([this](const RosterChange& change) {
    for (const MemberLoss& loss : change.losses) barriers_.MemberLost(loss);
  });
}

SessionOptions Coordination::WithBarriersEnded(SessionOptions options) {
  options.on_end = [this, on_end = std::move(options.on_end)](int64_t session, const absl::Status& reason) {
    barriers_.EndSession(session, reason.ok() ? absl::CancelledError("its session was closed") : reason);
    if (on_end) on_end(session, reason);
  };
  return options;
}

absl::StatusOr<JoinResult> Coordination::Join(MemberInfo info) {
  std::vector<JobRecord> known_jobs = std::move(info.known_jobs);
  absl::StatusOr<JoinResult> result = membership_.Join(std::move(info));
  if (result.ok()) jobs_.Restore(std::move(known_jobs));
  return result;
}

void Coordination::Tick() {
  membership_.Tick();
  barriers_.Tick();
  admission_.Tick();
  sessions_.Tick();
}

void Coordination::Close(const absl::Status& reason) {
  admission_.Close(reason);
  logs_.Close();
}

}  // namespace cohort
