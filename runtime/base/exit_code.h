#ifndef COHORT_RUNTIME_BASE_EXIT_CODE_H_
#define COHORT_RUNTIME_BASE_EXIT_CODE_H_

#include "absl/status/status.h"

namespace cohort {

// How our programs end. 128 and above mean "restart me", as the ExitCode policy of TFJob has it.
enum ExitCode : int {
  kExitOk = 0,             // the job is done; shutdown; SIGTERM while idle
  kExitJobFailed = 1,      // by its own fault, or a bug of ours
  kExitUsage = 2,          // flags, TF_CONFIG, a missing file, an address in use: a restart will not help
  kExitInterrupted = 130,  // a client, by Ctrl-C
  kExitRetry = 138,        // a peer is lost, the start-up wait is over, the cluster cannot be reached
  kExitTerminated = 143,   // SIGTERM while a job ran, to this process or another one of the job
};

// The code of a program that ended with `status` before it had a job: reading flags, files and TF_CONFIG, binding,
// waiting for the cluster.
//   OK                                                                                               0
//   InvalidArgument, NotFound, AlreadyExists (an address in use), FailedPrecondition, OutOfRange,
//   PermissionDenied, Unauthenticated, Unimplemented                                                 2
//   Unavailable, DeadlineExceeded, Aborted                                                           138
//   Cancelled                                                                                        130
//   Internal, Unknown, ResourceExhausted, DataLoss                                                   1
ExitCode ExitCodeOf(const absl::Status& status);

// The same for the end of an admitted job: what was wrong with it is its own fault (1 instead of 2), and so is a
// cancelled job (1: a restart must not bring it back). A job that stopped because one of its tasks got SIGTERM ends
// all of its processes as that one ends (143). A client that saw Ctrl-C exits with kExitInterrupted without
// asking.
ExitCode JobExitCodeOf(const absl::Status& status);

}  // namespace cohort

#endif  // COHORT_RUNTIME_BASE_EXIT_CODE_H_
