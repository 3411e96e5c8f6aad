#include "runtime/cluster/slurm.h"

#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "runtime/base/error_kind.h"
#include "runtime/base/status_macros.h"
#include "runtime/cluster/cluster_spec.h"
#include "runtime/cluster/host_port.h"
#include "runtime/cluster/validation.h"

namespace cohort {
namespace {

constexpr size_t kMaxHosts = 100'000;
constexpr int kMaxTasksOnHost = 65'535;  // each has a port
constexpr char kRank[] = "SLURM_PROCID";
constexpr char kMpiRank[] = "OMPI_COMM_WORLD_RANK";
constexpr char kNumTasks[] = "SLURM_STEP_NUM_TASKS";
constexpr char kHosts[] = "SLURM_STEP_NODELIST";
constexpr char kTasksPerNode[] = "SLURM_STEP_TASKS_PER_NODE";
constexpr char kOwnHost[] = "SLURMD_NODENAME";

std::optional<int> ParseCount(absl::string_view text) {
  int value = 0;
  const bool digits = !text.empty() && std::all_of(text.begin(), text.end(), absl::ascii_isdigit);
  if (!digits || !absl::SimpleAtoi(text, &value)) return std::nullopt;
  return value;
}

// Splits at commas outside brackets. nullopt: brackets that do not pair, or nest.
std::optional<std::vector<absl::string_view>> SplitNames(absl::string_view list) {
  std::vector<absl::string_view> names;
  bool open = false;
  size_t begin = 0;
  for (size_t i = 0; i <= list.size(); ++i) {
    if (i == list.size() || (list[i] == ',' && !open)) {
      names.push_back(list.substr(begin, i - begin));
      begin = i + 1;
    } else if (list[i] == '[' || list[i] == ']') {
      if (open == (list[i] == '[')) return std::nullopt;
      open = !open;
    }
  }
  if (open) return std::nullopt;
  return names;
}

// "009-011" -> 009, 010, 011 between `before` and `after`.
absl::Status ExpandRange(absl::string_view range, absl::string_view before, absl::string_view after,
                         std::vector<std::string>& hosts) {
  const std::pair<absl::string_view, absl::string_view> ends = absl::StrSplit(range, absl::MaxSplits('-', 1));
  const bool is_range = absl::StrContains(range, '-');
  const std::optional<int> first = ParseCount(ends.first);
  const std::optional<int> last = is_range ? ParseCount(ends.second) : first;
  if (!first || !last || *last < *first) {
    return absl::InvalidArgumentError(absl::StrCat(Quoted(range), " is no number or range"));
  }
  if (hosts.size() + (*last - *first) >= kMaxHosts) {
    return absl::InvalidArgumentError(absl::StrCat("more than ", kMaxHosts, " hosts"));
  }
  for (int64_t i = *first; i <= *last; ++i) {
    const std::string digits = absl::StrCat(i);
    const size_t width = std::max(ends.first.size(), digits.size());
    hosts.push_back(absl::StrCat(before, std::string(width - digits.size(), '0'), digits, after));
  }
  return absl::OkStatus();
}

absl::Status ExpandName(absl::string_view name, std::vector<std::string>& hosts) {
  const size_t open = name.find('[');
  if (open == absl::string_view::npos) {
    if (name.empty()) return absl::InvalidArgumentError("a host name is empty");
    if (hosts.size() >= kMaxHosts) return absl::InvalidArgumentError(absl::StrCat("more than ", kMaxHosts, " hosts"));
    hosts.emplace_back(name);
    return absl::OkStatus();
  }
  const size_t close = name.find(']');
  if (absl::StrContains(name.substr(close), '[')) {
    return absl::InvalidArgumentError(absl::StrCat(Quoted(name), " has two brackets"));
  }
  for (absl::string_view range : absl::StrSplit(name.substr(open + 1, close - open - 1), ',')) {
    COHORT_RETURN_IF_ERROR(ExpandRange(range, name.substr(0, open), name.substr(close + 1), hosts)) << Quoted(name);
  }
  return absl::OkStatus();
}

// Name order with runs of digits compared as numbers: n9 comes before n10.
bool NaturalLess(absl::string_view a, absl::string_view b) {
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!absl::ascii_isdigit(a[i]) || !absl::ascii_isdigit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    const auto take = [](absl::string_view text, size_t& at) {
      const size_t begin = text.find_first_not_of('0', at);
      size_t end = at;
      while (end < text.size() && absl::ascii_isdigit(text[end])) ++end;
      at = end;
      return begin < end ? text.substr(begin, end - begin) : absl::string_view();
    };
    const absl::string_view x = take(a, i), y = take(b, j);
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
  }
  if (i < a.size() || j < b.size()) return i == a.size();
  return a < b;  // n01 and n1
}

absl::StatusOr<std::string> Variable(const Environment& environment, const std::string& name) {
  const auto it = environment.find(name);
  if (it != environment.end()) return it->second;
  return WrongContextError(absl::StrCat(name, " not found in environment: not running inside a Slurm step?"));
}

absl::StatusOr<int> CountVariable(const Environment& environment, const std::string& name) {
  COHORT_ASSIGN_OR_RETURN(const std::string text, Variable(environment, name));
  const std::optional<int> value = ParseCount(text);
  if (!value) return absl::InvalidArgumentError(absl::StrCat(name, "=", Quoted(text), " is no number"));
  return *value;
}

struct HostTasks {
  std::string host;
  int tasks = 0;
};

// The hosts of the step in name order with their numbers of tasks.
absl::StatusOr<std::vector<HostTasks>> StepHosts(const Environment& environment) {
  COHORT_ASSIGN_OR_RETURN(const std::string list, Variable(environment, kHosts));
  COHORT_ASSIGN_OR_RETURN(const std::string tasks, Variable(environment, kTasksPerNode));
  COHORT_ASSIGN_OR_RETURN(const std::vector<std::string> names, ExpandHostlist(list), _ << kHosts);
  COHORT_ASSIGN_OR_RETURN(const std::vector<int> counts, ExpandTasksPerNode(tasks), _ << kTasksPerNode);
  if (names.size() != counts.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(kHosts, " has ", names.size(), " hosts, ", kTasksPerNode, " tells of ", counts.size()));
  }
  std::vector<HostTasks> hosts;
  for (size_t i = 0; i < names.size(); ++i) hosts.push_back({names[i], counts[i]});
  std::sort(hosts.begin(), hosts.end(), [](const auto& a, const auto& b) { return NaturalLess(a.host, b.host); });
  return hosts;
}

