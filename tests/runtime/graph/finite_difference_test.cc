// Every gradient of the op table against central differences, in double precision.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "runtime/graph/gradients.h"
#include "runtime/graph/op.h"
#include "runtime/graph/ops.h"
#include "tests/testing/reference_interpreter.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::ReferenceInterpreter;
using Values = std::vector<Value>;

constexpr int64_t kAny = Shape::kUnknown;

struct Case {
  const char* op;  // the row that it tests
  std::vector<Shape> inputs;
  Value (*y)(FunctionBuilder&, const Values&);
  bool batch_unknown = false;  // the first dimension of input 0 is unknown while tracing
};

const Case kCases[] = {
    {"Identity", {{2}}, [](FunctionBuilder&, const Values& x) { return Identity(x[0]); }},
    {"AllReduce", {{2}}, [](FunctionBuilder&, const Values& x) { return AllReduce(x[0]); }},
    {"TestDelay", {{2}}, [](FunctionBuilder&, const Values& x) { return TestDelay(x[0], 0); }},
    {"ReadVariableOp",
     {{2}},
     [](FunctionBuilder& b, const Values& x) {
       return ReadVariable(b.Variable("w", {DType::kF64, {2}})) * x[0];
     }},
    {"Reshape",
     {{4, 3}},
     [](FunctionBuilder&, const Values& x) {
       return Reshape(x[0], {-1, 6});
     },
     true},
    {"Transpose",
     {{2, 3, 2}},
     [](FunctionBuilder&, const Values& x) {
       return Transpose(x[0], {2, 0, 1});
     },
     true},
    {"BroadcastTo",
     {{3, 1}},
     [](FunctionBuilder&, const Values& x) {
       return BroadcastTo(x[0], {2, 3, 4});
     }},
    {"BroadcastLike",
     {{2}, {3, 2}},
     [](FunctionBuilder&, const Values& x) { return BroadcastLike(x[0], x[1] * x[1]) + x[1]; }},
    {"AddV2", {{3, 2}, {2}}, [](FunctionBuilder&, const Values& x) { return x[0] + x[1]; }, true},
    {"AddV2", {{2, 1}, {2, 3}}, [](FunctionBuilder&, const Values& x) { return x[0] + x[1]; }},
    {"Sub", {{3, 2}, {1, 2}}, [](FunctionBuilder&, const Values& x) { return x[0] - x[1]; }, true},
    {"Mul", {{3, 2}, {3, 1}}, [](FunctionBuilder&, const Values& x) { return x[0] * x[1]; }},
    {"Mul", {{3}, {2, 1}}, [](FunctionBuilder&, const Values& x) { return x[0] * x[1]; }},
    {"RealDiv", {{2, 2}, {}}, [](FunctionBuilder&, const Values& x) { return x[0] / x[1]; }, true},
    {"RealDiv", {{}, {2, 2}}, [](FunctionBuilder&, const Values& x) { return x[0] / x[1]; }},
    {"OnesLike", {{2}}, [](FunctionBuilder&, const Values& x) { return OnesLike(x[0]) * x[0]; }},
    {"ZerosLike", {{2}}, [](FunctionBuilder&, const Values& x) { return ZerosLike(x[0]) * x[0]; }},
    {"Neg", {{2}}, [](FunctionBuilder&, const Values& x) { return -x[0]; }},
    {"Square", {{3}}, [](FunctionBuilder&, const Values& x) { return Square(x[0]); }},
    {"Exp", {{3}}, [](FunctionBuilder&, const Values& x) { return Exp(x[0]); }},
    {"Log", {{3}}, [](FunctionBuilder&, const Values& x) { return Log(Square(x[0])); }},
    {"Tanh", {{3}}, [](FunctionBuilder&, const Values& x) { return Tanh(x[0]); }},
    {"Sigmoid", {{3}}, [](FunctionBuilder&, const Values& x) { return Sigmoid(x[0]); }},
    {"Cast",
     {{2}},
     [](FunctionBuilder&, const Values& x) {
       return Sub(Cast(Cast(Identity(x[0]) * ScalarConstant(*x[0].builder, DType::kF64, 0), DType::kF32), DType::kF64),
                  x[0]);
     }},
    {"MatMul", {{2, 3}, {3, 2}}, [](FunctionBuilder&, const Values& x) { return MatMul(x[0], x[1]); }, true},
    {"MatMul", {{3, 2}, {3, 2}}, [](FunctionBuilder&, const Values& x) { return MatMul(x[0], x[1], true, false); }},
    {"MatMul", {{2, 3}, {2, 3}}, [](FunctionBuilder&, const Values& x) { return MatMul(x[0], x[1], false, true); }},
    {"MatMul", {{3, 2}, {2, 3}}, [](FunctionBuilder&, const Values& x) { return MatMul(x[0], x[1], true, true); }},
    {"Sum", {{2, 3, 2}}, [](FunctionBuilder&, const Values& x) { return Sum(x[0], {1}); }, true},
    {"Sum",
     {{2, 3, 2}},
     [](FunctionBuilder&, const Values& x) {
       return Sum(x[0], {0, 1});
     },
     true},
    {"Sum", {{2, 3}}, [](FunctionBuilder&, const Values& x) { return Sum(x[0], {1}, true); }, true},
    {"Mean",
     {{2, 3, 2}},
     [](FunctionBuilder&, const Values& x) {
       return Mean(x[0], {0, 2});
     },
     true},
    {"Mean", {{4, 3}}, [](FunctionBuilder&, const Values& x) { return Mean(x[0]); }, true},
    {"BiasAdd", {{3, 2}, {2}}, [](FunctionBuilder&, const Values& x) { return BiasAdd(x[0], x[1]); }, true},
    {"BiasAdd", {{2, 2, 2, 3}, {3}}, [](FunctionBuilder&, const Values& x) { return BiasAdd(x[0], x[1]); }, true},
    {"Relu", {{5}}, [](FunctionBuilder&, const Values& x) { return Relu(x[0]); }},
    {"ReluGrad",
     {{3}},
     [](FunctionBuilder& b, const Values& x) {
       return ReluGrad(x[0], Constant(b, Tensor::Of<double>({3}, {0, -1, 1})));
     }},
    {"SparseSoftmaxCrossEntropyWithLogits",
     {{3, 4}},
     [](FunctionBuilder& b, const Values& x) {
       return SparseSoftmaxCrossEntropyWithLogits(x[0], Constant(b, Tensor::Of<int32_t>({3}, {2, 0, 3}))).loss;
     }},
    {"Conv2D",
     {{2, 5, 4, 2}, {3, 2, 2, 3}},
     [](FunctionBuilder&, const Values& x) { return Conv2D(x[0], x[1], {}); },
     true},
    {"Conv2D",
     {{1, 5, 6, 1}, {3, 3, 1, 2}},
     [](FunctionBuilder&, const Values& x) {
       return Conv2D(x[0], x[1], {{2, 1}, "VALID"});
     }},
    {"Conv2D",
     {{1, 5, 6, 1}, {2, 3, 1, 2}},
     [](FunctionBuilder&, const Values& x) {
       return Conv2D(x[0], x[1], {{2, 2}, "SAME"});
     }},
    {"MaxPool",
     {{2, 4, 4, 2}},
     [](FunctionBuilder&, const Values& x) {
       return MaxPool(x[0], {2, 2}, {{2, 2}, "SAME"});
     },
     true},
    {"MaxPool",
     {{1, 5, 5, 1}},
     [](FunctionBuilder&, const Values& x) {
       return MaxPool(x[0], {3, 2}, {{1, 2}, "VALID"});
     }},
};

