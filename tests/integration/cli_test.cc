// What users get wrong: every mistake ends at once, with an exit code, one sentence, and nothing left running.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/port_lease.h"
#include "tests/integration/cohort.h"
#include "tests/testing/process.h"
#include "tests/testing/status_matchers.h"

namespace cohort::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr char kTwoWorkers[] =
    R"({"cluster": {"worker": ["127.0.0.1:7101", "127.0.0.1:7102"]}, "task": {"type": "worker", "index": 1}})";

// A port on which nobody listens as long as the lease is held.
PortLease DeadPort() {
  absl::StatusOr<PortLease> port = LeasePort();
  EXPECT_TRUE(port.ok()) << port.status();
  return *std::move(port);
}

// The client's own message: one line that begins with its name.
void ExpectOneSentence(const Finished& finished) {
  EXPECT_THAT(finished.err, StartsWith("cohort: "));
  EXPECT_EQ(LineCount(finished.err), 1) << finished.err;
  EXPECT_EQ(finished.out, "");
}

TEST(CliTest, EveryVerbExplainsItself) {
  for (const char* verb :
       {"local", "launch", "train", "run", "submit", "status", "jobs", "logs", "cancel", "shutdown", "check"}) {
    const Finished help = RunClient({verb, "--help"});
    EXPECT_EQ(help.exit_code, 0) << verb;
    EXPECT_THAT(help.out, HasSubstr("--help")) << verb;
    EXPECT_EQ(help.err, "") << verb;
  }
  const Finished help = RunClient({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, AllOf(HasSubstr("local"), HasSubstr("shutdown")));
}

TEST(CliTest, DaemonsExplainThemselves) {
  for (const char* program : {"worker/worker", "ps/ps"}) {
    const auto help =
        RunToEnd({.args = {Runfile(program), "--help"}, .env = {}, .unset = {"TF_CONFIG"}}, absl::Seconds(60));
    ASSERT_TRUE(help.ok()) << help.status();
    EXPECT_EQ(help->exit_code, 0);
    for (const char* flag : {"--start_timeout", "--heartbeat", "--peer_lost", "--collective_timeout", "--lease",
                             "--drain", "--lifetime", "--bind_address", "--insecure"}) {
      EXPECT_THAT(help->out, HasSubstr(flag)) << program;
    }
  }
}

TEST(CliTest, AWrongFlagIsNamed) {
  const Finished finished = RunClient({"train", "--modle=mlp"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("--modle"));
  EXPECT_EQ(RunClient({"trian"}).exit_code, 2);
  EXPECT_EQ(RunClient({}).exit_code, 2);
}

TEST(CliTest, UnknownNamesAreAnsweredWithTheKnownOnes) {
  const Finished model = RunClient({"train", "--model=resnet9000"});
  EXPECT_EQ(model.exit_code, 2);
  EXPECT_THAT(model.err, AllOf(HasSubstr("resnet9000"), HasSubstr("mlp512")));
  ExpectOneSentence(model);
  const Finished dataset = RunClient({"train", "--dataset=imagenet"});
  EXPECT_EQ(dataset.exit_code, 2);
  EXPECT_THAT(dataset.err, AllOf(HasSubstr("imagenet"), HasSubstr("fashion_mnist")));
  ExpectOneSentence(dataset);
  const Finished strategy = RunClient({"train", "--strategy=horovod"});
  EXPECT_EQ(strategy.exit_code, 2);
  EXPECT_THAT(strategy.err, AllOf(HasSubstr("horovod"), HasSubstr("multi_worker_mirrored")));
  const Finished optimizer = RunClient({"train", "--optimizer=lbfgs"});
  EXPECT_EQ(optimizer.exit_code, 2);
  EXPECT_THAT(optimizer.err, AllOf(HasSubstr("lbfgs"), HasSubstr("momentum")));
}

TEST(CliTest, NumbersOutOfRangeAreNamed) {
  for (const char* flag : {"--batch_size=-5", "--batch_size=0", "--epochs=-1", "--steps=-2", "--learning_rate=-0.1",
                           "--hidden=0", "--examples=-3", "--threads=0"}) {
    const Finished finished = RunClient({"train", flag});
    EXPECT_EQ(finished.exit_code, 2) << flag;
    const std::string text = flag;
    EXPECT_THAT(finished.err, HasSubstr(text.substr(2, text.find_first_of("_=") - 2))) << flag;
  }
  EXPECT_EQ(RunClient({"local", "--workers=-1"}).exit_code, 2);
  const Finished nobody = RunClient({"local", "--workers=0", "--", "true"});
  EXPECT_EQ(nobody.exit_code, 2);
  EXPECT_THAT(nobody.err, HasSubstr("--workers"));
}

TEST(CliTest, AMissingProgramIsNamed) {
  const Finished missing = RunClient({"run", "/nonexistent/p.cohort"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("/nonexistent/p.cohort"));
  ExpectOneSentence(missing);

  const std::string path = absl::StrCat(::testing::TempDir(), "/garbage.cohort");
  std::ofstream(path) << "this is no program";
  const Finished garbage = RunClient({"run", path});
  EXPECT_EQ(garbage.exit_code, 2);
  EXPECT_THAT(garbage.err, HasSubstr(path));
  ExpectOneSentence(garbage);
}

TEST(CliTest, AnUnreachableClusterIsWorthARestart) {
  const PortLease port = DeadPort();
  const std::string address = absl::StrCat("127.0.0.1:", port.port());
  for (const Words& words : {Words{"status"}, Words{"train", "--model=linear"}, Words{"jobs"}, Words{"cancel", "1"},
                             Words{"logs"}, Words{"shutdown"}}) {
    Words line = words;
    line.push_back("--cluster=" + address);
    line.push_back("--connect_timeout=500ms");
    const absl::Time start = absl::Now();
    const Finished finished = RunClient(line);
    EXPECT_EQ(finished.exit_code, 138) << words[0];
    EXPECT_THAT(finished.err, AllOf(HasSubstr(address), HasSubstr("start its tasks"))) << words[0];
    EXPECT_LT(absl::Now() - start, absl::Seconds(10)) << words[0];
    ExpectOneSentence(finished);
  }
  const Finished variable = RunClient({"status", "--connect_timeout=500ms"}, {{"COHORT_CLUSTER", address}});
  EXPECT_EQ(variable.exit_code, 138);
  EXPECT_THAT(variable.err, HasSubstr(address));
}

TEST(CliTest, VerbsThatNeedAClusterSaySo) {
  for (const Words& words : {Words{"status"}, Words{"jobs"}, Words{"logs"}, Words{"cancel", "1"}, Words{"shutdown"}}) {
    const Finished finished = RunClient(words);
    EXPECT_EQ(finished.exit_code, 2) << words[0];
    EXPECT_THAT(finished.err, HasSubstr("COHORT_CLUSTER")) << words[0];
    ExpectOneSentence(finished);
  }
  const Finished detached = RunClient({"train", "--model=linear", "--detach"});
  EXPECT_EQ(detached.exit_code, 2);
  EXPECT_THAT(detached.err, HasSubstr("--cluster"));
  ExpectOneSentence(detached);
}

TEST(CliTest, CheckSaysWhoThisProcessWouldBe) {
  const absl::Time start = absl::Now();
  const Finished text = RunClient({"check"}, {{"TF_CONFIG", kTwoWorkers}});
  EXPECT_LT(absl::Now() - start, absl::Seconds(2));
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("/job:worker/task:1"), HasSubstr("127.0.0.1:7102")));
  const Finished json = RunClient({"check", "--json"}, {{"TF_CONFIG", kTwoWorkers}});
  EXPECT_EQ(json.exit_code, 0);
  EXPECT_TRUE(nlohmann::json::accept(json.out)) << json.out;
}

TEST(CliTest, CheckOpensNoPort) {
  DaemonCluster cluster(1, 0);
  cluster.StartAll();  // who holds the very port
  const Finished check = RunClient({"check"}, {{"TF_CONFIG", cluster.TfConfig("worker:0")}});
  EXPECT_EQ(check.exit_code, 0) << check.err;
}

TEST(CliTest, CheckNamesWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"cluster": {"worker": ["127.0.0.1:7101"]}, "task": {"type": "worker", "index": 3}})", "index"},
      {R"({"cluster": {"worker": ["127.0.0.1"]}, "task": {"type": "worker", "index": 0}})", "port"},
      {R"({"cluster": {"worker": ["127.0.0.1:1"], "worker": ["127.0.0.1:2"]}})", "worker"},
      {R"({"cluster": )", "JSON"},
      {"\xff\xfe", "JSON"},
  };
  for (const auto& [config, expected] : cases) {
    const absl::Time start = absl::Now();
    const Finished finished = RunClient({"check"}, {{"TF_CONFIG", config}});
    EXPECT_LT(absl::Now() - start, absl::Seconds(2));
    EXPECT_EQ(finished.exit_code, 2) << config;
    EXPECT_THAT(finished.err, HasSubstr(expected)) << config;
    ExpectOneSentence(finished);
  }
}

