#include "runtime/driver/job_result_json.h"

#include <nlohmann/json.hpp>

namespace cohort {

std::string JobResultToJson(const JobResult& result) {
  nlohmann::ordered_json json = {
      {"steps", result.steps},
      {"examples", result.examples},
      {"loss", result.loss},
      {"accuracy", nullptr},
      {"examples_per_second", result.examples_per_second},
      {"weights_crc32c", result.weights_crc32c},
      {"state_crc32c", result.state_crc32c},
      {"seconds", result.seconds},
      {"evaluated", result.evaluated},
      {"workers", nlohmann::ordered_json::array()},
  };
  if (result.accuracy >= 0) json["accuracy"] = result.accuracy;
  for (const WorkerSummary& worker : result.workers) {
    json["workers"].push_back({{"task", worker.task.ToString()},
                               {"weights_crc32c", worker.weights_crc32c},
                               {"examples", worker.examples},
                               {"steps", worker.steps},
                               {"bytes_sent", worker.bytes_sent}});
  }
  // Text that is not UTF-8 would throw.
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace cohort
