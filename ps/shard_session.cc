#include "ps/shard_session.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/optimizer/optimizer.h"
#include "runtime/variable/initializer.h"

namespace cohort {

absl::StatusOr<std::shared_ptr<ShardSession>> ShardSession::Create(const PsSessionSpec& spec) {
  std::shared_ptr<ShardSession> session(new ShardSession);
  for (const PsVariable& wanted : spec.variables) {
    const VariableDef& definition = wanted.definition;
    const VariableKey key{definition.name, ""};
    if (session->entries_.contains(definition.name)) {
      return absl::InvalidArgumentError(absl::StrCat("there are two variables '", definition.name, "'"));
    }
    auto entry = std::make_unique<Entry>();
    COHORT_ASSIGN_OR_RETURN(entry->variable, session->store_.Create(key, definition.spec, definition.trainable));
    COHORT_ASSIGN_OR_RETURN(const Tensor value, InitialValue(definition, spec.seed));
    COHORT_RETURN_IF_ERROR(entry->variable->Assign(value));
    if (!wanted.optimizer.empty()) {
      COHORT_ASSIGN_OR_RETURN(const OptimizerDef optimizer, ParseOptimizer(wanted.optimizer),
                              _ << "variable '" << definition.name << "'");
      MutexLock lock(&entry->mu);
      COHORT_ASSIGN_OR_RETURN(entry->updater, VariableUpdater::Create(session->store_, key, optimizer));
    }
    session->entries_[definition.name] = std::move(entry);
  }
  return session;
}

absl::StatusOr<ShardSession::Entry*> ShardSession::Find(const std::string& name) const {
  const auto it = entries_.find(name);
  if (it == entries_.end()) return absl::NotFoundError(absl::StrCat("no variable '", name, "' on this ps"));
  return it->second.get();
}

absl::StatusOr<std::vector<Tensor>> ShardSession::Pull(absl::Span<const std::string> names) const {
  std::vector<Tensor> values;
  values.reserve(names.size());
  for (const std::string& name : names) {
    COHORT_ASSIGN_OR_RETURN(const Entry* entry, Find(name));
    COHORT_ASSIGN_OR_RETURN(values.emplace_back(), entry->variable->Snapshot());
  }
  return values;
}

absl::StatusOr<ShardSession::Entry*> ShardSession::Check(const ParameterServer::Gradient& gradient) const {
  COHORT_ASSIGN_OR_RETURN(Entry * entry, Find(gradient.variable));
  const TensorSpec& spec = entry->variable->spec();
  if (gradient.value.spec() != spec) {
    return absl::InvalidArgumentError(absl::StrCat("gradient of '", gradient.variable, "' is ",
                                                   gradient.value.spec().ToString(), ", the variable ",
                                                   spec.ToString()));
  }
  MutexLock lock(&entry->mu);
  if (entry->updater.has_value()) return entry;
  return absl::InvalidArgumentError(absl::StrCat("variable '", gradient.variable, "' has no optimizer"));
}

ShardSession::Worker* ShardSession::FindWorker(const TaskId& worker) {
  MutexLock lock(&mu_);
  std::unique_ptr<Worker>& found = workers_[worker];
  if (found == nullptr) found = std::make_unique<Worker>();
  return found.get();
}

absl::Status ShardSession::Push(const TaskId& worker, const ParameterClient::Update& update,
                                absl::Span<const ParameterServer::Gradient> gradients) {
  // Everything is looked at before anything is applied: a push happens whole or not at all.
  if (update.worker_step < 1 || update.examples < 0) {
    return absl::InvalidArgumentError(absl::StrCat("a push of step ", update.worker_step, " with ", update.examples,
                                                   " examples: steps count from 1, examples from 0"));
  }
  std::vector<Entry*> entries;
  entries.reserve(gradients.size());
  for (const ParameterServer::Gradient& gradient : gradients) {
    COHORT_ASSIGN_OR_RETURN(Entry * entry, Check(gradient));
    if (std::find(entries.begin(), entries.end(), entry) != entries.end()) {
      return absl::InvalidArgumentError(absl::StrCat("a push has gradients of '", gradient.variable, "' twice"));
    }
    entries.push_back(entry);
  }
  Worker* const sender = FindWorker(worker);
  MutexLock lock(&sender->mu);
  if (update.worker_step <= sender->last_step) return absl::OkStatus();
  if (update.examples > 0) {
    for (size_t i = 0; i < gradients.size(); ++i) {
      MutexLock entry_lock(&entries[i]->mu);
      entries[i]->updater->Apply(gradients[i].value.values<float>().data(), update.learning_rate, update.examples);
    }
  }
  sender->last_step = update.worker_step;
  MutexLock count_lock(&mu_);
  ++updates_;
  return absl::OkStatus();
}

absl::StatusOr<PsSummary> ShardSession::Summarize() const {
  PsSummary summary;
  for (const Variable* variable : store_.List()) {
    COHORT_ASSIGN_OR_RETURN(Tensor value, variable->Snapshot());
    summary.values.emplace_back(variable->key().ToString(), std::move(value));
  }
  MutexLock lock(&mu_);
  summary.updates = updates_;
  return summary;
}

}  // namespace cohort
