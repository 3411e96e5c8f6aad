#include "runtime/base/first_cause.h"

#include <nlohmann/json.hpp>

#include "absl/strings/cord.h"

namespace cohort {
namespace {

using Json = nlohmann::json;

Json ToJson(const std::vector<TaskId>& tasks) {
  Json list = Json::array();
  for (const TaskId& task : tasks) list.push_back({task.job, task.index});
  return list;
}

std::vector<TaskId> ToTasks(const Json& list) {
  std::vector<TaskId> tasks;
  for (const Json& item : list) tasks.push_back({item.at(0).get<std::string>(), item.at(1).get<int>()});
  return tasks;
}

}  // namespace

void SetFirstCause(absl::Status& status, const FirstCause& cause) {
  if (status.ok() || status.GetPayload(kFirstCauseUrl).has_value()) return;
  const Json json = {{"job", cause.task.job},
                     {"index", cause.task.index},
                     {"address", cause.address},
                     {"seq", cause.seq},
                     {"incarnation", cause.incarnation},
                     {"name", cause.name},
                     {"arrived", ToJson(cause.arrived)},
                     {"missing", ToJson(cause.missing)}};
  status.SetPayload(kFirstCauseUrl, absl::Cord(json.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

std::optional<FirstCause> GetFirstCause(const absl::Status& status) {
  const auto payload = status.GetPayload(kFirstCauseUrl);
  if (!payload.has_value()) return std::nullopt;
  try {
    const Json json = Json::parse(std::string(*payload));
    FirstCause cause;
    cause.task = {json.at("job").get<std::string>(), json.at("index").get<int>()};
    cause.address = json.at("address").get<std::string>();
    cause.incarnation = json.at("incarnation").get<uint64_t>();
    cause.seq = json.at("seq").get<int64_t>();
    cause.name = json.at("name").get<std::string>();
    cause.arrived = ToTasks(json.at("arrived"));
    cause.missing = ToTasks(json.at("missing"));
    return cause;
  } catch (const Json::exception&) {
    return std::nullopt;  // another version's payload: the status itself still tells
  }
}

}  // namespace cohort
