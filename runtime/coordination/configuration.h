#ifndef COHORT_RUNTIME_COORDINATION_CONFIGURATION_H_
#define COHORT_RUNTIME_COORDINATION_CONFIGURATION_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/coordination/member.h"

namespace cohort {

// What must be equal on all tasks: protocol version, cluster, and for chief and workers, which form groups, the number
// of devices of each type. FailedPrecondition: names the first field that differs, both values and both tasks.
absl::Status CheckSameConfiguration(const MemberInfo& member, const MemberInfo& leader);

// What should be equal, since bits depend on it: CPU features and library versions. One sentence for each that differs.
std::vector<std::string> ConfigurationWarnings(const MemberInfo& member, const MemberInfo& leader);

}  // namespace cohort

#endif  // COHORT_RUNTIME_COORDINATION_CONFIGURATION_H_
