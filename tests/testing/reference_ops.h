#ifndef COHORT_TESTS_TESTING_REFERENCE_OPS_H_
#define COHORT_TESTS_TESTING_REFERENCE_OPS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/testing/reference_interpreter.h"

namespace cohort::testing {

// One pure op, evaluated: the node's attributes, its inputs.
using ReferenceOp = absl::StatusOr<std::vector<Array>> (*)(const Node& node, const std::vector<Array>& inputs);

// By name: every op that is a function of its inputs and attributes alone.
const std::map<std::string, ReferenceOp>& ReferenceOps();
// Those over image windows.
void AddReferenceImageOps(std::map<std::string, ReferenceOp>& ops);

}  // namespace cohort::testing

#endif  // COHORT_TESTS_TESTING_REFERENCE_OPS_H_
