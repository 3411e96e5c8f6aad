#ifndef COHORT_RUNTIME_CLUSTER_DESCRIBE_H_
#define COHORT_RUNTIME_CLUSTER_DESCRIBE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/base/task_id.h"
#include "runtime/cluster/listen_address.h"
#include "runtime/cluster/tf_config.h"

namespace cohort {

// Who a process with some TF_CONFIG would be: the answer of `cohort check`.
struct ProcessDescription {
  bool local = false;          // no cluster
  std::optional<TaskId> task;  // nullopt: a client of the cluster
  std::string address;         // of `task`, "" if it has none
  bool chief = false;
  std::optional<TaskId> leader;  // nullopt: this partial view of the cluster does not list it
  std::string leader_address;
  std::map<std::string, int> tasks;  // job -> tasks listed
  int group_size = 1;                // tasks of the synchronous group
  std::optional<int> group_rank;     // place of `task` in it; nullopt: ps, evaluator, client
  std::optional<ListenAddress> listen;
  uint64_t cluster_fingerprint = 0;
  std::vector<std::string> warnings;
};

// Opens no port; asks `network` for names if the process would listen. Errors of OwnAddress and ChooseListenAddress.
absl::StatusOr<ProcessDescription> Describe(const TfConfig& config, const ListenOptions& options,
                                            const LocalNetwork& network);

// Several lines for a terminal, each ended by a newline.
std::string ToText(const ProcessDescription& description);

// One line of JSON, without a newline: {"local":false,"task":"/job:worker/task:1",...}; what does not apply is null.
std::string ToJson(const ProcessDescription& description);

}  // namespace cohort

#endif  // COHORT_RUNTIME_CLUSTER_DESCRIBE_H_
