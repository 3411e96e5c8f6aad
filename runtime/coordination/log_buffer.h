#ifndef COHORT_RUNTIME_COORDINATION_LOG_BUFFER_H_
#define COHORT_RUNTIME_COORDINATION_LOG_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/mutex.h"
#include "runtime/coordination/callback_queue.h"

namespace cohort {

struct LogLine {
  int64_t seq = 0;  // from 1
  int64_t job = 0;  // 0: the cluster's own
  std::string text;
};

struct LogChunk {
  std::vector<LogLine> lines;
  int64_t next_seq = 1;  // where to read on
  int64_t dropped = 0;   // lines from the asked one on that were overwritten before they were read
  bool closed = false;   // nothing more will come after next_seq
};

// The last lines of the cluster's log, for any number of readers, each with its own cursor. Safe from any thread.
class LogBuffer {
 public:
  explicit LogBuffer(size_t capacity = 10000) : capacity_(capacity) {}

  // Answers the line's number. Callbacks of NotifyAt run in the appender's thread. Ignored (0) after Close.
  int64_t Append(std::string text, int64_t job = 0);

  // Up to `max_lines` lines from number `from_seq` (1: the oldest there is), only those of `job` unless that is 0.
  LogChunk Read(int64_t from_seq, int max_lines, int64_t job = 0) const;

  // The number that the next line will have: from here a follower sees only what is new.
  int64_t next_seq() const;

  // Calls `ready` once, as soon as there is a line with this number or a higher one, or the buffer is closed. It must
  // neither block nor log: its thread may hold the log's lock. Answers an id for CancelNotify.
  int64_t NotifyAt(int64_t seq, std::function<void()> ready);
  void CancelNotify(int64_t id);

  // No more lines; wakes everybody.
  void Close();

 private:
  struct Waiter {
    int64_t seq;
    std::function<void()> ready;
  };

  void Wake() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const size_t capacity_;
  CallbackQueue callbacks_;
  mutable Mutex mu_;
  std::deque<LogLine> lines_ ABSL_GUARDED_BY(mu_);
  int64_t next_seq_ ABSL_GUARDED_BY(mu_) = 1;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  std::map<int64_t, Waiter> waiters_ ABSL_GUARDED_BY(mu_);
  int64_t next_waiter_ ABSL_GUARDED_BY(mu_) = 1;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_COORDINATION_LOG_BUFFER_H_
