// Trains a softmax regression on Fashion-MNIST: on the cluster that COHORT_CLUSTER names, all its workers together, or
// without one in this process.
//
//   bazel-bin/client/cohort local --workers=2 -- bazel-bin/client/examples/first_program

#include <cstdio>

#include "client/api.h"

namespace cohort {
namespace {

const TensorSpec kKernel{DType::kF32, {784, 10}};
const TensorSpec kBias{DType::kF32, {10}};

// What one step does on one replica. Sums only: Cohort divides once, by the true number of examples of all replicas.
absl::StatusOr<Function> Step(const char* name, bool learn) {
  FunctionBuilder f(name);
  const Value images = f.AddParameter("images", {DType::kF32, {Shape::kUnknown, 28, 28, 1}});
  const Value labels = f.AddParameter("labels", {DType::kI32, {Shape::kUnknown}});
  const Value kernel = f.Variable("dense/kernel", kKernel);
  const Value bias = f.Variable("dense/bias", kBias);
  const Value logits = BiasAdd(MatMul(Reshape(images, {-1, 784}), ReadVariable(kernel)), ReadVariable(bias));
  const Value loss = Sum(SparseSoftmaxCrossEntropyWithLogits(logits, labels).loss);
  f.AddResult("examples", Size(labels, DType::kI64), ResultRole::kExamples);
  f.AddResult("loss", loss, ResultRole::kLossSum);
  f.AddResult("correct", Sum(Cast(Equal(ArgMax(logits, -1, DType::kI32), labels), DType::kI64)),
              ResultRole::kMetricSum);
  if (learn) {
    const auto gradients = Gradients(f, loss, {kernel, bias});
    if (!gradients.ok()) return gradients.status();
    ApplyGradient(kernel, (*gradients)[0], {{"optimizer", std::string("momentum")}, {"momentum", 0.9}});
    ApplyGradient(bias, (*gradients)[1], {{"optimizer", std::string("momentum")}, {"momentum", 0.9}});
  }
  return f.Finish();
}

absl::StatusOr<JobResult> TrainOnCluster() {
  Program program;
  program.name = "first program";
  program.strategy = StrategyKind::kMultiWorkerMirrored;
  program.variables = {{"dense/kernel", kKernel, {.kind = Initializer::Kind::kGlorotUniform}},
                       {"dense/bias", kBias, {}}};
  for (const bool learn : {true, false}) {
    auto function = Step(learn ? "train" : "evaluate", learn);
    if (!function.ok()) return function.status();
    program.functions[function->name] = *std::move(function);
  }
  program.loop.train_function = "train";
  program.loop.train_dataset = {
      "Shuffle", {{"seed", int64_t{1}}}, {{"FashionMnist", {{"split", std::string("train")}}, {}}}};
  program.loop.global_batch = 128;
  program.loop.epochs = 1;
  program.loop.learning_rate = 0.01;
  program.loop.evaluate_function = "evaluate";
  program.loop.evaluate_dataset = {"FashionMnist", {{"split", std::string("test")}}, {}};
  program.loop.evaluate_batch = 1000;

  const auto cluster = Cluster::Connect();
  if (!cluster.ok()) return cluster.status();
  return (*cluster)->Train(program);
}

}  // namespace
}  // namespace cohort

int main() {
  const auto result = cohort::TrainOnCluster();
  if (!result.ok()) {
    std::fprintf(stderr, "%s\n", result.status().ToString().c_str());
    return 1;
  }
  std::printf("%ld steps on %zu workers: test accuracy %.4f\n", result->steps, result->workers.size(),
              result->accuracy);
  return 0;
}
