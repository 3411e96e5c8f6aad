#ifndef COHORT_RUNTIME_DRIVER_WORKER_LINK_H_
#define COHORT_RUNTIME_DRIVER_WORKER_LINK_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/base/task_id.h"
#include "runtime/graph/program.h"

namespace cohort {

// A task as the roster has it.
struct TaskAddress {
  TaskId task;
  std::string address;       // host:port
  uint64_t incarnation = 0;  // a request for another life of the task is refused with Aborted
};

// What one session is on one worker: made once, before the first step.
struct SessionSpec {
  uint64_t session = 0;
  int64_t epoch = 0;
  Program program;                 // with the data sets of this worker (sharded by the driver)
  std::vector<TaskAddress> group;  // who reduces together, by rank; of this worker alone if it trains by itself
  int rank = 0;
  std::vector<TaskAddress> parameter_servers;  // by index; empty unless the variables live there
  absl::Duration collective_timeout = absl::Minutes(5);
};

struct OpenedSession {
  // Hash of the ordered list of collectives (name, op, dtype, shape) of each function; all ranks of a group must agree.
  uint64_t plan_hash = 0;
  std::string plan_text;          // that list, for the message when they do not
  int64_t batches_per_epoch = 0;  // of this worker's training data
};

// A run of steps of one function over one data set, executed without the driver; or, with kNone, over the feeds that it
// brings. Steps of kTrain and kNone are numbered together; those of kNone are not reported, their result is all.
struct RunSpec {
  std::string function;
  enum class Data { kNone, kTrain, kEvaluate } data = Data::kTrain;
  int64_t first_step = 1;    // of the session's step count; 1 for evaluation
  int64_t count = 0;         // steps, over as many epochs as they need; 0: until the data of the epoch ends
  int64_t epoch = 0;         // data-set epoch at which to start; the iterator goes on where it stood if it is the same
  int64_t report_every = 0;  // steps; 0: every half second. The end of a run is always reported
  std::vector<std::string> fetch;  // results of the last step to send back: meant for small ones (4 KB)
  std::vector<Tensor> feeds;       // kNone: values of the function's parameters, in order

  // With the bits of the feeds.
  friend bool operator==(const RunSpec& a, const RunSpec& b) {
    return std::tie(a.first_step, a.function, a.data, a.count, a.epoch, a.report_every, a.fetch) ==
               std::tie(b.first_step, b.function, b.data, b.count, b.epoch, b.report_every, b.fetch) &&
           std::equal(a.feeds.begin(), a.feeds.end(), b.feeds.begin(), b.feeds.end(),
                      [](const Tensor& x, const Tensor& y) { return x.BitwiseEquals(y); });
  }
};

// The sums of the step header over steps of a run. Loss of the run = loss_sum / examples.
struct StepSums {
  int64_t steps = 0;     // in the sums
  int64_t examples = 0;  // true counts, over all replicas of the group
  double loss_sum = 0;
  std::vector<double> metric_sums;  // in the order of the function's kMetricSum results
};

struct StepReport {
  int64_t step = 0;            // the last one finished
  StepSums sums;               // since the report before
  std::vector<double> losses;  // mean loss of each of those steps, in order
  double seconds = 0;          // since the report before, on the worker's clock
};

struct RunResult {
  int64_t last_step = 0;
  StepSums sums;             // of the whole run
  bool end_of_data = false;  // the epoch ended
  bool stopped = false;      // by RequestStop: all ranks after the same step
  bool leaving = false;      // this worker's own process was told to end, and wanted the stop
  std::vector<Tensor> fetched;
};

// What a worker says of itself at the end of a training.
struct WorkerSummary {
  TaskId task;
  std::string weights_crc32c;  // of the variables as it sees them: its own, or the parameter servers'
  std::string state_crc32c;    // empty if the variables live on parameter servers
  int64_t examples = 0;        // that this worker trained on, all steps together
  int64_t steps = 0;
  int64_t bytes_sent = 0;  // by collectives or to parameter servers
};

// The driver's hold on one worker. All calls return at once and report through `done`, from any thread, exactly once.
// A lost worker gives Unavailable with FirstCause naming it. Implemented over gRPC (runtime/remote) and in process.
class WorkerLink {
 public:
  template <typename T>
  using Done = std::function<void(absl::StatusOr<T>)>;

  virtual ~WorkerLink() = default;
  virtual const TaskAddress& task() const = 0;

  virtual void OpenSession(const SessionSpec& spec, absl::Time deadline, Done<OpenedSession> done) = 0;
  // First values: rank 0's are broadcast to the group (with parameter servers: made there, nothing to do here).
  virtual void InitializeVariables(uint64_t session, absl::Time deadline, Done<bool> done) = 0;
  // `report` may be called any number of times before `done`. A run has no deadline of its own: each of its waits has.
  virtual void Run(uint64_t session, const RunSpec& run, std::function<void(StepReport)> report,
                   Done<RunResult> done) = 0;
  // The group stops together after a step that this worker announces in its header. Returns once noted.
  virtual void RequestStop(uint64_t session, absl::Time deadline, Done<bool> done) = 0;
  virtual void Summarize(uint64_t session, absl::Time deadline, Done<WorkerSummary> done) = 0;
  // Ends what runs with `reason` and frees what the session holds. Ok if there is none.
  virtual void CloseSession(uint64_t session, absl::Status reason, absl::Time deadline, Done<bool> done) = 0;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_DRIVER_WORKER_LINK_H_
