#include "runtime/collective/in_process/in_process_collectives.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/collective/direct_exchange.h"

namespace cohort {

InProcessCollectives::InProcessCollectives(const ExchangeOptions& options) : options_(options) {}

absl::StatusOr<std::shared_ptr<InProcessHub>> InProcessCollectives::FindHub(const GroupSpec& spec) {
  MutexLock lock(&mu_);
  const GroupId& id = spec.id;
  for (auto it = hubs_.begin(); it != hubs_.end();) {
    const std::shared_ptr<InProcessHub> hub = it->second.lock();
    const bool related = it->first.session == id.session && it->first.group == id.group;
    if (hub != nullptr && related && it->first.epoch > id.epoch) {
      return absl::AbortedError(absl::StrCat("the group of ", id.ToString(), " is old: epoch ", it->first.epoch,
                                             " has begun; read the roster again"));
    }
    if (hub != nullptr && related && it->first.epoch < id.epoch) {
      hub->Abort(absl::AbortedError(
                     absl::StrCat("the group of ", it->first.ToString(), " ended: epoch ", id.epoch, " has begun")))
          .IgnoreError();
    }
    // One that is over makes room for another of the same name.
    if (hub == nullptr || !hub->open()) {
      it = hubs_.erase(it);
    } else {
      ++it;
    }
  }
  std::weak_ptr<InProcessHub>& slot = hubs_[id];
  std::shared_ptr<InProcessHub> hub = slot.lock();
  if (hub == nullptr) {
    hub = std::make_shared<InProcessHub>(spec, SpinTime(absl::Microseconds(20), static_cast<int>(spec.members.size())));
    slot = hub;
  }
  if (hub->group().members.size() != spec.members.size()) {
    return absl::FailedPreconditionError(absl::StrCat("rank ", spec.rank, " says that the group of ", id.ToString(),
                                                      " has ", spec.members.size(), " members, another rank said ",
                                                      hub->group().members.size()));
  }
  return hub;
}

absl::StatusOr<std::unique_ptr<Communicator>> InProcessCollectives::Join(const GroupSpec& spec, absl::Time deadline) {
  COHORT_RETURN_IF_ERROR(Validate(spec));
  COHORT_ASSIGN_OR_RETURN(const std::shared_ptr<InProcessHub> hub, FindHub(spec));
  COHORT_ASSIGN_OR_RETURN(std::unique_ptr<Transport> transport, InProcessHub::Attach(hub, spec.rank));
  const absl::Status complete = hub->AwaitAll(deadline);
  if (!complete.ok()) return hub->Abort(complete);
  return MakeDirectExchange(std::move(transport), options_);
}

void InProcessCollectives::AbortGroup(const GroupId& id, absl::Status reason) {
  std::shared_ptr<InProcessHub> hub;
  {
    MutexLock lock(&mu_);
    const auto it = hubs_.find(id);
    if (it != hubs_.end()) hub = it->second.lock();
  }
  if (hub != nullptr) hub->Abort(std::move(reason)).IgnoreError();
}

}  // namespace cohort
