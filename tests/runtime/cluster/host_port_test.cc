#include "runtime/cluster/host_port.h"

#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::IsOkAndHolds;
using testing::StatusIs;

TEST(HostPortTest, NamesAndAddressesParseAndPrint) {
  const struct {
    const char* text;
    HostPort want;
  } rows[] = {
      {"h0:2222", {"h0", 2222}},
      {"127.0.0.1:1", {"127.0.0.1", 1}},
      {"localhost:65535", {"localhost", 65535}},
      {"multi-worker-worker-0.default.svc:2222", {"multi-worker-worker-0.default.svc", 2222}},
      {"my_service_1:80", {"my_service_1", 80}},
      {"h0.example.com.:2222", {"h0.example.com.", 2222}},
      {"[::1]:2222", {"::1", 2222}},
      {"[fe80::1]:2222", {"fe80::1", 2222}},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(ParseHostPort(row.text), IsOkAndHolds(row.want)) << row.text;
    EXPECT_EQ(row.want.ToString(), row.text);
  }
}

TEST(HostPortTest, R03UnusableAddressesNameTheTextAndTheReason) {
  const struct {
    std::string text, why;
  } rows[] = {
      {"", "empty"},
      {"127.0.0.1", "port is missing"},
      {"h0:", "port is missing"},
      {":2222", "host is missing"},
      {"localhost:0000", "from 1 to 65535"},
      {"localhost:0", "from 1 to 65535"},
      {"127.0.0.1:70000", "from 1 to 65535"},
      {"h0:99999999999999999999", "from 1 to 65535"},
      {"h0:-1", "from 1 to 65535"},
      {"h0:22 ", "from 1 to 65535"},
      {"h0:02222", "begins with 0"},
      {"bob@10.0.0.1:8080", "user name"},
      {"grpc://h0:2222", "scheme"},
      {"h0:2222/x", "path"},
      {"::1:2222", "brackets"},
      {"[::1]", "port is missing"},
      {"[::1", "']' is missing"},
      {"[::1]x:2222", "between"},
      {"[h0]:2222", "no IPv6"},
      {"[10.0.0.1]:2222", "no IPv6"},
      {"300.0.0.1:2222", "no IPv4"},
      {"10.0.0:2222", "no IPv4"},
      {"0.0.0.0:2222", "--bind_address"},
      {"[::]:2222", "--bind_address"},
      {"h 0:2222", "letters, digits"},
      {"h\xc3\xa9:2222", "letters, digits"},
      {std::string("h\0:2222", 7), "letters, digits"},
      {"h..x:2222", "empty"},
      {"-h:2222", "'-'"},
      {std::string(64, 'a') + ":2222", "longer than 63"},
      {std::string(300, 'a') + ":2222", "at most 253"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(ParseHostPort(row.text),
                StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("address '"), HasSubstr(row.why))))
        << row.text;
  }
}

TEST(HostPortTest, OneEndpointHasOneKey) {
  for (const char* text : {"LOCALHOST:1", "localhost.:1", "127.0.0.1:1"}) {
    EXPECT_EQ(ParseHostPort(text)->Key(), "127.0.0.1:1") << text;
  }
  EXPECT_EQ(ParseHostPort("[0:0:0:0:0:0:0:1]:1")->Key(), "[::1]:1");
  EXPECT_EQ(ParseHostPort("H0.Example.com:1")->Key(), "h0.example.com:1");
}

TEST(HostPortTest, LoopbackAndWildcardAreRecognised) {
  for (const char* ip : {"127.0.0.1", "127.0.1.1", "127.255.0.9", "::1"}) EXPECT_TRUE(IsLoopbackIp(ip)) << ip;
  for (const char* ip : {"128.0.0.1", "10.0.0.1", "::", "localhost", ""}) EXPECT_FALSE(IsLoopbackIp(ip)) << ip;
  EXPECT_TRUE(IsWildcardIp("0.0.0.0"));
  EXPECT_TRUE(IsWildcardIp("::"));
  EXPECT_FALSE(IsWildcardIp("0.0.0.1"));
}

TEST(HostPortTest, QuotedEscapesAndCuts) {
  EXPECT_EQ(Quoted(absl::string_view("a\0z", 3)), "'a\\x00z'");
  EXPECT_EQ(Quoted(std::string(1000, 'x')), "'" + std::string(100, 'x') + "...' (1000 bytes)");
}

}  // namespace
}  // namespace cohort