// One task of the step, by rank.
struct Place {
  const std::string* host;
  int position;  // on its host
};

std::vector<Place> Places(const std::vector<HostTasks>& hosts) {
  std::vector<Place> places;
  for (const HostTasks& host : hosts) {
    for (int i = 0; i < host.tasks; ++i) places.push_back({&host.host, i});
  }
  return places;
}

// Deals `places` out to the jobs in name order; `rank` becomes self.
absl::StatusOr<TfConfig> Assign(const std::map<std::string, int>& jobs, const std::vector<Place>& places, int rank,
                                int port_base) {
  TfConfig config;
  std::vector<ClusterSpec::Job> cluster;
  int next = 0;
  for (const auto& [name, count] : jobs) {
    ClusterSpec::Job job{name, {}};
    for (int index = 0; index < count; ++index, ++next) {
      if (next == rank) config.self = TaskId{name, index};
      job.tasks[index] = absl::StrCat(*places[next].host, ":", port_base + places[next].position);
    }
    if (count > 0) cluster.push_back(std::move(job));
  }
  COHORT_ASSIGN_OR_RETURN(config.cluster, ClusterSpec::Create(std::move(cluster)));
  COHORT_RETURN_IF_ERROR(CheckAddresses(config.cluster));
  COHORT_RETURN_IF_ERROR(ValidateCluster(config.cluster, *config.self));
  return config;
}

// GPUs of one task, from the options.
absl::StatusOr<int> GpusPerTask(const std::vector<HostTasks>& hosts, const SlurmOptions& options) {
  int most = 1;
  for (const HostTasks& host : hosts) most = std::max(most, host.tasks);
  const int gpus = options.gpus_per_task.value_or(options.gpus_per_node / most);
  if (gpus < 0 || int64_t{most} * gpus > options.gpus_per_node) {
    return absl::InvalidArgumentError(absl::StrCat("Requested more GPUs per node than available: ", most, " tasks x ",
                                                   gpus, " GPUs, a host has ", options.gpus_per_node));
  }
  return gpus;
}

absl::Status CheckCounts(const std::map<std::string, int>& jobs, int num_tasks, int places, int rank) {
  if (places != num_tasks) {
    return absl::InvalidArgumentError(
        absl::StrCat(kTasksPerNode, " tells of ", places, " tasks, ", kNumTasks, " is ", num_tasks));
  }
  int64_t wanted = 0;
  for (const auto& [job, count] : jobs) {
    if (count < 0) return absl::InvalidArgumentError(absl::StrCat("job ", Quoted(job), " with ", count, " tasks"));
    wanted += count;
  }
  if (wanted != num_tasks) {
    return absl::InvalidArgumentError(absl::StrCat("Requested ", wanted, " tasks but ", num_tasks, " were assigned"));
  }
  if (rank >= num_tasks) {
    return absl::InvalidArgumentError(
        absl::StrCat("rank ", rank, " is not below the ", num_tasks, " tasks of the step"));
  }
  return absl::OkStatus();
}

