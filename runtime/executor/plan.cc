#include "runtime/executor/plan.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/hash.h"
#include "runtime/base/status_macros.h"
#include "runtime/executor/arena.h"
#include "runtime/graph/optimize.h"

namespace cohort {
namespace {

template <typename T>
uint64_t HashOf(const T& value, uint64_t hash) {
  return Fnv1a64(absl::string_view(reinterpret_cast<const char*>(&value), sizeof(value)), hash);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Plan>> Plan::Create(const StepLayout& layout, absl::Span<const TensorSpec> parameters) {
  std::unique_ptr<Plan> plan(new Plan(layout));
  plan->parameters_.assign(parameters.begin(), parameters.end());
  COHORT_ASSIGN_OR_RETURN(plan->function_, Specialize(layout.function, parameters));
  COHORT_RETURN_IF_ERROR(plan->Prepare()) << "function '" << layout.function.name << "'";
  return plan;
}

TensorSpec Plan::SpecOf(int value) const {
  const StepValue& v = layout_.values[value];
  return v.output.node < 0 ? layout_.variables[v.index].spec : function_.graph.spec(v.output);
}

absl::Status Plan::Prepare() {
  table_.assign(layout_.values.size(), nullptr);
  parameter_values_.resize(parameters_.size());
  ops_.reserve(layout_.ops.size());
  for (size_t i = 0; i < layout_.values.size(); ++i) {
    const StepValue& value = layout_.values[i];
    if (value.kind == StepValue::Kind::kParameter) parameter_values_[value.index].push_back(static_cast<int>(i));
    if (value.kind == StepValue::Kind::kConstant) table_[i] = const_cast<void*>(value.constant.data());
  }
  for (const StepOp& op : layout_.ops) COHORT_RETURN_IF_ERROR(AddOp(op));
  PlaceValues();
  FinishLaunches();
  return absl::OkStatus();
}

absl::Status Plan::AddOp(const StepOp& op) {
  std::vector<TensorSpec> inputs, outputs;
  std::vector<Tensor> constants;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const Output spec = op.input_specs[i];
    inputs.push_back(spec.node < 0 ? SpecOf(op.inputs[i]) : SpecOf(spec));
    constants.push_back(layout_.values[op.inputs[i]].constant);
  }
  for (const int output : op.outputs) {
    outputs.push_back(SpecOf(output));
    if (outputs.back().shape.IsFullyDefined()) continue;
    return absl::InvalidArgumentError(absl::StrCat("node '", op.name, "' (", op.op, ") makes ",
                                                   outputs.back().ToString(), ", whose size nothing tells"));
  }
  COHORT_ASSIGN_OR_RETURN(PreparedKernel kernel,
                          PrepareKernel({op.op, op.name, op.attributes, inputs, outputs, constants}));
  PreparedOp prepared{&op, std::move(kernel.params), kernel.scratch_bytes, static_cast<int>(drafts_.size()), -1, -1};
  for (const PreparedKernel::Phase& phase : kernel.phases) {
    if (phase.tiles > 0) drafts_.push_back({phase, static_cast<int>(ops_.size())});
  }
  prepared.last = static_cast<int>(drafts_.size()) - 1;
  if (prepared.scratch_bytes > 0) {
    prepared.scratch = static_cast<int32_t>(table_.size());
    table_.push_back(nullptr);
  }
  ops_.push_back(std::move(prepared));
  return absl::OkStatus();
}

// Time is counted in launches; an op without any (an empty batch) stands at the place where its launches would be.
void Plan::PlaceValues() {
  constexpr int kNever = -1, kForever = std::numeric_limits<int>::max();
  std::vector<int> first(layout_.values.size(), kNever), last(layout_.values.size(), kNever);
  for (const PreparedOp& op : ops_) {
    for (const int output : op.op->outputs) first[output] = op.first;
    for (const int value : op.op->inputs) last[value] = std::max(last[value], std::max(op.first, op.last));
    for (const int value : op.op->outputs) last[value] = std::max(last[value], std::max(op.first, op.last));
  }
  std::vector<ArenaBlock> blocks;
  for (size_t i = 0; i < layout_.values.size(); ++i) {
    const StepValue& value = layout_.values[i];
    const int place = static_cast<int>(i);
    if (value.kind != StepValue::Kind::kOp || first[i] == kNever) continue;
    if (value.bucket_offset >= 0) {
      in_buckets_.push_back({place, static_cast<size_t>(value.bucket_offset)});
      continue;
    }
    const TensorSpec spec = SpecOf(place);
    blocks.push_back({spec.shape.num_elements() * DTypeSize(spec.dtype), first[i], value.kept ? kForever : last[i]});
    in_arena_.push_back({place, 0});
  }
  for (const PreparedOp& op : ops_) {
    if (op.scratch < 0) continue;
    blocks.push_back({op.scratch_bytes, op.first, std::max(op.first, op.last)});
    in_arena_.push_back({op.scratch, 0});
  }
  arena_bytes_ = PackArena(blocks);
  for (size_t i = 0; i < blocks.size(); ++i) in_arena_[i].offset = blocks[i].offset;
}

void Plan::FinishLaunches() {
  std::vector<size_t> starts;  // operands of each op
  for (const PreparedOp& op : ops_) {
    starts.push_back(operands_.size());
    operands_.insert(operands_.end(), op.op->inputs.begin(), op.op->inputs.end());
    operands_.insert(operands_.end(), op.op->outputs.begin(), op.op->outputs.end());
  }
  for (const Draft& draft : drafts_) {
    const PreparedOp& op = ops_[draft.op];
    Launch launch;
    launch.function = draft.phase.function;
    launch.params = op.params.get();
    launch.inputs = operands_.data() + starts[draft.op];
    launch.outputs = launch.inputs + op.op->inputs.size();
    launch.scratch = op.scratch;
    launch.tiles = static_cast<int32_t>(draft.phase.tiles);
    launches_.push_back(launch);
  }
}

void Plan::Bind(char* arena, float* buckets) {
  for (const Placed& placed : in_arena_) table_[placed.place] = arena + placed.offset;
  for (const Placed& placed : in_buckets_) table_[placed.place] = buckets + placed.offset;
}

void Plan::Compute(KernelRun run, TilePool& tiles) const {
  run.table = table_.data();
  for (const Launch& launch : launches_) {
    if (launch.tiles == 1) {
      launch.function(launch, run, 0);
    } else {
      tiles.ParallelFor(launch.tiles, [&](int64_t tile) { launch.function(launch, run, tile); });
    }
  }
}

uint64_t Plan::LaunchHash() const {
  uint64_t hash = Fnv1a64("");
  for (const Launch& launch : launches_) {
    hash = HashOf(launch.function, hash);
    hash = HashOf(launch.params, hash);
    hash = HashOf(launch.inputs, hash);
    hash = HashOf(launch.outputs, hash);
    hash = HashOf(launch.scratch, hash);
    hash = HashOf(launch.tiles, hash);
  }
  for (const int32_t operand : operands_) hash = HashOf(operand, hash);
  return hash;
}

}  // namespace cohort
