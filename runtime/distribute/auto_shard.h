#ifndef COHORT_RUNTIME_DISTRIBUTE_AUTO_SHARD_H_
#define COHORT_RUNTIME_DISTRIBUTE_AUTO_SHARD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cohort {

// How a data set is dealt to workers (rules 7.1-7.4 and 7.8-7.11). Pure functions.

// The numbers are tf.data's.
enum class AutoShardPolicy { kOff = -1, kAuto = 0, kFile = 1, kData = 2, kHint = 3 };

absl::string_view AutoShardPolicyName(AutoShardPolicy policy);  // "OFF", "AUTO", "FILE", "DATA", "HINT"

// How batches are cut for the replicas.
enum class RebatchRule {
  kNone,   // one replica in all: not at all
  kSizes,  // the stream by a list of sizes (ShardPlan::batch_sizes)
  kSplit,  // each batch in N pieces (SplitPiece)
};

// tf.distribute splits each batch when it shards by data, so AUTO and OFF differ in what they make of a short batch.
// kAlwaysNew cuts the stream by sizes there too.
enum class RebatchMode { kTfExact, kAlwaysNew };

// A data set's tree as far as dealing goes; kinds are those of runtime/graph/dataset_def.h and TensorFlow's.
struct ShardNode {
  std::string kind;
  int64_t batch_size = -1;            // of Batch, PaddedBatch, MapAndBatch
  int64_t static_rows = -1;           // the first dimension of all its components, if known and equal
  bool function_reads_files = false;  // of Map, FlatMap, Interleave
  int64_t files = -1;                 // of a reader, if known
  bool constant_file_names = false;   // of a reader whose names are no data set: they cannot be dealt
  std::vector<ShardNode> inputs = {};
};

// The size of the global batch, from the end of the pipeline back to where it was batched; -1: unknown.
int64_t InferBatchSize(const ShardNode& root);

// The nodes whose file names are to be dealt, as places among the inputs from the root on. NotFound: a branch has none,
// naming the node where the search ended.
absl::StatusOr<std::vector<std::vector<int>>> FindFileReaders(const ShardNode& root);

// What one pipeline per worker is made of.
struct ShardPlan {
  AutoShardPolicy policy = AutoShardPolicy::kOff;  // AUTO has become FILE or DATA
  RebatchRule rebatch = RebatchRule::kNone;
  int64_t batch_size = -1;  // the global one, if known
  int64_t num_workers = 1;
  int64_t replicas_per_worker = 1;
  int64_t prefetch = 0;                        // elements; 0 without rebatching
  bool shard_files = false;                    // worker w reads files w, w + W, ...
  bool shard_pieces = false;                   // worker w takes pieces w, w + W, ...
  bool shard_hints = false;                    // Shard nodes with the hint become Shard(W, w)
  std::vector<std::vector<int>> readers = {};  // of shard_files
  std::string warning;                         // for the user; "" if there is none

  // Of kSizes: the list by which worker w cuts its stream (before it takes its pieces, if it does).
  std::vector<int64_t> batch_sizes(int64_t worker) const;
};

// W workers with N replicas in all.
// InvalidArgument: N is no multiple of W; fewer files than workers under FILE. NotFound: FILE, and nothing to deal.
// FailedPrecondition: a Shard with the hint, but another policy.
absl::StatusOr<ShardPlan> PlanSharding(const ShardNode& root, AutoShardPolicy policy, int64_t num_workers,
                                       int64_t num_replicas, RebatchMode mode = RebatchMode::kTfExact);

// That `count` inputs can be dealt to W workers, each at least one; none at all is an empty data set, and good.
// InvalidArgument: names both numbers and the policy; also 0 <= w < W, 1 <= W.
absl::Status CheckShardInputs(AutoShardPolicy policy, int64_t count, int64_t num_workers, int64_t worker);

// Whether piece, file or element number `index` is worker w's.
inline bool IsInShard(int64_t index, int64_t num_workers, int64_t worker) { return index % num_workers == worker; }

}  // namespace cohort

#endif  // COHORT_RUNTIME_DISTRIBUTE_AUTO_SHARD_H_
