#ifndef COHORT_RUNTIME_RPC_ARGUMENTS_H_
#define COHORT_RUNTIME_RPC_ARGUMENTS_H_

#include <functional>

namespace cohort {

// What both ends of a connection must agree on, as gRPC's named integers: `set` is called with each.
//   messages of any size; statuses of up to 512 KiB (see status.h); writes gathered up to 8 MiB (measured: the best
//   rate for tensors); an idle or silent connection is probed after 10 s and given up after 10 more; windows do not
//   grow by measurement, which can stop a transfer.
void ForEachCommonArgument(const std::function<void(const char* name, int value)>& set);

}  // namespace cohort

#endif  // COHORT_RUNTIME_RPC_ARGUMENTS_H_
