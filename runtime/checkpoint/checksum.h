#ifndef COHORT_RUNTIME_CHECKPOINT_CHECKSUM_H_
#define COHORT_RUNTIME_CHECKPOINT_CHECKSUM_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/checkpoint/variable_key.h"
#include "runtime/tensor/tensor.h"

namespace cohort {

using StateValues = std::vector<std::pair<VariableKey, Tensor>>;  // in any order

// CRC-32C (not masked) over all variables, trainable or not, without slots, as 8 lower-case hex digits. Ascending by
// name, of each: name, zero byte, dtype number (1 byte), rank (1 byte), dims (int64 each), the value row-major; all
// little-endian. Two trainings with equal weights have equal checksums, whatever the number of tasks.
std::string WeightsCrc32c(StateValues values);

// The same over variables and slots (a slot's name is "variable:slot"), and `global_step` as an int64 scalar of that
// name.
std::string StateCrc32c(StateValues values, int64_t global_step);

}  // namespace cohort

#endif  // COHORT_RUNTIME_CHECKPOINT_CHECKSUM_H_
