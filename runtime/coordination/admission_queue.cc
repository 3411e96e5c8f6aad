#include "runtime/coordination/admission_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"

namespace cohort {

int64_t AdmissionQueue::NewTicket() {
  MutexLock lock(&mu_);
  return next_ticket_++;
}

absl::Status AdmissionQueue::BusyStatus(absl::string_view who) const {
  return absl::ResourceExhaustedError(
      absl::StrCat(who, " cannot start: ", line_.front().who, " is using the cluster, which runs one at a time"));
}

absl::Status AdmissionQueue::Enter(int64_t ticket, std::string who, absl::Time deadline, Admitted admitted) {
  {
    MutexLock lock(&mu_);
    if (!closed_.ok()) return closed_;
    if (!line_.empty() && deadline <= clock_.Now()) return BusyStatus(who);
    if (line_.empty()) callbacks_.Post([admitted = std::exchange(admitted, nullptr)] { admitted(absl::OkStatus()); });
    line_.push_back({ticket, std::move(who), deadline, std::move(admitted)});
  }
  callbacks_.Run();
  return absl::OkStatus();
}

void AdmissionQueue::Leave(int64_t ticket) {
  {
    MutexLock lock(&mu_);
    const auto it =
        std::find_if(line_.begin(), line_.end(), [&](const Entry& entry) { return entry.ticket == ticket; });
    if (it == line_.end()) return;
    const bool had_turn = it == line_.begin();
    line_.erase(it);
    if (had_turn && !line_.empty()) {
      callbacks_.Post([admitted = std::exchange(line_.front().admitted, nullptr)] { admitted(absl::OkStatus()); });
    }
  }
  callbacks_.Run();
}

std::string AdmissionQueue::Behind(int64_t ticket) const {
  MutexLock lock(&mu_);
  const Entry* before = nullptr;
  for (const Entry& entry : line_) {
    if (entry.ticket == ticket) return before == nullptr ? "" : before->who;
    before = &entry;
  }
  return "";
}

void AdmissionQueue::Tick() {
  {
    MutexLock lock(&mu_);
    const absl::Time now = clock_.Now();
    for (auto it = line_.begin(); it != line_.end();) {
      if (it == line_.begin() || now < it->deadline) {
        ++it;
        continue;
      }
      callbacks_.Post([admitted = std::move(it->admitted), status = BusyStatus(it->who)] { admitted(status); });
      it = line_.erase(it);
    }
  }
  callbacks_.Run();
}

void AdmissionQueue::Close(absl::Status reason) {
  {
    MutexLock lock(&mu_);
    if (!closed_.ok()) return;
    closed_ = std::move(reason);
    while (line_.size() > 1) {
      const auto next = std::next(line_.begin());
      callbacks_.Post([admitted = std::move(next->admitted), status = closed_] { admitted(status); });
      line_.erase(next);
    }
  }
  callbacks_.Run();
}

}  // namespace cohort
