#include "runtime/distribute/auto_shard.h"

#include <algorithm>
#include <initializer_list>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/distribute/rebatch.h"

namespace cohort {
namespace {

// TensorFlow's shard(SHARD_HINT, ...).
constexpr absl::string_view kShardHint = "ShardHint";

bool IsOneOf(const std::string& kind, std::initializer_list<absl::string_view> kinds) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

bool KeepsBatchSize(const std::string& kind) {
  return IsOneOf(kind, {"AssertCardinality", "Cache", "Filter", "Options", "ParseExample", "Prefetch", "Repeat",
                        "Shard", "ShardHint", "Shuffle", "Skip", "Take"});
}

bool IsBatch(const std::string& kind) { return IsOneOf(kind, {"Batch", "PaddedBatch", "MapAndBatch"}); }

bool IsBranch(const std::string& kind) { return IsOneOf(kind, {"Zip", "Concatenate", "Interleave"}); }

bool IsReader(const std::string& kind) {
  return IsOneOf(kind, {"ArrayRecord", "Csv", "FixedLengthRecords", "TextLines", "TFRecord"});
}

// Whether the search for files goes on behind it.
bool IsPassedOver(const std::string& kind) {
  return KeepsBatchSize(kind) || IsBatch(kind) ||
         IsOneOf(kind, {"Enumerate", "FlatMap", "LegacyRebatch", "Map", "Rebatch", "Unbatch", "Window"});
}

bool HasHint(const ShardNode& node) {
  return node.kind == kShardHint || std::any_of(node.inputs.begin(), node.inputs.end(), HasHint);
}

absl::Status Find(const ShardNode& node, std::vector<int>& path, std::vector<std::vector<int>>& found) {
  if (node.function_reads_files) {
    found.push_back(path);
    return absl::OkStatus();
  }
  if (IsReader(node.kind)) {
    if (node.constant_file_names) {
      return absl::NotFoundError(absl::StrCat("the file names of '", node.kind, "' are no data set"));
    }
    found.push_back(path);
    return absl::OkStatus();
  }
  const bool branch = IsBranch(node.kind) && !node.inputs.empty();
  if (!branch && (!IsPassedOver(node.kind) || node.inputs.size() != 1)) {
    return absl::NotFoundError(absl::StrCat("'", node.kind, "' is an unshardable source: it reads no files"));
  }
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    path.push_back(static_cast<int>(i));
    COHORT_RETURN_IF_ERROR(Find(node.inputs[i], path, found));
    path.pop_back();
  }
  return absl::OkStatus();
}

// That each reader has a file for each worker, as far as its files are known.
absl::Status CheckFiles(const ShardNode& root, const std::vector<std::vector<int>>& readers, int64_t num_workers) {
  for (const std::vector<int>& path : readers) {
    const ShardNode* node = &root;
    for (const int input : path) node = &node->inputs[input];
    if (node->files >= 0) {
      COHORT_RETURN_IF_ERROR(CheckShardInputs(AutoShardPolicy::kFile, node->files, num_workers, 0));
    }
  }
  return absl::OkStatus();
}

// AUTO becomes FILE or DATA; of FILE the readers are found.
absl::Status Resolve(const ShardNode& root, int64_t num_workers, ShardPlan& plan) {
  if (plan.policy != AutoShardPolicy::kAuto && plan.policy != AutoShardPolicy::kFile) return absl::OkStatus();
  const bool automatic = plan.policy == AutoShardPolicy::kAuto;
  const absl::StatusOr<std::vector<std::vector<int>>> readers = FindFileReaders(root);
  if (!readers.ok()) {
    if (!automatic && num_workers > 1) return readers.status();
    if (automatic) plan.policy = AutoShardPolicy::kData;
    return absl::OkStatus();
  }
  const absl::Status enough = CheckFiles(root, *readers, num_workers);
  if (!enough.ok()) {
    if (!automatic) return enough;
    plan.policy = AutoShardPolicy::kData;
    plan.warning = absl::StrCat(enough.message(), "; every worker reads all files and takes its part of the elements");
    return absl::OkStatus();
  }
  plan.policy = AutoShardPolicy::kFile;
  plan.readers = *readers;
  return absl::OkStatus();
}

}  // namespace

