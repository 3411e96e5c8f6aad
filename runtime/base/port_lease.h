#ifndef COHORT_RUNTIME_BASE_PORT_LEASE_H_
#define COHORT_RUNTIME_BASE_PORT_LEASE_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace cohort {

// A TCP port that no other lease on this machine holds, for a daemon that the holder starts. It lies outside the
// kernel's ephemeral range, so no outgoing connection takes it between the lease and the daemon's bind; an unrelated
// server still can, so the start is to be tried again with new ports on "address in use".
//
// The lease is a lock (flock) on /tmp/cohort-ports-UID/PORT, held by this process only: started daemons do not inherit
// it. Keep the object until the daemon is gone. If this process dies, a daemon that lives on still holds the port
// itself.
class PortLease {
 public:
  PortLease(PortLease&& other) : port_(other.port_), lock_(std::exchange(other.lock_, -1)) {}
  PortLease& operator=(PortLease&& other) {
    std::swap(port_, other.port_);
    std::swap(lock_, other.lock_);
    return *this;
  }
  ~PortLease();

  int port() const { return port_; }

 private:
  friend absl::StatusOr<PortLease> LeasePort(const std::string& folder);
  PortLease(int port, int lock) : port_(port), lock_(lock) {}

  int port_;
  int lock_;  // file descriptor
};

// A port that is free on all local addresses now. Safe from any thread. `folder` holds the locks; "" is the one above.
// ResourceExhausted: none is free. FailedPrecondition: no port lies outside the ephemeral range. PermissionDenied: the
// folder belongs to somebody else.
absl::StatusOr<PortLease> LeasePort(const std::string& folder = "");

// The ports to lease from, as [first, second), given the kernel's ephemeral range (both ends inclusive): the 16384
// below it, or what is above if there are fewer than 256 below. Empty if neither has as many.
std::pair<int, int> LeasablePorts(int ephemeral_first, int ephemeral_last);

}  // namespace cohort

#endif  // COHORT_RUNTIME_BASE_PORT_LEASE_H_
