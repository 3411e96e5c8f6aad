#ifndef COHORT_RUNTIME_COORDINATION_MEMBER_H_
#define COHORT_RUNTIME_COORDINATION_MEMBER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/base/task_id.h"
#include "runtime/coordination/job_record.h"

namespace cohort {

// What a process says about itself when it joins the cluster.
struct MemberInfo {
  TaskId task;
  std::string address;       // host:port of `task` in TF_CONFIG
  uint64_t incarnation = 0;  // random, never 0
  uint64_t cluster_fingerprint = 0;
  std::string cluster;  // the cluster list behind the fingerprint, for messages; may be empty
  int protocol_version = 0;
  std::vector<std::string> devices;  // local devices, names ending in TYPE:ORDINAL ("CPU:0")
  std::string cpu_isa;               // CPU features that change bits ("avx2 fma")
  std::string library_versions;      // "oneDNN 2.6.0, OpenBLAS 0.3.21"
  int64_t last_epoch = 0;            // the highest epoch this process has seen, 0 if none
  std::vector<JobRecord> known_jobs;
};

enum class MemberState {
  kMissing,       // has not joined yet
  kAlive,         // joined and heard of
  kDisconnected,  // its connection broke a moment ago: either comes back or is lost
  kLost,          // dead, silent for too long, replaced, or left
};

// "missing", "alive", "disconnected", "lost".
absl::string_view MemberStateName(MemberState state);

struct RosterMember {
  TaskId task;
  std::string address;
  uint64_t incarnation = 0;  // 0 while missing; of the last life known otherwise
  MemberState state = MemberState::kMissing;
  std::vector<std::string> devices;
  absl::Time last_heard = absl::InfinitePast();  // the leader's own: always now
};

// Who is in the cluster, as the leader knows it at `epoch`.
struct Roster {
  int64_t epoch = 0;
  TaskId leader;
  std::vector<RosterMember> members;  // every task of the cluster, in its order

  const RosterMember* Find(const TaskId& task) const;  // nullptr if not in the cluster
};

// The end of one life of a task.
struct MemberLoss {
  TaskId task;
  std::string address;
  uint64_t incarnation = 0;
  int64_t epoch = 0;    // the epoch that began with this loss
  absl::Status status;  // Unavailable, with FirstCause
};

// Sixteen hex digits: how messages print an incarnation.
std::string IncarnationText(uint64_t incarnation);

// "/job:worker/task:1 at h1:2222": how messages introduce a task.
std::string TaskText(const TaskId& task, absl::string_view address);

}  // namespace cohort

#endif  // COHORT_RUNTIME_COORDINATION_MEMBER_H_
