#include "runtime/variable/variable_store.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/checkpoint/checksum.h"

namespace cohort {
namespace {

// Whether nobody else holds the tensor's memory. Then what others read there happened before: taking a share and
// letting it go again reads the count that they wrote, in an order that TSan knows too.
bool IsUnique(const Tensor& tensor) {
  if (tensor.buffer().use_count() > 1) return false;
  std::shared_ptr<Buffer> share = tensor.buffer();
  share.reset();
  return true;
}

}  // namespace

Variable::Variable(VariableKey key, TensorSpec spec, bool trainable)
    : key_(std::move(key)), spec_(std::move(spec)), trainable_(trainable) {}

bool Variable::initialized() const {
  MutexLock lock(&mu_);
  return version_ > 0;
}

absl::StatusOr<Tensor> Variable::Snapshot() const {
  MutexLock lock(&mu_);
  if (version_ == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("variable '", key_.ToString(), "' has no value yet: initialize the variables first"));
  }
  return value_;
}

int64_t Variable::version() const {
  MutexLock lock(&mu_);
  return version_;
}

absl::Status Variable::Assign(const Tensor& value) {
  if (value.spec() != spec_) {
    return absl::InvalidArgumentError(absl::StrCat("variable '", key_.ToString(), "' is ", spec_.ToString(),
                                                   ", the value assigned to it ", value.spec().ToString()));
  }
  void* memory = BeginWrite();
  if (value.num_bytes() > 0) std::memcpy(memory, value.data(), value.num_bytes());
  EndWrite();
  return absl::OkStatus();
}

void* Variable::BeginWrite() {
  mu_.Lock();
  if (!value_.has_value()) {
    value_ = Tensor::Zeros(spec_.dtype, spec_.shape);
  } else if (!IsUnique(value_)) {
    if (!spare_.has_value() || !IsUnique(spare_)) spare_ = Tensor(spec_.dtype, spec_.shape);
    if (value_.num_bytes() > 0) std::memcpy(spare_.mutable_data(), value_.data(), value_.num_bytes());
    std::swap(value_, spare_);
  }
  return value_.mutable_data();
}

void Variable::EndWrite() {
  ++version_;
  mu_.Unlock();
}

const void* Variable::data() const { return value_.has_value() ? value_.data() : nullptr; }

absl::StatusOr<Variable*> VariableStore::Create(VariableKey key, TensorSpec spec, bool trainable) {
  std::string name = key.ToString();
  if (!spec.shape.IsFullyDefined()) {
    return absl::InvalidArgumentError(
        absl::StrCat("variable '", name, "' needs a fully defined shape, not ", spec.ToString()));
  }
  MutexLock lock(&mu_);
  std::unique_ptr<Variable>& entry = variables_[name];
  if (entry == nullptr) {
    entry = std::make_unique<Variable>(std::move(key), std::move(spec), trainable);
  } else if (entry->spec() != spec) {
    return absl::AlreadyExistsError(
        absl::StrCat("variable '", name, "' exists as ", entry->spec().ToString(), ", not ", spec.ToString()));
  }
  return entry.get();
}

absl::StatusOr<Variable*> VariableStore::Find(const VariableKey& key) const {
  const std::string name = key.ToString();
  MutexLock lock(&mu_);
  const auto it = variables_.find(name);
  if (it == variables_.end()) return absl::NotFoundError(absl::StrCat("no variable '", name, "' on this task"));
  return it->second.get();
}

std::vector<Variable*> VariableStore::List() const {
  std::vector<Variable*> list;
  {
    MutexLock lock(&mu_);
    list.reserve(variables_.size());
    for (const auto& [name, variable] : variables_) list.push_back(variable.get());
  }
  std::sort(list.begin(), list.end(), [](const Variable* a, const Variable* b) { return a->key() < b->key(); });
  return list;
}

namespace {

absl::StatusOr<StateValues> Values(const VariableStore& store, bool slots) {
  StateValues values;
  for (const Variable* variable : store.List()) {
    if (!slots && !variable->key().slot.empty()) continue;
    COHORT_ASSIGN_OR_RETURN(Tensor value, variable->Snapshot());
    values.emplace_back(variable->key(), std::move(value));
  }
  return values;
}

}  // namespace

absl::StatusOr<std::string> VariableStore::WeightsCrc32c() const {
  COHORT_ASSIGN_OR_RETURN(StateValues values, Values(*this, /*slots=*/false));
  return cohort::WeightsCrc32c(std::move(values));
}

absl::StatusOr<std::string> VariableStore::StateCrc32c(int64_t global_step) const {
  COHORT_ASSIGN_OR_RETURN(StateValues values, Values(*this, /*slots=*/true));
  return cohort::StateCrc32c(std::move(values), global_step);
}

}  // namespace cohort
