#include "runtime/cluster/listen_address.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status_macros.h"
#include "runtime/cluster/host_port.h"

namespace cohort {
namespace {

constexpr char kAllInterfaces[] = "0.0.0.0";  // gRPC listens for IPv6 too

bool IsLocalhost(absl::string_view host) { return HostPort{std::string(host), 1}.Key() == "127.0.0.1:1"; }

ListenAddress At(std::string host, int port, std::string reason) {
  const bool loopback = IsLoopbackIp(host);
  return {std::move(host), port, loopback, std::move(reason)};
}

absl::StatusOr<std::vector<std::string>> AddressesOf(const std::string& host, const LocalNetwork& network) {
  if (IsIpLiteral(host)) return std::vector<std::string>{host};
  COHORT_ASSIGN_OR_RETURN(std::vector<std::string> addresses, network.resolve(host));
  if (addresses.empty()) return absl::UnavailableError("name not resolved");
  return addresses;
}

// The first of `addresses` that an interface of this host has, outside loopback; "" if none.
std::string OnAnInterface(const std::vector<std::string>& addresses, const LocalNetwork& network) {
  for (const std::string& address : addresses) {
    if (IsLoopbackIp(address) || IsWildcardIp(address)) continue;
    const std::string key = HostPort{address, 1}.Key();
    if (std::any_of(network.interface_addresses.begin(), network.interface_addresses.end(),
                    [&key](const std::string& own) {
                      return HostPort{own, 1}.Key() == key;
                    })) {
      return address;
    }
  }
  return "";
}

absl::StatusOr<ListenAddress> ByBindAddress(const std::string& bind_address, int port, const LocalNetwork& network) {
  std::string host = bind_address;
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  const bool has_port = !IsIpLiteral(host) && absl::StrContains(host, ':');
  if (has_port) {
    return absl::InvalidArgumentError(absl::StrCat("--bind_address=", bind_address,
                                                   ": give an address without a port; the port comes from TF_CONFIG"));
  }
  const std::string reason = absl::StrCat("--bind_address=", bind_address);
  if (IsLocalhost(host)) return At("127.0.0.1", port, reason);
  const auto addresses = AddressesOf(host, network);
  if (!addresses.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--bind_address=", bind_address, ": ", addresses.status().message(),
                                                   "; give an address of this host"));
  }
  return At(addresses->front(), port, reason);
}

ListenAddress ByOwnAddress(const HostPort& own, const LocalNetwork& network) {
  if (IsLocalhost(own.host)) return At("127.0.0.1", own.port, absl::StrCat("own address ", own.host, " is loopback"));
  if (IsLoopbackIp(own.host)) return At(own.host, own.port, absl::StrCat("own address ", own.host, " is loopback"));
  const auto addresses = AddressesOf(own.host, network);
  if (!addresses.ok()) {
    return At(kAllInterfaces, own.port,
              absl::StrCat("all interfaces, since own name '", own.host,
                           "' does not resolve yet: ", addresses.status().message()));
  }
  const std::string here = OnAnInterface(*addresses, network);
  if (!here.empty()) {
    return At(here, own.port,
              IsIpLiteral(own.host)
                  ? absl::StrCat("own address ", own.host, " is an interface of this host")
                  : absl::StrCat("own name '", own.host, "' is ", here, ", an interface of this host"));
  }
  return At(kAllInterfaces, own.port,
            IsIpLiteral(own.host)
                ? absl::StrCat("all interfaces, since own address ", own.host, " is on no interface of this host")
                : absl::StrCat("all interfaces, since own name '", own.host, "' resolves to ",
                               absl::StrJoin(*addresses, ", "), ", on no interface of this host outside loopback"));
}

}  // namespace

std::string ListenAddress::ToString() const { return HostPort{host, port}.ToString(); }

absl::StatusOr<ListenAddress> ChooseListenAddress(absl::string_view own_address, const ListenOptions& options,
                                                  const LocalNetwork& network) {
  COHORT_ASSIGN_OR_RETURN(const HostPort own, ParseHostPort(own_address));
  ListenAddress listen;
  if (options.bind_address.empty()) {
    listen = ByOwnAddress(own, network);
  } else {
    COHORT_ASSIGN_OR_RETURN(listen, ByBindAddress(options.bind_address, own.port, network));
  }
  if (listen.loopback || options.insecure || options.has_credentials) return listen;
  return absl::InvalidArgumentError(absl::StrCat(
      "would listen on ", listen.ToString(), " (", listen.reason,
      "), beyond loopback and in plain text: add --insecure if this network is trusted, or --bind_address=127.0.0.1"));
}

}  // namespace cohort
