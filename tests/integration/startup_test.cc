// How a cluster comes together, and how it says that it cannot.

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/integration/cohort.h"
#include "tests/testing/status_matchers.h"

namespace cohort::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Output(Process& process) { return process.out() + process.err(); }

const Words kShort = {"train",     "--model=linear", "--dataset=synthetic", "--strategy=multi_worker_mirrored",
                      "--steps=5", "--evaluate=0"};

TEST(PortTest, AForeignListenerIsNotShared) {
  DaemonCluster cluster(1, 0);
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const absl::Cleanup close_listener = [listener] { close(listener); };
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(cluster.port("worker:0")));
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  Process& daemon = cluster.Start("worker:0");
  EXPECT_EQ(cluster.WaitExit("worker:0", absl::Now() + absl::Seconds(5)), 2);
  EXPECT_THAT(Output(daemon), AllOf(HasSubstr(absl::StrCat(cluster.port("worker:0"))), HasSubstr("address in use")));
}

TEST(PortTest, AnotherDaemonKeepsItsPort) {
  DaemonCluster cluster(1, 0);
  cluster.StartAll();
  absl::StatusOr<std::unique_ptr<Process>> second =
      Process::Start({.args = {DaemonCluster::Program("worker:0")},
                      .env = {{"TF_CONFIG", cluster.TfConfig("worker:0")}},
                      .unset = {}});
  COHORT_ASSERT_OK(second.status());
  const absl::StatusOr<int> code = (*second)->Wait(absl::Now() + absl::Seconds(5));
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ(*code, 2);
  EXPECT_THAT(Output(**second), AllOf(HasSubstr(absl::StrCat(cluster.port("worker:0"))), HasSubstr("address in use")));
  EXPECT_EQ(cluster.RunClient(kShort).exit_code, 0);
}

TEST(PortTest, TenRestartsOnTheSamePort) {
  DaemonCluster cluster(1, 0);
  for (int i = 0; i < 10; ++i) {
    cluster.StartAll();
    EXPECT_EQ(cluster.RunClient({"status"}).exit_code, 0);  // leaves a connection behind
    if (i % 2 == 0) {
      cluster.daemon("worker:0").Signal(SIGTERM);
      EXPECT_EQ(cluster.WaitExit("worker:0", Soon()), 0);
    } else {
      cluster.Kill("worker:0");
    }
  }
}

TEST(AddressTest, OnlyTheDeclaredAddressesAreUsed) {
  DaemonCluster cluster(2, 1);
  const std::string nobody = "http://127.0.0.1:9";
  Variables proxies;
  for (const char* name : {"http_proxy", "https_proxy", "grpc_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy"}) {
    proxies[name] = nobody;
  }
  for (const std::string& task : cluster.tasks()) cluster.Start(task, {}, proxies);
  cluster.StartAll();
  for (const std::string& task : cluster.tasks()) {
    EXPECT_THAT(ListeningPorts(cluster.daemon(task).pid()), ElementsAre(cluster.port(task))) << task;
  }
  for (const char* strategy : {"multi_worker_mirrored", "parameter_server"}) {
    Variables env = proxies;
    env["COHORT_CLUSTER"] = cluster.leader_address();
    const Finished trained = RunClient({"train", "--model=linear", "--dataset=synthetic", "--steps=5", "--evaluate=0",
                                        absl::StrCat("--strategy=", strategy)},
                                       env);
    EXPECT_EQ(trained.exit_code, 0) << trained.err;
  }
  for (const std::string& task : cluster.tasks()) {
    EXPECT_THAT(ListeningPorts(cluster.daemon(task).pid()), ElementsAre(cluster.port(task))) << task;
  }
}

TEST(WaitTest, EndsAndNamesTheMissingTask) {
  DaemonCluster cluster(3, 0, {"--start_timeout=3s"});
  const absl::Time start = absl::Now();
  cluster.Start("worker:0");
  cluster.Start("worker:1");
  for (const char* task : {"worker:0", "worker:1"}) {
    EXPECT_EQ(cluster.WaitExit(task, start + absl::Seconds(30)), 138);
    const absl::Duration took = absl::Now() - start;
    EXPECT_GE(took, absl::Seconds(3)) << task;
    EXPECT_LE(took, absl::Seconds(5)) << task;
    const absl::StatusOr<std::string> line = cluster.daemon(task).WaitForLine("not all tasks came within 3s", Soon());
    ASSERT_TRUE(line.ok()) << line.status();
    const std::string text = line->substr(line->find("not all tasks came"));
    EXPECT_THAT(text, AllOf(HasSubstr(LongName("worker:2")), HasSubstr(cluster.address("worker:2")))) << task;
    EXPECT_THAT(text, AllOf(Not(HasSubstr(LongName("worker:0"))), Not(HasSubstr(LongName("worker:1"))))) << task;
    EXPECT_THAT(text, HasSubstr("connection refused")) << task;  // the last attempt to reach it
  }
}

