#ifndef COHORT_RUNTIME_BASE_LOG_H_
#define COHORT_RUNTIME_BASE_LOG_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cohort {

// One line of the log: time, level, task, component, message. Takes finished strings (absl::StrCat), so that no file
// pays for a formatting library. Safe from any thread. Lines go to standard error.
enum class LogLevel { kTrace, kDebug, kInfo, kWarn, kError };

// Names the process in every line from now on ("/job:worker/task:1"); `component` is the program.
void InitLogging(absl::string_view task);
void SetLogLevel(LogLevel level);

// InvalidArgument unless one of trace, debug, info, warn, error.
absl::Status SetLogLevel(absl::string_view name);

// Also writes every line to this file, appending. NotFound, PermissionDenied name the path and the reason.
absl::Status LogToFile(const std::string& path);

// Also hands each line of level info and above to `sink`, called under the log's lock: it must not log.
// nullptr takes the sink away.
void SetLogSink(std::function<void(LogLevel, const std::string& line)> sink);

void Log(LogLevel level, absl::string_view component, absl::string_view message);
inline void LogDebug(absl::string_view component, absl::string_view message) {
  Log(LogLevel::kDebug, component, message);
}
inline void LogInfo(absl::string_view component, absl::string_view message) {
  Log(LogLevel::kInfo, component, message);
}
inline void LogWarn(absl::string_view component, absl::string_view message) {
  Log(LogLevel::kWarn, component, message);
}
inline void LogError(absl::string_view component, absl::string_view message) {
  Log(LogLevel::kError, component, message);
}

}  // namespace cohort

#endif  // COHORT_RUNTIME_BASE_LOG_H_
