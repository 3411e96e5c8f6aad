#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "runtime/base/status_macros.h"
#include "runtime/kernels/cpu/prepare.h"
#include "runtime/kernels/cpu/tables.h"

namespace cohort::cpu {
namespace {

// --- AllReduce: attribute reduction, "SUM", "MIN", "MAX" or "PROD"

struct AllReduceParams {
  int64_t count = 0;
  DType dtype = DType::kF32;
  ReduceOp op = ReduceOp::kSum;
  std::string name;
};

void RunAllReduce(const Launch& launch, const KernelRun& run, int64_t) {
  const auto& p = *static_cast<const AllReduceParams*>(launch.params);
  void* buffer = launch.Out<void>(run, 0);
  const HostSpan span{buffer, p.count, p.dtype};
  if (span.bytes() > 0) std::memcpy(buffer, launch.In<void>(run, 0), span.bytes());
  if (run.group == nullptr) return;
  absl::Status status = run.group->AllReduce(span, p.op, p.name);
  if (!status.ok()) run.errors->Report(Annotate(std::move(status), absl::StrCat("all-reduce '", p.name, "'")));
}

absl::StatusOr<ReduceOp> ParseReduction(const std::string& name) {
  if (name == "SUM") return ReduceOp::kSum;
  if (name == "MIN") return ReduceOp::kMin;
  if (name == "MAX") return ReduceOp::kMax;
  if (name == "PROD") return ReduceOp::kProd;
  return absl::InvalidArgumentError(absl::StrCat("reduction '", name, "' is none of SUM, MIN, MAX, PROD"));
}

absl::StatusOr<PreparedKernel> PrepareAllReduce(const KernelRequest& request) {
  AllReduceParams p;
  p.count = request.inputs[0].shape.num_elements();
  p.dtype = request.inputs[0].dtype;
  p.name = std::string(request.name);
  COHORT_ASSIGN_OR_RETURN(p.op, ParseReduction(GetAttributeOr(request.attributes, "reduction", std::string("SUM"))));
  return OnePhase(std::move(p), RunAllReduce, 1);  // empty ones too: all ranks make the same calls
}

// --- TestDelay: hands its input on after `seconds`, on replica `replica` (-1: all)

struct DelayParams {
  size_t bytes = 0;
  absl::Duration delay;
  int64_t replica = -1;
};

void RunTestDelay(const Launch& launch, const KernelRun& run, int64_t) {
  const auto& p = *static_cast<const DelayParams*>(launch.params);
  if (p.replica < 0 || p.replica == run.replica_id) absl::SleepFor(p.delay);
  if (p.bytes > 0) std::memcpy(launch.Out<void>(run, 0), launch.In<void>(run, 0), p.bytes);
}

absl::StatusOr<PreparedKernel> PrepareTestDelay(const KernelRequest& request) {
  DelayParams p;
  p.bytes = request.inputs[0].shape.num_elements() * DTypeSize(request.inputs[0].dtype);
  p.delay = absl::Seconds(GetAttributeOr(request.attributes, "seconds", 0.0));
  p.replica = GetAttributeOr<int64_t>(request.attributes, "replica", -1);
  return OnePhase(p, RunTestDelay, 1);
}

// --- ReplicaId

void RunReplicaId(const Launch& launch, const KernelRun& run, int64_t) {
  *launch.Out<int32_t>(run, 0) = run.replica_id;
}

absl::StatusOr<PreparedKernel> PrepareReplicaId(const KernelRequest&) { return OnePhase(0, RunReplicaId, 1); }

constexpr Kernel kKernels[] = {
    {"AllReduce", DType::kInvalid, PrepareAllReduce},
    {"TestDelay", DType::kInvalid, PrepareTestDelay},
    {"ReplicaId", DType::kInvalid, PrepareReplicaId},
};

}  // namespace

absl::Span<const Kernel> ReplicaKernels() { return kKernels; }

}  // namespace cohort::cpu
