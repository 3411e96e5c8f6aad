#include "runtime/dataset/pipeline.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status_macros.h"
#include "runtime/dataset/fashion_mnist.h"
#include "runtime/dataset/synthetic.h"

namespace cohort {
namespace {

absl::Status AtLeast(absl::string_view name, int64_t value, int64_t least) {
  if (value >= least) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, " is ", value, ", must be at least ", least));
}

absl::StatusOr<int64_t> Integer(const DatasetDef& node, absl::string_view name, int64_t least) {
  const absl::StatusOr<int64_t> value = GetAttribute<int64_t>(node.attributes, name);
  if (!value.ok()) return absl::InvalidArgumentError(value.status().message());  // missing is wrong, too
  COHORT_RETURN_IF_ERROR(AtLeast(name, *value, least));
  return *value;
}

// An attribute that may be absent, but not of another type.
template <typename T>
absl::StatusOr<T> Optional(const DatasetDef& node, absl::string_view name, T fallback) {
  absl::StatusOr<T> value = GetAttribute<T>(node.attributes, name);
  if (absl::IsNotFound(value.status())) return fallback;
  return value;
}

// Sources.

absl::Status FashionMnistSource(const DatasetDef& node, Pipeline& pipeline) {
  COHORT_ASSIGN_OR_RETURN(const std::string split, Optional<std::string>(node, "split", "train"));
  COHORT_ASSIGN_OR_RETURN(const int64_t examples, Optional<int64_t>(node, "examples", 0));
  COHORT_ASSIGN_OR_RETURN(const std::string directory,
                          Optional<std::string>(node, "directory", kFashionMnistDirectory));
  COHORT_ASSIGN_OR_RETURN(pipeline.source, OpenFashionMnist(split, examples, directory));
  return absl::OkStatus();
}

absl::Status SyntheticSource(const DatasetDef& node, Pipeline& pipeline) {
  COHORT_ASSIGN_OR_RETURN(const int64_t examples, Integer(node, "examples", 0));
  COHORT_ASSIGN_OR_RETURN(const Shape shape, Optional<Shape>(node, "shape", Shape{28, 28, 1}));
  COHORT_ASSIGN_OR_RETURN(const int64_t classes, Optional<int64_t>(node, "classes", 10));
  COHORT_ASSIGN_OR_RETURN(const int64_t seed, Optional<int64_t>(node, "seed", 0));
  COHORT_ASSIGN_OR_RETURN(pipeline.source, MakeSynthetic(examples, shape, classes, seed));
  return absl::OkStatus();
}

// Transformations.

absl::Status Shuffle(const DatasetDef& node, Pipeline& pipeline) {
  COHORT_ASSIGN_OR_RETURN(const int64_t seed, Optional<int64_t>(node, "seed", 0));
  return pipeline.elements().Shuffle(seed);
}

absl::Status Take(const DatasetDef& node, Pipeline& pipeline) {
  COHORT_ASSIGN_OR_RETURN(const int64_t count, Integer(node, "count", 0));
  pipeline.elements().Take(count);
  return absl::OkStatus();
}

absl::Status Skip(const DatasetDef& node, Pipeline& pipeline) {
  COHORT_ASSIGN_OR_RETURN(const int64_t count, Integer(node, "count", 0));
  pipeline.elements().Skip(count);
  return absl::OkStatus();
}

absl::Status Repeat(const DatasetDef& node, Pipeline& pipeline) {
  COHORT_ASSIGN_OR_RETURN(const int64_t count, Optional<int64_t>(node, "count", -1));
  COHORT_RETURN_IF_ERROR(AtLeast("count", count, -1));
  pipeline.elements().Repeat(count);
  return absl::OkStatus();
}

struct Part {
  int64_t count = 1;
  int64_t index = 0;
};

absl::StatusOr<Part> PartOf(const DatasetDef& node, absl::string_view count_name) {
  Part part;
  COHORT_ASSIGN_OR_RETURN(part.count, Integer(node, count_name, 1));
  COHORT_ASSIGN_OR_RETURN(part.index, Integer(node, "index", 0));
  if (part.index < part.count) return part;
  return absl::InvalidArgumentError(
      absl::StrCat("index is ", part.index, ", must be less than ", count_name, ", ", part.count));
}

absl::Status Shard(const DatasetDef& node, Pipeline& pipeline) {
  COHORT_ASSIGN_OR_RETURN(const Part part, PartOf(node, "num_shards"));
  pipeline.elements().Shard(part.count, part.index);
  return absl::OkStatus();
}

