#ifndef COHORT_TESTS_TESTING_WIRE_PROXY_H_
#define COHORT_TESTS_TESTING_WIRE_PROXY_H_

#include <poll.h>

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/base/mutex.h"
#include "runtime/base/thread.h"

namespace cohort::testing {

// A bad network: forwards TCP connections on loopback to a server on loopback, and delays, holds, cuts or damages them
// when told. Settings apply to all connections, present and to come, in both directions. Safe from any thread.
class WireProxy {
 public:
  // Listens on 127.0.0.1:`port` (0: any) for `target_port`. AlreadyExists: the port is taken.
  static absl::StatusOr<std::unique_ptr<WireProxy>> Start(int target_port, int port = 0);
  ~WireProxy();

  int port() const { return port_; }
  std::string address() const;

  // Bytes that arrive from now on are passed on so much later, in order.
  void SetDelay(absl::Duration delay);

  // A network that is silent: connections stay open, new ones are accepted, no byte passes. False: what was held
  // passes.
  void SetSilent(bool silent);

  // A network that is down: resets all connections, and new ones until it is up again.
  void SetDown(bool down);

  // Resets all connections of now.
  void Cut();

  // Inverts the lowest bit of the byte that comes `after` bytes from now, over all connections, in one direction.
  void FlipToTarget(int64_t after);
  void FlipToClient(int64_t after);

  int connections() const;          // accepted so far
  int64_t bytes_to_target() const;  // passed on so far
  int64_t bytes_to_client() const;

 private:
  struct Flow;
  struct Connection;
  struct Settings {
    absl::Duration delay;
    bool silent = false;
    bool down = false;
    int cuts = 0;  // asked for so far
  };
  struct Count {
    int64_t passed = 0;
    int64_t flip_at = -1;  // the number of the byte to damage; -1: none
  };

  WireProxy(int target_port, int port, int listener);
  void Loop();
  void Accept(const Settings& settings);
  Settings settings() const;
  // Moves what it can; false once the flow has failed.
  bool Read(Flow& flow, const Settings& settings);
  bool Write(Flow& flow, absl::Time now);
  // Fills in what to poll (wake, listener, both ends of each connection) and gives the time of the next delayed piece.
  absl::Time WaitFor(const Settings& settings, std::vector<pollfd>* fds);
  void Serve(const Settings& settings, const std::vector<pollfd>& fds);
  void Wake();

  const int target_port_;
  const int port_;
  const int listener_;
  const int wake_;  // eventfd

  mutable Mutex mu_;
  Settings settings_ ABSL_GUARDED_BY(mu_);
  Count to_target_ ABSL_GUARDED_BY(mu_);
  Count to_client_ ABSL_GUARDED_BY(mu_);
  int accepted_ ABSL_GUARDED_BY(mu_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;

  std::list<Connection> open_;  // of thread_ only
  Thread thread_;
};

}  // namespace cohort::testing

#endif  // COHORT_TESTS_TESTING_WIRE_PROXY_H_
