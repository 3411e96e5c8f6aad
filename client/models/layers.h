#ifndef COHORT_CLIENT_MODELS_LAYERS_H_
#define COHORT_CLIENT_MODELS_LAYERS_H_

#include <string>
#include <vector>

#include "runtime/graph/builder.h"
#include "runtime/graph/ops.h"
#include "runtime/graph/program.h"

namespace cohort {

// Layers with variables, traced into a function. Remembers the variables it used, in the order of their first use:
// that of their creation and placement.
class Layers {
 public:
  // weights: the initializer of kernels. Biases start at zero.
  Layers(FunctionBuilder& builder, Initializer::Kind weights) : builder_(builder), weights_(weights) {}

  // x: float32 [batch, n]; variables name/kernel [n, units] and name/bias [units]; result [batch, units].
  Value Dense(const std::string& name, Value x, int64_t units);
  // x: float32 [batch, height, width, n]; variables name/kernel [size, size, n, filters] and name/bias [filters].
  Value Convolution(const std::string& name, Value x, int64_t size, int64_t filters, const std::string& padding);
  // Halves height and width, rounding down: the largest of each 2x2.
  Value Pool(Value x);
  // [batch, ...] -> [batch, product of the other dimensions].
  Value Flatten(Value x);

  const std::vector<VariableDef>& variables() const { return variables_; }
  // Their handles, in the same order.
  const std::vector<Value>& handles() const { return handles_; }

 private:
  Value Parameter(const std::string& name, Shape shape, Initializer::Kind initializer);

  FunctionBuilder& builder_;
  const Initializer::Kind weights_;
  std::vector<VariableDef> variables_;
  std::vector<Value> handles_;
};

}  // namespace cohort

#endif  // COHORT_CLIENT_MODELS_LAYERS_H_
