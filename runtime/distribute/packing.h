#ifndef COHORT_RUNTIME_DISTRIBUTE_PACKING_H_
#define COHORT_RUNTIME_DISTRIBUTE_PACKING_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace cohort {

// How a batch of dense tensors is cut into packs that travel together. Speed only: results are the same and stand in
// the order of the tensors.

// Positions of `bytes` (the tensors' sizes, in their order; nullopt: unknown) by pack, in the order in which packs and
// their tensors are reduced: last tensor first, as gradients get ready. A pack takes tensors until it holds more than
// bytes_per_pack bytes. 0, or a tensor of unknown size: one pack. No tensors: no pack.
// Sizes 4, 800, 32, 128 with 200 bytes: {3, 2, 1}, {0}.
std::vector<std::vector<size_t>> PackTensors(absl::Span<const std::optional<int64_t>> bytes, int64_t bytes_per_pack);

// Elements of each of `num_packs` equal parts of the concatenated tensors, of which the last takes the rest: 10 in 3:
// 3, 3, 4. num_packs 0: no packing, so no part. InvalidArgument: num_packs or `elements` below 0.
absl::StatusOr<std::vector<int64_t>> SplitIntoPacks(int64_t elements, int num_packs);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DISTRIBUTE_PACKING_H_
