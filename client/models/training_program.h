#ifndef COHORT_CLIENT_MODELS_TRAINING_PROGRAM_H_
#define COHORT_CLIENT_MODELS_TRAINING_PROGRAM_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/models/train_options.h"
#include "runtime/graph/program.h"

namespace cohort {

// The Program of a built-in training: functions "train" and "evaluate" with parameters images and labels and the
// results loss_sum, examples and correct; the variables of the model; the loop over train and test set.
// InvalidArgument: an option that is unknown, naming the known ones, or out of range.
absl::StatusOr<Program> MakeTrainingProgram(const TrainOptions& options);

// What the options may say, in the order to show.
std::vector<std::string> KnownModels();
std::vector<std::string> KnownDatasets();
std::vector<std::string> KnownOptimizers();

// The learning rate that `learning_rate = 0` means. InvalidArgument: no such optimizer.
absl::StatusOr<double> DefaultLearningRate(absl::string_view optimizer);

}  // namespace cohort

#endif  // COHORT_CLIENT_MODELS_TRAINING_PROGRAM_H_
