#include "runtime/cluster/host_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace cohort {
namespace {

constexpr size_t kMaxQuoted = 100;  // bytes of a user's text in a message

bool ParseV4(absl::string_view text, in_addr& address) {
  return text.find('\0') == absl::string_view::npos && inet_pton(AF_INET, std::string(text).c_str(), &address) == 1;
}

bool ParseV6(absl::string_view text, in6_addr& address) {
  return text.find('\0') == absl::string_view::npos && inet_pton(AF_INET6, std::string(text).c_str(), &address) == 1;
}

bool AllOf(absl::string_view text, bool (*pred)(unsigned char)) { return std::all_of(text.begin(), text.end(), pred); }

// Letters, digits, '-' and '_' in labels between dots; docker compose and Slurm make names with '_'.
absl::string_view WhyNoName(absl::string_view host) {
  if (host.size() > 253) return "a host name has at most 253 characters";
  if (!AllOf(host, [](unsigned char c) { return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.'; })) {
    return "a host name has only letters, digits, '-', '_' and '.'";
  }
  for (absl::string_view label : absl::StrSplit(absl::StripSuffix(host, "."), '.')) {
    if (label.empty()) return "a part of the host name is empty";
    if (label.size() > 63) return "a part of the host name is longer than 63 characters";
    if (label.front() == '-' || label.back() == '-') return "a part of the host name begins or ends with '-'";
  }
  return "";
}

absl::string_view WhyNoHost(absl::string_view host, bool in_brackets) {
  in_addr v4;
  in6_addr v6;
  if (in_brackets) {
    if (!ParseV6(host, v6)) return "no IPv6 address between the brackets";
  } else if (host.empty()) {
    return "the host is missing";
  } else if (absl::StrContains(host, ':')) {
    return "an IPv6 address needs brackets, as in [::1]:2222";
  } else if (AllOf(host, [](unsigned char c) { return absl::ascii_isdigit(c) || c == '.'; })) {
    if (!ParseV4(host, v4)) return "no IPv4 address";
  } else if (const absl::string_view why = WhyNoName(host); !why.empty()) {
    return why;
  }
  if (IsWildcardIp(host)) {
    return "nobody can dial this address: name the host as other tasks see it (--bind_address chooses where to listen)";
  }
  return "";
}

absl::string_view WhyNoPort(absl::string_view port) {
  int value = 0;
  if (port.empty()) return "the port is missing";
  if (port.size() > 5 || !AllOf(port, [](unsigned char c) { return absl::ascii_isdigit(c); }) ||
      !absl::SimpleAtoi(port, &value) || value < 1 || value > 65535) {
    return "the port must be a number from 1 to 65535";
  }
  if (port.front() == '0') return "the port begins with 0";
  return "";
}

}  // namespace

std::string HostPort::ToString() const {
  return absl::StrContains(host, ':') ? absl::StrCat("[", host, "]:", port) : absl::StrCat(host, ":", port);
}

std::string HostPort::Key() const {
  std::string key = absl::AsciiStrToLower(absl::StripSuffix(host, "."));
  if (key == "localhost") key = "127.0.0.1";
  in6_addr v6;
  if (ParseV6(key, v6)) {  // ::1 and 0:0:0:0:0:0:0:1 are one address
    char text[INET6_ADDRSTRLEN];
    key = inet_ntop(AF_INET6, &v6, text, sizeof(text));
  }
  return HostPort{key, port}.ToString();
}

absl::StatusOr<HostPort> ParseHostPort(absl::string_view text) {
  const auto bad = [text](absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat("address ", Quoted(text), ": ", why, "; expected host:port"));
  };
  if (text.empty()) return bad("it is empty");
  if (absl::StrContains(text, "://")) return bad("a scheme does not belong here");
  if (absl::StrContains(text, '@')) return bad("a user name does not belong here");
  if (absl::StrContains(text, '/')) return bad("a path does not belong here");
  const bool in_brackets = text.front() == '[';
  const size_t colon = text.rfind(':');
  const size_t bracket = in_brackets ? text.find(']') : absl::string_view::npos;
  if (in_brackets && bracket == absl::string_view::npos) return bad("']' is missing");
  if (colon == absl::string_view::npos || (in_brackets && colon < bracket)) return bad("the port is missing");
  if (in_brackets && colon != bracket + 1) return bad("text between ']' and ':'");
  HostPort result{std::string(in_brackets ? text.substr(1, bracket - 1) : text.substr(0, colon)), 0};
  if (const absl::string_view why = WhyNoHost(result.host, in_brackets); !why.empty()) return bad(why);
  if (const absl::string_view why = WhyNoPort(text.substr(colon + 1)); !why.empty()) return bad(why);
  (void)absl::SimpleAtoi(text.substr(colon + 1), &result.port);
  return result;
}

bool IsWildcardIp(absl::string_view ip) {
  in_addr v4;
  in6_addr v6;
  if (ParseV4(ip, v4)) return v4.s_addr == INADDR_ANY;
  return ParseV6(ip, v6) && IN6_IS_ADDR_UNSPECIFIED(&v6);
}

bool IsLoopbackIp(absl::string_view ip) {
  in_addr v4;
  in6_addr v6;
  if (ParseV4(ip, v4)) return (ntohl(v4.s_addr) >> 24) == 127;
  return ParseV6(ip, v6) && IN6_IS_ADDR_LOOPBACK(&v6);
}

bool IsIpLiteral(absl::string_view text) {
  in_addr v4;
  in6_addr v6;
  return ParseV4(text, v4) || ParseV6(text, v6);
}

std::string Quoted(absl::string_view text) {
  if (text.size() <= kMaxQuoted) return absl::StrCat("'", absl::CHexEscape(text), "'");
  return absl::StrCat("'", absl::CHexEscape(text.substr(0, kMaxQuoted)), "...' (", text.size(), " bytes)");
}

}  // namespace cohort
