#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/cluster/host_port.h"
#include "runtime/cluster/listen_address.h"

namespace cohort {
namespace {

// "" for another family.
std::string Numeric(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address != nullptr && address->sa_family == AF_INET) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, text, sizeof(text));
  } else if (address != nullptr && address->sa_family == AF_INET6) {
    inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, text, sizeof(text));
  }
  return text;
}

void AddOnce(std::string address, std::vector<std::string>& addresses) {
  if (address.empty() || std::find(addresses.begin(), addresses.end(), address) != addresses.end()) return;
  addresses.push_back(std::move(address));
}

absl::StatusOr<std::vector<std::string>> Resolve(const std::string& name) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (const int error = getaddrinfo(name.c_str(), nullptr, &hints, &list); error != 0) {
    const char* why = error == EAI_SYSTEM ? std::strerror(errno) : gai_strerror(error);
    return absl::UnavailableError(absl::StrCat("name not resolved: ", Quoted(name), ": ", why));
  }
  std::vector<std::string> addresses;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    AddOnce(Numeric(entry->ai_addr), addresses);
  }
  freeaddrinfo(list);
  return addresses;
}

}  // namespace

LocalNetwork SystemNetwork() {
  LocalNetwork network{.resolve = Resolve, .interface_addresses = {}};
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return network;  // then names bind to all interfaces, which works too
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    AddOnce(Numeric(entry->ifa_addr), network.interface_addresses);
  }
  freeifaddrs(list);
  return network;
}

}  // namespace cohort
