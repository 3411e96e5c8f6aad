#include "runtime/remote/attend_stream.h"

#include <utility>

namespace cohort {

std::shared_ptr<AttendStream> AttendStream::Open(wire::MembershipService::Stub& stub, wire::AttendRequest first,
                                                 Events events) {
  auto stream = std::shared_ptr<AttendStream>(new AttendStream(std::move(events)));
  stream->self_ = stream;
  stub.async()->Attend(&stream->context_.emplace(), stream.get());
  stream->AddHold();  // writes come from outside of reactions; held until reading has failed
  stream->StartRead(&stream->response_);
  stream->Send(std::move(first));
  stream->StartCall();
  return stream;
}

void AttendStream::Send(wire::AttendRequest request) {
  MutexLock lock(&mu_);
  if (broken_) return;
  queue_.push_back(std::move(request));
  if (queue_.size() == 1) WriteNext();
}

bool AttendStream::idle() const {
  MutexLock lock(&mu_);
  return queue_.empty();
}

void AttendStream::Cancel() {
  MutexLock lock(&mu_);
  if (context_.has_value()) context_->TryCancel();
}

void AttendStream::WriteNext() { StartWrite(&queue_.front()); }

void AttendStream::OnWriteDone(bool ok) {
  MutexLock lock(&mu_);
  queue_.pop_front();
  if (!ok || broken_) {
    queue_.clear();
    return;
  }
  if (!queue_.empty()) WriteNext();
}

void AttendStream::OnReadDone(bool ok) {
  if (ok) {
    events_.received(std::move(response_));
    response_.Clear();
    StartRead(&response_);
    return;
  }
  {
    MutexLock lock(&mu_);
    broken_ = true;
  }
  RemoveHold();
}

void AttendStream::OnDone(const grpc::Status& status) {
  const std::shared_ptr<AttendStream> self = std::move(self_);
  {
    MutexLock lock(&mu_);
    context_.reset();
  }
  events_.closed(status);
}

}  // namespace cohort
