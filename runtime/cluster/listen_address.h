#ifndef COHORT_RUNTIME_CLUSTER_LISTEN_ADDRESS_H_
#define COHORT_RUNTIME_CLUSTER_LISTEN_ADDRESS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cohort {

// What this host knows about names and itself; tests make their own. Addresses are numeric, IPv4 or IPv6.
struct LocalNetwork {
  std::function<absl::StatusOr<std::vector<std::string>>(const std::string& name)> resolve;
  std::vector<std::string> interface_addresses;
};

// The real one: getaddrinfo, which may block for as long as resolv.conf allows, and getifaddrs.
LocalNetwork SystemNetwork();

struct ListenOptions {
  std::string bind_address;      // --bind_address: an address or name without a port; "" to decide by the own address
  bool insecure = false;         // --insecure: plain text beyond loopback is wanted
  bool has_credentials = false;  // the server has a certificate
};

// Where a daemon listens.
struct ListenAddress {
  std::string host;       // numeric
  int port = 0;           // always that of the own address
  bool loopback = false;  // nobody but this host can connect
  std::string reason;     // why here, in one line for the log

  // "127.0.0.1:2222", "[::1]:2222": what a server binds to.
  std::string ToString() const;
};

// Decides where the daemon at `own_address` ("host:port", from TF_CONFIG) listens: a loopback address or "localhost":
// there; a name or address of one of this host's interfaces outside loopback: there; otherwise on all interfaces (a
// Kubernetes service name resolves elsewhere or later; Debian maps a host's own name to 127.0.1.1). InvalidArgument:
// beyond loopback with neither insecure nor credentials, and the flag that cures it; a `bind_address` that does not
// resolve or has a port; `own_address` does not parse.
absl::StatusOr<ListenAddress> ChooseListenAddress(absl::string_view own_address, const ListenOptions& options,
                                                  const LocalNetwork& network);

}  // namespace cohort

#endif  // COHORT_RUNTIME_CLUSTER_LISTEN_ADDRESS_H_
