#ifndef COHORT_RUNTIME_DISTRIBUTE_PAGE_PRINT_H_
#define COHORT_RUNTIME_DISTRIBUTE_PAGE_PRINT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/distribute/nest.h"
#include "runtime/tensor/tensor.h"

namespace cohort {

// Values as the pages of tf.distribute print them, so that a program's output can be compared with theirs:
//   PerReplica:{
//     0: <tf.Tensor: shape=(1,), dtype=int64, numpy=array([0])>,
//     1: <tf.Tensor: shape=(1,), dtype=int64, numpy=array([2])>
//   }
// Arrays stay on one line and end after 64 elements with "...".
std::string PagePrint(const Nest& value);
std::string PagePrint(const Tensor& tensor);

// "<tf.Variable 'v:0' shape=() dtype=float32, numpy=1.0>".
std::string PagePrintVariable(absl::string_view name, const Tensor& value);
// "MirroredVariable:{\n  0: <tf.Variable 'v:0' ...>,\n  1: <tf.Variable 'v/replica_1:0' ...>\n}"; `type` is
// "MirroredVariable" or "SyncOnReadVariable".
std::string PagePrintDistributedVariable(absl::string_view type, absl::string_view name,
                                         absl::Span<const Tensor> components);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DISTRIBUTE_PAGE_PRINT_H_