TEST(CliTest, DaemonsRefuseAWrongConfigurationAtOnce) {
  const auto finished = RunToEnd(
      {.args = {DaemonCluster::Program("worker:0")}, .env = {{"TF_CONFIG", "{]"}}, .unset = {}}, absl::Seconds(10));
  ASSERT_TRUE(finished.ok()) << finished.status();
  EXPECT_EQ(finished->exit_code, 2);
  EXPECT_THAT(finished->err, HasSubstr("TF_CONFIG"));
}

TEST(CliTest, LocalEndsAsItsCommandAndTakesEverythingWithIt) {
  const std::string mark = absl::StrCat("COHORT_TEST_MARK=local-", getpid());
  const std::string value = mark.substr(mark.find('=') + 1);
  const Finished failed =
      RunClient({"local", "--workers=1", "--ps=1", "--", "sh", "-c", "test -n \"$COHORT_CLUSTER\" && exit 7"},
                {{"COHORT_TEST_MARK", value}});
  EXPECT_EQ(failed.exit_code, 7) << failed.err;
  EXPECT_THAT(failed.err, HasSubstr("logs are in"));
  EXPECT_THAT(ProcessesWith(mark), IsEmpty());
  const Finished missing = RunClient({"local", "--workers=1", "--", "no-such-program-anywhere"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("no-such-program-anywhere"));
}

TEST(CliTest, AKilledLocalTakesItsDaemonsWithIt) {
  const std::string mark = absl::StrCat("COHORT_TEST_MARK=killed-", getpid());
  const auto local = StartClient({"local", "--workers=2"}, {{"COHORT_TEST_MARK", mark.substr(mark.find('=') + 1)}});
  COHORT_ASSERT_OK(local->WaitForLine("COHORT_CLUSTER=", Soon()).status());
  const std::vector<pid_t> all = ProcessesWith(mark);
  EXPECT_EQ(all.size(), 3);
  local->Signal(SIGKILL);
  COHORT_ASSERT_OK(local->Wait(Soon()).status());
  EXPECT_TRUE(WaitGone(all, Soon()));
  EXPECT_THAT(ProcessesWith(mark), IsEmpty());
}

}  // namespace
}  // namespace cohort::testing
