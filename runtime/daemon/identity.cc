#include "runtime/daemon/identity.h"

#include "absl/strings/str_cat.h"
#include "runtime/base/incarnation.h"
#include "runtime/base/log.h"
#include "runtime/base/status_macros.h"
#include "runtime/cluster/chief.h"
#include "runtime/cluster/requirements.h"

namespace cohort {

absl::StatusOr<Identity> Identify(const DaemonOptions& options) {
  COHORT_RETURN_IF_ERROR(SetLogLevel(options.log_level));
  Identity identity;
  COHORT_ASSIGN_OR_RETURN(identity.config, TfConfigFromEnv());
  COHORT_RETURN_IF_ERROR(ValidateForDaemon(identity.config));
  COHORT_ASSIGN_OR_RETURN(identity.self, OwnTask(identity.config));
  InitLogging(identity.self.ToString());
  if (!options.log_dir.empty()) {
    COHORT_RETURN_IF_ERROR(
        LogToFile(absl::StrCat(options.log_dir, "/", identity.self.job, "-", identity.self.index, ".log")));
  }
  for (const std::string& warning : identity.config.warnings) LogWarn("config", warning);
  COHORT_ASSIGN_OR_RETURN(identity.address, OwnAddress(identity.config));
  COHORT_ASSIGN_OR_RETURN(identity.leader, LeaderTask(identity.config.cluster));
  COHORT_ASSIGN_OR_RETURN(identity.leader_address, identity.config.cluster.task_address(identity.leader));
  COHORT_ASSIGN_OR_RETURN(identity.listen, ChooseListenAddress(identity.address, options.listen, SystemNetwork()));
  identity.incarnation = NewIncarnation();
  return identity;
}

}  // namespace cohort
