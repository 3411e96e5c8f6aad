#include "runtime/executor/step_executor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "runtime/base/hash.h"
#include "runtime/base/status_macros.h"
#include "runtime/executor/plan.h"
#include "runtime/executor/step_layout.h"
#include "runtime/variable/variable_updater.h"

namespace cohort {
namespace {

// Of the commit: large enough that a tile is worth handing over.
constexpr int64_t kUpdateTile = 32768;

// Positions in the header record, which is float64: counts are exact up to 2^53. Metric sums follow.
enum HeaderField { kExamples, kLossSum, kHasNext, kStopRequested, kNonfinite, kMetrics };

double ScalarAsDouble(const void* data, DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return *static_cast<const float*>(data);
    case DType::kF64:
      return *static_cast<const double*>(data);
    case DType::kI32:
      return *static_cast<const int32_t*>(data);
    case DType::kI64:
      return static_cast<double>(*static_cast<const int64_t*>(data));
    default:
      return 0;
  }
}

// What kernels of one step see of the communicator.
class CommunicatorGroup final : public ReplicaGroup {
 public:
  CommunicatorGroup(Communicator* communicator, int64_t step, absl::Time deadline)
      : communicator_(communicator), step_(step), deadline_(deadline) {}

  absl::Status AllReduce(HostSpan buffer, ReduceOp op, absl::string_view name) override {
    return communicator_->AllReduce(buffer, op, {name, step_, deadline_});
  }

 private:
  Communicator* const communicator_;
  const int64_t step_;
  const absl::Time deadline_;
};

}  // namespace

class StepExecutor::Impl {
 public:
  Impl(StepLayout layout, VariableStore& store, Communicator* communicator, ParameterClient* parameters,
       TilePool& tiles, const StepExecutorOptions& options)
      : layout_(std::move(layout)),
        store_(store),
        communicator_(communicator),
        client_(parameters),
        tiles_(tiles),
        world_(communicator == nullptr ? 1 : communicator->world_size()),
        replica_id_(communicator == nullptr ? options.replica_id : communicator->rank()) {}

  absl::Status Init();
  absl::Status Run(const StepInputs& inputs, StepHeader& header);
  absl::StatusOr<Tensor> Fetch(absl::string_view result) const;

  const std::vector<std::string>& metric_names() const { return metric_names_; }
  const std::string& collectives_text() const { return collectives_text_; }
  uint64_t launch_hash() const { return last_ == nullptr ? 0 : last_->LaunchHash(); }
  int plan_count() const { return static_cast<int>(plans_.size()); }

 private:
  // A variable that is read from a parameter server: its copy of this step.
  struct Pulled {
    int variable;
    Tensor value;
  };

  absl::Status FindVariables();
  absl::Status InitClient();
  absl::StatusOr<Plan*> PlanFor(const Element* batch);
  absl::StatusOr<Plan*> MakePlan(const Element* batch);
  absl::Status CheckBatch(const Element* batch) const;
  absl::Status Compute(Plan& plan, const StepInputs& inputs, absl::Time deadline);
  void FillHeader(const Plan& plan, const StepInputs& inputs);
  absl::Status Reduce(const StepInputs& inputs, absl::Time deadline);
  void ReadHeader(StepHeader& header) const;
  absl::Status Commit(const Plan& plan, const StepInputs& inputs, int64_t examples, absl::Time deadline);
  void CommitAssignments(const Plan& plan);
  absl::Status Annotated(absl::Status status, const StepInputs& inputs) const;

  StepLayout layout_;
  VariableStore& store_;
  Communicator* const communicator_;
  ParameterClient* const client_;
  TilePool& tiles_;
  const int world_;
  const int replica_id_;
  std::string collectives_text_;
  std::vector<std::string> metric_names_;
  bool counts_examples_ = false;
  std::vector<Variable*> variables_;  // as the layout's; null: on a parameter server
  std::vector<VariableUpdater> updaters_;
  std::vector<Pulled> pulled_;
  std::vector<ParameterClient::PullTarget> pull_;
  std::vector<ParameterClient::Gradient> push_;
  std::vector<std::unique_ptr<Plan>> plans_;
  Plan* last_ = nullptr;  // of the last step that succeeded
  std::unique_ptr<Buffer> arena_;
  std::unique_ptr<Buffer> buckets_;
  std::vector<double> record_;  // the step header on its way
  KernelErrors errors_;
};