absl::Status Batch(const DatasetDef& node, Pipeline& pipeline) {
  if (pipeline.batched()) return absl::InvalidArgumentError("the elements are batches already");
  COHORT_ASSIGN_OR_RETURN(pipeline.batching.batch_size, Integer(node, "batch_size", 1));
  COHORT_ASSIGN_OR_RETURN(pipeline.batching.drop_remainder, Optional<bool>(node, "drop_remainder", false));
  pipeline.batches = IndexChain(pipeline.batching.Batches(pipeline.examples.size()));
  return absl::OkStatus();
}

absl::Status GlobalBatch(const DatasetDef& node, Pipeline& pipeline) {
  COHORT_RETURN_IF_ERROR(Batch(node, pipeline));
  COHORT_ASSIGN_OR_RETURN(const Part part, PartOf(node, "num_workers"));
  pipeline.batching.num_workers = part.count;
  pipeline.batching.worker = part.index;
  return absl::OkStatus();
}

absl::Status DealtBatch(const DatasetDef& node, Pipeline& pipeline) {
  COHORT_RETURN_IF_ERROR(Batch(node, pipeline));
  COHORT_ASSIGN_OR_RETURN(const Part part, PartOf(node, "num_workers"));
  pipeline.batches.Shard(part.count, part.index);
  return absl::OkStatus();
}

absl::Status Prefetch(const DatasetDef& node, Pipeline& pipeline) {
  COHORT_ASSIGN_OR_RETURN(const int64_t buffer_size, Integer(node, "buffer_size", 0));
  pipeline.prefetch = std::max(pipeline.prefetch, buffer_size);
  return absl::OkStatus();
}

struct Kind {
  absl::string_view name;
  int inputs;
  absl::Status (*apply)(const DatasetDef& node, Pipeline& pipeline);
  std::vector<absl::string_view> attributes;
};

std::vector<Kind> Kinds() {
  return {
      {"FashionMnist", 0, FashionMnistSource, {"split", "examples", "directory"}},
      {"Synthetic", 0, SyntheticSource, {"examples", "shape", "classes", "seed"}},
      {"Shuffle", 1, Shuffle, {"seed"}},
      {"Take", 1, Take, {"count"}},
      {"Skip", 1, Skip, {"count"}},
      {"Repeat", 1, Repeat, {"count"}},
      {"Shard", 1, Shard, {"num_shards", "index"}},
      {"Batch", 1, Batch, {"batch_size", "drop_remainder"}},
      {"GlobalBatch", 1, GlobalBatch, {"batch_size", "drop_remainder", "num_workers", "index"}},
      {"DealtBatch", 1, DealtBatch, {"batch_size", "drop_remainder", "num_workers", "index"}},
      {"Prefetch", 1, Prefetch, {"buffer_size"}},
  };
}

absl::Status CheckNode(const DatasetDef& node, const Kind& kind) {
  if (static_cast<int>(node.inputs.size()) != kind.inputs) {
    return absl::InvalidArgumentError(
        absl::StrCat("data set '", node.kind, "' has ", node.inputs.size(), " inputs, needs ", kind.inputs));
  }
  for (const auto& [name, value] : node.attributes) {
    if (std::find(kind.attributes.begin(), kind.attributes.end(), name) != kind.attributes.end()) continue;
    return absl::InvalidArgumentError(absl::StrCat("data set '", node.kind, "' has no attribute '", name,
                                                   "'; it has: ", absl::StrJoin(kind.attributes, ", ")));
  }
  return absl::OkStatus();
}

}  // namespace

int64_t Batching::Batches(int64_t examples) const {
  if (examples == IndexChain::kEndless) return examples;
  return drop_remainder ? examples / batch_size : BatchesPerEpoch(examples, batch_size);
}

ExampleRange Batching::Positions(int64_t batch, int64_t examples) const {
  return WorkerBatchRange(batch, examples, batch_size, num_workers, worker);
}

int64_t Batching::MaxRows() const { return WorkerPart(batch_size, num_workers, worker).size(); }

absl::StatusOr<Pipeline> MakePipeline(const DatasetDef& definition) {
  const std::vector<Kind> kinds = Kinds();
  const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.name == definition.kind; });
  if (kind == kinds.end()) {
    const auto name = [](std::string* out, const Kind& k) { absl::StrAppend(out, k.name); };
    return absl::InvalidArgumentError(
        absl::StrCat("there is no data set '", definition.kind, "'; known: ", absl::StrJoin(kinds, ", ", name)));
  }
  COHORT_RETURN_IF_ERROR(CheckNode(definition, *kind));
  Pipeline pipeline;
  if (kind->inputs == 1) {
    COHORT_ASSIGN_OR_RETURN(pipeline, MakePipeline(definition.inputs[0]));
  }
  COHORT_RETURN_IF_ERROR(kind->apply(definition, pipeline)) << "data set '" << definition.kind << "'";
  if (kind->inputs == 0) pipeline.examples = IndexChain(pipeline.source->size());
  return pipeline;
}

}  // namespace cohort
