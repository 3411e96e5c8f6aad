#ifndef COHORT_RUNTIME_REMOTE_RUN_STREAM_H_
#define COHORT_RUNTIME_REMOTE_RUN_STREAM_H_

#include <functional>
#include <map>
#include <memory>

#include "proto/worker.grpc.pb.h"
#include "runtime/base/mutex.h"
#include "runtime/driver/worker_link.h"
#include "runtime/remote/calls.h"
#include "runtime/remote/message_stream.h"

namespace cohort {

// The runs of one session on one worker, over one stream, for its link. Safe from any thread.
class RunStream final : public PendingCall, public std::enable_shared_from_this<RunStream> {
 public:
  explicit RunStream(Calls& calls) : calls_(calls) {}

  // Once, first. `calls` and `stub` outlive the stream: it is one of the calls.
  void Open(wire::WorkerService::Stub& stub);

  // As WorkerLink::Run. Unavailable: the stream has ended.
  void Run(wire::RunRequest request, std::function<void(StepReport)> report, WorkerLink::Done<RunResult> done);

  bool ended() const;
  // The stream ends after the last answer.
  void Close();
  void Cancel() override;

 private:
  using Stream = MessageStream<wire::RunRequest, wire::RunResponse>;
  struct Pending {
    std::shared_ptr<const std::function<void(StepReport)>> report;
    WorkerLink::Done<RunResult> done;
  };

  void OnReceived(wire::RunResponse& response);
  absl::Status OnReport(const wire::RunResponse& response);
  void OnClosed(const grpc::Status& status);
  void Answer(int64_t run, absl::StatusOr<RunResult> result);

  Calls& calls_;
  mutable Mutex mu_;
  std::shared_ptr<Stream> stream_ ABSL_GUARDED_BY(mu_);  // null before Open and after the end
  bool cancelled_ ABSL_GUARDED_BY(mu_) = false;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  int64_t next_run_ ABSL_GUARDED_BY(mu_) = 1;
  std::map<int64_t, Pending> pending_ ABSL_GUARDED_BY(mu_);
  absl::Status error_;  // what was wrong with an answer; of gRPC's reactions
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_REMOTE_RUN_STREAM_H_
