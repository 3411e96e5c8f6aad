#include "runtime/dataset/stream.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status_macros.h"
#include "runtime/dataset/batching.h"
#include "runtime/dataset/combination.h"
#include "runtime/dataset/mapping.h"
#include "runtime/dataset/node_attributes.h"
#include "runtime/dataset/parse_value.h"
#include "runtime/dataset/pipeline.h"
#include "runtime/dataset/prefetch.h"
#include "runtime/dataset/record_files.h"
#include "runtime/dataset/selection.h"
#include "runtime/dataset/shuffle.h"

namespace cohort {
namespace {

using Iterator = std::unique_ptr<DatasetIterator>;
using Result = absl::StatusOr<Iterator>;

// Makers of one kind each; `inputs` are as many as the table says.

Result TfRecord(const DatasetDef& node, const IteratorContext& context, DatasetIterators) {
  return MakeTfRecordSource(node, context);
}
Result TextLines(const DatasetDef& node, const IteratorContext& context, DatasetIterators) {
  return MakeTextLinesSource(node, context);
}
Result FixedLength(const DatasetDef& node, const IteratorContext& context, DatasetIterators) {
  return MakeFixedLengthSource(node, context);
}
Result Csv(const DatasetDef& node, const IteratorContext& context, DatasetIterators) {
  return MakeCsvSource(node, context);
}

Result Shuffle(const DatasetDef& node, const IteratorContext&, DatasetIterators inputs) {
  ShuffleOptions options;
  COHORT_ASSIGN_OR_RETURN(options.buffer_size, OptionalAttribute<int64_t>(node, "buffer_size", 0));
  COHORT_RETURN_IF_ERROR(AtLeast("buffer_size", options.buffer_size, 0));
  COHORT_ASSIGN_OR_RETURN(const int64_t seed, OptionalAttribute<int64_t>(node, "seed", 0));
  COHORT_ASSIGN_OR_RETURN(options.reshuffle, OptionalAttribute<bool>(node, "reshuffle_each_iteration", true));
  options.seed = static_cast<uint64_t>(seed);
  return MakeShuffle(std::move(inputs[0]), options);
}

Result Take(const DatasetDef& node, const IteratorContext&, DatasetIterators inputs) {
  COHORT_ASSIGN_OR_RETURN(const int64_t count, IntegerAttribute(node, "count", 0));
  return MakeTake(std::move(inputs[0]), count);
}

Result Skip(const DatasetDef& node, const IteratorContext&, DatasetIterators inputs) {
  COHORT_ASSIGN_OR_RETURN(const int64_t count, IntegerAttribute(node, "count", 0));
  return MakeSkip(std::move(inputs[0]), count);
}

Result Repeat(const DatasetDef& node, const IteratorContext&, DatasetIterators inputs) {
  COHORT_ASSIGN_OR_RETURN(const int64_t count, OptionalAttribute<int64_t>(node, "count", -1));
  COHORT_RETURN_IF_ERROR(AtLeast("count", count, -1));
  return MakeRepeat(std::move(inputs[0]), count);
}

Result Shard(const DatasetDef& node, const IteratorContext&, DatasetIterators inputs) {
  COHORT_ASSIGN_OR_RETURN(const PartAttributes part, PartOf(node, "num_shards"));
  return MakeShard(std::move(inputs[0]), part.count, part.index);
}

Result Enumerate(const DatasetDef& node, const IteratorContext&, DatasetIterators inputs) {
  COHORT_ASSIGN_OR_RETURN(const int64_t start, OptionalAttribute<int64_t>(node, "start", 0));
  return MakeEnumerate(std::move(inputs[0]), start);
}

Result Cache(const DatasetDef&, const IteratorContext&, DatasetIterators inputs) {
  return MakeCache(std::move(inputs[0]));
}

Result Prefetch(const DatasetDef& node, const IteratorContext&, DatasetIterators inputs) {
  COHORT_ASSIGN_OR_RETURN(const int64_t buffer_size, IntegerAttribute(node, "buffer_size", 0));
  return buffer_size == 0 ? std::move(inputs[0]) : MakePrefetch(std::move(inputs[0]), buffer_size);
}

absl::StatusOr<StreamBatching> BatchingOf(const DatasetDef& node) {
  StreamBatching batching;
  COHORT_ASSIGN_OR_RETURN(batching.batch_size, IntegerAttribute(node, "batch_size", 1));
  COHORT_ASSIGN_OR_RETURN(batching.drop_remainder, OptionalAttribute<bool>(node, "drop_remainder", false));
  return batching;
}

Result Batch(const DatasetDef& node, const IteratorContext&, DatasetIterators inputs) {
  COHORT_ASSIGN_OR_RETURN(const StreamBatching batching, BatchingOf(node));
  return MakeBatch(std::move(inputs[0]), batching);
}

Result PaddedBatch(const DatasetDef& node, const IteratorContext&, DatasetIterators inputs) {
  COHORT_ASSIGN_OR_RETURN(StreamBatching batching, BatchingOf(node));
  COHORT_ASSIGN_OR_RETURN(batching.padding_value, OptionalAttribute<double>(node, "padding_value", 0.0));
  batching.pad = true;
  return MakeBatch(std::move(inputs[0]), batching);
}

Result GlobalBatch(const DatasetDef& node, const IteratorContext&, DatasetIterators inputs) {
  COHORT_ASSIGN_OR_RETURN(StreamBatching batching, BatchingOf(node));
  COHORT_ASSIGN_OR_RETURN(const PartAttributes part, PartOf(node, "num_workers"));
  batching.num_workers = part.count;
  batching.worker = part.index;
  return MakeBatch(std::move(inputs[0]), batching);
}

Result DealtBatch(const DatasetDef& node, const IteratorContext&, DatasetIterators inputs) {
  COHORT_ASSIGN_OR_RETURN(const StreamBatching batching, BatchingOf(node));
  COHORT_ASSIGN_OR_RETURN(const PartAttributes part, PartOf(node, "num_workers"));
  COHORT_ASSIGN_OR_RETURN(Iterator batches, MakeBatch(std::move(inputs[0]), batching));
  return MakeShard(std::move(batches), part.count, part.index);
}

Result Unbatch(const DatasetDef&, const IteratorContext&, DatasetIterators inputs) {
  return MakeUnbatch(std::move(inputs[0]));
}

Result Rebatch(const DatasetDef& node, const IteratorContext&, DatasetIterators inputs) {
  COHORT_ASSIGN_OR_RETURN(auto sizes, RequiredAttribute<std::vector<int64_t>>(node, "batch_sizes"));
  return MakeRebatch(std::move(inputs[0]), std::move(sizes));
}

Result LegacyRebatch(const DatasetDef& node, const IteratorContext&, DatasetIterators inputs) {
  COHORT_ASSIGN_OR_RETURN(const int64_t replicas, IntegerAttribute(node, "num_replicas", 1));
  return MakeSplitBatch(std::move(inputs[0]), replicas);
}

Result Zip(const DatasetDef&, const IteratorContext&, DatasetIterators inputs) { return MakeZip(std::move(inputs)); }

Result Concatenate(const DatasetDef&, const IteratorContext&, DatasetIterators inputs) {
  return MakeConcatenate(std::move(inputs));
}

Result Interleave(const DatasetDef& node, const IteratorContext&, DatasetIterators inputs) {
  COHORT_ASSIGN_OR_RETURN(const int64_t cycle, IntegerAttribute(node, "cycle_length", 1));
  COHORT_ASSIGN_OR_RETURN(const int64_t block, OptionalAttribute<int64_t>(node, "block_length", 1));
  COHORT_RETURN_IF_ERROR(AtLeast("block_length", block, 1));
  return MakeInterleave(std::move(inputs), cycle, block);
}

absl::Status NeedsFunctions(const IteratorContext& context) {
  if (context.functions != nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError("functions cannot be run in data sets here");
}

Result Map(const DatasetDef& node, const IteratorContext& context, DatasetIterators inputs) {
  COHORT_RETURN_IF_ERROR(NeedsFunctions(context));
  COHORT_ASSIGN_OR_RETURN(std::string function, RequiredAttribute<std::string>(node, "function"));
  return MakeMap(std::move(inputs[0]), *context.functions, std::move(function));
}

Result Filter(const DatasetDef& node, const IteratorContext& context, DatasetIterators inputs) {
  COHORT_RETURN_IF_ERROR(NeedsFunctions(context));
  COHORT_ASSIGN_OR_RETURN(std::string function, RequiredAttribute<std::string>(node, "function"));
  return MakeFilter(std::move(inputs[0]), *context.functions, std::move(function));
}

Result ParseExample(const DatasetDef& node, const IteratorContext&, DatasetIterators inputs) {
  COHORT_ASSIGN_OR_RETURN(const auto keys, RequiredAttribute<std::vector<std::string>>(node, "keys"));
  COHORT_ASSIGN_OR_RETURN(const auto types, RequiredAttribute<std::vector<std::string>>(node, "types"));
  COHORT_ASSIGN_OR_RETURN(const auto defaults, OptionalAttribute<std::vector<std::string>>(node, "defaults", {}));
  if (keys.empty() || types.size() != keys.size() || (!defaults.empty() && defaults.size() != keys.size())) {
    return absl::InvalidArgumentError(absl::StrCat("there are ", keys.size(), " keys, ", types.size(), " types and ",
                                                   defaults.size(), " defaults: as many of each are needed"));
  }
  std::vector<ParsedFeature> features;
  for (size_t i = 0; i < keys.size(); ++i) {
    ParsedFeature& feature = features.emplace_back();
    feature.key = keys[i];
    COHORT_ASSIGN_OR_RETURN(feature.spec, ParseTensorSpec(types[i]));
    COHORT_ASSIGN_OR_RETURN(feature.default_value, DefaultOf(defaults.empty() ? "" : defaults[i]));
  }
  return MakeParseExample(std::move(inputs[0]), std::move(features));
}

constexpr int kAtLeastOne = -1;

struct Kind {
  absl::string_view name;
  int inputs;
  Result (*make)(const DatasetDef& node, const IteratorContext& context, DatasetIterators inputs);
  std::vector<absl::string_view> attributes;
};

std::vector<Kind> Kinds() {
  return {
      {"TFRecord", 0, TfRecord, {"files", "compression", "skip_damaged", "num_file_shards", "file_index"}},
      {"TextLines", 0, TextLines, {"files", "compression", "num_file_shards", "file_index"}},
      {"FixedLengthRecords",
       0,
       FixedLength,
       {"files", "compression", "record_bytes", "header_bytes", "footer_bytes", "num_file_shards", "file_index"}},
      {"Csv",
       0,
       Csv,
       {"files", "compression", "columns", "defaults", "header", "delimiter", "num_file_shards", "file_index"}},
      {"Shuffle", 1, Shuffle, {"seed", "buffer_size", "reshuffle_each_iteration"}},
      {"Take", 1, Take, {"count"}},
      {"Skip", 1, Skip, {"count"}},
      {"Repeat", 1, Repeat, {"count"}},
      {"Shard", 1, Shard, {"num_shards", "index"}},
      {"Enumerate", 1, Enumerate, {"start"}},
      {"Cache", 1, Cache, {}},
      {"Prefetch", 1, Prefetch, {"buffer_size"}},
      {"Batch", 1, Batch, {"batch_size", "drop_remainder"}},
      {"PaddedBatch", 1, PaddedBatch, {"batch_size", "drop_remainder", "padding_value"}},
      {"GlobalBatch", 1, GlobalBatch, {"batch_size", "drop_remainder", "num_workers", "index"}},
      {"DealtBatch", 1, DealtBatch, {"batch_size", "drop_remainder", "num_workers", "index"}},
      {"Unbatch", 1, Unbatch, {}},
      {"Rebatch", 1, Rebatch, {"batch_sizes"}},
      {"LegacyRebatch", 1, LegacyRebatch, {"num_replicas"}},
      {"Zip", kAtLeastOne, Zip, {}},
      {"Concatenate", kAtLeastOne, Concatenate, {}},
      {"Interleave", kAtLeastOne, Interleave, {"cycle_length", "block_length"}},
      {"Map", 1, Map, {"function"}},
      {"Filter", 1, Filter, {"function"}},
      {"ParseExample", 1, ParseExample, {"keys", "types", "defaults"}},
  };
}

absl::Status Unknown(const std::string& name, const std::vector<Kind>& kinds) {
  std::vector<absl::string_view> names = PipelineKinds();
  for (const Kind& kind : kinds) {
    if (std::find(names.begin(), names.end(), kind.name) == names.end()) names.push_back(kind.name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("there is no data set '", name, "'; known: ", absl::StrJoin(names, ", ")));
}

}  // namespace

absl::StatusOr<std::unique_ptr<DatasetIterator>> MakeStream(const DatasetDef& definition,
                                                            const IteratorContext& context, MakeInput make_input) {
  const std::vector<Kind> kinds = Kinds();
  const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.name == definition.kind; });
  if (kind == kinds.end()) {
    const std::vector<absl::string_view> others = PipelineKinds();  // sources, here with inputs they do not take
    if (std::find(others.begin(), others.end(), definition.kind) == others.end()) {
      return Unknown(definition.kind, kinds);
    }
    return CheckNode(definition, 0, {});
  }
  const int inputs = kind->inputs == kAtLeastOne ? std::max<int>(1, definition.inputs.size()) : kind->inputs;
  COHORT_RETURN_IF_ERROR(CheckNode(definition, inputs, kind->attributes));
  DatasetIterators made;
  for (const DatasetDef& input : definition.inputs) {
    COHORT_ASSIGN_OR_RETURN(made.emplace_back(), make_input(input, context));
  }
  Result iterator = kind->make(definition, context, std::move(made));
  if (!iterator.ok()) return Annotate(iterator.status(), absl::StrCat("data set '", definition.kind, "'"));
  return iterator;
}

}  // namespace cohort