absl::string_view AutoShardPolicyName(AutoShardPolicy policy) {
  switch (policy) {
    case AutoShardPolicy::kOff:
      return "OFF";
    case AutoShardPolicy::kAuto:
      return "AUTO";
    case AutoShardPolicy::kFile:
      return "FILE";
    case AutoShardPolicy::kData:
      return "DATA";
    case AutoShardPolicy::kHint:
      return "HINT";
  }
  return "?";
}

int64_t InferBatchSize(const ShardNode& root) {
  if (root.static_rows >= 0) return root.static_rows;
  if (IsBatch(root.kind)) return root.batch_size;
  if (root.inputs.empty()) return -1;
  if (KeepsBatchSize(root.kind) && root.inputs.size() == 1) return InferBatchSize(root.inputs[0]);
  if (root.kind != "Zip" && root.kind != "Concatenate") return -1;
  const int64_t size = InferBatchSize(root.inputs[0]);
  const auto equal = [size](const ShardNode& input) { return InferBatchSize(input) == size; };
  return std::all_of(root.inputs.begin(), root.inputs.end(), equal) ? size : -1;
}

absl::StatusOr<std::vector<std::vector<int>>> FindFileReaders(const ShardNode& root) {
  std::vector<std::vector<int>> found;
  std::vector<int> path;
  COHORT_RETURN_IF_ERROR(Find(root, path, found));
  return found;
}

absl::StatusOr<ShardPlan> PlanSharding(const ShardNode& root, AutoShardPolicy policy, int64_t num_workers,
                                       int64_t num_replicas, RebatchMode mode) {
  if (num_workers < 1 || num_replicas < 1 || num_replicas % num_workers != 0) {
    return absl::InvalidArgumentError(absl::StrCat("every worker must have the same number of replicas: ", num_replicas,
                                                   " replicas cannot be on ", num_workers, " workers"));
  }
  if (policy != AutoShardPolicy::kHint && HasHint(root)) {
    return absl::FailedPreconditionError(
        absl::StrCat("the data set has a shard hint, but the policy is ", AutoShardPolicyName(policy), ", not HINT"));
  }
  ShardPlan plan;
  plan.policy = policy;
  plan.num_workers = num_workers;
  plan.replicas_per_worker = num_replicas / num_workers;
  COHORT_RETURN_IF_ERROR(Resolve(root, num_workers, plan));
  plan.shard_files = plan.policy == AutoShardPolicy::kFile && num_workers > 1;
  plan.shard_pieces = plan.policy == AutoShardPolicy::kData && num_workers > 1;
  plan.shard_hints = plan.policy == AutoShardPolicy::kHint;
  if (num_replicas == 1) return plan;
  plan.batch_size = InferBatchSize(root);
  const bool split = plan.policy == AutoShardPolicy::kData && mode == RebatchMode::kTfExact;
  plan.rebatch = split || plan.batch_size <= 0 ? RebatchRule::kSplit : RebatchRule::kSizes;
  plan.prefetch = plan.replicas_per_worker;
  return plan;
}

std::vector<int64_t> ShardPlan::batch_sizes(int64_t worker) const {
  // Pieces are dealt round, so the stream is cut as one worker with all replicas would.
  if (shard_pieces) return RebatchSizes(batch_size, 1, num_workers * replicas_per_worker, 0);
  return RebatchSizes(batch_size, num_workers, replicas_per_worker, worker);
}

absl::Status CheckShardInputs(AutoShardPolicy policy, int64_t count, int64_t num_workers, int64_t worker) {
  if (num_workers < 1 || worker < 0 || worker >= num_workers) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no worker ", worker, " of ", num_workers, ": 0 <= worker < workers is needed"));
  }
  if (count == 0 || count >= num_workers) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("Could not apply ", AutoShardPolicyName(policy), " based sharding: the data set has ", count,
                   policy == AutoShardPolicy::kFile ? " files" : " elements", ", which is not enough for the required ",
                   num_workers, " shards/workers"));
}

}  // namespace cohort
