#include "client/models/layers.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace cohort {

Value Layers::Parameter(const std::string& name, Shape shape, Initializer::Kind initializer) {
  VariableDef variable;
  variable.name = name;
  variable.spec = {DType::kF32, std::move(shape)};
  variable.initializer.kind = initializer;
  const Value handle = builder_.Variable(name, variable.spec);
  variables_.push_back(std::move(variable));
  handles_.push_back(handle);
  return ReadVariable(handle);
}

Value Layers::Dense(const std::string& name, Value x, int64_t units) {
  if (!x.valid()) return x;
  const Value kernel = Parameter(name + "/kernel", Shape{x.shape().dim(1), units}, weights_);
  const Value bias = Parameter(name + "/bias", Shape{units}, Initializer::Kind::kZeros);
  return BiasAdd(MatMul(x, kernel), bias);
}

Value Layers::Convolution(const std::string& name, Value x, int64_t size, int64_t filters, const std::string& padding) {
  if (!x.valid()) return x;
  const Value kernel = Parameter(name + "/kernel", Shape{size, size, x.shape().dim(3), filters}, weights_);
  const Value bias = Parameter(name + "/bias", Shape{filters}, Initializer::Kind::kZeros);
  return BiasAdd(Conv2D(x, kernel, {.strides = {1, 1}, .padding = padding}), bias);
}

Value Layers::Pool(Value x) { return MaxPool(x, {2, 2}, {.strides = {2, 2}, .padding = "VALID"}); }

Value Layers::Flatten(Value x) {
  if (!x.valid()) return x;
  const Shape shape = x.shape();
  int64_t elements = 1;
  for (int i = 1; i < shape.rank(); ++i) elements *= shape.dim(i);
  return Reshape(x, {-1, elements});
}

}  // namespace cohort
