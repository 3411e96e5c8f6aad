#ifndef COHORT_TESTS_WORKER_TINY_PROGRAM_H_
#define COHORT_TESTS_WORKER_TINY_PROGRAM_H_

#include <string>
#include <utility>

#include "runtime/graph/builder.h"
#include "runtime/graph/ops.h"
#include "runtime/graph/program.h"

namespace cohort::testing {

// One number w moves towards 1: the loss of an example is (w - 1)^2, whatever the example. From 3, with a learning rate
// of 0.25, w is 3, 2, 1.5, 1.25, ...: each step halves w - 1. Results: loss_sum, examples, seen (a metric: the number
// of examples again), w (before the step).
inline Function TinyFunction(const std::string& name, bool trains) {
  FunctionBuilder builder(name);
  builder.AddParameter("images", {DType::kF32, {Shape::kUnknown, 2}});
  const Value labels = builder.AddParameter("labels", {DType::kI32, {Shape::kUnknown}});
  const Value handle = builder.Variable("w", {DType::kF32, Shape{}});
  const Value w = ReadVariable(handle);
  const Value ones = OnesLike(Cast(labels, DType::kF32));
  const Value error = ones * w - ones;
  builder.AddResult("loss_sum", Sum(Square(error)), ResultRole::kLossSum);
  builder.AddResult("examples", Size(labels, DType::kI64), ResultRole::kExamples);
  builder.AddResult("seen", Sum(ones), ResultRole::kMetricSum);
  builder.AddResult("w", Identity(w));
  if (trains) ApplyGradient(handle, Sum(error + error), {{"optimizer", std::string("sgd")}});
  return *builder.Finish();
}

inline DatasetDef TinyData(int64_t examples, int64_t batch) {
  DatasetDef data = {"Synthetic", {{"examples", examples}, {"shape", Shape{2}}}, {}};
  return {"Batch", {{"batch_size", batch}}, {std::move(data)}};
}

inline Program TinyProgram(DatasetDef data, DatasetDef test_data = TinyData(6, 4)) {
  Program program;
  program.name = "tiny";
  program.functions["train"] = TinyFunction("train", /*trains=*/true);
  program.functions["evaluate"] = TinyFunction("evaluate", /*trains=*/false);
  VariableDef w;
  w.name = "w";
  w.spec = {DType::kF32, Shape{}};
  w.initializer.kind = Initializer::Kind::kConstant;
  w.initializer.value = 3;
  program.variables.push_back(w);
  program.loop.train_function = "train";
  program.loop.evaluate_function = "evaluate";
  program.loop.train_dataset = std::move(data);
  program.loop.evaluate_dataset = std::move(test_data);
  program.loop.global_batch = program.loop.evaluate_batch = 4;
  program.loop.epochs = 1;
  program.loop.learning_rate = 0.25;
  return program;
}

}  // namespace cohort::testing

#endif  // COHORT_TESTS_WORKER_TINY_PROGRAM_H_
