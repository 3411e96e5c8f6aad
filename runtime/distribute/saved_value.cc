#include "runtime/distribute/saved_value.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/distribute/batch_split.h"
#include "runtime/distribute/gather.h"

namespace cohort {

absl::StatusOr<Tensor> SavedValue(const VariableState& variable) { return ReadCrossReplica(variable); }

absl::StatusOr<std::vector<Tensor>> RestoredComponents(const VariableState& variable, const Tensor& saved) {
  if (variable.kind == VariableKind::kSyncOnRead && variable.aggregation == VariableAggregation::kNone) {
    return absl::InvalidArgumentError(
        absl::StrCat("variable '", variable.name, "' is ON_READ with aggregation NONE: it has no saved value"));
  }
  COHORT_ASSIGN_OR_RETURN(auto components, AssignCrossReplica(variable, AssignOp::kAssign, saved),
                          _ << "restoring a saved value");
  return components;
}

absl::StatusOr<Tensor> SavedValueOfShards(absl::Span<const Tensor> shards) {
  if (shards.empty()) return absl::InvalidArgumentError("a variable of no shards has no value");
  return GatherTensors(shards, 0);
}

absl::StatusOr<std::vector<Tensor>> RestoredShards(const Tensor& saved, int num_shards) {
  if (saved.shape().rank() == 0 || num_shards < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("a value of shape ", saved.shape().ToString(), " cannot be cut into ", num_shards, " shards"));
  }
  const int64_t row_elements = saved.shape().dim(0) == 0 ? 0 : saved.num_elements() / saved.shape().dim(0);
  const size_t row_bytes = row_elements * DTypeSize(saved.dtype());
  std::vector<Tensor> shards;
  for (int s = 0; s < num_shards; ++s) {
    const ExampleRange rows = WorkerPart(saved.shape().dim(0), num_shards, s);
    Shape shape = saved.shape();
    shape.set_dim(0, rows.size());
    Tensor shard(saved.dtype(), shape);
    if (saved.dtype() == DType::kString) {
      const auto begin = saved.strings().begin() + rows.begin * row_elements;
      shard.mutable_strings().assign(begin, begin + rows.size() * row_elements);
    } else {
      std::copy_n(static_cast<const char*>(saved.data()) + rows.begin * row_bytes, rows.size() * row_bytes,
                  static_cast<char*>(shard.mutable_data()));
    }
    shards.push_back(std::move(shard));
  }
  return shards;
}

}  // namespace cohort
