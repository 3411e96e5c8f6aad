#include "runtime/variable/initializer.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "runtime/base/hash.h"
#include "runtime/base/philox.h"
#include "runtime/base/status_macros.h"
#include "runtime/tensor/element_type.h"

namespace cohort {
namespace {

// Every element k of a number tensor becomes value(k).
template <typename F>
Tensor Filled(const TensorSpec& spec, F value) {
  Tensor tensor(spec.dtype, spec.shape);
  DispatchElementType(spec.dtype, [&](auto zero) {
    using T = decltype(zero);
    int64_t k = 0;
    for (T& element : tensor.mutable_values<T>()) {
      const double v = value(k++);
      if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
        element = T(static_cast<float>(v));
      } else {
        element = static_cast<T>(v);
      }
    }
  });
  return tensor;
}

// sqrt(6 / (fan_in + fan_out)): the last two dimensions count inputs and outputs, those before are the receptive field.
double GlorotLimit(const Shape& shape) {
  const int rank = shape.rank();
  if (rank == 0) return std::sqrt(6.0 / 2.0);
  if (rank == 1) return std::sqrt(6.0 / (2.0 * static_cast<double>(shape.dim(0))));
  double field = 1;
  for (int i = 0; i < rank - 2; ++i) field *= static_cast<double>(shape.dim(i));
  return std::sqrt(6.0 / (field * static_cast<double>(shape.dim(rank - 2) + shape.dim(rank - 1))));
}

double RoundedToFloat(double value) { return static_cast<double>(static_cast<float>(value)); }

// key: the seed; counter: element, and the hash of the name above it.
Tensor GlorotUniform(const VariableDef& variable, uint64_t seed) {
  const double limit = GlorotLimit(variable.spec.shape);
  const uint64_t name = Fnv1a64(variable.name);
  return Filled(variable.spec, [&](int64_t k) {
    const PhiloxBlock block = Philox4x32(seed, static_cast<uint64_t>(k), name);
    return RoundedToFloat(limit * (2 * UnitDouble(block[0], block[1]) - 1));
  });
}

// The reference trajectories' recipe: splitmix64 from the hash of the name; biases are zero.
Tensor Golden(const VariableDef& variable) {
  if (variable.spec.shape.rank() == 1) return Tensor::Zeros(variable.spec.dtype, variable.spec.shape);
  const double scale = GlorotLimit(variable.spec.shape);
  const uint64_t name = Fnv1a64(variable.name);
  return Filled(variable.spec, [&](int64_t k) {
    const uint64_t z = SplitMix64(name + static_cast<uint64_t>(k) * 0x9e3779b97f4a7c15);
    return RoundedToFloat(scale * (2 * (static_cast<double>(z >> 11) * 0x1p-53) - 1));
  });
}

absl::Status Check(const VariableDef& variable) {
  const TensorSpec& spec = variable.spec;
  const auto wrong = [&](absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat("variable '", variable.name, "' is ", spec.ToString(), "; ", why));
  };
  if (DTypeSize(spec.dtype) == 0) return wrong("it must be of numbers or bool");
  if (!spec.shape.IsFullyDefined()) return wrong("its shape must be known");
  switch (variable.initializer.kind) {
    case Initializer::Kind::kTensor:
      if (variable.initializer.tensor.spec() == spec) break;
      return wrong(absl::StrCat("its initial value is ", variable.initializer.tensor.spec().ToString()));
    case Initializer::Kind::kGlorotUniform:
    case Initializer::Kind::kGolden:
      if (IsFloating(spec.dtype)) break;
      return wrong("only floating variables can start with random values");
    default:
      break;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Tensor> InitialValue(const VariableDef& variable, uint64_t seed) {
  COHORT_RETURN_IF_ERROR(Check(variable));
  const Initializer& initializer = variable.initializer;
  switch (initializer.kind) {
    case Initializer::Kind::kZeros:
      return Tensor::Zeros(variable.spec.dtype, variable.spec.shape);
    case Initializer::Kind::kConstant:
      return Filled(variable.spec, [&](int64_t) { return initializer.value; });
    case Initializer::Kind::kTensor:
      return initializer.tensor.Clone();
    case Initializer::Kind::kGlorotUniform:
      return GlorotUniform(variable, seed);
    case Initializer::Kind::kGolden:
      return Golden(variable);
  }
  return absl::InternalError(absl::StrCat("variable '", variable.name, "' has an unknown initializer"));
}

}  // namespace cohort
