#ifndef COHORT_RUNTIME_DRIVER_JOB_RESULT_JSON_H_
#define COHORT_RUNTIME_DRIVER_JOB_RESULT_JSON_H_

#include <string>

#include "runtime/driver/job_control.h"

namespace cohort {

// One line: {"steps":…,"examples":…,"loss":…,"accuracy":…,"examples_per_second":…,"weights_crc32c":"…",
// "state_crc32c":"…","seconds":…,"evaluated":…,"workers":[{"task":…,"weights_crc32c":…,"examples":…,"steps":…,
// "bytes_sent":…},…]}. accuracy is null without an evaluation.
std::string JobResultToJson(const JobResult& result);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DRIVER_JOB_RESULT_JSON_H_