absl::Status StepExecutor::Impl::Init() {
  collectives_text_ = layout_.CollectivesText();
  for (const StepResult& result : layout_.results) {
    if (result.role == ResultRole::kMetricSum) metric_names_.push_back(result.name);
    if (result.role == ResultRole::kExamples) counts_examples_ = true;
  }
  record_.assign(kMetrics + metric_names_.size(), 0);
  buckets_ = std::make_unique<Buffer>(std::max<size_t>(layout_.bucket_elements * sizeof(float), 1));
  std::memset(buckets_->data(), 0, buckets_->size());  // the gaps between gradients are reduced too
  variables_.assign(layout_.variables.size(), nullptr);
  COHORT_RETURN_IF_ERROR(client_ != nullptr ? InitClient() : FindVariables())
      << "function '" << layout_.function.name << "'";
  return absl::OkStatus();
}

absl::Status StepExecutor::Impl::FindVariables() {
  for (size_t i = 0; i < layout_.variables.size(); ++i) {
    const StepVariable& variable = layout_.variables[i];
    COHORT_ASSIGN_OR_RETURN(variables_[i], store_.Find({variable.name, ""}));
    if (variables_[i]->spec() != variable.spec) {
      return absl::InvalidArgumentError(absl::StrCat("variable '", variable.name, "' is ",
                                                     variables_[i]->spec().ToString(), ", the function takes it for ",
                                                     variable.spec.ToString()));
    }
  }
  for (const StepGradient& gradient : layout_.gradients) {
    COHORT_ASSIGN_OR_RETURN(VariableUpdater updater,
                            VariableUpdater::Create(store_, variables_[gradient.variable]->key(), gradient.optimizer));
    updaters_.push_back(std::move(updater));
  }
  return absl::OkStatus();
}

absl::Status StepExecutor::Impl::InitClient() {
  for (size_t i = 0; i < layout_.variables.size(); ++i) {
    const StepVariable& variable = layout_.variables[i];
    if (variable.assigned >= 0) {
      return absl::InvalidArgumentError(absl::StrCat("variable '", variable.name,
                                                     "' is assigned in the step, but lives on a parameter server: only "
                                                     "gradients can change it"));
    }
    if (variable.value < 0) continue;
    pulled_.push_back({static_cast<int>(i), Tensor(variable.spec.dtype, variable.spec.shape)});
    pull_.push_back({variable.name, variable.spec, pulled_.back().value.mutable_data()});
  }
  const float* buckets = static_cast<const float*>(buckets_->data());
  for (const StepGradient& gradient : layout_.gradients) {
    const StepVariable& variable = layout_.variables[gradient.variable];
    push_.push_back({variable.name, variable.spec, buckets + gradient.offset});
  }
  return absl::OkStatus();
}

absl::Status StepExecutor::Impl::CheckBatch(const Element* batch) const {
  const size_t given = batch == nullptr ? 0 : batch->size();
  if (given == layout_.function.parameters.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("function '", layout_.function.name, "' has ",
                                                 layout_.function.parameters.size(), " parameters, the batch has ",
                                                 given, " components"));
}

absl::StatusOr<Plan*> StepExecutor::Impl::PlanFor(const Element* batch) {
  COHORT_RETURN_IF_ERROR(CheckBatch(batch));
  const size_t count = layout_.function.parameters.size();
  for (const std::unique_ptr<Plan>& plan : plans_) {
    bool fits = true;
    for (size_t i = 0; i < count && fits; ++i) fits = plan->parameters()[i] == (*batch)[i].spec();
    if (fits) return plan.get();
  }
  return MakePlan(batch);
}

absl::StatusOr<Plan*> StepExecutor::Impl::MakePlan(const Element* batch) {
  std::vector<TensorSpec> specs;
  if (batch != nullptr) {
    for (const Tensor& tensor : *batch) specs.push_back(tensor.spec());
  }
  COHORT_ASSIGN_OR_RETURN(std::unique_ptr<Plan> plan, Plan::Create(layout_, specs));
  plans_.push_back(std::move(plan));
  // All plans share one arena, since one runs at a time.
  size_t bytes = 1;
  for (const auto& each : plans_) bytes = std::max(bytes, each->arena_bytes());
  if (arena_ == nullptr || arena_->size() < bytes) arena_ = std::make_unique<Buffer>(bytes);
  for (const auto& each : plans_) {
    each->Bind(static_cast<char*>(arena_->data()), static_cast<float*>(buckets_->data()));
    for (const Pulled& pulled : pulled_) each->SetVariable(pulled.variable, pulled.value.data());
  }
  return plans_.back().get();
}

