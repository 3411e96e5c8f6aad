#include "tests/testing/golden.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"

namespace cohort::testing {

std::vector<std::string> GoldenNames() {
  return {"linear_sgd_b128",   "linear_adam_b128", "mlp_sgd_b128",  "mlp_sgd_b100", "mlp_sgd_b128_n1000",
          "mlp_momentum_b128", "mlp_adagrad_b128", "mlp_adam_b128", "cnn_sgd_b128", "cnn_adam_b128"};
}

Golden ReadGolden(const std::string& name) {
  std::ifstream in(absl::StrCat("tests/testdata/golden/", name, ".json"));
  const nlohmann::json json = nlohmann::json::parse(in);
  Golden golden;
  json.at("model").get_to(golden.model);
  json.at("optimizer").get_to(golden.optimizer);
  json.at("learning_rate").get_to(golden.learning_rate);
  json.at("global_batch").get_to(golden.global_batch);
  json.at("steps").get_to(golden.steps);
  json.at("examples").get_to(golden.examples);
  json.at("losses").get_to(golden.losses);
  json.at("bound").get_to(golden.bound);
  json.at("correct_of_first_2000_test").get_to(golden.correct_of_first_2000_test);
  for (const auto& [variable, values] : json.at("final").items()) {
    Golden::Variable& final = golden.final[variable];
    values.at("shape").get_to(final.shape);
    values.at("sum").get_to(final.sum);
    values.at("l2").get_to(final.l2);
    values.at("first4").get_to(final.first4);
  }
  return golden;
}

absl::Status CheckLosses(const Golden& golden, const std::vector<double>& losses) {
  if (losses.size() != golden.losses.size()) {
    return absl::InternalError(absl::StrCat(losses.size(), " losses where there should be ", golden.losses.size()));
  }
  double worst = 0;
  size_t worst_step = 0;
  for (size_t i = 0; i < losses.size(); ++i) {
    const double deviation = std::abs(losses[i] - golden.losses[i]) / std::max(std::abs(golden.losses[i]), 1e-3);
    if (deviation <= worst) continue;
    worst = deviation;
    worst_step = i;
  }
  if (worst <= golden.bound) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("step ", worst_step, ": loss ", losses[worst_step], ", reference ",
                                          golden.losses[worst_step], ": deviates by ", worst, ", allowed ",
                                          golden.bound));
}

}  // namespace cohort::testing