// Ranks are dealt to hosts in blocks above; srun --distribution=cyclic would put them elsewhere.
absl::Status CheckOwnHost(const Environment& environment, int rank, const std::string& host) {
  const auto it = environment.find(kOwnHost);
  if (it == environment.end() || it->second == host) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("rank ", rank, " belongs on ", host, " but runs on ", it->second,
                                                 "; start the step with --distribution=block"));
}

}  // namespace

Environment SlurmEnvironment() {
  Environment environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::pair<std::string, std::string> variable = absl::StrSplit(*entry, absl::MaxSplits('=', 1));
    if (absl::StartsWith(variable.first, "SLURM") || absl::StartsWith(variable.first, "OMPI_")) {
      environment.insert(variable);
    }
  }
  return environment;
}

bool InSlurmStep(const Environment& environment) {
  return (environment.contains(kRank) || environment.contains(kMpiRank)) && environment.contains(kNumTasks) &&
         environment.contains(kHosts) && environment.contains(kTasksPerNode);
}

absl::StatusOr<std::vector<std::string>> ExpandHostlist(absl::string_view hostlist) {
  const auto names = SplitNames(hostlist);
  if (!names) return absl::InvalidArgumentError(absl::StrCat("host list ", Quoted(hostlist), ": brackets do not pair"));
  std::vector<std::string> hosts;
  for (absl::string_view name : *names) {
    COHORT_RETURN_IF_ERROR(ExpandName(name, hosts)) << "host list " << Quoted(hostlist);
  }
  return hosts;
}

absl::StatusOr<std::vector<int>> ExpandTasksPerNode(absl::string_view tasks_per_node) {
  std::vector<int> counts;
  for (absl::string_view part : absl::StrSplit(tasks_per_node, ',')) {
    const std::pair<absl::string_view, absl::string_view> words = absl::StrSplit(part, absl::MaxSplits("(x", 1));
    const bool repeated = absl::StrContains(part, "(x");
    absl::string_view times = words.second;
    const bool closed = !repeated || absl::ConsumeSuffix(&times, ")");
    const std::optional<int> count = ParseCount(words.first);
    const std::optional<int> repeat = repeated ? ParseCount(times) : 1;
    if (!closed || !count || !repeat || *count > kMaxTasksOnHost) {
      return absl::InvalidArgumentError(absl::StrCat("tasks per node ", Quoted(tasks_per_node), ": ", Quoted(part),
                                                     " is not of the form 3 or 3(x2)"));
    }
    if (counts.size() + *repeat > kMaxHosts) {
      return absl::InvalidArgumentError(
          absl::StrCat("tasks per node ", Quoted(tasks_per_node), ": more than ", kMaxHosts, " hosts"));
    }
    counts.insert(counts.end(), *repeat, *count);
  }
  return counts;
}

absl::StatusOr<SlurmTask> SlurmTfConfig(const Environment& environment, const SlurmOptions& options) {
  const bool from_mpi = environment.contains(kMpiRank);
  COHORT_ASSIGN_OR_RETURN(const int rank, CountVariable(environment, from_mpi ? kMpiRank : kRank));
  COHORT_ASSIGN_OR_RETURN(const int num_tasks, CountVariable(environment, kNumTasks));
  COHORT_ASSIGN_OR_RETURN(const std::vector<HostTasks> hosts, StepHosts(environment));
  const int64_t total = std::accumulate(hosts.begin(), hosts.end(), int64_t{0},
                                        [](int64_t sum, const HostTasks& host) { return sum + host.tasks; });
  if (total > ClusterSpec::kMaxIndex) return absl::InvalidArgumentError(absl::StrCat("a step of ", total, " tasks"));
  std::map<std::string, int> jobs = options.jobs;
  if (jobs.empty()) jobs[kWorker] = num_tasks;
  COHORT_RETURN_IF_ERROR(CheckCounts(jobs, num_tasks, static_cast<int>(total), rank));
  COHORT_ASSIGN_OR_RETURN(const int gpus, GpusPerTask(hosts, options));

  const std::vector<Place> places = Places(hosts);
  COHORT_RETURN_IF_ERROR(CheckOwnHost(environment, rank, *places[rank].host));
  SlurmTask task;
  COHORT_ASSIGN_OR_RETURN(task.config, Assign(jobs, places, rank, options.port_base));
  std::vector<int> ids(gpus);
  std::iota(ids.begin(), ids.end(), places[rank].position * gpus);
  task.cuda_visible_devices = absl::StrJoin(ids, ",");
  return task;
}

}  // namespace cohort
