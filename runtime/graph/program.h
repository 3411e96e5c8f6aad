#ifndef COHORT_RUNTIME_GRAPH_PROGRAM_H_
#define COHORT_RUNTIME_GRAPH_PROGRAM_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/cluster/strategy_kind.h"
#include "runtime/graph/dataset_def.h"
#include "runtime/graph/function.h"

namespace cohort {

// How a variable gets its first value. Random ones are keyed by the program's seed and the variable's name alone, so
// every task makes the same bits.
struct Initializer {
  enum class Kind {
    kZeros,
    kConstant,       // every element is `value`
    kTensor,         // `tensor`
    kGlorotUniform,  // U(-s, s), s = sqrt(6 / (fan_in + fan_out)), fans times the receptive field
    kGolden,         // tests/testdata/golden: splitmix64 keyed by FNV-1a of the name; rank 1 gives zeros
  };
  Kind kind = Kind::kZeros;
  double value = 0;
  Tensor tensor;
};

struct VariableDef {
  std::string name;
  TensorSpec spec;
  Initializer initializer;
  bool trainable = true;
};

// What the driver does: train for a number of steps or epochs, evaluate at the end of each epoch or of the run.
struct Loop {
  std::string train_function;
  DatasetDef train_dataset;  // before sharding; its elements are single examples
  int64_t global_batch = 0;  // G; with a parameter server: the batch of one worker step
  int64_t epochs = 0;        // exactly one of epochs and steps is positive
  int64_t steps = 0;
  int64_t report_every = 0;  // steps between two reports; 0: every half second
  double learning_rate = 0;
  // Falls by the same amount in every step, and the last one is taken with less than one such amount above this
  // (TensorFlow's PolynomialDecay, power 1); negative: the learning rate stays. With parameter servers each worker's
  // falls over its own steps.
  double final_learning_rate = -1;
  std::string evaluate_function;  // empty: none
  DatasetDef evaluate_dataset;
  int64_t evaluate_batch = 0;
  bool evaluate_each_epoch = false;

  // Nothing to do: a program for a client that runs its functions itself. A learning rate may be given.
  bool empty() const;
};

// A training as data: what a job runs. Immutable once submitted.
struct Program {
  std::string name;
  StrategyKind strategy = StrategyKind::kDefault;
  std::map<std::string, Function> functions;
  std::vector<VariableDef> variables;
  Loop loop;
  uint64_t seed = 0;

  // Functions exist, handles name declared variables of the same spec, the loop is complete or empty. InvalidArgument
  // names what is wrong.
  absl::Status Validate() const;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_GRAPH_PROGRAM_H_
