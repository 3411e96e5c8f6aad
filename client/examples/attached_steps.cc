// Runs a function step by step on all workers of the cluster that COHORT_CLUSTER names, or without one in this process,
// and prints what each of them returned.
//
//   bazel-bin/client/cohort local --workers=2 -- bazel-bin/client/examples/attached_steps

#include <cstdio>

#include "client/api.h"

namespace cohort {
namespace {

const TensorSpec kScalar{DType::kF32, {}};

// Each worker multiplies its number by x and counts its steps; the sum over all workers comes back on each of them.
absl::StatusOr<Function> Weigh() {
  FunctionBuilder f("weigh");
  const Value x = f.AddParameter("x", kScalar);
  const Value steps = f.Variable("steps", kScalar);
  AssignAdd(steps, ScalarConstant(f, DType::kF32, 1));
  const Value product = Mul(x, Add(Cast(ReplicaId(f), DType::kF32), ScalarConstant(f, DType::kF32, 1)));
  f.AddResult("product", product);
  f.AddResult("sum", AllReduce(product, "SUM"));
  f.AddResult("steps", ReadVariable(steps));
  return f.Finish();
}

absl::Status RunSteps() {
  const auto function = Weigh();
  if (!function.ok()) return function.status();
  Program program{.name = "attached steps", .strategy = StrategyKind::kMultiWorkerMirrored};
  program.variables = {{"steps", kScalar, {}}};
  program.functions = {{function->name, *function}};
  const auto cluster = Cluster::Connect();
  if (!cluster.ok()) return cluster.status();
  const auto session = Session::Open(**cluster, program);
  if (!session.ok()) return session.status();
  for (const float x : {1.0f, 10.0f, 100.0f}) {
    const std::vector<std::vector<Tensor>> feeds((*session)->workers(), {Tensor::Scalar(x)});
    const auto results = (*session)->Run("weigh", feeds, {"product", "sum", "steps"});
    if (!results.ok()) return results.status();
    for (const WorkerResult& worker : *results) {
      std::printf("%s: product %g, sum %g, step %g\n", worker.task.ToString().c_str(),
                  worker.fetched[0].values<float>()[0], worker.fetched[1].values<float>()[0],
                  worker.fetched[2].values<float>()[0]);
    }
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace cohort

int main() {
  const absl::Status status = cohort::RunSteps();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