absl::Status StepExecutor::Impl::Compute(Plan& plan, const StepInputs& inputs, absl::Time deadline) {
  for (size_t i = 0; i < plan.parameters().size(); ++i) {
    plan.SetParameter(static_cast<int>(i), (*inputs.batch)[i].data());
  }
  for (size_t i = 0; i < variables_.size(); ++i) {
    if (variables_[i] == nullptr) continue;
    const void* data = variables_[i]->data();
    if (data == nullptr) {
      return absl::FailedPreconditionError(
          absl::StrCat("variable '", layout_.variables[i].name, "' has no value yet: initialize the variables first"));
    }
    plan.SetVariable(static_cast<int>(i), data);
  }
  if (!pull_.empty()) COHORT_RETURN_IF_ERROR(client_->Pull(pull_, deadline));
  KernelRun run;
  run.step = inputs.step;
  run.replica_id = replica_id_;
  CommunicatorGroup group(communicator_, inputs.step, deadline);
  run.group = world_ > 1 ? &group : nullptr;
  run.errors = &errors_;
  plan.Compute(run, tiles_);
  return errors_.ok() ? absl::OkStatus() : errors_.Take();
}

void StepExecutor::Impl::FillHeader(const Plan& plan, const StepInputs& inputs) {
  std::fill(record_.begin(), record_.end(), 0.0);
  record_[kHasNext] = inputs.has_next ? 1 : 0;
  record_[kStopRequested] = inputs.stop_requested ? 1 : 0;
  size_t metric = kMetrics;
  for (const StepResult& result : layout_.results) {
    if (result.role == ResultRole::kFetch) continue;
    const DType dtype = layout_.function.graph.spec(result.output).dtype;
    const double value = ScalarAsDouble(plan.data(result.value), dtype);
    if (result.role == ResultRole::kExamples) record_[kExamples] += value;
    if (result.role == ResultRole::kLossSum) record_[kLossSum] += value;
    if (result.role == ResultRole::kMetricSum) record_[metric++] = value;
  }
  record_[kNonfinite] = std::isfinite(record_[kLossSum]) ? 0 : 1;
}

absl::Status StepExecutor::Impl::Reduce(const StepInputs& inputs, absl::Time deadline) {
  if (world_ == 1 || !layout_.has_header) return absl::OkStatus();
  float* memory = static_cast<float*>(buckets_->data());
  for (const StepBucket& bucket : layout_.buckets) {
    COHORT_RETURN_IF_ERROR(communicator_->AllReduce({memory + bucket.offset, bucket.count, DType::kF32}, ReduceOp::kSum,
                                                    {bucket.name, inputs.step, deadline}))
        << "bucket '" << bucket.name << "'";
  }
  COHORT_RETURN_IF_ERROR(communicator_->AllReduce({record_.data(), static_cast<int64_t>(record_.size()), DType::kF64},
                                                  ReduceOp::kSum, {"header", inputs.step, deadline}))
      << "step header";
  return absl::OkStatus();
}

void StepExecutor::Impl::ReadHeader(StepHeader& header) const {
  header.examples = static_cast<int64_t>(record_[kExamples]);
  header.loss_sum = record_[kLossSum];
  header.metric_sums.assign(record_.begin() + kMetrics, record_.end());
  header.has_next = static_cast<int64_t>(record_[kHasNext]);
  header.stop_requested = static_cast<int64_t>(record_[kStopRequested]);
  header.nonfinite = static_cast<int64_t>(record_[kNonfinite]);
  header.world = world_;
}

absl::Status StepExecutor::Impl::Commit(const Plan& plan, const StepInputs& inputs, int64_t examples,
                                        absl::Time deadline) {
  if (client_ != nullptr) {
    if (push_.empty()) return absl::OkStatus();
    return client_->Push({inputs.step, inputs.learning_rate, examples}, push_, deadline);
  }
  const float* memory = static_cast<const float*>(buckets_->data());
  if (counts_examples_ && examples <= 0) return absl::OkStatus();
  for (size_t i = 0; i < updaters_.size(); ++i) {
    updaters_[i].Apply(memory + layout_.gradients[i].offset, inputs.learning_rate, examples,
                       [this](int64_t elements, absl::FunctionRef<void(int64_t, int64_t)> body) {
                         if (tiles_.threads() == 1 || elements <= kUpdateTile) return body(0, elements);
                         tiles_.ParallelFor((elements + kUpdateTile - 1) / kUpdateTile, [&](int64_t tile) {
                           body(tile * kUpdateTile, std::min(elements, (tile + 1) * kUpdateTile));
                         });
                       });
  }
  CommitAssignments(plan);
  return absl::OkStatus();
}

