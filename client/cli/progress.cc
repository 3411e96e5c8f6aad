#include "client/cli/progress.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"

namespace cohort {
namespace {

constexpr absl::Duration kLineInterval = absl::Seconds(2);

std::string TimeLeft(double seconds) {
  const int64_t s = static_cast<int64_t>(seconds + 0.5);
  if (s < 3600) return absl::StrFormat("%d:%02d", s / 60, s % 60);
  return absl::StrFormat("%d:%02d:%02d", s / 3600, s / 60 % 60, s % 60);
}

}  // namespace

void Progress::Show(const JobEvent& event) {
  switch (event.kind) {
    case JobEvent::Kind::kState:
      if (event.info.state == JobState::kQueued && event.info.waits_for != waits_for_) {
        waits_for_ = event.info.waits_for;
        Line(absl::StrCat("job ", event.info.id, " waits behind ", waits_for_));
      } else if (event.info.state == JobState::kRunning && state_ != JobState::kRunning) {
        Line(absl::StrCat("job ", event.info.id, " '", event.info.name, "' runs"));
      }
      state_ = event.info.state;
      break;
    case JobEvent::Kind::kReport:
      ShowReport(event);
      break;
    case JobEvent::Kind::kEvaluation:
      Line(absl::StrFormat("step %d: accuracy %.4f on %d examples", event.info.step, event.accuracy, event.examples));
      break;
    case JobEvent::Kind::kLog:
      Line(event.line);
      break;
    case JobEvent::Kind::kEnd:
      EndLine();
      break;
  }
}

void Progress::ShowReport(const JobEvent& event) {
  since_.steps += event.report.sums.steps;
  since_.examples += event.report.sums.examples;
  since_.loss_sum += event.report.sums.loss_sum;
  seconds_ += event.report.seconds;
  const absl::Time now = absl::Now();
  const bool last = event.info.steps_total > 0 && event.info.step >= event.info.steps_total;
  if (!terminal_ && now < next_line_ && !last) return;
  next_line_ = now + kLineInterval;

  const double rate = seconds_ > 0 ? since_.steps / seconds_ : 0;
  rate_ = rate_ == 0 ? rate : 0.7 * rate_ + 0.3 * rate;
  std::string text = absl::StrFormat("step %d", event.info.step);
  if (event.info.steps_total > 0) absl::StrAppend(&text, "/", event.info.steps_total);
  absl::StrAppendFormat(&text, "  loss %.4f", since_.examples == 0 ? 0.0 : since_.loss_sum / since_.examples);
  absl::StrAppendFormat(&text, "  %.0f examples/s", seconds_ > 0 ? since_.examples / seconds_ : 0.0);
  if (event.info.steps_total > 0 && rate_ > 0) {
    absl::StrAppend(&text, "  ETA ", TimeLeft(std::max<int64_t>(0, event.info.steps_total - event.info.step) / rate_));
  }
  since_ = StepSums{};
  seconds_ = 0;
  terminal_ ? Redraw(text) : Line(text);
}

void Progress::Line(const std::string& text) {
  EndLine();
  absl::FPrintF(out_, "%s\n", text);
  std::fflush(out_);
}

void Progress::Redraw(const std::string& text) {
  absl::FPrintF(out_, "\r\033[K%s", text);
  std::fflush(out_);
  drawn_ = true;
}

void Progress::EndLine() {
  if (drawn_) absl::FPrintF(out_, "\n");
  drawn_ = false;
}

std::string ResultTable(const JobResult& result) {
  std::string table;
  const auto row = [&table](absl::string_view name, const std::string& value) {
    absl::StrAppendFormat(&table, "%-16s %s\n", name, value);
  };
  row("steps", absl::StrCat(result.steps));
  row("examples", absl::StrCat(result.examples));
  row("training time", absl::StrFormat("%.2f s", result.seconds));
  row("examples/s", absl::StrFormat("%.0f", result.examples_per_second));
  row("loss", absl::StrFormat("%.4f", result.loss));
  if (result.accuracy >= 0) {
    row("test accuracy", absl::StrFormat("%.4f (%d examples)", result.accuracy, result.evaluated));
  }
  row("weights crc32c", result.weights_crc32c);
  for (const WorkerSummary& worker : result.workers) {
    row(worker.task.ToString(),
        absl::StrFormat("%d examples, %d steps, %.1f MB sent", worker.examples, worker.steps, worker.bytes_sent / 1e6));
  }
  return table;
}

}  // namespace cohort
