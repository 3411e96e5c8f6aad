#include "runtime/optimizer/optimizer.h"

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/base/vectorized.h"

namespace cohort {
namespace {

constexpr SlotDef kMomentumSlots[] = {{"momentum", 0}};
constexpr SlotDef kAdagradSlots[] = {{"accumulator", 0.1}};
constexpr SlotDef kAdamSlots[] = {{"m", 0}, {"v", 0}, {"t", 0, /*is_counter=*/true}};

COHORT_VECTORIZED void Sgd(float* __restrict w, const float* __restrict sum, int64_t n, float scale, float lr) {
  for (int64_t i = 0; i < n; ++i) w[i] -= lr * (sum[i] * scale);
}

COHORT_VECTORIZED void Momentum(float* __restrict w, float* __restrict a, const float* __restrict sum, int64_t n,
                                float scale, float lr, float momentum) {
  for (int64_t i = 0; i < n; ++i) {
    const float v = momentum * a[i] + sum[i] * scale;
    a[i] = v;
    w[i] -= lr * v;
  }
}

COHORT_VECTORIZED void Adagrad(float* __restrict w, float* __restrict a, const float* __restrict sum, int64_t n,
                               float scale, float lr, float epsilon) {
  for (int64_t i = 0; i < n; ++i) {
    const float g = sum[i] * scale;
    const float v = a[i] + g * g;
    a[i] = v;
    w[i] -= lr * g / (__builtin_sqrtf(v) + epsilon);
  }
}

COHORT_VECTORIZED void Adam(float* __restrict w, float* __restrict m, float* __restrict v, const float* __restrict sum,
                            int64_t n, float scale, float rate, float beta_1, float beta_2, float rest_1, float rest_2,
                            float epsilon) {
  for (int64_t i = 0; i < n; ++i) {
    const float g = sum[i] * scale;
    const float m1 = beta_1 * m[i] + rest_1 * g;
    const float v1 = beta_2 * v[i] + rest_2 * (g * g);
    m[i] = m1;
    v[i] = v1;
    w[i] -= rate * m1 / (__builtin_sqrtf(v1) + epsilon);
  }
}

absl::Status CheckRange(absl::string_view name, double value, double low, double high) {
  if (value >= low && value < high) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("optimizer: ", name, " = ", value, " is not in [", low, ", ", high, ")"));
}

absl::StatusOr<OptimizerDef::Kind> ParseKind(const std::string& name) {
  if (name == "sgd") return OptimizerDef::Kind::kSgd;
  if (name == "momentum") return OptimizerDef::Kind::kMomentum;
  if (name == "adagrad") return OptimizerDef::Kind::kAdagrad;
  if (name == "adam") return OptimizerDef::Kind::kAdam;
  return absl::InvalidArgumentError(absl::StrCat("unknown optimizer '", name, "': use sgd, momentum, adagrad or adam"));
}

}  // namespace

absl::StatusOr<OptimizerDef> ParseOptimizer(const Attributes& attributes) {
  OptimizerDef def;
  COHORT_ASSIGN_OR_RETURN(const std::string kind, GetAttribute<std::string>(attributes, "optimizer"));
  COHORT_ASSIGN_OR_RETURN(def.kind, ParseKind(kind));
  def.momentum = GetAttributeOr(attributes, "momentum", def.momentum);
  def.initial_accumulator = GetAttributeOr(attributes, "initial_accumulator", def.initial_accumulator);
  def.beta1 = GetAttributeOr(attributes, "beta1", def.beta1);
  def.beta2 = GetAttributeOr(attributes, "beta2", def.beta2);
  def.epsilon = GetAttributeOr(attributes, "epsilon", def.epsilon);
  COHORT_RETURN_IF_ERROR(CheckRange("momentum", def.momentum, 0, HUGE_VAL));
  COHORT_RETURN_IF_ERROR(CheckRange("initial_accumulator", def.initial_accumulator, 0, HUGE_VAL));
  COHORT_RETURN_IF_ERROR(CheckRange("beta1", def.beta1, 0, 1));
  COHORT_RETURN_IF_ERROR(CheckRange("beta2", def.beta2, 0, 1));
  COHORT_RETURN_IF_ERROR(CheckRange("epsilon", def.epsilon, 0, HUGE_VAL));
  return def;
}

Attributes OptimizerAttributes(const OptimizerDef& def) {
  switch (def.kind) {
    case OptimizerDef::Kind::kSgd:
      return {{"optimizer", std::string("sgd")}};
    case OptimizerDef::Kind::kMomentum:
      return {{"optimizer", std::string("momentum")}, {"momentum", def.momentum}};
    case OptimizerDef::Kind::kAdagrad:
      return {{"optimizer", std::string("adagrad")},
              {"initial_accumulator", def.initial_accumulator},
              {"epsilon", def.epsilon}};
    case OptimizerDef::Kind::kAdam:
      return {{"optimizer", std::string("adam")}, {"beta1", def.beta1}, {"beta2", def.beta2}, {"epsilon", def.epsilon}};
  }
  return {};
}

absl::Span<const SlotDef> OptimizerSlots(OptimizerDef::Kind kind) {
  switch (kind) {
    case OptimizerDef::Kind::kSgd:
      return {};
    case OptimizerDef::Kind::kMomentum:
      return kMomentumSlots;
    case OptimizerDef::Kind::kAdagrad:
      return kAdagradSlots;
    case OptimizerDef::Kind::kAdam:
      return kAdamSlots;
  }
  return {};
}

double InitialSlotValue(const OptimizerDef& def, const SlotDef& slot) {
  return def.kind == OptimizerDef::Kind::kAdagrad ? def.initial_accumulator : slot.initial_value;
}

void ApplyOptimizer(const OptimizerDef& def, const OptimizerUpdate& update, float* variable,
                    absl::Span<float* const> slots, const float* gradient_sum, int64_t begin, int64_t end) {
  const int64_t n = end - begin;
  const float scale = static_cast<float>(1.0 / static_cast<double>(update.examples));
  const float lr = static_cast<float>(update.learning_rate);
  float* w = variable + begin;
  const float* sum = gradient_sum + begin;
  switch (def.kind) {
    case OptimizerDef::Kind::kSgd:
      return Sgd(w, sum, n, scale, lr);
    case OptimizerDef::Kind::kMomentum:
      return Momentum(w, slots[0] + begin, sum, n, scale, lr, static_cast<float>(def.momentum));
    case OptimizerDef::Kind::kAdagrad:
      return Adagrad(w, slots[0] + begin, sum, n, scale, lr, static_cast<float>(def.epsilon));
    case OptimizerDef::Kind::kAdam: {
      const double t = static_cast<double>(update.t);
      const double rate = update.learning_rate * std::sqrt(1 - std::pow(def.beta2, t)) / (1 - std::pow(def.beta1, t));
      return Adam(w, slots[0] + begin, slots[1] + begin, sum, n, scale, static_cast<float>(rate),
                  static_cast<float>(def.beta1), static_cast<float>(def.beta2), static_cast<float>(1 - def.beta1),
                  static_cast<float>(1 - def.beta2), static_cast<float>(def.epsilon));
    }
  }
}

}  // namespace cohort
