#include "client/cli/cli_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>
#include <vector>

namespace cohort {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::variant<CliCommand, int> Parse(std::vector<const char*> words) {
  words.insert(words.begin(), "cohort");
  return ParseCommandLine(static_cast<int>(words.size()), words.data());
}

template <typename T>
T Expect(std::vector<const char*> words) {
  const std::variant<CliCommand, int> parsed = Parse(std::move(words));
  if (std::holds_alternative<int>(parsed)) {
    ADD_FAILURE() << "exit " << std::get<int>(parsed);
    return {};
  }
  const T* command = std::get_if<T>(&std::get<CliCommand>(parsed));
  EXPECT_NE(command, nullptr);
  return command == nullptr ? T() : *command;
}

int ExitOf(std::vector<const char*> words) {
  const std::variant<CliCommand, int> parsed = Parse(std::move(words));
  return std::holds_alternative<int>(parsed) ? std::get<int>(parsed) : -1;
}

class CliFlagsTest : public ::testing::Test {
 protected:
  CliFlagsTest() { unsetenv("COHORT_CLUSTER"); }
};

TEST_F(CliFlagsTest, TrainTakesEveryOption) {
  const auto train = Expect<TrainCommand>({"train",
                                           "--model=cnn",
                                           "--dataset=synthetic",
                                           "--strategy=parameter_server",
                                           "--batch_size=64",
                                           "--steps=10",
                                           "--optimizer=sgd",
                                           "--learning_rate=0.5",
                                           "--hidden=512,256",
                                           "--seed=7",
                                           "--initializer=golden",
                                           "--shuffle=none",
                                           "--examples=1000",
                                           "--evaluate=0",
                                           "--report_every=5",
                                           "--export=p.cohort",
                                           "--on_peer_loss",
                                           "fail",
                                           "--cluster=h:1",
                                           "--connect_timeout=1500ms",
                                           "--json",
                                           "--losses=l.json",
                                           "--detach",
                                           "--wait=0",
                                           "--threads=3",
                                           "--name=n"});
  EXPECT_EQ(train.options.model, "cnn");
  EXPECT_EQ(train.options.dataset, "synthetic");
  EXPECT_EQ(train.options.strategy, StrategyKind::kParameterServer);
  EXPECT_EQ(train.options.batch_size, 64);
  EXPECT_EQ(train.options.steps, 10);
  EXPECT_EQ(train.options.epochs, 0);
  EXPECT_EQ(train.options.optimizer, "sgd");
  EXPECT_EQ(train.options.learning_rate, 0.5);
  EXPECT_THAT(train.options.hidden, ElementsAre(512, 256));
  EXPECT_EQ(train.options.seed, 7u);
  EXPECT_EQ(train.options.initializer, "golden");
  EXPECT_EQ(train.options.shuffle, "none");
  EXPECT_EQ(train.options.examples, 1000);
  EXPECT_FALSE(train.options.evaluate);
  EXPECT_EQ(train.options.report_every, 5);
  EXPECT_EQ(train.export_file, "p.cohort");
  EXPECT_EQ(train.cluster.cluster, "h:1");
  EXPECT_EQ(train.cluster.connect_timeout, absl::Milliseconds(1500));
  EXPECT_TRUE(train.cluster.json);
  EXPECT_EQ(train.follow.losses_file, "l.json");
  EXPECT_TRUE(train.follow.detach);
  EXPECT_FALSE(train.follow.wait);
  EXPECT_EQ(train.follow.threads, 3);
  EXPECT_EQ(train.follow.name, "n");
}

TEST_F(CliFlagsTest, TrainDefaultsAreThoseOfTheOptions) {
  const auto train = Expect<TrainCommand>({"train"});
  const TrainOptions defaults;
  EXPECT_EQ(train.options.model, defaults.model);
  EXPECT_EQ(train.options.batch_size, defaults.batch_size);
  EXPECT_EQ(train.options.hidden, defaults.hidden);
  EXPECT_TRUE(train.options.evaluate);
  EXPECT_EQ(train.cluster.cluster, "");
  EXPECT_EQ(train.cluster.connect_timeout, absl::Seconds(10));
  EXPECT_TRUE(train.follow.wait);
  EXPECT_FALSE(train.follow.detach);
  EXPECT_EQ(train.follow.threads, 1);
}

TEST_F(CliFlagsTest, ClusterComesFromTheFlagElseFromTheEnvironment) {
  setenv("COHORT_CLUSTER", "env:1", 1);
  EXPECT_EQ(Expect<StatusCommand>({"status"}).cluster.cluster, "env:1");
  EXPECT_EQ(Expect<StatusCommand>({"status", "--cluster=flag:2"}).cluster.cluster, "flag:2");
  unsetenv("COHORT_CLUSTER");
  EXPECT_EQ(Expect<StatusCommand>({"status"}).cluster.cluster, "");
}

TEST_F(CliFlagsTest, RunFollowsAndSubmitDetaches) {
  const auto run = Expect<RunCommand>({"run", "p.cohort", "--cluster=h:1"});
  EXPECT_EQ(run.file, "p.cohort");
  EXPECT_FALSE(run.follow.detach);
  const auto submit = Expect<RunCommand>({"submit", "p.cohort"});
  EXPECT_EQ(submit.file, "p.cohort");
  EXPECT_TRUE(submit.follow.detach);
  EXPECT_EQ(ExitOf({"run"}), 2);
  EXPECT_EQ(ExitOf({"submit"}), 2);
}

TEST_F(CliFlagsTest, LocalLeavesTheWordsAfterTheDashesAlone) {
  const auto local = Expect<LocalCommand>({"local", "--workers=2", "--ps=1", "--chief", "--daemon_flags=--a=1",
                                           "--daemon_flags=--b", "--", "cohort", "train", "--steps=3", "--", "-x"});
  EXPECT_EQ(local.workers, 2);
  EXPECT_EQ(local.parameter_servers, 1);
  EXPECT_TRUE(local.chief);
  EXPECT_THAT(local.daemon_flags, ElementsAre("--a=1", "--b"));
  EXPECT_THAT(local.command, ElementsAre("cohort", "train", "--steps=3", "--", "-x"));
  EXPECT_THAT(Expect<LocalCommand>({"local"}).command, IsEmpty());
  EXPECT_EQ(Expect<LocalCommand>({"local"}).workers, 1);
}

TEST_F(CliFlagsTest, WordsAfterTheDashesMayBeVerbsAndOwnFlags) {
  const auto launch = Expect<LaunchCommand>({"launch", "--", "train", "--steps=3", "--daemon_flags=x", "--help"});
  EXPECT_THAT(launch.command, ElementsAre("train", "--steps=3", "--daemon_flags=x", "--help"));
  EXPECT_THAT(launch.daemon_flags, IsEmpty());
  const auto local = Expect<LocalCommand>({"local", "--", "local", "--workers=5"});
  EXPECT_THAT(local.command, ElementsAre("local", "--workers=5"));
  EXPECT_EQ(local.workers, 1);
}

TEST_F(CliFlagsTest, SmallVerbs) {
  EXPECT_EQ(Expect<LogsCommand>({"logs"}).job, 0);
  EXPECT_TRUE(Expect<LogsCommand>({"logs", "3", "-f"}).follow);
  EXPECT_EQ(Expect<LogsCommand>({"logs", "3", "--follow"}).job, 3);
  EXPECT_EQ(Expect<CancelCommand>({"cancel", "4", "--json"}).job, 4);
  EXPECT_EQ(Expect<JobsCommand>({"jobs", "--cluster=h:1"}).cluster.cluster, "h:1");
  EXPECT_EQ(Expect<ShutdownCommand>({"shutdown", "--cluster=h:1"}).cluster.cluster, "h:1");
  EXPECT_TRUE(Expect<StatusCommand>({"status", "--json"}).cluster.json);
  const auto check = Expect<CheckCommand>({"check", "--json", "--insecure", "--bind_address=0.0.0.0"});
  EXPECT_TRUE(check.json && check.insecure);
  EXPECT_EQ(check.bind_address, "0.0.0.0");
}

TEST_F(CliFlagsTest, WrongLinesExitWithTwo) {
  for (const std::vector<const char*>& words : std::vector<std::vector<const char*>>{
           {},
           {"nonsense"},
           {"train", "--nonsense"},
           {"train", "stray"},
           {"train", "--strategy=nonsense"},
           {"train", "--batch_size=many"},
           {"train", "--hidden=1,x"},
           {"train", "--on_peer_loss=wait"},
           {"train", "--threads=0"},
           {"train", "--wait=maybe"},
           {"status", "--connect_timeout=10"},
           {"status", "--connect_timeout=-1s"},
           {"status", "--connect_timeout=0"},
           {"status", "--connect_timeout=inf"},
           {"local", "--workers=-1"},
           {"local", "--workers=1000"},
           {"cancel"},
           {"cancel", "x"},
           {"status", "jobs"},
       }) {
    std::string line;
    for (const char* word : words) line += std::string(" ") + word;
    EXPECT_EQ(ExitOf(words), 2) << line;
  }
}

TEST_F(CliFlagsTest, HelpIsPrintedAndExitsWithZero) {
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(ExitOf({"--help"}), 0);
  const std::string all = ::testing::internal::GetCapturedStdout();
  for (const char* verb :
       {"local", "launch", "train", "run", "submit", "status", "jobs", "logs", "cancel", "shutdown", "check"}) {
    EXPECT_THAT(all, HasSubstr(verb));
    ::testing::internal::CaptureStdout();
    EXPECT_EQ(ExitOf({verb, "--help"}), 0) << verb;
    EXPECT_THAT(::testing::internal::GetCapturedStdout(), HasSubstr(verb));
  }
}

}  // namespace
}  // namespace cohort
