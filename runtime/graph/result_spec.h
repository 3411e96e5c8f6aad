#ifndef COHORT_RUNTIME_GRAPH_RESULT_SPEC_H_
#define COHORT_RUNTIME_GRAPH_RESULT_SPEC_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/graph/function.h"

namespace cohort {

// What a result of this role must be, since the step header adds it up: scalars; counts of examples int64, losses
// floating, metrics floating or int64. A fetched one may be any tensor, but not the handle of a variable.
// InvalidArgument names the result and its spec.
absl::Status CheckResultSpec(absl::string_view name, ResultRole role, const TensorSpec& spec);

}  // namespace cohort

#endif  // COHORT_RUNTIME_GRAPH_RESULT_SPEC_H_
