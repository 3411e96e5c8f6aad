#ifndef COHORT_TESTS_RUNTIME_EXECUTOR_REGRESSION_H_
#define COHORT_TESTS_RUNTIME_EXECUTOR_REGRESSION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/graph/gradients.h"
#include "runtime/graph/ops.h"
#include "runtime/variable/variable_store.h"

namespace cohort::testing {

inline const TensorSpec kWeightSpec{DType::kF32, Shape{2, 1}};
inline const TensorSpec kBiasSpec{DType::kF32, Shape{1}};

// Linear regression whose numbers can be worked out by hand: parameters x [batch, 2] and y [batch, 1], variables w
// [2, 1] and b [1], results loss (sum of squares), examples, large (a metric: the sum of y), prediction.
inline absl::StatusOr<Function> TraceRegression(const Attributes& optimizer) {
  FunctionBuilder builder("train");
  const Value x = builder.AddParameter("x", {DType::kF32, Shape{Shape::kUnknown, 2}});
  const Value y = builder.AddParameter("y", {DType::kF32, Shape{Shape::kUnknown, 1}});
  const std::vector<Value> handles = {builder.Variable("w", kWeightSpec), builder.Variable("b", kBiasSpec)};
  const Value prediction = BiasAdd(MatMul(x, ReadVariable(handles[0])), ReadVariable(handles[1]));
  const Value loss = Sum(Square(prediction - y));
  builder.AddResult("loss", loss, ResultRole::kLossSum);
  builder.AddResult("examples", Size(y, DType::kI64), ResultRole::kExamples);
  builder.AddResult("large", Sum(y), ResultRole::kMetricSum);
  builder.AddResult("prediction", prediction);
  auto gradients = Gradients(builder, loss, handles);
  if (!gradients.ok()) return gradients.status();
  for (size_t i = 0; i < handles.size(); ++i) ApplyGradient(handles[i], (*gradients)[i], optimizer);
  return builder.Finish();
}

inline Attributes Sgd() { return {{"optimizer", std::string("sgd")}}; }

// w = (1, 2), b = 0.
inline absl::Status FillStore(VariableStore& store) {
  auto w = store.Create({"w", ""}, kWeightSpec, true);
  if (!w.ok()) return w.status();
  auto b = store.Create({"b", ""}, kBiasSpec, true);
  if (!b.ok()) return b.status();
  if (absl::Status status = (*w)->Assign(Tensor::Of<float>(Shape{2, 1}, {1, 2})); !status.ok()) return status;
  return (*b)->Assign(Tensor::Of<float>(Shape{1}, {0}));
}

// Rows (x0, x1, y).
inline std::vector<Tensor> Batch(const std::vector<std::vector<float>>& rows) {
  Tensor x(DType::kF32, Shape{static_cast<int64_t>(rows.size()), 2});
  Tensor y(DType::kF32, Shape{static_cast<int64_t>(rows.size()), 1});
  for (size_t i = 0; i < rows.size(); ++i) {
    x.mutable_values<float>()[2 * i] = rows[i][0];
    x.mutable_values<float>()[2 * i + 1] = rows[i][1];
    y.mutable_values<float>()[i] = rows[i][2];
  }
  return {x, y};
}

inline std::vector<float> ValueOf(const VariableStore& store, const std::string& name, const std::string& slot = "") {
  const auto variable = store.Find({name, slot});
  if (!variable.ok()) return {};
  const auto value = (*variable)->Snapshot();
  if (!value.ok()) return {};
  return {value->values<float>().begin(), value->values<float>().end()};
}

}  // namespace cohort::testing

#endif  // COHORT_TESTS_RUNTIME_EXECUTOR_REGRESSION_H_
