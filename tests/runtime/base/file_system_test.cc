#include "runtime/base/file_system.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>

#include "tests/testing/status_matchers.h"
#include "tests/testing/temp_dir.h"

namespace cohort {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsOkAndHolds;
using testing::StatusIs;
using testing::TempDir;

void WriteFile(FileSystem& files, const std::string& path, const std::string& bytes) {
  COHORT_ASSERT_OK_AND_ASSIGN(const auto file, files.OpenForWrite(path));
  COHORT_ASSERT_OK(file->Append(bytes));
  COHORT_ASSERT_OK(file->Sync());
  COHORT_ASSERT_OK(file->Close());
}

// What every FileSystem does, on an empty folder of its own.
struct Backend {
  std::string name;
  std::unique_ptr<FileSystem> (*make)(const std::string& folder);
};

std::unique_ptr<FileSystem> MakePlain(const std::string&) { return *MakePosixFileSystem(""); }
std::unique_ptr<FileSystem> MakeRooted(const std::string& folder) { return *MakePosixFileSystem(folder); }

class FileSystemContractTest : public ::testing::TestWithParam<Backend> {
 protected:
  std::string File(const std::string& name) const { return dir_.File(name); }
  TempDir dir_;
  const std::unique_ptr<FileSystem> files_ = GetParam().make(dir_.path());
};

TEST_P(FileSystemContractTest, ReadsWhatWasWritten) {
  for (const std::string& bytes : {std::string(), std::string("a\0b\n", 4), std::string(100000, 'x')}) {
    WriteFile(*files_, File("f"), bytes);
    EXPECT_THAT(files_->ReadFile(File("f")), IsOkAndHolds(bytes));
    EXPECT_THAT(files_->Size(File("f")), IsOkAndHolds(static_cast<int64_t>(bytes.size())));
  }
}

TEST_P(FileSystemContractTest, ReadsAtAnyPlace) {
  WriteFile(*files_, File("f"), "0123456789");
  COHORT_ASSERT_OK_AND_ASSIGN(const auto file, files_->OpenForRead(File("f")));
  EXPECT_THAT(file->Size(), IsOkAndHolds(10));
  char bytes[8] = {};
  EXPECT_THAT(file->ReadAt(3, bytes, 4), IsOkAndHolds(4u));
  EXPECT_EQ(std::string(bytes, 4), "3456");
  EXPECT_THAT(file->ReadAt(7, bytes, 8), IsOkAndHolds(3u));
  EXPECT_EQ(std::string(bytes, 3), "789");
  EXPECT_THAT(file->ReadAt(20, bytes, 8), IsOkAndHolds(0u));
  EXPECT_THAT(files_->OpenForRead(File("g")), StatusIs(absl::StatusCode::kNotFound, HasSubstr("g")));
  COHORT_ASSERT_OK(files_->CreateDir(File("d")));
  EXPECT_THAT(files_->OpenForRead(File("d")), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("d")));
}

TEST_P(FileSystemContractTest, AppendGoesOnAtTheEnd) {
  for (const char* bytes : {"ab", "cd"}) {
    COHORT_ASSERT_OK_AND_ASSIGN(const auto file, files_->OpenForAppend(File("f")));
    COHORT_ASSERT_OK(file->Append(bytes));
  }
  EXPECT_THAT(files_->ReadFile(File("f")), IsOkAndHolds("abcd"));
}

TEST_P(FileSystemContractTest, RenameReplaces) {
  WriteFile(*files_, File("old"), "old");
  WriteFile(*files_, File("new"), "new");
  COHORT_ASSERT_OK(files_->Rename(File("new"), File("old")));
  EXPECT_THAT(files_->ReadFile(File("old")), IsOkAndHolds("new"));
  EXPECT_THAT(files_->Exists(File("new")), IsOkAndHolds(false));
}

TEST_P(FileSystemContractTest, WriteFileAtomicallyLeavesNothingElse) {
  COHORT_ASSERT_OK(WriteFileAtomically(*files_, File("state"), "1"));
  COHORT_ASSERT_OK(WriteFileAtomically(*files_, File("state"), "2"));
  EXPECT_THAT(files_->ReadFile(File("state")), IsOkAndHolds("2"));
  EXPECT_THAT(files_->List(dir_.path()), IsOkAndHolds(ElementsAre("state")));
}

TEST_P(FileSystemContractTest, FoldersAreMadeWithThoseAboveAndListedInOrder) {
  COHORT_ASSERT_OK(files_->CreateDir(File("a/b")));
  COHORT_ASSERT_OK(files_->CreateDir(File("a/b")));
  WriteFile(*files_, File("a/z"), "");
  WriteFile(*files_, File("a/c"), "");
  EXPECT_THAT(files_->List(File("a")), IsOkAndHolds(ElementsAre("b", "c", "z")));
}

TEST_P(FileSystemContractTest, DeleteTakesFilesAndEmptyFolders) {
  COHORT_ASSERT_OK(files_->CreateDir(File("a")));
  WriteFile(*files_, File("a/f"), "x");
  EXPECT_THAT(files_->Delete(File("a")), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("not empty")));
  COHORT_ASSERT_OK(files_->Delete(File("a/f")));
  COHORT_ASSERT_OK(files_->Delete(File("a")));
  EXPECT_THAT(files_->Exists(File("a")), IsOkAndHolds(false));
}

