#include "client/cli/train.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "client/cli/message.h"
#include "client/cli/progress.h"
#include "client/cluster.h"
#include "client/models/training_program.h"
#include "runtime/base/exit_code.h"
#include "runtime/base/file_system.h"
#include "runtime/base/log.h"
#include "runtime/base/signals.h"
#include "runtime/base/status_macros.h"
#include "runtime/driver/job_result_json.h"
#include "runtime/remote/program_bytes.h"

namespace cohort {
namespace {

constexpr absl::Duration kControl = absl::Seconds(10);

// One JSON line for each step.
class LossesFile {
 public:
  static absl::StatusOr<std::unique_ptr<LossesFile>> Open(const std::string& path) {
    auto losses = std::make_unique<LossesFile>();
    if (path.empty()) return losses;
    COHORT_ASSIGN_OR_RETURN(losses->files_, MakePosixFileSystem(""));
    COHORT_ASSIGN_OR_RETURN(losses->file_, losses->files_->OpenForWrite(path));
    return losses;
  }

  absl::Status Write(const StepReport& report) {
    if (file_ == nullptr) return absl::OkStatus();
    std::string lines;
    int64_t step = report.step - static_cast<int64_t>(report.losses.size());
    for (const double loss : report.losses)
      absl::StrAppendFormat(&lines, "{\"step\":%d,\"loss\":%.17g}\n", ++step, loss);
    return file_->Append(lines);
  }

 private:
  std::unique_ptr<FileSystem> files_;
  std::unique_ptr<WritableFile> file_;
};

// Ctrl-C and SIGTERM while a job is followed: the first one cancels it, the next one ends this process at once.
class Interrupt {
 public:
  static absl::StatusOr<std::unique_ptr<Interrupt>> Watch(JobControl& control, int64_t job) {
    std::unique_ptr<Interrupt> interrupt(new Interrupt);
    COHORT_ASSIGN_OR_RETURN(interrupt->waiter_, SignalWaiter::Start([raw = interrupt.get(), &control, job](int) {
                              if (raw->seen_.exchange(true)) std::_Exit(kExitInterrupted);
                              absl::FPrintF(stderr, "\ncancelling job %d; once more to leave at once\n", job);
                              control.Cancel(job, absl::Now() + kControl).IgnoreError();
                            }));
    return interrupt;
  }
  bool seen() const { return seen_; }

 private:
  Interrupt() = default;
  std::atomic<bool> seen_ = false;
  std::unique_ptr<SignalWaiter> waiter_;
};

absl::Status FollowJob(JobControl& control, int64_t job, bool json, LossesFile& losses, JobResult& result) {
  // With --json standard output belongs to the result alone.
  std::FILE* const out = json ? stderr : stdout;
  Progress progress(out, isatty(fileno(out)) == 1);
  absl::Status written;
  const absl::Status status = control.Follow(job, /*from_now=*/false, [&](const JobEvent& event) {
    progress.Show(event);
    if (event.kind == JobEvent::Kind::kReport && written.ok()) written = losses.Write(event.report);
    if (event.kind == JobEvent::Kind::kEnd) result = event.result;
    return true;
  });
  COHORT_RETURN_IF_ERROR(status);
  return Annotate(written, "--losses");
}

int SubmitAndFollow(const Program& program, const ClusterFlags& cluster_flags, const FollowFlags& flags) {
  SetLogLevel(LogLevel::kWarn);  // of a cluster in this process: the progress line says the rest
  absl::StatusOr<std::unique_ptr<LossesFile>> losses = LossesFile::Open(flags.losses_file);
  if (!losses.ok()) return Fail(losses.status());
  if (flags.detach && cluster_flags.cluster.empty()) {
    return Fail(absl::InvalidArgumentError("--detach needs a cluster that goes on: give --cluster=HOST:PORT"));
  }
  absl::StatusOr<std::unique_ptr<Cluster>> cluster = Cluster::Connect(
      {.address = cluster_flags.cluster, .connect_timeout = cluster_flags.connect_timeout, .threads = flags.threads});
  if (!cluster.ok()) return Fail(cluster.status());
  JobControl& control = (*cluster)->control();
  const JobOptions options{.name = flags.name, .wait = flags.wait, .detach = flags.detach};
  const absl::StatusOr<int64_t> job = control.Submit(program, options, absl::Now() + kControl);
  if (!job.ok()) return Fail(job.status());
  if (flags.detach) {
    absl::PrintF(cluster_flags.json ? "{\"job\":%d}\n" : "job %d\n", *job);
    return kExitOk;
  }
  const absl::StatusOr<std::unique_ptr<Interrupt>> interrupt = Interrupt::Watch(control, *job);
  if (!interrupt.ok()) return Fail(interrupt.status());
  JobResult result;
  const absl::Status status = FollowJob(control, *job, cluster_flags.json, **losses, result);
  if ((*interrupt)->seen()) {
    if (!status.ok()) absl::FPrintF(stderr, "cohort: job %d: %s\n", *job, status.message());
    return kExitInterrupted;
  }
  if (!status.ok()) return FailJob(*job, status);
  absl::PrintF("%s", cluster_flags.json ? JobResultToJson(result) + "\n" : ResultTable(result));
  return kExitOk;
}

absl::Status Export(const Program& program, const std::string& path) {
  COHORT_ASSIGN_OR_RETURN(const std::unique_ptr<FileSystem> files, MakePosixFileSystem(""));
  return WriteFileAtomically(*files, path, SerializeProgram(program));
}

}  // namespace

absl::StatusOr<Program> ReadProgram(const std::string& path) {
  COHORT_ASSIGN_OR_RETURN(const std::unique_ptr<FileSystem> files, MakePosixFileSystem(""));
  COHORT_ASSIGN_OR_RETURN(const std::string bytes, files->ReadFile(path));
  COHORT_ASSIGN_OR_RETURN(Program program, ParseProgram(bytes), _ << "'" << path << "' is no program");
  return program;
}

int RunTrain(const TrainCommand& command) {
  const absl::StatusOr<Program> program = MakeTrainingProgram(command.options);
  if (!program.ok()) return Fail(program.status());
  if (!command.export_file.empty()) {
    const absl::Status written = Export(*program, command.export_file);
    return written.ok() ? kExitOk : Fail(written);
  }
  return SubmitAndFollow(*program, command.cluster, command.follow);
}

int RunProgramFile(const RunCommand& command) {
  const absl::StatusOr<Program> program = ReadProgram(command.file);
  if (!program.ok()) return Fail(program.status());
  return SubmitAndFollow(*program, command.cluster, command.follow);
}

}  // namespace cohort
