#ifndef COHORT_RUNTIME_COLLECTIVE_IN_PROCESS_IN_PROCESS_COLLECTIVES_H_
#define COHORT_RUNTIME_COLLECTIVE_IN_PROCESS_IN_PROCESS_COLLECTIVES_H_

#include <map>
#include <memory>

#include "runtime/base/mutex.h"
#include "runtime/collective/collectives.h"
#include "runtime/collective/exchange_options.h"
#include "runtime/collective/in_process/in_process_hub.h"

namespace cohort {

// Groups whose ranks are threads of this process: of the embedded cluster, of a task with several replicas, of tests.
// Members' addresses and incarnations are not looked at.
class InProcessCollectives final : public Collectives {
 public:
  explicit InProcessCollectives(const ExchangeOptions& options = {});

  absl::StatusOr<std::unique_ptr<Communicator>> Join(const GroupSpec& spec, absl::Time deadline) override;
  void AbortGroup(const GroupId& id, absl::Status reason) override;

 private:
  absl::StatusOr<std::shared_ptr<InProcessHub>> FindHub(const GroupSpec& spec);

  const ExchangeOptions options_;
  Mutex mu_;
  // Kept by the endpoints; shared, because the last of them to leave ends it.
  std::map<GroupId, std::weak_ptr<InProcessHub>> hubs_ ABSL_GUARDED_BY(mu_);
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_COLLECTIVE_IN_PROCESS_IN_PROCESS_COLLECTIVES_H_
