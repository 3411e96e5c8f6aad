#ifndef COHORT_PS_SHARD_SESSION_H_
#define COHORT_PS_SHARD_SESSION_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "runtime/base/mutex.h"
#include "runtime/driver/ps_link.h"
#include "runtime/variable/parameter_server.h"
#include "runtime/variable/variable_store.h"
#include "runtime/variable/variable_updater.h"

namespace cohort {

// The variables of one session on one ps, with their slots and optimizers. An update holds the lock of one variable at
// a time: updates of different variables run side by side, those of one variable one after the other, and a read never
// sees half of one. Safe from any thread.
class ShardSession {
 public:
  // Makes the variables with their first values. InvalidArgument: an unknown optimizer, a bad initializer, a name
  // twice.
  static absl::StatusOr<std::shared_ptr<ShardSession>> Create(const PsSessionSpec& spec);

  absl::StatusOr<std::vector<Tensor>> Pull(absl::Span<const std::string> names) const;
  absl::Status Push(const TaskId& worker, const ParameterClient::Update& update,
                    absl::Span<const ParameterServer::Gradient> gradients);
  absl::StatusOr<PsSummary> Summarize() const;

 private:
  struct Entry {
    Variable* variable = nullptr;
    Mutex mu;                                                    // before the variable's own lock
    std::optional<VariableUpdater> updater ABSL_GUARDED_BY(mu);  // none: it is never pushed
  };
  // The steps that one worker has pushed. Held for the whole of a push, so that a repetition that overtakes its
  // original waits for it.
  struct Worker {
    Mutex mu;
    int64_t last_step ABSL_GUARDED_BY(mu) = 0;
  };

  ShardSession() = default;
  absl::StatusOr<Entry*> Find(const std::string& name) const;
  // The variable to which a gradient fits.
  absl::StatusOr<Entry*> Check(const ParameterServer::Gradient& gradient) const;
  Worker* FindWorker(const TaskId& worker);

  VariableStore store_;
  absl::flat_hash_map<std::string, std::unique_ptr<Entry>> entries_;  // fixed after Create

  mutable Mutex mu_;
  std::map<TaskId, std::unique_ptr<Worker>> workers_ ABSL_GUARDED_BY(mu_);
  int64_t updates_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace cohort

#endif  // COHORT_PS_SHARD_SESSION_H_
