#include "runtime/base/log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "absl/strings/str_cat.h"
#include "runtime/base/mutex.h"

namespace cohort {
namespace {

constexpr char kPattern[] = "%Y-%m-%dT%H:%M:%S.%e %l %v";

struct Logger {
  Mutex mu;
  std::string task ABSL_GUARDED_BY(mu) = "-";
  std::function<void(LogLevel, const std::string&)> sink ABSL_GUARDED_BY(mu);
  std::shared_ptr<spdlog::logger> out = [] {
    auto logger = std::make_shared<spdlog::logger>("cohort", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    logger->set_pattern(kPattern);
    logger->flush_on(spdlog::level::trace);
    return logger;
  }();
};

Logger& TheLogger() {
  static Logger* const logger = new Logger;  // never destroyed: threads may log until the very end
  return *logger;
}

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kTrace:
      return spdlog::level::trace;
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarn:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

}  // namespace

void InitLogging(absl::string_view task) {
  Logger& logger = TheLogger();
  MutexLock lock(&logger.mu);
  logger.task = std::string(task);
}

void SetLogLevel(LogLevel level) { TheLogger().out->set_level(ToSpdlog(level)); }

absl::Status SetLogLevel(absl::string_view name) {
  constexpr std::pair<absl::string_view, LogLevel> kNames[] = {{"trace", LogLevel::kTrace},
                                                               {"debug", LogLevel::kDebug},
                                                               {"info", LogLevel::kInfo},
                                                               {"warn", LogLevel::kWarn},
                                                               {"error", LogLevel::kError}};
  for (const auto& [known, level] : kNames) {
    if (name == known) {
      SetLogLevel(level);
      return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown log level '", name, "'; use trace, debug, info, warn or error"));
}

absl::Status LogToFile(const std::string& path) {
  try {
    auto file = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path);
    Logger& logger = TheLogger();
    MutexLock lock(&logger.mu);
    file->set_pattern(kPattern);
    logger.out->sinks().push_back(std::move(file));
    return absl::OkStatus();
  } catch (const spdlog::spdlog_ex& error) {
    return absl::NotFoundError(absl::StrCat("cannot write the log to '", path, "': ", error.what()));
  }
}

void SetLogSink(std::function<void(LogLevel, const std::string& line)> sink) {
  Logger& logger = TheLogger();
  MutexLock lock(&logger.mu);
  logger.sink = std::move(sink);
}

void Log(LogLevel level, absl::string_view component, absl::string_view message) {
  Logger& logger = TheLogger();
  MutexLock lock(&logger.mu);
  const std::string line = absl::StrCat(logger.task, " ", component, ": ", message);
  logger.out->log(ToSpdlog(level), spdlog::string_view_t(line.data(), line.size()));
  if (logger.sink && level >= LogLevel::kInfo) logger.sink(level, line);
}

}  // namespace cohort
