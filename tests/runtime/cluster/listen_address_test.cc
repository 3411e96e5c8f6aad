#include "runtime/cluster/listen_address.h"

#include <map>

#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::HasCode;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

// A host with 10.0.0.5 and fd00::5 that knows some names.
LocalNetwork Network() {
  const std::map<std::string, std::vector<std::string>> names = {
      {"me", {"10.0.0.5"}},
      {"debian", {"127.0.1.1"}},
      {"both", {"127.0.1.1", "10.0.0.5"}},
      {"service", {"10.96.0.1"}},
      {"w1.test", {"127.0.0.1"}},
      {"six", {"fd00:0::5"}},
      {"nothing", {}},
      {"public", {"203.0.113.7"}},
  };
  return {.resolve = [names](const std::string& name) -> absl::StatusOr<std::vector<std::string>> {
            const auto it = names.find(name);
            if (it == names.end()) return absl::UnavailableError("name not resolved: '" + name + "'");
            return it->second;
          },
          .interface_addresses = {"127.0.0.1", "::1", "10.0.0.5", "fd00::5"}};
}

ListenAddress Choose(const char* own, const char* bind_address = "") {
  const auto listen = ChooseListenAddress(own, {.bind_address = bind_address, .insecure = true}, Network());
  EXPECT_THAT(listen, IsOk()) << own;
  return listen.value_or(ListenAddress{});
}

TEST(ListenAddressTest, OwnAddressDecides) {
  const struct {
    const char *own, *want;
    bool loopback;
    const char* reason;
  } rows[] = {
      {"127.0.0.1:7100", "127.0.0.1:7100", true, "loopback"},
      {"127.0.0.3:7100", "127.0.0.3:7100", true, "loopback"},
      {"localhost:7100", "127.0.0.1:7100", true, "loopback"},
      {"LocalHost.:7100", "127.0.0.1:7100", true, "loopback"},
      {"[::1]:7100", "[::1]:7100", true, "loopback"},
      {"me:7100", "10.0.0.5:7100", false, "'me' is 10.0.0.5"},
      {"both:7100", "10.0.0.5:7100", false, "an interface of this host"},
      {"10.0.0.5:7100", "10.0.0.5:7100", false, "an interface of this host"},
      {"six:7100", "[fd00:0::5]:7100", false, "an interface of this host"},
      {"debian:7100", "0.0.0.0:7100", false, "resolves to 127.0.1.1"},
      {"w1.test:7100", "0.0.0.0:7100", false, "resolves to 127.0.0.1"},
      {"service:7100", "0.0.0.0:7100", false, "resolves to 10.96.0.1"},
      {"203.0.113.7:7100", "0.0.0.0:7100", false, "on no interface"},
      {"later:7100", "0.0.0.0:7100", false, "does not resolve yet"},
      {"nothing:7100", "0.0.0.0:7100", false, "does not resolve yet"},
  };
  for (const auto& row : rows) {
    const ListenAddress listen = Choose(row.own);
    EXPECT_EQ(listen.ToString(), row.want) << row.own;
    EXPECT_EQ(listen.loopback, row.loopback) << row.own;
    EXPECT_THAT(listen.reason, HasSubstr(row.reason)) << row.own;
  }
}

TEST(ListenAddressTest, BindAddressOverrides) {
  const struct {
    const char *bind_address, *want;
    bool loopback;
  } rows[] = {
      {"0.0.0.0", "0.0.0.0:7100", false},    {"::", "[::]:7100", false},
      {"[::1]", "[::1]:7100", true},         {"10.0.0.5", "10.0.0.5:7100", false},
      {"localhost", "127.0.0.1:7100", true}, {"127.0.0.1", "127.0.0.1:7100", true},
      {"me", "10.0.0.5:7100", false},
  };
  for (const auto& row : rows) {
    const ListenAddress listen = Choose("service:7100", row.bind_address);
    EXPECT_EQ(listen.ToString(), row.want);
    EXPECT_EQ(listen.loopback, row.loopback) << row.bind_address;
    EXPECT_THAT(listen.reason, HasSubstr("--bind_address=")) << row.bind_address;
  }
}

TEST(ListenAddressTest, BindAddressThatCannotBeIsNamed) {
  for (const char* bind_address : {"10.0.0.5:80", "[::1]:80", "later", "nothing"}) {
    EXPECT_THAT(ChooseListenAddress("me:7100", {.bind_address = bind_address, .insecure = true}, Network()),
                StatusIs(kInvalid, HasSubstr(bind_address)))
        << bind_address;
  }
}

TEST(ListenAddressTest, BeyondLoopbackNeedsInsecureOrCredentials) {
  for (const char* own : {"me:7100", "service:7100", "later:7100"}) {
    EXPECT_THAT(ChooseListenAddress(own, {}, Network()),
                StatusIs(kInvalid, AllOf(HasSubstr("--insecure"), HasSubstr(":7100"))))
        << own;
    EXPECT_THAT(ChooseListenAddress(own, {.bind_address = "", .has_credentials = true}, Network()), IsOk()) << own;
  }
  EXPECT_THAT(ChooseListenAddress("localhost:7100", {}, Network()), IsOk());
  EXPECT_THAT(ChooseListenAddress("service:7100", {.bind_address = "127.0.0.1"}, Network()), IsOk());
  EXPECT_THAT(ChooseListenAddress("localhost:7100", {.bind_address = "0.0.0.0"}, Network()), HasCode(kInvalid));
}

TEST(ListenAddressTest, OwnAddressMustParse) {
  EXPECT_THAT(ChooseListenAddress("me", {}, Network()), HasCode(kInvalid));
}

TEST(ListenAddressTest, SystemNetworkKnowsNumbersAndLoopback) {
  const LocalNetwork network = SystemNetwork();
  EXPECT_THAT(*network.resolve("127.0.0.1"), ElementsAre("127.0.0.1"));
  EXPECT_THAT(network.interface_addresses, Contains("127.0.0.1"));
}

}  // namespace
}  // namespace cohort
