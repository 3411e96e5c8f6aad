#ifndef COHORT_RUNTIME_BASE_THREAD_H_
#define COHORT_RUNTIME_BASE_THREAD_H_

#include <functional>
#include <string>
#include <thread>

namespace cohort {

// A thread with a name (the first 15 characters show in ps and gdb). Must be joined: destroying one that still runs is
// a bug of ours and aborts the process.
class Thread {
 public:
  Thread() = default;
  Thread(std::string name, std::function<void()> body);
  ~Thread();
  Thread(Thread&&) = default;
  Thread& operator=(Thread&& other);

  bool joinable() const { return thread_.joinable(); }
  void Join();  // once; nothing happens if there is no thread

 private:
  std::string name_;
  std::thread thread_;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_BASE_THREAD_H_
