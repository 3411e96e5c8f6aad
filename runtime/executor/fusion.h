#ifndef COHORT_RUNTIME_EXECUTOR_FUSION_H_
#define COHORT_RUNTIME_EXECUTOR_FUSION_H_

#include <vector>

#include "runtime/executor/step_layout.h"

namespace cohort {

// Lets products and convolutions finish what follows them while their result is in registers: BiasAdd, Relu, and the
// ReluGrad that takes their result on. The op that is taken in disappears; the result is the same bits. `is_float`
// says of each value whether it is float32. Only values that nobody else reads and nobody keeps are skipped.
void FuseOps(std::vector<StepOp>& ops, const std::vector<StepValue>& values, const std::vector<bool>& is_float);

}  // namespace cohort

#endif  // COHORT_RUNTIME_EXECUTOR_FUSION_H_
