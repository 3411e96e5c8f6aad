#ifndef COHORT_RUNTIME_KERNELS_CPU_TABLES_H_
#define COHORT_RUNTIME_KERNELS_CPU_TABLES_H_

#include "absl/types/span.h"
#include "runtime/kernels/kernel.h"

namespace cohort::cpu {

// The kernels of one family, each in FAMILY.cc. Ops whose name begins with '_' are not in the graph's op table: the
// plan makes them of several nodes.
absl::Span<const Kernel> ArrayKernels();
absl::Span<const Kernel> ConvolutionKernels();
absl::Span<const Kernel> ElementwiseKernels();
absl::Span<const Kernel> MatMulKernels();
absl::Span<const Kernel> NnKernels();
absl::Span<const Kernel> PoolingKernels();
absl::Span<const Kernel> ReductionKernels();
absl::Span<const Kernel> ReplicaKernels();

}  // namespace cohort::cpu

#endif  // COHORT_RUNTIME_KERNELS_CPU_TABLES_H_
