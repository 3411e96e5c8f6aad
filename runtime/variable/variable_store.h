#ifndef COHORT_RUNTIME_VARIABLE_VARIABLE_STORE_H_
#define COHORT_RUNTIME_VARIABLE_VARIABLE_STORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "runtime/base/mutex.h"
#include "runtime/checkpoint/variable_key.h"
#include "runtime/tensor/tensor.h"

namespace cohort {

// One variable in host memory. Readers take snapshots; the one writer (a step's commit, or the ps shard under `mu`)
// writes in place, unless a snapshot is out: then into a second buffer, which becomes the value.
class Variable {
 public:
  Variable(VariableKey key, TensorSpec spec, bool trainable);

  const VariableKey& key() const { return key_; }
  const TensorSpec& spec() const { return spec_; }
  bool trainable() const { return trainable_; }
  bool initialized() const;

  // An immutable value; never changes afterwards, whatever is written. FailedPrecondition before the first write.
  absl::StatusOr<Tensor> Snapshot() const;
  // Raised by every write.
  int64_t version() const;

  // Replaces the value. InvalidArgument names both specs.
  absl::Status Assign(const Tensor& value);

  // For the writer: memory to update in place. If a snapshot is out the value is copied into a second buffer first.
  // Until EndWrite no snapshot can be taken (it waits).
  void* BeginWrite() ABSL_EXCLUSIVE_LOCK_FUNCTION(mu_);
  void EndWrite() ABSL_UNLOCK_FUNCTION(mu_);

  // For the writer's own reads (compute phase of the same thread that commits): the current memory. Changes only
  // between BeginWrite and EndWrite, or by Assign.
  const void* data() const;

 private:
  const VariableKey key_;
  const TensorSpec spec_;
  const bool trainable_;
  mutable Mutex mu_;
  // Guarded by mu_, but for the writer's own reads through data().
  Tensor value_;
  Tensor spare_;  // the value before the last swap: taken again once its snapshots are gone
  int64_t version_ = 0;
};

// The variables that one session has on one task. Pointers stay valid as long as the store. Safe from any thread.
class VariableStore {
 public:
  // AlreadyExists if the key is taken with another spec; returns the present one if the spec is the same.
  absl::StatusOr<Variable*> Create(VariableKey key, TensorSpec spec, bool trainable);
  // NotFound names the key.
  absl::StatusOr<Variable*> Find(const VariableKey& key) const;
  // All, ascending by key.
  std::vector<Variable*> List() const;

  // CRC-32C over the variables without slots, as 8 hex digits (see runtime/checkpoint/checksum.h for the bytes).
  absl::StatusOr<std::string> WeightsCrc32c() const;
  absl::StatusOr<std::string> StateCrc32c(int64_t global_step) const;

 private:
  mutable Mutex mu_;
  absl::flat_hash_map<std::string, std::unique_ptr<Variable>> variables_ ABSL_GUARDED_BY(mu_);
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_VARIABLE_VARIABLE_STORE_H_
