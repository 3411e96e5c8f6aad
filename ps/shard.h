#ifndef COHORT_PS_SHARD_H_
#define COHORT_PS_SHARD_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ps/shard_session.h"
#include "runtime/base/mutex.h"
#include "runtime/driver/ps_link.h"
#include "runtime/variable/parameter_server.h"

namespace cohort {

// Everything a ps task does: the variables of its sessions, for the driver (PsLink) and for the workers
// (ParameterServer). The whole daemon but for the socket. Safe from any thread; all calls compute in the calling
// thread.
class Shard final : public PsLink, public ParameterServer {
 public:
  explicit Shard(TaskAddress self) : self_(std::move(self)) {}

  const TaskAddress& task() const override { return self_; }
  void OpenSession(const PsSessionSpec& spec, absl::Time deadline, Done<bool> done) override;
  void Summarize(uint64_t session, absl::Time deadline, Done<PsSummary> done) override;
  void CloseSession(uint64_t session, absl::Status reason, absl::Time deadline, Done<bool> done) override;

  absl::StatusOr<std::vector<Tensor>> Pull(uint64_t session, absl::Span<const std::string> names) override;
  absl::Status Push(uint64_t session, const TaskId& worker, const ParameterClient::Update& update,
                    absl::Span<const Gradient> gradients) override;

  // Frees every session (the leader changed, shutdown).
  void CloseAllSessions(const absl::Status& reason);
  size_t session_count() const;

 private:
  // A session that is closed while calls are in it is freed by the last of them.
  absl::StatusOr<std::shared_ptr<ShardSession>> Find(uint64_t session) const;

  const TaskAddress self_;
  mutable Mutex mu_;
  std::map<uint64_t, std::shared_ptr<ShardSession>> sessions_ ABSL_GUARDED_BY(mu_);
};

}  // namespace cohort

#endif  // COHORT_PS_SHARD_H_
