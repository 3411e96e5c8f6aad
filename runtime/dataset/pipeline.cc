#include "runtime/dataset/pipeline.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/dataset/array_source.h"
#include "runtime/dataset/fashion_mnist.h"
#include "runtime/dataset/node_attributes.h"
#include "runtime/dataset/synthetic.h"

namespace cohort {
namespace {

// Sources.

absl::Status FashionMnistSource(const DatasetDef& node, const IteratorContext&, Pipeline& pipeline) {
  COHORT_ASSIGN_OR_RETURN(const std::string split, OptionalAttribute<std::string>(node, "split", "train"));
  COHORT_ASSIGN_OR_RETURN(const int64_t examples, OptionalAttribute<int64_t>(node, "examples", 0));
  COHORT_ASSIGN_OR_RETURN(const std::string directory,
                          OptionalAttribute<std::string>(node, "directory", kFashionMnistDirectory));
  COHORT_ASSIGN_OR_RETURN(pipeline.source, OpenFashionMnist(split, examples, directory));
  return absl::OkStatus();
}

absl::Status SyntheticSource(const DatasetDef& node, const IteratorContext&, Pipeline& pipeline) {
  COHORT_ASSIGN_OR_RETURN(const int64_t examples, IntegerAttribute(node, "examples", 0));
  COHORT_ASSIGN_OR_RETURN(const Shape shape, OptionalAttribute<Shape>(node, "shape", Shape{28, 28, 1}));
  COHORT_ASSIGN_OR_RETURN(const int64_t classes, OptionalAttribute<int64_t>(node, "classes", 10));
  COHORT_ASSIGN_OR_RETURN(const int64_t seed, OptionalAttribute<int64_t>(node, "seed", 0));
  COHORT_ASSIGN_OR_RETURN(pipeline.source, MakeSynthetic(examples, shape, classes, seed));
  return absl::OkStatus();
}

absl::Status RangeNode(const DatasetDef& node, const IteratorContext&, Pipeline& pipeline) {
  COHORT_ASSIGN_OR_RETURN(const int64_t start, OptionalAttribute<int64_t>(node, "start", 0));
  COHORT_ASSIGN_OR_RETURN(const int64_t stop, RequiredAttribute<int64_t>(node, "stop"));
  COHORT_ASSIGN_OR_RETURN(const int64_t step, OptionalAttribute<int64_t>(node, "step", 1));
  COHORT_ASSIGN_OR_RETURN(pipeline.source, MakeRangeSource(start, stop, step));
  return absl::OkStatus();
}

// Component i is the attribute "tensor_i".
absl::Status TensorSlices(const DatasetDef& node, const IteratorContext&, Pipeline& pipeline) {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < node.attributes.size(); ++i) {
    COHORT_ASSIGN_OR_RETURN(tensors.emplace_back(), RequiredAttribute<Tensor>(node, absl::StrCat("tensor_", i)));
  }
  COHORT_ASSIGN_OR_RETURN(pipeline.source, MakeArraySource(std::move(tensors)));
  return absl::OkStatus();
}

absl::Status Npy(const DatasetDef& node, const IteratorContext& context, Pipeline& pipeline) {
  COHORT_ASSIGN_OR_RETURN(const auto paths, RequiredAttribute<std::vector<std::string>>(node, "paths"));
  COHORT_ASSIGN_OR_RETURN(std::vector<Tensor> tensors, ReadNpyTensors(*context.files, paths));
  COHORT_ASSIGN_OR_RETURN(pipeline.source, MakeArraySource(std::move(tensors)));
  return absl::OkStatus();
}

absl::Status Npz(const DatasetDef& node, const IteratorContext& context, Pipeline& pipeline) {
  COHORT_ASSIGN_OR_RETURN(const std::string path, RequiredAttribute<std::string>(node, "path"));
  COHORT_ASSIGN_OR_RETURN(const auto keys, OptionalAttribute<std::vector<std::string>>(node, "keys", {}));
  COHORT_ASSIGN_OR_RETURN(std::vector<Tensor> tensors, ReadNpzTensors(*context.files, path, keys));
  COHORT_ASSIGN_OR_RETURN(pipeline.source, MakeArraySource(std::move(tensors)));
  return absl::OkStatus();
}

absl::Status Idx(const DatasetDef& node, const IteratorContext&, Pipeline& pipeline) {
  COHORT_ASSIGN_OR_RETURN(const auto paths, RequiredAttribute<std::vector<std::string>>(node, "paths"));
  COHORT_ASSIGN_OR_RETURN(std::vector<Tensor> tensors, ReadIdxTensors(paths));
  COHORT_ASSIGN_OR_RETURN(pipeline.source, MakeArraySource(std::move(tensors)));
  return absl::OkStatus();
}

// Transformations.

absl::Status Shuffle(const DatasetDef& node, const IteratorContext&, Pipeline& pipeline) {
  COHORT_ASSIGN_OR_RETURN(const int64_t seed, OptionalAttribute<int64_t>(node, "seed", 0));
  COHORT_ASSIGN_OR_RETURN(const bool reshuffle, OptionalAttribute<bool>(node, "reshuffle_each_iteration", true));
  return pipeline.elements().Shuffle(seed, reshuffle);
}

absl::Status Take(const DatasetDef& node, const IteratorContext&, Pipeline& pipeline) {
  COHORT_ASSIGN_OR_RETURN(const int64_t count, IntegerAttribute(node, "count", 0));
  pipeline.elements().Take(count);
  return absl::OkStatus();
}

absl::Status Skip(const DatasetDef& node, const IteratorContext&, Pipeline& pipeline) {
  COHORT_ASSIGN_OR_RETURN(const int64_t count, IntegerAttribute(node, "count", 0));
  pipeline.elements().Skip(count);
  return absl::OkStatus();
}

absl::Status Repeat(const DatasetDef& node, const IteratorContext&, Pipeline& pipeline) {
  COHORT_ASSIGN_OR_RETURN(const int64_t count, OptionalAttribute<int64_t>(node, "count", -1));
  COHORT_RETURN_IF_ERROR(AtLeast("count", count, -1));
  pipeline.elements().Repeat(count);
  return absl::OkStatus();
}

absl::Status Shard(const DatasetDef& node, const IteratorContext&, Pipeline& pipeline) {
  COHORT_ASSIGN_OR_RETURN(const PartAttributes part, PartOf(node, "num_shards"));
  pipeline.elements().Shard(part.count, part.index);
  return absl::OkStatus();
}

absl::Status Batch(const DatasetDef& node, const IteratorContext&, Pipeline& pipeline) {
  if (pipeline.batched()) return absl::InvalidArgumentError("the elements are batches already");
  COHORT_ASSIGN_OR_RETURN(pipeline.batching.batch_size, IntegerAttribute(node, "batch_size", 1));
  COHORT_ASSIGN_OR_RETURN(pipeline.batching.drop_remainder, OptionalAttribute<bool>(node, "drop_remainder", false));
  pipeline.batches = IndexChain(pipeline.batching.Batches(pipeline.examples.size()));
  return absl::OkStatus();
}

absl::Status GlobalBatch(const DatasetDef& node, const IteratorContext& context, Pipeline& pipeline) {
  COHORT_RETURN_IF_ERROR(Batch(node, context, pipeline));
  COHORT_ASSIGN_OR_RETURN(const PartAttributes part, PartOf(node, "num_workers"));
  pipeline.batching.num_workers = part.count;
  pipeline.batching.worker = part.index;
  return absl::OkStatus();
}

absl::Status DealtBatch(const DatasetDef& node, const IteratorContext& context, Pipeline& pipeline) {
  COHORT_RETURN_IF_ERROR(Batch(node, context, pipeline));
  COHORT_ASSIGN_OR_RETURN(const PartAttributes part, PartOf(node, "num_workers"));
  pipeline.batches.Shard(part.count, part.index);
  return absl::OkStatus();
}

absl::Status Prefetch(const DatasetDef& node, const IteratorContext&, Pipeline& pipeline) {
  COHORT_ASSIGN_OR_RETURN(const int64_t buffer_size, IntegerAttribute(node, "buffer_size", 0));
  pipeline.prefetch = std::max(pipeline.prefetch, buffer_size);
  return absl::OkStatus();
}

struct Kind {
  absl::string_view name;
  int inputs;
  absl::Status (*apply)(const DatasetDef& node, const IteratorContext& context, Pipeline& pipeline);
  std::vector<absl::string_view> attributes;
};

const std::vector<Kind>& Kinds() {
  static const auto& kinds = *new std::vector<Kind>{
      {"FashionMnist", 0, FashionMnistSource, {"split", "examples", "directory"}},
      {"Synthetic", 0, SyntheticSource, {"examples", "shape", "classes", "seed"}},
      {"Range", 0, RangeNode, {"start", "stop", "step"}},
      {"FromTensorSlices", 0, TensorSlices, {}},
      {"Npy", 0, Npy, {"paths"}},
      {"Npz", 0, Npz, {"path", "keys"}},
      {"Idx", 0, Idx, {"paths"}},
      {"Shuffle", 1, Shuffle, {"seed", "reshuffle_each_iteration"}},
      {"Take", 1, Take, {"count"}},
      {"Skip", 1, Skip, {"count"}},
      {"Repeat", 1, Repeat, {"count"}},
      {"Shard", 1, Shard, {"num_shards", "index"}},
      {"Batch", 1, Batch, {"batch_size", "drop_remainder"}},
      {"GlobalBatch", 1, GlobalBatch, {"batch_size", "drop_remainder", "num_workers", "index"}},
      {"DealtBatch", 1, DealtBatch, {"batch_size", "drop_remainder", "num_workers", "index"}},
      {"Prefetch", 1, Prefetch, {"buffer_size"}},
  };
  return kinds;
}

const Kind* FindKind(absl::string_view name) {
  const auto kind = std::find_if(Kinds().begin(), Kinds().end(), [&](const Kind& k) { return k.name == name; });
  return kind == Kinds().end() ? nullptr : &*kind;
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

bool IsPipeline(const DatasetDef& definition) {
  const Kind* const kind = FindKind(definition.kind);
  if (kind == nullptr || (kind->apply == Shuffle && definition.attributes.count("buffer_size") > 0)) return false;
  return std::all_of(definition.inputs.begin(), definition.inputs.end(), IsPipeline);
}

std::vector<absl::string_view> PipelineKinds() {
  std::vector<absl::string_view> names;
  for (const Kind& kind : Kinds()) names.push_back(kind.name);
  return names;
}

absl::StatusOr<Pipeline> MakePipeline(const DatasetDef& definition, const IteratorContext& context) {
  const Kind& kind = *FindKind(definition.kind);
  if (kind.apply != TensorSlices) COHORT_RETURN_IF_ERROR(CheckNode(definition, kind.inputs, kind.attributes));
  Pipeline pipeline;
  if (kind.inputs == 1) {
    COHORT_ASSIGN_OR_RETURN(pipeline, MakePipeline(definition.inputs[0], context));
  }
  COHORT_RETURN_IF_ERROR(kind.apply(definition, context, pipeline)) << "data set '" << definition.kind << "'";
  if (kind.inputs == 0) pipeline.examples = IndexChain(pipeline.source->size());
  return pipeline;
}

}  // namespace cohort