TEST_P(FileSystemContractTest, ErrorsNamePathAndReason) {
  const auto not_found = StatusIs(absl::StatusCode::kNotFound, AllOf(HasSubstr(File("no")), HasSubstr("No such file")));
  EXPECT_THAT(files_->ReadFile(File("no")), not_found);
  EXPECT_THAT(files_->Size(File("no")), not_found);
  EXPECT_THAT(files_->List(File("no")), not_found);
  EXPECT_THAT(files_->Delete(File("no")), not_found);
  EXPECT_THAT(files_->Rename(File("no"), File("x")), not_found);
  EXPECT_THAT(files_->OpenForWrite(File("no/f")).status(), not_found);
  EXPECT_THAT(files_->ReadFile(dir_.path()), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(files_->OpenForWrite(dir_.path()).status(), StatusIs(absl::StatusCode::kFailedPrecondition));
  WriteFile(*files_, File("f"), "");
  EXPECT_THAT(files_->CreateDir(File("f")), ::testing::Not(testing::IsOk()));
  EXPECT_THAT(files_->ReadFile(""), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(files_->ReadFile(std::string("a\0b", 3)), StatusIs(absl::StatusCode::kInvalidArgument));
}

INSTANTIATE_TEST_SUITE_P(All, FileSystemContractTest,
                         ::testing::Values(Backend{"Posix", MakePlain}, Backend{"PosixWithRoot", MakeRooted}),
                         [](const auto& backend) { return backend.param.name; });

// A root beside a folder that must stay out of reach, whose name starts like the root's.
class DataRootTest : public ::testing::Test {
 protected:
  void SetUp() override {
    COHORT_ASSERT_OK_AND_ASSIGN(outer_, MakePosixFileSystem(""));
    COHORT_ASSERT_OK(outer_->CreateDir(dir_.File("data")));
    COHORT_ASSERT_OK(outer_->CreateDir(dir_.File("database")));
    WriteFile(*outer_, dir_.File("database/secret"), "secret");
    COHORT_ASSERT_OK_AND_ASSIGN(files_, MakePosixFileSystem(dir_.File("data")));
  }

  TempDir dir_;
  std::unique_ptr<FileSystem> outer_;
  std::unique_ptr<FileSystem> files_;
};

TEST_F(DataRootTest, RelativePathsStartAtTheRoot) {
  WriteFile(*files_, "f", "inside");
  EXPECT_THAT(outer_->ReadFile(dir_.File("data/f")), IsOkAndHolds("inside"));
  EXPECT_THAT(files_->ReadFile("./x/../f"), IsOkAndHolds("inside"));
  COHORT_EXPECT_OK(files_->Rename("f", "g"));
  EXPECT_THAT(files_->List("."), IsOkAndHolds(ElementsAre("g")));
}

TEST_F(DataRootTest, PathsOutsideAreRefused) {
  const auto refused = StatusIs(absl::StatusCode::kPermissionDenied, HasSubstr("outside the data root"));
  for (const std::string& path : {dir_.File("database/secret"), std::string("../database/secret"),
                                  std::string("/etc/passwd"), dir_.File("data/../database/secret")}) {
    EXPECT_THAT(files_->ReadFile(path), refused) << path;
    EXPECT_THAT(files_->Exists(path), refused) << path;
    EXPECT_THAT(files_->OpenForWrite(path).status(), refused) << path;
    EXPECT_THAT(files_->Delete(path), refused) << path;
    EXPECT_THAT(files_->Rename("f", path), refused) << path;
    EXPECT_THAT(files_->CreateDir(path), refused) << path;
  }
  EXPECT_THAT(outer_->ReadFile(dir_.File("database/secret")), IsOkAndHolds("secret"));
}

TEST_F(DataRootTest, LinksDoNotLeadOut) {
  ASSERT_EQ(symlink("../database", dir_.File("data/folder").c_str()), 0);
  ASSERT_EQ(symlink("../database/new", dir_.File("data/nowhere").c_str()), 0);
  EXPECT_THAT(files_->ReadFile("folder/secret"), StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_THAT(files_->OpenForWrite("folder/new").status(), StatusIs(absl::StatusCode::kPermissionDenied));
  EXPECT_THAT(files_->OpenForWrite("nowhere").status(), ::testing::Not(testing::IsOk()));
  EXPECT_THAT(outer_->Exists(dir_.File("database/new")), IsOkAndHolds(false));
  // A link itself is inside: it can go, and what it leads to stays.
  COHORT_EXPECT_OK(files_->Delete("folder"));
  EXPECT_THAT(outer_->ReadFile(dir_.File("database/secret")), IsOkAndHolds("secret"));
}

TEST_F(DataRootTest, LinksInsideAreFollowed) {
  WriteFile(*files_, "f", "inside");
  ASSERT_EQ(symlink("f", dir_.File("data/link").c_str()), 0);
  EXPECT_THAT(files_->ReadFile("link"), IsOkAndHolds("inside"));
}

TEST_F(DataRootTest, ARootThatIsNoFolderIsNotFound) {
  EXPECT_THAT(MakePosixFileSystem(dir_.File("no")).status(), StatusIs(absl::StatusCode::kNotFound, HasSubstr("no")));
  EXPECT_THAT(MakePosixFileSystem(dir_.File("database/secret")).status(), StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace cohort
