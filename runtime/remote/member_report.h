#ifndef COHORT_RUNTIME_REMOTE_MEMBER_REPORT_H_
#define COHORT_RUNTIME_REMOTE_MEMBER_REPORT_H_

#include <cstdint>

namespace cohort {

// What a member tells the leader with each heartbeat, for `status`.
struct MemberReport {
  int64_t last_step = 0;   // of the training it takes part in
  int64_t bytes_sent = 0;  // to other tasks, since it started
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_REMOTE_MEMBER_REPORT_H_
