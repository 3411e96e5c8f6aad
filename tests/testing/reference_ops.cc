#include "tests/testing/reference_ops.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace cohort::testing {
namespace {

using Arrays = std::vector<Array>;
using Result = absl::StatusOr<Arrays>;

Array Filled(const Shape& shape, double value) {
  return {shape, std::vector<double>(static_cast<size_t>(shape.num_elements()), value)};
}

// Coordinates of row-major element `k`, and back; a coordinate of a dimension of 1 counts as 0 (broadcasting), leading
// coordinates beyond the rank are ignored.
std::vector<int64_t> CoordinatesOf(int64_t k, const Shape& shape) {
  std::vector<int64_t> at(shape.rank());
  for (int i = shape.rank() - 1; i >= 0; --i) {
    at[i] = k % shape.dim(i);
    k /= shape.dim(i);
  }
  return at;
}
double At(const Array& x, const std::vector<int64_t>& at) {
  const int extra = static_cast<int>(at.size()) - x.shape.rank();
  int64_t k = 0;
  for (int i = 0; i < x.shape.rank(); ++i) k = k * x.shape.dim(i) + (x.shape.dim(i) == 1 ? 0 : at[extra + i]);
  return x.values[k];
}

template <typename F>
Result Map(const Array& x, F f) {
  Array y = x;
  for (double& v : y.values) v = f(v);
  return Arrays{y};
}

template <typename F>
Result Zip(const Array& a, const Array& b, F f) {
  Shape shape;
  const int rank = std::max(a.shape.rank(), b.shape.rank());
  for (int i = 0; i < rank; ++i) {
    const int ia = i - rank + a.shape.rank(), ib = i - rank + b.shape.rank();
    const int64_t da = ia < 0 ? 1 : a.shape.dim(ia), db = ib < 0 ? 1 : b.shape.dim(ib);
    if (da != db && da != 1 && db != 1) {
      return absl::InvalidArgumentError(absl::StrCat(a.shape.ToString(), " and ", b.shape.ToString()));
    }
    shape.push_back(da == 1 ? db : da);
  }
  Array y = Filled(shape, 0);
  for (size_t k = 0; k < y.values.size(); ++k) {
    const auto at = CoordinatesOf(static_cast<int64_t>(k), shape);
    y.values[k] = f(At(a, at), At(b, at));
  }
  return Arrays{y};
}

template <double (*F)(double)>
Result Unary(const Node&, const Arrays& in) {
  return Map(in[0], F);
}
template <double (*F)(double, double)>
Result Binary(const Node&, const Arrays& in) {
  return Zip(in[0], in[1], F);
}

double Add(double a, double b) { return a + b; }
double Sub(double a, double b) { return a - b; }
double Mul(double a, double b) { return a * b; }
double Div(double a, double b) { return a / b; }
double Equal(double a, double b) { return a == b ? 1 : 0; }
double ReluGrad(double g, double x) { return x > 0 ? g : 0; }
double Same(double x) { return x; }
double Neg(double x) { return -x; }
double Square(double x) { return x * x; }
double Exp(double x) { return std::exp(x); }
double Log(double x) { return std::log(x); }
double Tanh(double x) { return std::tanh(x); }
double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double Relu(double x) { return x > 0 ? x : 0; }
double One(double) { return 1; }
double Zero(double) { return 0; }

Result Const(const Node& node, const Arrays&) {
  return Arrays{Array::Of(GetAttributeOr<Tensor>(node.attributes, "value", {}))};
}

Result Cast(const Node& node, const Arrays& in) {
  const DType dtype = GetAttributeOr<DType>(node.attributes, "DstT", DType::kInvalid);
  if (dtype == DType::kBool) return Map(in[0], [](double v) { return v != 0 ? 1.0 : 0.0; });
  return Arrays{Array::Of(in[0].To(dtype))};
}

Result Size(const Node&, const Arrays& in) { return Arrays{Filled({}, static_cast<double>(in[0].values.size()))}; }

Result Reshape(const Node&, const Arrays& in) {
  Shape shape;
  int64_t known = 1;
  for (const double d : in[1].values) {
    shape.push_back(static_cast<int64_t>(d));
    if (d >= 0) known *= static_cast<int64_t>(d);
  }
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape.dim(i) < 0) shape.set_dim(i, static_cast<int64_t>(in[0].values.size()) / std::max<int64_t>(known, 1));
  }
  if (shape.num_elements() != static_cast<int64_t>(in[0].values.size())) {
    return absl::InvalidArgumentError(absl::StrCat(in[0].shape.ToString(), " to ", shape.ToString()));
  }
  return Arrays{Array{shape, in[0].values}};
}