// Distinct values away from zero, of both signs, no two closer than 0.05: kinks of Relu and MaxPool stay out of reach.
Tensor Input(const Shape& shape, int which) {
  Tensor x(DType::kF64, shape);
  auto values = x.mutable_values<double>();
  const auto n = static_cast<int64_t>(values.size());
  for (int64_t k = 0; k < n; ++k) {
    const int64_t place = (k * 37 + 11 * (which + 1)) % 101;
    values[k] = (place % 2 == 0 ? 1 : -1) * (0.3 + 0.05 * static_cast<double>(place) / 2);
  }
  return x;
}

// f(x) = sum(y), or, weighted, the sum of a curved function of y, so that no gradient stays ones; and its gradients.
absl::StatusOr<Function> Trace(const Case& c, bool weighted) {
  FunctionBuilder b("f");
  Values x;
  for (const Shape& shape : c.inputs) {
    Shape declared = shape;
    if (c.batch_unknown && x.empty()) declared.set_dim(0, kAny);
    x.push_back(b.AddParameter(absl::StrCat("x", x.size()), {DType::kF64, declared}));
  }
  Value y = c.y(b, x);
  if (weighted) y = y * Exp(OnesLike(y)) + Sigmoid(y) * y;
  const Value loss = Sum(y);
  const auto gradients = Gradients(b, loss, x);
  if (!gradients.ok()) return gradients.status();
  b.AddResult("loss", loss);
  for (const Value& g : *gradients) b.AddResult(absl::StrCat("g", g.output.node), g);
  return b.Finish();
}

double Loss(const Function& f, const std::vector<Tensor>& x) {
  ReferenceInterpreter interpreter;
  interpreter.variables["w"] = Tensor::Of<double>({2}, {0.5, -2});
  const auto results = interpreter.Run(f, x);
  return results.ok() ? (*results)[0].values<double>()[0] : std::nan("");
}

void Check(const Case& c, bool weighted) {
  SCOPED_TRACE(absl::StrCat(c.op, weighted ? ", weighted" : ""));
  COHORT_ASSERT_OK_AND_ASSIGN(const Function f, Trace(c, weighted));
  std::vector<Tensor> x;
  for (const Shape& shape : c.inputs) x.push_back(Input(shape, static_cast<int>(x.size())));
  ReferenceInterpreter interpreter;
  interpreter.variables["w"] = Tensor::Of<double>({2}, {0.5, -2});
  COHORT_ASSERT_OK_AND_ASSIGN(const auto results, interpreter.Run(f, x));
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(results[1 + i].shape(), x[i].shape());
    for (int64_t k = 0; k < x[i].num_elements(); ++k) {
      constexpr double kStep = 1e-5;
      std::vector<Tensor> moved = x;
      moved[i] = x[i].Clone();
      double& element = moved[i].mutable_values<double>()[k];
      const double at = element;
      element = at + kStep;
      const double above = Loss(f, moved);
      element = at - kStep;
      const double below = Loss(f, moved);
      const double got = results[1 + i].values<double>()[k];
      // The difference quotient errs by about step^2 times the third derivative, and by rounding / step.
      EXPECT_NEAR(got, (above - below) / (2 * kStep), 1e-7 * (1 + std::abs(got))) << "input " << i << " element " << k;
    }
  }
}

TEST(FiniteDifferenceTest, EveryCase) {
  for (const Case& c : kCases) {
    Check(c, /*weighted=*/false);
    Check(c, /*weighted=*/true);
  }
}

TEST(FiniteDifferenceTest, EveryOpWithAGradientHasACase) {
  std::set<absl::string_view> tested;
  for (const Case& c : kCases) tested.insert(c.op);
  for (const OpDef* op : AllOps()) {
    EXPECT_EQ(op->gradient != nullptr, tested.count(op->name) > 0) << op->name;
  }
}

}  // namespace
}  // namespace cohort
