#ifndef COHORT_TESTS_TESTING_GOLDEN_H_
#define COHORT_TESTS_TESTING_GOLDEN_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace cohort::testing {

// One file of tests/testdata/golden: a training in float64, step by step (its README.md says how).
struct Golden {
  struct Variable {
    std::vector<int64_t> shape;
    double sum = 0;
    double l2 = 0;
    std::vector<double> first4;
  };

  std::string model;
  std::string optimizer;
  double learning_rate = 0;
  int64_t global_batch = 0;
  int64_t steps = 0;
  int64_t examples = 0;
  std::vector<double> losses;  // of each step, before its update
  double bound = 0;            // |loss - reference| / max(|reference|, 1e-3) of every step
  std::map<std::string, Variable> final;
  int64_t correct_of_first_2000_test = 0;
};

// All files there are, without ".json".
std::vector<std::string> GoldenNames();

// Aborts the test binary if there is no such file: needs "//tests/testdata:golden" as data.
Golden ReadGolden(const std::string& name);

// OK if there are as many losses as the reference has and each is within its bound; else names the worst step.
absl::Status CheckLosses(const Golden& golden, const std::vector<double>& losses);

}  // namespace cohort::testing

#endif  // COHORT_TESTS_TESTING_GOLDEN_H_
