#ifndef COHORT_RUNTIME_VARIABLE_PARAMETER_SERVER_H_
#define COHORT_RUNTIME_VARIABLE_PARAMETER_SERVER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/base/task_id.h"
#include "runtime/tensor/tensor.h"
#include "runtime/variable/parameter_client.h"

namespace cohort {

// What a ps does for the workers' ParameterClients: the data side of a ps shard. Safe from any thread; computes in the
// calling thread, which must not be one that reacts to messages.
class ParameterServer {
 public:
  struct Gradient {
    std::string variable;
    Tensor value;  // SUM over the examples of the step
  };

  virtual ~ParameterServer() = default;
  // Immutable values, in the order of `names`; each of one moment, never half of an update.
  //   NotFound: no such session or variable.  FailedPrecondition: a variable without value.
  virtual absl::StatusOr<std::vector<Tensor>> Pull(uint64_t session, absl::Span<const std::string> names) = 0;
  // Applies one step of `worker` by the optimizers of the session. A worker_step that this worker has pushed already is
  // answered without a second update.
  //   NotFound: no such session or variable.  InvalidArgument: another spec than the variable's; names both.
  virtual absl::Status Push(uint64_t session, const TaskId& worker, const ParameterClient::Update& update,
                            absl::Span<const Gradient> gradients) = 0;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_VARIABLE_PARAMETER_SERVER_H_
