#ifndef COHORT_RUNTIME_COLLECTIVE_COLLECTIVE_CALL_H_
#define COHORT_RUNTIME_COLLECTIVE_COLLECTIVE_CALL_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/collective/frame.h"
#include "runtime/collective/transport.h"

namespace cohort {

// One collective while this rank is in it, and what its errors say.
struct CollectiveCall {
  int64_t seq = 0;
  CollectiveSignature signature;
  absl::string_view name;
  absl::Time deadline;

  // "operation 7, all-reduce 'grads/0' (sum of float32 [10], step 7)".
  std::string ToString() const;
};

// DeadlineExceeded of a call that waited for `waited_for`: who arrived, who is missing and what those finished last.
absl::Status Late(const CollectiveCall& call, const Transport& transport, int waited_for);

// InvalidArgument: rank `from` opened another collective at this position. The same text on both ranks.
absl::Status Mismatch(const CollectiveCall& call, const GroupSpec& group, int from, const Frame& theirs);

// Completes a cause that the transport found (a peer is gone) with what this rank was doing. Others stay as they are.
absl::Status WithPosition(absl::Status status, const CollectiveCall& call, const Transport& transport);

}  // namespace cohort

#endif  // COHORT_RUNTIME_COLLECTIVE_COLLECTIVE_CALL_H_
