#ifndef COHORT_CLIENT_MODELS_TRAIN_OPTIONS_H_
#define COHORT_CLIENT_MODELS_TRAIN_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/graph/program.h"

namespace cohort {

// A built-in training: what `cohort train`'s flags of the same names say.
struct TrainOptions {
  std::string model = "mlp";              // linear, mlp, cnn, mlp512, cnn32
  std::string dataset = "fashion_mnist";  // fashion_mnist, synthetic
  StrategyKind strategy = StrategyKind::kDefault;
  int64_t batch_size = 128;  // G, of all workers together; with a parameter server: of one worker step
  int64_t epochs = 0;        // at most one of epochs and steps is positive; neither: one epoch
  int64_t steps = 0;
  std::string optimizer = "adam";       // sgd, momentum, adagrad, adam
  double learning_rate = 0;             // 0: the optimizer's own, see DefaultLearningRate
  double final_learning_rate = -1;      // the rate falls to it, step by step; negative: it stays
  std::vector<int64_t> hidden = {128};  // sizes of mlp's hidden layers
  uint64_t seed = 0;                    // of initial values and shuffling
  std::string initializer = "default";  // default: Glorot; golden: the values of tests/testdata/golden
  std::string shuffle = "default";      // default: another order in every epoch; none: file order
  int64_t examples = 0;                 // train on the first N; 0: all
  bool evaluate = true;                 // on the whole test set, after the last step
  int64_t report_every = 0;             // steps; 0: by time
};

}  // namespace cohort

#endif  // COHORT_CLIENT_MODELS_TRAIN_OPTIONS_H_
