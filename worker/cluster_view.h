#ifndef COHORT_WORKER_CLUSTER_VIEW_H_
#define COHORT_WORKER_CLUSTER_VIEW_H_

#include <vector>

#include "absl/time/time.h"
#include "runtime/coordination/job_record.h"
#include "runtime/coordination/member.h"
#include "runtime/driver/job_control.h"

namespace cohort {

// What clients are shown of the leader's state: no programs, no incarnations of the past.
JobInfo ToJobInfo(const JobRecord& record);

// Members in the cluster's order; unfinished jobs first, then the newest.
ClusterStatus DescribeCluster(const Roster& roster, const std::vector<JobRecord>& jobs, absl::Time now);

}  // namespace cohort

#endif  // COHORT_WORKER_CLUSTER_VIEW_H_
