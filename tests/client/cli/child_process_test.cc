#include "client/cli/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "absl/time/clock.h"
#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace cohort {
namespace {

using ::cohort::testing::StatusIs;
using ::cohort::testing::TempDir;
using ::testing::HasSubstr;

absl::Time Soon() { return absl::Now() + absl::Seconds(20); }

std::string ContentsOf(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::unique_ptr<ChildProcess> Start(ChildOptions options) {
  auto child = ChildProcess::Start(options);
  EXPECT_THAT(child, testing::IsOk());
  return *std::move(child);
}

std::unique_ptr<ChildProcess> Shell(const std::string& script) { return Start({.command = {"sh", "-c", script}}); }

bool IsGone(pid_t pid) { return kill(pid, 0) != 0; }

TEST(ChildProcessTest, ExitCodeIsTheProgramsOwn) {
  const auto child = Shell("exit 7");
  EXPECT_EQ(child->Wait(Soon()), 7);
  EXPECT_EQ(child->Wait(absl::InfinitePast()), 7);  // again, from memory
  child->Signal(SIGKILL);                           // reaches nobody
}

TEST(ChildProcessTest, ASignalsEndIs128AndItsNumber) {
  const auto child = Start({.command = {"sleep", "1000"}});
  EXPECT_EQ(child->Wait(absl::Now()), std::nullopt);
  child->Signal(SIGTERM);
  EXPECT_EQ(child->Wait(Soon()), 128 + SIGTERM);
}

TEST(ChildProcessTest, DestroyedChildrenAreKilledAndReaped) {
  auto child = Start({.command = {"sleep", "1000"}});
  const pid_t pid = child->pid();
  EXPECT_FALSE(IsGone(pid));
  child.reset();
  EXPECT_TRUE(IsGone(pid));
}

TEST(ChildProcessTest, WhatCannotStartIsSaidByName) {
  EXPECT_THAT(ChildProcess::Start({.command = {"cohort-no-such-program"}}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("'cohort-no-such-program'")));
  EXPECT_THAT(ChildProcess::Start({.command = {"/nowhere/program"}}), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(ChildProcess::Start({.command = {}}), StatusIs(absl::StatusCode::kInvalidArgument));
  const TempDir dir;
  std::ofstream(dir.File("plain")) << "no program";
  EXPECT_THAT(ChildProcess::Start({.command = {dir.File("plain")}}),
              StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("plain")));
}

TEST(ChildProcessTest, EnvironmentIsThisProcesssWithTheChanges) {
  const TempDir dir;
  setenv("COHORT_TEST_KEPT", "kept", 1);
  setenv("COHORT_TEST_CHANGED", "old", 1);
  const auto child = Start({.command = {"sh", "-c", "echo $COHORT_TEST_KEPT $COHORT_TEST_CHANGED $COHORT_TEST_NEW"},
                            .environment = {{"COHORT_TEST_CHANGED", "new value"}, {"COHORT_TEST_NEW", "a=b"}},
                            .output_file = dir.File("out")});
  EXPECT_EQ(child->Wait(Soon()), 0);
  EXPECT_EQ(ContentsOf(dir.File("out")), "kept new value a=b\n");
  EXPECT_STREQ(getenv("COHORT_TEST_CHANGED"), "old");
}

TEST(ChildProcessTest, BothOutputsGoToTheFile) {
  const TempDir dir;
  std::ofstream(dir.File("out")) << "what an earlier one left behind";
  const auto child = Start({.command = {"sh", "-c", "echo one; echo two >&2"}, .output_file = dir.File("out")});
  EXPECT_EQ(child->Wait(Soon()), 0);
  EXPECT_EQ(ContentsOf(dir.File("out")), "one\ntwo\n");
}

TEST(ChildProcessTest, OwnGroupIsOwn) {
  const auto own = Start({.command = {"sleep", "1000"}, .own_group = true});
  EXPECT_EQ(getpgid(own->pid()), own->pid());
  const auto shared = Start({.command = {"sleep", "1000"}});
  EXPECT_EQ(getpgid(shared->pid()), getpgrp());
}

TEST(ChildProcessTest, ShutdownSignalsReachAChildOfAProcessThatBlocksThem) {
  sigset_t term, before;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  sigprocmask(SIG_BLOCK, &term, &before);
  const auto child = Start({.command = {"sleep", "1000"}});
  sigprocmask(SIG_SETMASK, &before, nullptr);
  child->Signal(SIGTERM);
  EXPECT_EQ(child->Wait(Soon()), 128 + SIGTERM);
}

TEST(ChildProcessTest, NoDescriptorOfThisProcessIsInherited) {
  const TempDir dir;
  const auto first = Start({.command = {"sleep", "1000"}});
  const auto child = Start({.command = {"sh", "-c", "ls /proc/self/fd | wc -l"}, .output_file = dir.File("out")});
  EXPECT_EQ(child->Wait(Soon()), 0);
  // 0, 1, 2, and the folder that ls reads; no pidfd, no pipe.
  EXPECT_LE(atoi(ContentsOf(dir.File("out")).c_str()), 5);
}

TEST(FindProgramTest, LooksBesideThisProgramAndSaysWhere) {
  EXPECT_THAT(FindProgram("worker/no-such-program"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("cohort-no-such-program")));
  char self[4096];
  const std::string own(self, readlink("/proc/self/exe", self, sizeof(self)));
  const std::string name = own.substr(own.rfind('/') + 1);
  COHORT_ASSERT_OK_AND_ASSIGN(const std::string found, FindProgram("worker/" + name));
  struct stat a, b;
  ASSERT_EQ(stat(found.c_str(), &a), 0);
  ASSERT_EQ(stat(own.c_str(), &b), 0);
  EXPECT_EQ(a.st_ino, b.st_ino);
}

}  // namespace
}  // namespace cohort
