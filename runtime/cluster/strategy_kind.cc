#include "runtime/cluster/strategy_kind.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cohort {
namespace {

constexpr std::pair<StrategyKind, absl::string_view> kStrategies[] = {
    {StrategyKind::kDefault, "default"},
    {StrategyKind::kOneDevice, "one_device"},
    {StrategyKind::kMirrored, "mirrored"},
    {StrategyKind::kMultiWorkerMirrored, "multi_worker_mirrored"},
    {StrategyKind::kCentralStorage, "central_storage"},
    {StrategyKind::kParameterServer, "parameter_server"},
};

}  // namespace

absl::string_view StrategyName(StrategyKind kind) {
  for (const auto& [value, name] : kStrategies) {
    if (value == kind) return name;
  }
  return "?";
}

absl::StatusOr<StrategyKind> ParseStrategy(absl::string_view name) {
  for (const auto& [value, known] : kStrategies) {
    if (known == name) return value;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "there is no strategy '", name, "'; there are ",
      absl::StrJoin(kStrategies, ", ", [](std::string* out, const auto& s) { absl::StrAppend(out, s.second); })));
}

}  // namespace cohort
