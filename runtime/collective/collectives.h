#ifndef COHORT_RUNTIME_COLLECTIVE_COLLECTIVES_H_
#define COHORT_RUNTIME_COLLECTIVE_COLLECTIVES_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/collective/communicator.h"
#include "runtime/collective/group.h"

namespace cohort {

// Makes groups; a Communicator uses one. One per process (grpc/) or one for all ranks of a process (in_process/).
// Safe from any thread; outlives the communicators it makes.
class Collectives {
 public:
  virtual ~Collectives() = default;

  // Waits until all ranks of the group have joined. Ends the older epochs of the same session and group (Aborted).
  // After a failure, or while a rank is still in it, the next attempt needs another id.
  //   DeadlineExceeded: names the ranks that did not join; FirstCause blames the first.
  //   Unavailable: a member went away.  Aborted: a member lives another life than the spec says, or has joined a newer
  //   epoch, or AbortGroup.  AlreadyExists: this rank is there already.
  //   FailedPrecondition: ranks disagree about members or options; names both values.
  virtual absl::StatusOr<std::unique_ptr<Communicator>> Join(const GroupSpec& spec, absl::Time deadline) = 0;

  // Makes pending Joins and calls of all ranks of that group return `reason`. Does not block. Nothing if there is none.
  virtual void AbortGroup(const GroupId& id, absl::Status reason) = 0;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_COLLECTIVE_COLLECTIVES_H_
