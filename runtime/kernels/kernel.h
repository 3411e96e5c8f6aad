#ifndef COHORT_RUNTIME_KERNELS_KERNEL_H_
#define COHORT_RUNTIME_KERNELS_KERNEL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/base/mutex.h"
#include "runtime/tensor/attributes.h"
#include "runtime/tensor/host_span.h"
#include "runtime/tensor/tensor.h"
#include "runtime/tensor/tensor_spec.h"

namespace cohort {

// The first error that a kernel meets while it runs (a label out of range). Safe from any thread.
class KernelErrors {
 public:
  void Report(absl::Status status);
  bool ok() const { return !failed_.load(std::memory_order_acquire); }
  absl::Status Take();  // the first error, ok if there was none; none is left

 private:
  std::atomic<bool> failed_{false};
  Mutex mu_;
  absl::Status status_ ABSL_GUARDED_BY(mu_);
};

// The replicas that a kernel reduces over. Rules and errors are a Communicator's, which stands behind it.
class ReplicaGroup {
 public:
  virtual ~ReplicaGroup() = default;
  // In place; all replicas end with identical bytes. `name`: of the node.
  virtual absl::Status AllReduce(HostSpan buffer, ReduceOp op, absl::string_view name) = 0;
};

// What changes from step to step and is the same for all kernels of a step.
struct KernelRun {
  void* const* table = nullptr;  // memory of every value; batches and swapped variables change only this
  int64_t step = 0;
  int replica_id = 0;
  ReplicaGroup* group = nullptr;  // null: a group of one
  KernelErrors* errors = nullptr;
};

// One kernel call, made with the plan and never changed: a function, where its operands' addresses stand in the table,
// and its own parameters.
struct Launch {
  using Function = void (*)(const Launch& launch, const KernelRun& run, int64_t tile);

  Function function = nullptr;
  const void* params = nullptr;     // what the kernel's Prepare made; lives in the plan
  const int32_t* inputs = nullptr;  // places in the table
  const int32_t* outputs = nullptr;
  int32_t scratch = -1;
  int32_t tiles = 1;  // may run at the same time; the next launch waits for all

  template <typename T>
  const T* In(const KernelRun& run, int i) const {
    return static_cast<const T*>(run.table[inputs[i]]);
  }
  template <typename T>
  T* Out(const KernelRun& run, int i) const {
    return static_cast<T*>(run.table[outputs[i]]);
  }
  template <typename T>
  T* Scratch(const KernelRun& run) const {
    return static_cast<T*>(run.table[scratch]);
  }
};

// An operation to be prepared: all shapes are defined.
struct KernelRequest {
  absl::string_view op;
  absl::string_view name;  // of the node, for messages and collectives; outlives the plan
  const Attributes& attributes;
  absl::Span<const TensorSpec> inputs;
  absl::Span<const TensorSpec> outputs;
  absl::Span<const Tensor> constants;  // per input: its value if it is a Const, else a Tensor without value
};

// What one operation becomes: one or more phases, run one after the other, each cut into tiles by shape alone.
struct PreparedKernel {
  struct Phase {
    Launch::Function function;
    int64_t tiles = 1;  // 0: nothing to do
  };
  absl::InlinedVector<Phase, 2> phases;
  std::shared_ptr<const void> params;
  size_t scratch_bytes = 0;  // needed while the phases run
};

// One row of a kernel table: an op for one dtype, that of the op's first input, or of its first output if it has none.
struct Kernel {
  absl::string_view op;
  DType dtype = DType::kInvalid;  // kInvalid: any
  // InvalidArgument: attributes that this kernel does not know.
  absl::StatusOr<PreparedKernel> (*prepare)(const KernelRequest& request) = nullptr;
};

// The row for the op, null if there is none.
const Kernel* FindKernel(absl::string_view op, DType dtype);
// Finds and prepares. Internal names the node, op and dtype that have no kernel.
absl::StatusOr<PreparedKernel> PrepareKernel(const KernelRequest& request);

// Every row, and the ops that need none because the plan itself carries them out (aliases, variables, gradients).
std::vector<Kernel> AllKernels();
absl::Span<const absl::string_view> PlanOps();

}  // namespace cohort

#endif  // COHORT_RUNTIME_KERNELS_KERNEL_H_