Result Transpose(const Node&, const Arrays& in) {
  Shape shape;
  for (const double p : in[1].values) shape.push_back(in[0].shape.dim(static_cast<int>(p)));
  Array y = Filled(shape, 0);
  std::vector<int64_t> from(shape.rank());
  for (size_t k = 0; k < y.values.size(); ++k) {
    const auto at = CoordinatesOf(static_cast<int64_t>(k), shape);
    for (int i = 0; i < shape.rank(); ++i) from[static_cast<size_t>(in[1].values[i])] = at[i];
    y.values[k] = At(in[0], from);
  }
  return Arrays{y};
}

Result BroadcastInto(const Array& x, const Shape& shape) { return Zip(x, Filled(shape, 0), Add); }
Result BroadcastTo(const Node&, const Arrays& in) {
  Shape shape;
  for (const double d : in[1].values) shape.push_back(static_cast<int64_t>(d));
  return BroadcastInto(in[0], shape);
}
Result BroadcastLike(const Node&, const Arrays& in) { return BroadcastInto(in[0], in[1].shape); }

std::vector<bool> ReducedAxes(const Array& x, const Array& axes) {
  std::vector<bool> reduced(x.shape.rank(), false);
  for (const double a : axes.values) reduced[static_cast<size_t>(a < 0 ? a + x.shape.rank() : a)] = true;
  return reduced;
}

Array SumOver(const Array& x, const std::vector<bool>& reduced, bool keep_dims) {
  Shape kept, shape;
  for (int i = 0; i < x.shape.rank(); ++i) {
    kept.push_back(reduced[i] ? 1 : x.shape.dim(i));
    if (!reduced[i] || keep_dims) shape.push_back(kept.dim(i));
  }
  Array y = Filled(kept, 0);
  for (size_t k = 0; k < x.values.size(); ++k) {
    const auto at = CoordinatesOf(static_cast<int64_t>(k), x.shape);
    int64_t to = 0;
    for (int i = 0; i < kept.rank(); ++i) to = to * kept.dim(i) + (reduced[i] ? 0 : at[i]);
    y.values[to] += x.values[k];
  }
  y.shape = shape;
  return y;
}

Result Sum(const Node& node, const Arrays& in) {
  return Arrays{SumOver(in[0], ReducedAxes(in[0], in[1]), GetAttributeOr<bool>(node.attributes, "keep_dims", false))};
}
Result Mean(const Node& node, const Arrays& in) {
  Array y = SumOver(in[0], ReducedAxes(in[0], in[1]), GetAttributeOr<bool>(node.attributes, "keep_dims", false));
  const double count = static_cast<double>(in[0].values.size()) / static_cast<double>(y.values.size());
  for (double& v : y.values) v /= count;
  return Arrays{y};
}

Result ArgMax(const Node&, const Arrays& in) {
  const Array& x = in[0];
  const int axis = static_cast<int>(in[1].values[0] < 0 ? in[1].values[0] + x.shape.rank() : in[1].values[0]);
  Shape shape;
  for (int i = 0; i < x.shape.rank(); ++i) {
    if (i != axis) shape.push_back(x.shape.dim(i));
  }
  Array y = Filled(shape, 0);
  for (size_t k = 0; k < y.values.size(); ++k) {
    auto at = CoordinatesOf(static_cast<int64_t>(k), shape);
    at.insert(at.begin() + axis, 0);
    double best = At(x, at);
    for (int64_t j = 1; j < x.shape.dim(axis); ++j) {
      at[axis] = j;
      if (At(x, at) > best) {
        best = At(x, at);
        y.values[k] = static_cast<double>(j);
      }
    }
  }
  return Arrays{y};
}

