#include "runtime/base/thread.h"

#include <pthread.h>

#include <cstdio>
#include <cstdlib>

namespace cohort {

Thread::Thread(std::string name, std::function<void()> body)
    : name_(std::move(name)), thread_([short_name = name_.substr(0, 15), body = std::move(body)] {
        pthread_setname_np(pthread_self(), short_name.c_str());
        body();
      }) {}

Thread::~Thread() {
  if (!thread_.joinable()) return;
  std::fprintf(stderr, "thread '%s' destroyed before it was joined\n", name_.c_str());
  std::abort();
}

Thread& Thread::operator=(Thread&& other) {
  if (thread_.joinable()) {
    std::fprintf(stderr, "thread '%s' replaced before it was joined\n", name_.c_str());
    std::abort();
  }
  name_ = std::move(other.name_);
  thread_ = std::move(other.thread_);
  return *this;
}

void Thread::Join() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace cohort