void StepExecutor::Impl::CommitAssignments(const Plan& plan) {
  for (size_t i = 0; i < variables_.size(); ++i) {
    const int value = layout_.variables[i].assigned;
    if (value < 0) continue;
    const size_t bytes = layout_.variables[i].spec.shape.num_elements() * DTypeSize(layout_.variables[i].spec.dtype);
    void* memory = variables_[i]->BeginWrite();
    if (bytes > 0) std::memcpy(memory, plan.data(value), bytes);
    variables_[i]->EndWrite();
  }
}

absl::Status StepExecutor::Impl::Annotated(absl::Status status, const StepInputs& inputs) const {
  return Annotate(std::move(status), absl::StrCat("function '", layout_.function.name, "', step ", inputs.step));
}

absl::Status StepExecutor::Impl::Run(const StepInputs& inputs, StepHeader& header) {
  const bool waits = world_ > 1 || client_ != nullptr;
  const absl::Time deadline = waits ? absl::Now() + inputs.collective_timeout : absl::InfiniteFuture();
  last_ = nullptr;
  absl::StatusOr<Plan*> plan = PlanFor(inputs.batch);
  absl::Status status = plan.status();
  if (status.ok()) status = Compute(**plan, inputs, deadline);
  if (status.ok()) {
    FillHeader(**plan, inputs);
    status = Reduce(inputs, deadline);
  }
  if (status.ok()) {
    ReadHeader(header);
    status = Commit(**plan, inputs, header.examples, deadline);
  }
  if (!status.ok()) return Annotated(std::move(status), inputs);
  last_ = *plan;
  return absl::OkStatus();
}

absl::StatusOr<Tensor> StepExecutor::Impl::Fetch(absl::string_view name) const {
  if (last_ == nullptr)
    return absl::FailedPreconditionError(
        "there is no step, or the last one failed, so there are no results to be fetched");
  for (const StepResult& result : layout_.results) {
    if (result.name != name) continue;
    const TensorSpec spec = last_->SpecOf(result.output);
    Tensor tensor(spec.dtype, spec.shape);
    if (tensor.num_bytes() > 0) std::memcpy(tensor.mutable_data(), last_->data(result.value), tensor.num_bytes());
    return tensor;
  }
  return absl::NotFoundError(absl::StrCat("function '", layout_.function.name, "' has no result '", name, "'"));
}

StepExecutor::StepExecutor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
StepExecutor::~StepExecutor() = default;

absl::StatusOr<std::unique_ptr<StepExecutor>> StepExecutor::Create(const Function& function,
                                                                   const std::map<std::string, Function>& library,
                                                                   VariableStore& variables, Communicator* communicator,
                                                                   ParameterClient* parameters, TilePool& tiles,
                                                                   const StepExecutorOptions& options) {
  COHORT_ASSIGN_OR_RETURN(StepLayout layout, MakeStepLayout(function, library, options.bucket_bytes));
  auto impl = std::make_unique<Impl>(std::move(layout), variables, communicator, parameters, tiles, options);
  COHORT_RETURN_IF_ERROR(impl->Init());
  return std::unique_ptr<StepExecutor>(new StepExecutor(std::move(impl)));
}

absl::Status StepExecutor::Run(const StepInputs& inputs, StepHeader& header) { return impl_->Run(inputs, header); }
absl::StatusOr<Tensor> StepExecutor::Fetch(absl::string_view result) const { return impl_->Fetch(result); }
const std::vector<std::string>& StepExecutor::metric_names() const { return impl_->metric_names(); }
const std::string& StepExecutor::collectives_text() const { return impl_->collectives_text(); }
uint64_t StepExecutor::collectives_hash() const { return Fnv1a64(impl_->collectives_text()); }
uint64_t StepExecutor::launch_hash() const { return impl_->launch_hash(); }
int StepExecutor::plan_count() const { return impl_->plan_count(); }

}  // namespace cohort
