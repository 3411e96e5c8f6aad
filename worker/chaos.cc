#include "worker/chaos.h"

#include <signal.h>
#include <unistd.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "runtime/base/log.h"

namespace cohort {
namespace {

constexpr absl::Duration kMaxDelay = absl::Hours(1);

absl::Status BadForm(absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat("--chaos='", text,
                                                 "' is not of the form kill|stop|delay[=TIME]:TASK@step=N, for example "
                                                 "kill:/job:worker/task:1@step=7"));
}

absl::StatusOr<Chaos::Event> ParseEvent(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(text, absl::MaxSplits(':', 1));
  const std::pair<absl::string_view, absl::string_view> where = absl::StrSplit(parts.second, absl::MaxSplits('@', 1));
  const std::pair<absl::string_view, absl::string_view> action = absl::StrSplit(parts.first, absl::MaxSplits('=', 1));
  const bool has_time = absl::StrContains(parts.first, '=');
  Chaos::Event event;
  if (action.first == "kill" && !has_time) {
    event.kind = Chaos::Event::Kind::kKill;
  } else if (action.first == "stop" && !has_time) {
    event.kind = Chaos::Event::Kind::kStop;
  } else if (action.first == "delay") {
    event.kind = Chaos::Event::Kind::kDelay;
    if (has_time && !absl::ParseDuration(action.second, &event.delay)) return BadForm(text);
    if (event.delay < absl::ZeroDuration() || event.delay > kMaxDelay) return BadForm(text);
  } else {
    return BadForm(text);
  }
  absl::string_view step = where.second;
  const absl::StatusOr<TaskId> task = ParseTaskId(where.first);
  if (!task.ok() || !absl::ConsumePrefix(&step, "step=") || !absl::SimpleAtoi(step, &event.step)) return BadForm(text);
  if (event.step < 1) return BadForm(text);
  event.task = *task;
  return event;
}

}  // namespace

absl::StatusOr<Chaos> Chaos::Parse(absl::string_view text) {
  Chaos chaos;
  for (absl::string_view part : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    absl::StatusOr<Event> event = ParseEvent(part);
    if (!event.ok()) return event.status();
    chaos.events_.push_back(*std::move(event));
  }
  return chaos;
}

void Chaos::BeforeStep(const TaskId& self, int64_t step) const {
  for (const Event& event : events_) {
    if (event.step != step || event.task != self) continue;
    LogWarn("chaos", absl::StrCat("before step ", step, " as --chaos asks"));
    switch (event.kind) {
      case Event::Kind::kKill:
        kill(getpid(), SIGKILL);
        break;
      case Event::Kind::kStop:
        kill(getpid(), SIGSTOP);
        break;
      case Event::Kind::kDelay:
        absl::SleepFor(event.delay);
        break;  // the delay is the purpose
    }
  }
}

}  // namespace cohort
