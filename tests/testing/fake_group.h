#ifndef COHORT_TESTS_TESTING_FAKE_GROUP_H_
#define COHORT_TESTS_TESTING_FAKE_GROUP_H_

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/mutex.h"
#include "runtime/collective/communicator.h"

namespace cohort::testing {

// Ranks in one process that meet in a mutex: the plainest group that keeps Communicator's contract for float32 and
// float64 sums, barriers and broadcasts. Records what is asked of it; can be made to fail at a call.
class FakeGroup {
 public:
  explicit FakeGroup(int world) : world_(world), seq_(world, 0) {}

  // One thread at a time each; lives no longer than the group.
  std::unique_ptr<Communicator> Endpoint(int rank) { return std::make_unique<Rank>(*this, rank); }

  // Every rank's `seq`-th call (from 1) gives `status`.
  void FailAt(int64_t seq, absl::Status status) {
    MutexLock lock(&mu_);
    fail_at_ = seq;
    failure_ = std::move(status);
  }
  // "grads/0", "header", ...: the names of rank 0's calls.
  std::vector<std::string> Names() const {
    MutexLock lock(&mu_);
    return names_;
  }

 private:
  struct Call {
    std::vector<const void*> inputs;
    std::vector<char> result;
    int arrived = 0, left = 0;
  };

  class Rank final : public Communicator {
   public:
    Rank(FakeGroup& group, int rank) : group_(group), rank_(rank) {}
    absl::Status AllReduce(HostSpan buffer, ReduceOp, const CollectiveContext& context) override {
      return group_.Meet(rank_, buffer, /*root=*/-1, context);
    }
    absl::Status Broadcast(HostSpan buffer, int root, const CollectiveContext& context) override {
      return group_.Meet(rank_, buffer, root, context);
    }
    absl::Status AllGather(HostSpan, HostSpan, const CollectiveContext&) override {
      return absl::UnimplementedError("the fake group gathers nothing");
    }
    absl::Status Barrier(const CollectiveContext& context) override { return group_.Meet(rank_, {}, -1, context); }
    void Abort(absl::Status reason) override { group_.FailAt(1, std::move(reason)); }
    int rank() const override { return rank_; }
    int world_size() const override { return group_.world_; }
    int64_t bytes_sent() const override { return 0; }

   private:
    FakeGroup& group_;
    const int rank_;
  };

  template <typename T>
  static void Fold(const Call& call, int64_t count, T* sum) {
    for (const void* input : call.inputs) {
      for (int64_t i = 0; i < count; ++i) sum[i] += static_cast<const T*>(input)[i];
    }
  }

  absl::Status Meet(int rank, HostSpan buffer, int root, const CollectiveContext& context) {
    MutexLock lock(&mu_);
    const int64_t seq = ++seq_[rank];
    if (rank == 0) names_.emplace_back(context.name);
    if (fail_at_ > 0 && seq >= fail_at_) return failure_;
    Call& call = calls_[seq];
    call.inputs.resize(world_);
    call.inputs[rank] = buffer.data;
    if (++call.arrived == world_) {  // the last one folds, in rank order
      call.result.assign(buffer.bytes(), 0);
      if (root >= 0) {
        std::memcpy(call.result.data(), call.inputs[root], buffer.bytes());
      } else if (buffer.dtype == DType::kF32) {
        Fold(call, buffer.count, reinterpret_cast<float*>(call.result.data()));
      } else {
        Fold(call, buffer.count, reinterpret_cast<double*>(call.result.data()));
      }
    }
    const auto complete = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return call.arrived == world_; };
    if (!mu_.AwaitWithDeadline(complete, context.deadline)) {
      return absl::DeadlineExceededError(absl::StrCat("'", context.name, "': ", call.arrived, " of ", world_));
    }
    if (buffer.bytes() > 0) std::memcpy(buffer.data, call.result.data(), buffer.bytes());
    if (++call.left == world_) calls_.erase(seq);
    return absl::OkStatus();
  }

  const int world_;
  mutable Mutex mu_;
  std::vector<int64_t> seq_ ABSL_GUARDED_BY(mu_);
  std::map<int64_t, Call> calls_ ABSL_GUARDED_BY(mu_);
  std::vector<std::string> names_ ABSL_GUARDED_BY(mu_);
  int64_t fail_at_ ABSL_GUARDED_BY(mu_) = 0;
  absl::Status failure_ ABSL_GUARDED_BY(mu_);
};

}  // namespace cohort::testing

#endif  // COHORT_TESTS_TESTING_FAKE_GROUP_H_
