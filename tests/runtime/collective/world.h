#ifndef COHORT_TESTS_RUNTIME_COLLECTIVE_WORLD_H_
#define COHORT_TESTS_RUNTIME_COLLECTIVE_WORLD_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "runtime/collective/collectives.h"
#include "runtime/collective/exchange_options.h"
#include "runtime/rpc/server.h"

namespace cohort::testing {

enum class Backend { kInProcess, kGrpc };

inline const char* BackendName(Backend backend) { return backend == Backend::kGrpc ? "Grpc" : "InProcess"; }

// One group of ranks, each a thread of this process; over gRPC each has a server of its own on loopback.
class World {
 public:
  World(Backend backend, int size, const ExchangeOptions& options = {});
  ~World();

  int size() const { return static_cast<int>(comms_.size()); }
  Communicator& comm(int rank) { return *comms_[rank]; }
  void Destroy(int rank) { comms_[rank].reset(); }

  // Runs `body` once for each rank (or those given), each on its own thread, and waits for all.
  void Run(const std::function<void(Communicator&)>& body);
  void RunOn(const std::vector<int>& ranks, const std::function<void(Communicator&)>& body);

 private:
  struct Task;
  std::vector<std::unique_ptr<Task>> tasks_;
  std::unique_ptr<Collectives> shared_;
  std::vector<std::unique_ptr<Communicator>> comms_;  // gone before what made them
};

// "worker:RANK", in the group of session 1, epoch 1.
GroupMember Worker(int index);

inline CollectiveContext Call(absl::string_view name, absl::Duration timeout = absl::Seconds(20), int64_t step = 1) {
  return {name, step, absl::Now() + timeout};
}

template <typename T>
HostSpan Span(std::vector<T>& values);

}  // namespace cohort::testing

#include "runtime/tensor/element_type.h"

template <typename T>
cohort::HostSpan cohort::testing::Span(std::vector<T>& values) {
  return {values.data(), static_cast<int64_t>(values.size()), kDTypeOf<T>};
}

#endif  // COHORT_TESTS_RUNTIME_COLLECTIVE_WORLD_H_
