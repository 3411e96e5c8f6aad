#include "runtime/coordination/log_buffer.h"

#include <algorithm>

namespace cohort {

int64_t LogBuffer::Append(std::string text, int64_t job) {
  int64_t seq = 0;
  {
    MutexLock lock(&mu_);
    if (closed_) return 0;
    seq = next_seq_++;
    lines_.push_back({seq, job, std::move(text)});
    if (lines_.size() > capacity_) lines_.pop_front();
    Wake();
  }
  callbacks_.Run();
  return seq;
}

LogChunk LogBuffer::Read(int64_t from_seq, int max_lines, int64_t job) const {
  MutexLock lock(&mu_);
  LogChunk chunk;
  const int64_t first = next_seq_ - static_cast<int64_t>(lines_.size());
  const int64_t asked = std::max<int64_t>(from_seq, 1);
  chunk.next_seq = std::max(asked, first);
  chunk.dropped = chunk.next_seq - asked;
  while (chunk.next_seq < next_seq_ && static_cast<int>(chunk.lines.size()) < max_lines) {
    const LogLine& line = lines_[chunk.next_seq - first];
    if (job == 0 || line.job == job) chunk.lines.push_back(line);
    ++chunk.next_seq;
  }
  chunk.closed = closed_ && chunk.next_seq >= next_seq_;
  return chunk;
}

int64_t LogBuffer::next_seq() const {
  MutexLock lock(&mu_);
  return next_seq_;
}

int64_t LogBuffer::NotifyAt(int64_t seq, std::function<void()> ready) {
  int64_t id = 0;
  {
    MutexLock lock(&mu_);
    id = next_waiter_++;
    waiters_[id] = {seq, std::move(ready)};
    Wake();
  }
  callbacks_.Run();
  return id;
}

void LogBuffer::CancelNotify(int64_t id) {
  MutexLock lock(&mu_);
  waiters_.erase(id);
}

void LogBuffer::Wake() {
  for (auto it = waiters_.begin(); it != waiters_.end();) {
    if (!closed_ && it->second.seq >= next_seq_) {
      ++it;
      continue;
    }
    callbacks_.Post(std::move(it->second.ready));
    it = waiters_.erase(it);
  }
}

void LogBuffer::Close() {
  {
    MutexLock lock(&mu_);
    closed_ = true;
    Wake();
  }
  callbacks_.Run();
}

}  // namespace cohort
