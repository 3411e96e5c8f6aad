#ifndef COHORT_RUNTIME_DAEMON_DAEMON_FLAGS_H_
#define COHORT_RUNTIME_DAEMON_DAEMON_FLAGS_H_

#include <variant>

#include "runtime/daemon/daemon_options.h"

namespace cohort {

enum class DaemonKind { kWorker, kParameterServer };

// A daemon's options, or, if there is nothing to run (--help, wrong flags: the text has been printed), the exit code.
std::variant<DaemonOptions, int> ParseDaemonFlags(DaemonKind kind, int argc, const char* const* argv);

}  // namespace cohort

#endif  // COHORT_RUNTIME_DAEMON_DAEMON_FLAGS_H_
