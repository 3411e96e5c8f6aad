#include "runtime/graph/gradient_rule.h"

#include "runtime/graph/ops.h"

namespace cohort {

bool IsOnes(Value value) {
  if (!value.valid()) return false;
  const Graph& graph = value.builder->graph();
  const Node* node = &graph.node(value.output.node);
  while (node->op == "Identity" || node->op == "Reshape" || node->op == "BroadcastTo" || node->op == "BroadcastLike") {
    node = &graph.node(node->inputs[0].node);
  }
  return node->op == "OnesLike";
}

Value Scaled(Value gradient, Value factor) {
  if (IsOnes(gradient) && gradient.spec() == factor.spec()) return factor;
  return gradient * factor;
}

Value SumLike(Value gradient, Value target) {
  const Shape from = gradient.shape(), to = target.shape();
  const int extra = from.rank() - to.rank();
  std::vector<int64_t> leading, ones;
  for (int i = 0; i < extra; ++i) leading.push_back(i);
  for (int i = 0; i < to.rank(); ++i) {
    if (to.dim(i) == 1 && from.dim(extra + i) != 1) ones.push_back(i);
  }
  if (!leading.empty()) gradient = Sum(gradient, leading, /*keep_dims=*/false);
  if (!ones.empty()) gradient = Sum(gradient, ones, /*keep_dims=*/true);
  return gradient;
}

}  // namespace cohort
