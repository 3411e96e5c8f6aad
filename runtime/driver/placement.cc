#include "runtime/driver/placement.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"

namespace cohort {
namespace {

// Evaluation splits every batch over the workers whatever the strategy, so that each example counts once.
DatasetDef PartOfWorker(const DatasetDef& source, int64_t batch, int rank, int workers, bool dealt) {
  DatasetDef part;
  part.kind = dealt ? "DealtBatch" : "GlobalBatch";
  part.attributes = {{"batch_size", batch}, {"num_workers", int64_t{workers}}, {"index", int64_t{rank}}};
  part.inputs = {source};
  DatasetDef ahead;
  ahead.kind = "Prefetch";
  ahead.attributes = {{"buffer_size", int64_t{2}}};
  ahead.inputs = {std::move(part)};
  return ahead;
}

// The optimizer that the program's functions apply to each variable, as the attributes of its ApplyGradient nodes.
absl::StatusOr<std::map<std::string, Attributes>> Optimizers(const Program& program) {
  std::map<std::string, Attributes> optimizers;
  for (const auto& [name, function] : program.functions) {
    for (const Node& node : function.graph.nodes()) {
      if (node.op != "ApplyGradient") continue;
      const Node& handle = function.graph.node(node.inputs[0].node);
      COHORT_ASSIGN_OR_RETURN(const std::string variable, GetAttribute<std::string>(handle.attributes, "shared_name"));
      const auto [place, added] = optimizers.emplace(variable, node.attributes);
      const auto same = [](const Attributes& a, const Attributes& b) {
        return GetAttributeOr<std::string>(a, "optimizer", "") == GetAttributeOr<std::string>(b, "optimizer", "");
      };
      if (!added && !same(place->second, node.attributes)) {
        return absl::InvalidArgumentError(
            absl::StrCat("variable '", variable, "' has two optimizers, '",
                         GetAttributeOr<std::string>(place->second, "optimizer", ""), "' and '",
                         GetAttributeOr<std::string>(node.attributes, "optimizer", ""), "' in function '", name, "'"));
      }
    }
  }
  return optimizers;
}

}  // namespace

absl::StatusOr<std::vector<TaskAddress>> WorkersFor(StrategyKind strategy, const std::vector<TaskAddress>& workers,
                                                    const std::vector<TaskAddress>& parameter_servers) {
  if (workers.empty()) return absl::InvalidArgumentError("the cluster has no chief and no worker to train on");
  switch (strategy) {
    case StrategyKind::kMultiWorkerMirrored:
      return workers;
    case StrategyKind::kParameterServer: {
      if (parameter_servers.empty()) {
        return absl::InvalidArgumentError(
            "strategy parameter_server needs at least one ps in the cluster; there is none (cohort local --ps=1)");
      }
      // A chief next to workers runs the program and computes nothing (spec 3.29).
      std::vector<TaskAddress> computing;
      std::copy_if(workers.begin(), workers.end(), std::back_inserter(computing),
                   [](const TaskAddress& w) { return w.task.job == "worker"; });
      if (computing.empty()) {
        return absl::InvalidArgumentError("strategy parameter_server needs at least one worker in the cluster");
      }
      return computing;
    }
    case StrategyKind::kDefault:
    case StrategyKind::kOneDevice:
    case StrategyKind::kMirrored:
    case StrategyKind::kCentralStorage:
      return std::vector<TaskAddress>{workers.front()};
  }
  return absl::InternalError("a strategy without a case");
}

SessionSpec WorkerSession(const Program& program, const std::vector<TaskAddress>& workers,
                          const std::vector<TaskAddress>& parameter_servers, int rank) {
  const int count = static_cast<int>(workers.size());
  const bool dealt = program.strategy == StrategyKind::kParameterServer;
  SessionSpec spec;
  spec.program = program;
  Loop& loop = spec.program.loop;
  if (!loop.empty())
    loop.train_dataset = PartOfWorker(program.loop.train_dataset, loop.global_batch, rank, count, dealt);
  if (!loop.evaluate_function.empty()) {
    loop.evaluate_dataset = PartOfWorker(program.loop.evaluate_dataset, loop.evaluate_batch, rank, count, false);
  }
  if (dealt) {
    loop.steps = (loop.steps + count - 1) / count;  // of this worker, about: what the learning rate falls over
    spec.group = {workers[rank]};
    spec.parameter_servers = parameter_servers;
  } else {
    spec.group = workers;
    spec.rank = rank;
  }
  return spec;
}

absl::StatusOr<PsSessionSpec> PsSession(const Program& program, int index, int count) {
  COHORT_ASSIGN_OR_RETURN(const auto optimizers, Optimizers(program));
  PsSessionSpec spec;
  spec.seed = program.seed;
  for (size_t k = index; k < program.variables.size(); k += count) {
    const VariableDef& definition = program.variables[k];
    const auto optimizer = optimizers.find(definition.name);
    spec.variables.push_back({definition, optimizer == optimizers.end() ? Attributes{} : optimizer->second});
  }
  return spec;
}

int64_t DealtSteps(int64_t steps, int64_t batches, int rank, int workers) {
  const auto share = [&](int64_t dealt) { return dealt / workers + (rank < dealt % workers ? 1 : 0); };
  if (batches <= 0) return share(steps);
  return steps / batches * share(batches) + share(steps % batches);
}

}  // namespace cohort
