#include "tests/integration/cohort.h"

#include <dirent.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "runtime/base/check.h"

namespace cohort::testing {
namespace {

Command ClientCommand(Words args, Variables env) {
  Command command;
  command.args = {Runfile("client/cohort")};
  command.args.insert(command.args.end(), args.begin(), args.end());
  for (const char* name : {"TF_CONFIG", "COHORT_CLUSTER"}) {
    if (!env.contains(name)) command.unset.push_back(name);
  }
  command.env = std::move(env);
  command.env["TMPDIR"] = ::testing::TempDir();
  return command;
}

std::unique_ptr<Process> StartOrDie(Command command) {
  absl::StatusOr<std::unique_ptr<Process>> process = Process::Start(std::move(command));
  EXPECT_TRUE(process.ok()) << process.status();
  COHORT_CHECK(process.ok(), "a program of the test does not start");
  return *std::move(process);
}

std::string ReadAll(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<std::string> Entries(const std::string& folder) {
  std::vector<std::string> names;
  DIR* dir = opendir(folder.c_str());
  if (dir == nullptr) return names;
  while (const dirent* entry = readdir(dir)) names.push_back(entry->d_name);
  closedir(dir);
  return names;
}

// The inodes of a process's sockets.
std::set<std::string> Sockets(const std::string& process) {
  std::set<std::string> inodes;
  for (const std::string& name : Entries(process + "/fd")) {
    char target[256];
    const ssize_t size = readlink(absl::StrCat(process, "/fd/", name).c_str(), target, sizeof(target));
    absl::string_view text(target, std::max<ssize_t>(size, 0));
    if (absl::ConsumePrefix(&text, "socket:[") && absl::ConsumeSuffix(&text, "]")) inodes.insert(std::string(text));
  }
  return inodes;
}

}  // namespace

std::unique_ptr<Process> StartClient(Words args, Variables env) {
  return StartOrDie(ClientCommand(std::move(args), std::move(env)));
}

Finished RunClient(Words args, Variables env, absl::Duration timeout) {
  absl::StatusOr<Finished> finished = RunToEnd(ClientCommand(std::move(args), std::move(env)), timeout);
  EXPECT_TRUE(finished.ok()) << finished.status();
  return finished.ok() ? *std::move(finished) : Finished{-1, "", ""};
}

std::string LastLine(const std::string& text) {
  const std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
  return lines.empty() ? "" : lines.back();
}

int LineCount(const std::string& text) { return static_cast<int>(std::count(text.begin(), text.end(), '\n')); }

Words EndlessTraining(const std::string& strategy) {
  return {"train",           "--model=linear",         "--dataset=synthetic",
          "--batch_size=32", "--strategy=" + strategy, "--steps=100000000",
          "--evaluate=0",    "--report_every=20"};
}

std::string LongName(const std::string& task) {
  const std::vector<std::string> parts = absl::StrSplit(task, ':');
  return absl::StrCat("/job:", parts[0], "/task:", parts[1]);
}

DaemonCluster::DaemonCluster(int workers, int parameter_servers, Words flags) : flags_(std::move(flags)) {
  const auto add = [this](const char* job, int count) {
    for (int i = 0; i < count; ++i) {
      absl::StatusOr<PortLease> port = LeasePort();
      COHORT_CHECK(port.ok(), "no free port");
      ports_.emplace(absl::StrCat(job, ":", i), *std::move(port));
    }
  };
  add("worker", workers);
  add("ps", parameter_servers);
}

std::vector<std::string> DaemonCluster::tasks() const {
  std::vector<std::string> names;
  for (const char* job : {"worker", "ps"}) {
    for (int i = 0; ports_.contains(absl::StrCat(job, ":", i)); ++i) names.push_back(absl::StrCat(job, ":", i));
  }
  return names;
}

std::string DaemonCluster::address(const std::string& task) const { return absl::StrCat("127.0.0.1:", port(task)); }

std::string DaemonCluster::TfConfig(const std::string& task) const {
  std::vector<std::string> jobs;
  for (const char* job : {"worker", "ps"}) {
    std::vector<std::string> addresses;
    for (const std::string& name : tasks()) {
      if (absl::StartsWith(name, absl::StrCat(job, ":"))) addresses.push_back(absl::StrCat("\"", address(name), "\""));
    }
    if (!addresses.empty()) jobs.push_back(absl::StrCat("\"", job, "\": [", absl::StrJoin(addresses, ", "), "]"));
  }
  const std::vector<std::string> parts = absl::StrSplit(task, ':');
  return absl::StrCat("{\"cluster\": {", absl::StrJoin(jobs, ", "), "}, \"task\": {\"type\": \"", parts[0],
                      "\", \"index\": ", parts[1], "}}");
}

std::string DaemonCluster::Program(const std::string& task) {
  return Runfile(absl::StartsWith(task, "ps:") ? "ps/ps" : "worker/worker");
}

Process& DaemonCluster::Start(const std::string& task, Words more_flags, Variables env) {
  daemons_.erase(task);
  Command command;
  command.args = {Program(task)};
  if (absl::StartsWith(task, "worker:")) command.args.push_back("--threads=1");
  command.args.insert(command.args.end(), flags_.begin(), flags_.end());
  command.args.insert(command.args.end(), more_flags.begin(), more_flags.end());
  command.env = std::move(env);
  command.env.emplace("TF_CONFIG", TfConfig(task));
  return *(daemons_[task] = StartOrDie(std::move(command)));
}

void DaemonCluster::StartAll() {
  for (const std::string& task : tasks()) {
    if (!daemons_.contains(task) || !daemons_.at(task)->running()) Start(task);
  }
  for (const std::string& task : tasks()) {
    const auto ready = daemon(task).WaitForLine("ready: ", Soon());
    EXPECT_TRUE(ready.ok()) << task << ": " << ready.status();
    COHORT_CHECK(ready.ok(), "the cluster does not form");
  }
}

void DaemonCluster::Kill(const std::string& task) {
  daemon(task).Signal(SIGKILL);
  EXPECT_EQ(WaitExit(task, Soon()), 137);
}

int DaemonCluster::WaitExit(const std::string& task, absl::Time deadline) {
  const absl::StatusOr<int> code = daemon(task).Wait(deadline);
  EXPECT_TRUE(code.ok()) << task << ": " << code.status();
  return code.value_or(-1);
}

std::unique_ptr<Process> DaemonCluster::StartClient(Words args) const {
  return testing::StartClient(std::move(args), {{"COHORT_CLUSTER", leader_address()}});
}

Finished DaemonCluster::RunClient(Words args) const {
  return testing::RunClient(std::move(args), {{"COHORT_CLUSTER", leader_address()}});
}

std::vector<int> ListeningPorts(pid_t pid) {
  const std::string process = absl::StrCat("/proc/", pid);
  const std::set<std::string> sockets = Sockets(process);
  std::set<int> ports;
  for (const char* table : {"/net/tcp", "/net/tcp6"}) {
    std::istringstream lines(ReadAll(process + table));
    for (std::string line; std::getline(lines, line);) {
      const std::vector<std::string> fields = absl::StrSplit(line, ' ', absl::SkipEmpty());
      if (fields.size() < 10 || fields[3] != "0A" || !sockets.contains(fields[9])) continue;  // 0A: listens
      ports.insert(static_cast<int>(std::strtol(fields[1].substr(fields[1].rfind(':') + 1).c_str(), nullptr, 16)));
    }
  }
  return {ports.begin(), ports.end()};
}

Resources ResourcesOf(pid_t pid) {
  Resources resources;
  const std::string process = absl::StrCat("/proc/", pid);
  std::istringstream lines(ReadAll(process + "/status"));
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> words = absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    if (words.size() < 2) continue;
    if (words[0] == "VmRSS:") resources.resident_bytes = std::strtoll(words[1].c_str(), nullptr, 10) * 1024;
    if (words[0] == "Threads:") resources.threads = std::atoi(words[1].c_str());
  }
  resources.descriptors = static_cast<int>(Entries(process + "/fd").size());
  EXPECT_GT(resources.resident_bytes, 0) << "process " << pid << " is gone";
  return resources;
}

std::vector<pid_t> ProcessesWith(const std::string& entry) {
  std::vector<pid_t> pids;
  for (const std::string& name : Entries("/proc")) {
    pid_t pid = 0;
    if (!absl::SimpleAtoi(name, &pid)) continue;
    const std::vector<std::string> entries = absl::StrSplit(ReadAll(absl::StrCat("/proc/", name, "/environ")), '\0');
    if (std::find(entries.begin(), entries.end(), entry) != entries.end()) pids.push_back(pid);
  }
  return pids;
}

bool WaitGone(const std::vector<pid_t>& pids, absl::Time deadline) {
  bool gone = true;
  for (const pid_t pid : pids) {
    const int handle = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    if (handle < 0) continue;
    pollfd ended{handle, POLLIN, 0};
    const int64_t left = std::max<int64_t>(0, absl::ToInt64Milliseconds(deadline - absl::Now()));
    gone &= poll(&ended, 1, static_cast<int>(left)) > 0;
    close(handle);
  }
  return gone;
}

}  // namespace cohort::testing