TEST(WaitTest, NamesALeaderThatIsMissing) {
  DaemonCluster cluster(2, 0, {"--start_timeout=2s"});
  const absl::Time start = absl::Now();
  Process& daemon = cluster.Start("worker:1");
  EXPECT_EQ(cluster.WaitExit("worker:1", start + absl::Seconds(4)), 138);
  EXPECT_GE(absl::Now() - start, absl::Seconds(2));
  EXPECT_THAT(*daemon.WaitForLine("not all tasks came within 2s", Soon()),
              AllOf(HasSubstr(LongName("worker:0")), HasSubstr(cluster.address("worker:0"))));
}

std::string WithNames(std::string config, const DaemonCluster& cluster, const std::string& domain) {
  for (const std::string& task : cluster.tasks()) {
    const std::string name = absl::StrReplaceAll(task, {{"worker:", "w"}});
    config = absl::StrReplaceAll(config,
                                 {{cluster.address(task), absl::StrCat(name, ".", domain, ":", cluster.port(task))}});
  }
  return config;
}

// RFC 6761: no name below "invalid" ever resolves.
TEST(NameTest, OneThatNeverResolvesIsNamed) {
  DaemonCluster cluster(2, 0, {"--start_timeout=3s", "--insecure"});
  for (const char* task : {"worker:0", "worker:1"}) {  // each finds that the other's name is not known
    const absl::Time start = absl::Now();
    Process& daemon = cluster.Start(task, {}, {{"TF_CONFIG", WithNames(cluster.TfConfig(task), cluster, "invalid")}});
    EXPECT_EQ(cluster.WaitExit(task, start + absl::Seconds(6)), 138);
    EXPECT_GE(absl::Now() - start, absl::Seconds(3));
    const std::string other = task == std::string("worker:0") ? "worker:1" : "worker:0";
    EXPECT_THAT(
        *daemon.WaitForLine("not all tasks came within 3s", Soon()),
        AllOf(HasSubstr(LongName(other)), HasSubstr(absl::StrReplaceAll(other, {{"worker:", "w"}}) + ".invalid"),
              HasSubstr("name not resolved")));
  }
}

// Daemons with an /etc/hosts of their own, which the test writes.
class HostsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Write("");
    const auto tried = RunToEnd({Own({"true"}), {}, {}}, absl::Seconds(10));
    if (!tried.ok() || tried->exit_code != 0) GTEST_SKIP() << "this machine gives tests no mount namespace";
  }
  void Write(const std::string& names) {
    std::ofstream(hosts_) << "127.0.0.1 localhost\n" << names;  // in place: it is mounted
  }
  Words Own(const Words& command) const {
    const std::string user = getuid() == 0 ? "--mount" : "--mount --map-root-user";
    Words words = {"sh", "-c", "exec unshare " + user + " sh -c 'mount --bind \"$0\" /etc/hosts && exec \"$@\"' \"$@\"",
                   "sh", hosts_};
    words.insert(words.end(), command.begin(), command.end());
    return words;
  }
  std::unique_ptr<Process> StartDaemon(const std::string& task) {
    auto started = Process::Start({Own({DaemonCluster::Program(task), "--threads=1", "--insecure"}),
                                   {{"TF_CONFIG", WithNames(cluster_.TfConfig(task), cluster_, "test")}},
                                   {}});
    EXPECT_TRUE(started.ok()) << started.status();
    return *std::move(started);
  }

  const std::string hosts_ = ::testing::TempDir() + "/hosts";
  DaemonCluster cluster_{3, 0};
};

