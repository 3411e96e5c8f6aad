#ifndef COHORT_RUNTIME_VARIABLE_PARAMETER_CLIENT_H_
#define COHORT_RUNTIME_VARIABLE_PARAMETER_CLIENT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "runtime/tensor/tensor_spec.h"

namespace cohort {

// A worker's view of variables that live on parameter servers: the remote form of a VariableStore. One per session and
// worker; used by the thread that runs the steps. The implementation splits each call into one message per ps.
class ParameterClient {
 public:
  struct PullTarget {
    std::string variable;
    TensorSpec spec;
    void* destination;  // spec's bytes
  };
  struct Gradient {
    std::string variable;
    TensorSpec spec;
    const void* data;  // SUM over the examples of this step
  };
  struct Update {
    int64_t worker_step = 0;  // this worker's own count; a repeated one is answered without a second update
    double learning_rate = 0;
    int64_t examples = 0;  // the sum is divided by it, once, on the ps; 0: nothing is applied
  };

  virtual ~ParameterClient() = default;
  // Fills every destination with a consistent value of its variable (never half of an update).
  // Unavailable names the ps; FailedPrecondition: a variable without value (the ps restarted); DeadlineExceeded.
  virtual absl::Status Pull(absl::Span<const PullTarget> targets, absl::Time deadline) = 0;
  // Applies the gradients by the optimizer registered for each variable. Acknowledged when it returns.
  virtual absl::Status Push(const Update& update, absl::Span<const Gradient> gradients, absl::Time deadline) = 0;
  virtual int64_t bytes_sent() const = 0;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_VARIABLE_PARAMETER_CLIENT_H_
