#ifndef COHORT_RUNTIME_DRIVER_PS_LINK_H_
#define COHORT_RUNTIME_DRIVER_PS_LINK_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/driver/worker_link.h"

namespace cohort {

// A variable as a ps holds it: its definition, and the optimizer that a Push applies (runtime/optimizer's name and
// hyperparameters, as the attributes of the ApplyGradient nodes have them; empty: it is never pushed).
struct PsVariable {
  VariableDef definition;
  Attributes optimizer;
};

struct PsSessionSpec {
  uint64_t session = 0;
  int64_t epoch = 0;
  uint64_t seed = 0;
  std::vector<PsVariable> variables;  // of this ps only
};

struct PsSummary {
  int64_t updates = 0;  // pushes applied
  // Every variable and slot of the session with its value, ascending by key, for checksums and saving.
  std::vector<std::pair<std::string, Tensor>> values;  // "name" or "name:slot"
};

// The driver's hold on one parameter server. As WorkerLink.
class PsLink {
 public:
  template <typename T>
  using Done = std::function<void(absl::StatusOr<T>)>;

  virtual ~PsLink() = default;
  virtual const TaskAddress& task() const = 0;

  virtual void OpenSession(const PsSessionSpec& spec, absl::Time deadline, Done<bool> done) = 0;
  virtual void Summarize(uint64_t session, absl::Time deadline, Done<PsSummary> done) = 0;
  virtual void CloseSession(uint64_t session, absl::Status reason, absl::Time deadline, Done<bool> done) = 0;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_DRIVER_PS_LINK_H_