TEST_F(HostsTest, NamesMayResolveLateAndToAnotherAddressLater) {
  std::vector<std::unique_ptr<Process>> daemons;
  for (const std::string& task : cluster_.tasks()) daemons.push_back(StartDaemon(task));
  COHORT_ASSERT_OK(daemons[2]->WaitForLine("listens on", Soon()).status());
  Write("127.0.0.1 w0.test\n");
  COHORT_ASSERT_OK(daemons[0]->WaitForLine("worker/task:2 has joined", Soon()).status());
  Write("127.0.0.1 w0.test w1.test w2.test\n");
  for (const auto& daemon : daemons) COHORT_ASSERT_OK(daemon->WaitForLine("ready: ", Soon()).status());
  EXPECT_EQ(cluster_.RunClient(kShort).exit_code, 0);

  daemons[1]->Signal(SIGTERM);
  EXPECT_EQ(*daemons[1]->Wait(Soon()), 0);
  Write("127.0.0.1 w0.test w2.test\n127.0.0.3 w1.test\n");
  daemons[1] = StartDaemon("worker:1");
  COHORT_ASSERT_OK(daemons[1]->WaitForLine("ready: ", Soon()).status());
  EXPECT_EQ(cluster_.RunClient(kShort).exit_code, 0);
}

TEST(WaitTest, ALateTaskIsWaitedFor) {
  for (const char* late : {"worker:2", "worker:0"}) {
    DaemonCluster cluster(3, 0);
    for (const std::string& task : cluster.tasks()) {
      if (task != late) cluster.Start(task);
    }
    for (const std::string& task : cluster.tasks()) {
      if (task == late) continue;
      COHORT_EXPECT_OK(cluster.daemon(task).WaitForLine("listens on", Soon()).status());
    }
    cluster.StartAll();
    EXPECT_EQ(cluster.RunClient(kShort).exit_code, 0) << late;
  }
}

TEST(WaitTest, ATerminationDuringTheWaitIsObeyedAtOnce) {
  DaemonCluster cluster(2, 1);
  for (const char* task : {"worker:0", "ps:0"}) {
    Process& daemon = cluster.Start(task);
    COHORT_ASSERT_OK(daemon.WaitForLine("listens on", Soon()).status());
    daemon.Signal(SIGTERM);
    EXPECT_EQ(cluster.WaitExit(task, absl::Now() + absl::Seconds(2)), 0) << task;
  }
}

TEST(AgreementTest, DifferentClustersAreRefusedEverywhere) {
  DaemonCluster three(3, 0);
  const std::string two_config =
      absl::StrReplaceAll(three.TfConfig("worker:1"), {{absl::StrCat(", \"", three.address("worker:2"), "\""), ""}});
  for (const bool leader_differs : {false, true}) {
    SCOPED_TRACE(leader_differs);
    const absl::Time start = absl::Now();
    const std::string two_leads = absl::StrReplaceAll(two_config, {{"\"index\": 1", "\"index\": 0"}});
    if (leader_differs) {
      three.Start("worker:0", {}, {{"TF_CONFIG", two_leads}});
      three.Start("worker:1");
    } else {
      three.Start("worker:0");
      three.Start("worker:1", {}, {{"TF_CONFIG", two_config}});
    }
    for (const char* task : {"worker:0", "worker:1"}) {
      EXPECT_EQ(three.WaitExit(task, start + absl::Seconds(8)), 2) << task;
      const std::string output = Output(three.daemon(task));
      EXPECT_THAT(output, HasSubstr("the cluster")) << task;
      // Both values: the list of three names one address more.
      EXPECT_THAT(output, HasSubstr(three.address("worker:2"))) << task;
      EXPECT_THAT(output,
                  HasSubstr(absl::StrCat("\"", three.address("worker:0"), "\",\"", three.address("worker:1"), "\"]")))
          << task;
    }
  }
}

TEST(AgreementTest, TwoProcessesOfOneTaskAreTold) {
  DaemonCluster cluster(2, 0, {"--heartbeat=200ms", "--peer_lost=1s"});
  cluster.StartAll();
  // The same task from another machine: another address would be another cluster, so it is the port that gives it away.
  absl::StatusOr<std::unique_ptr<Process>> second =
      Process::Start({.args = {DaemonCluster::Program("worker:1")},
                      .env = {{"TF_CONFIG", cluster.TfConfig("worker:1")}},
                      .unset = {}});
  COHORT_ASSERT_OK(second.status());
  const absl::StatusOr<int> code = (*second)->Wait(Soon());
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ(*code, 2);
  EXPECT_EQ(cluster.RunClient(kShort).exit_code, 0);
}

}  // namespace
}  // namespace cohort::testing
