#ifndef COHORT_RUNTIME_CLUSTER_HOST_PORT_H_
#define COHORT_RUNTIME_CLUSTER_HOST_PORT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cohort {

// Where a task can be reached: a DNS name, an IPv4 address or an IPv6 address, and a TCP port.
struct HostPort {
  std::string host;  // as written, an IPv6 address without its brackets
  int port = 0;      // 1..65535

  // "h0:2222", "10.0.0.1:2222", "[fe80::1]:2222".
  std::string ToString() const;

  // The same endpoint always gives the same key: lower case, no final dot, localhost as 127.0.0.1.
  std::string Key() const;

  friend bool operator==(const HostPort&, const HostPort&) = default;
};

// InvalidArgument, with the text and what is wrong with it: no port; a port outside 1..65535; a user name, a scheme or
// a path; an IPv6 address without brackets; an address that nobody can dial (0.0.0.0, ::); anything that is no host
// name.
absl::StatusOr<HostPort> ParseHostPort(absl::string_view text);

// True for 0.0.0.0 and ::, which stand for all interfaces of a machine.
bool IsWildcardIp(absl::string_view ip);

// True for 127.0.0.0/8 and ::1, written as addresses: "localhost" is a name.
bool IsLoopbackIp(absl::string_view ip);

// True for an IPv4 or IPv6 address in its numeric form.
bool IsIpLiteral(absl::string_view text);

// `text` in quotes, with what cannot be printed escaped and cut after 100 bytes, for messages.
std::string Quoted(absl::string_view text);

}  // namespace cohort

#endif  // COHORT_RUNTIME_CLUSTER_HOST_PORT_H_