Result MatMul(const Node& node, const Arrays& in) {
  const bool ta = GetAttributeOr<bool>(node.attributes, "transpose_a", false);
  const bool tb = GetAttributeOr<bool>(node.attributes, "transpose_b", false);
  const Array &a = in[0], &b = in[1];
  const int64_t m = a.shape.dim(ta), inner = a.shape.dim(!ta), n = b.shape.dim(!tb);
  if (b.shape.dim(tb) != inner) {
    return absl::InvalidArgumentError(absl::StrCat(a.shape.ToString(), " and ", b.shape.ToString()));
  }
  Array y = Filled({m, n}, 0);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t k = 0; k < inner; ++k) {
        y.values[i * n + j] += (ta ? At(a, {k, i}) : At(a, {i, k})) * (tb ? At(b, {j, k}) : At(b, {k, j}));
      }
    }
  }
  return Arrays{y};
}

Result BiasAddGrad(const Node&, const Arrays& in) {
  std::vector<bool> reduced(in[0].shape.rank(), true);
  reduced.back() = false;
  return Arrays{SumOver(in[0], reduced, false)};
}

// loss = log(sum exp(x)) - x[label], after taking the maximum away; backprop = softmax(x) - one_hot(label).
Result CrossEntropy(const Node&, const Arrays& in) {
  const int64_t batch = in[0].shape.dim(0), classes = in[0].shape.dim(1);
  Array loss = Filled({batch}, 0), backprop = Filled({batch, classes}, 0);
  for (int64_t i = 0; i < batch; ++i) {
    const double* x = &in[0].values[i * classes];
    const auto label = static_cast<int64_t>(in[1].values[i]);
    if (label < 0 || label >= classes) return absl::InvalidArgumentError(absl::StrCat("label ", label));
    const double top = *std::max_element(x, x + classes);
    double sum = 0;
    for (int64_t j = 0; j < classes; ++j) sum += std::exp(x[j] - top);
    loss.values[i] = std::log(sum) - (x[label] - top);
    for (int64_t j = 0; j < classes; ++j) {
      backprop.values[i * classes + j] = std::exp(x[j] - top) / sum - (j == label ? 1 : 0);
    }
  }
  return Arrays{loss, backprop};
}

}  // namespace

const std::map<std::string, ReferenceOp>& ReferenceOps() {
  static const auto* const ops = [] {
    auto* made = new std::map<std::string, ReferenceOp>{
        {"Const", Const},
        {"Identity", Unary<Same>},
        {"AllReduce", Unary<Same>},
        {"TestDelay", Unary<Same>},
        {"AddV2", Binary<Add>},
        {"Sub", Binary<Sub>},
        {"Mul", Binary<Mul>},
        {"RealDiv", Binary<Div>},
        {"Equal", Binary<Equal>},
        {"BiasAdd", Binary<Add>},
        {"ReluGrad", Binary<ReluGrad>},
        {"Neg", Unary<Neg>},
        {"Square", Unary<Square>},
        {"Exp", Unary<Exp>},
        {"Log", Unary<Log>},
        {"Tanh", Unary<Tanh>},
        {"Sigmoid", Unary<Sigmoid>},
        {"Relu", Unary<Relu>},
        {"OnesLike", Unary<One>},
        {"ZerosLike", Unary<Zero>},
        {"Cast", Cast},
        {"Size", Size},
        {"Reshape", Reshape},
        {"Transpose", Transpose},
        {"BroadcastTo", BroadcastTo},
        {"BroadcastLike", BroadcastLike},
        {"Sum", Sum},
        {"Mean", Mean},
        {"ArgMax", ArgMax},
        {"MatMul", MatMul},
        {"BiasAddGrad", BiasAddGrad},
        {"SparseSoftmaxCrossEntropyWithLogits", CrossEntropy},
    };
    AddReferenceImageOps(*made);
    return made;
  }();
  return *ops;
}

}  // namespace cohort::testing
