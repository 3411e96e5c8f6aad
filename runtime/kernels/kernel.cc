#include "runtime/kernels/kernel.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status_macros.h"
#include "runtime/kernels/cpu/tables.h"

namespace cohort {
namespace {

// What the plan does by itself: aliases, values that stand in the table, and what happens in the commit.
constexpr absl::string_view kPlanOps[] = {
    "ApplyGradient", "AssignAddVariableOp", "AssignSubVariableOp", "AssignVariableOp", "Const",       "Identity",
    "NoOp",          "Placeholder",         "ReadVariableOp",      "Reshape",          "VarHandleOp",
};

constexpr absl::Span<const Kernel> (*kFamilies[])() = {
    cpu::ArrayKernels, cpu::ConvolutionKernels, cpu::ElementwiseKernels, cpu::MatMulKernels,
    cpu::NnKernels,    cpu::PoolingKernels,     cpu::ReductionKernels,   cpu::ReplicaKernels,
};

}  // namespace

void KernelErrors::Report(absl::Status status) {
  MutexLock lock(&mu_);
  if (status_.ok()) status_ = std::move(status);
  failed_.store(!status_.ok(), std::memory_order_release);
}

absl::Status KernelErrors::Take() {
  MutexLock lock(&mu_);
  failed_.store(false, std::memory_order_release);
  return std::exchange(status_, absl::OkStatus());
}

const Kernel* FindKernel(absl::string_view op, DType dtype) {
  for (const auto family : kFamilies) {
    for (const Kernel& kernel : family()) {
      if (kernel.op == op && (kernel.dtype == dtype || kernel.dtype == DType::kInvalid)) return &kernel;
    }
  }
  return nullptr;
}

absl::StatusOr<PreparedKernel> PrepareKernel(const KernelRequest& request) {
  DType dtype = DType::kInvalid;
  if (!request.inputs.empty()) {
    dtype = request.inputs[0].dtype;
  } else if (!request.outputs.empty()) {
    dtype = request.outputs[0].dtype;
  }
  const Kernel* kernel = FindKernel(request.op, dtype);
  if (kernel == nullptr) {
    return absl::InternalError(
        absl::StrCat("node '", request.name, "': no CPU kernel for ", request.op, " of ", DTypeName(dtype)));
  }
  COHORT_ASSIGN_OR_RETURN(PreparedKernel prepared, kernel->prepare(request),
                          _ << "node '" << request.name << "' (" << request.op << ")");
  return prepared;
}

std::vector<Kernel> AllKernels() {
  std::vector<Kernel> all;
  for (const auto family : kFamilies) {
    for (const Kernel& kernel : family()) all.push_back(kernel);
  }
  return all;
}

absl::Span<const absl::string_view> PlanOps() { return kPlanOps; }

}  // namespace cohort
