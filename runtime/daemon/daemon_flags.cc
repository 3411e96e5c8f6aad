#include "runtime/daemon/daemon_flags.h"

#include <CLI/CLI.hpp>
#include <string>

#include "runtime/base/exit_code.h"

namespace cohort {
namespace {

void AddTime(CLI::App& app, const std::string& name, absl::Duration& value, const std::string& about) {
  app.add_option_function<std::string>(
         name,
         [name, &value](const std::string& text) {
           absl::Duration parsed;
           if (!absl::ParseDuration(text, &parsed) || parsed <= absl::ZeroDuration() ||
               parsed == absl::InfiniteDuration()) {
             throw CLI::ValidationError(name, "'" + text + "' is no time such as 500ms, 10s or 5m");
           }
           value = parsed;
         },
         about)
      ->type_name("TIME")
      ->default_str(absl::FormatDuration(value));
}

void AddCommonFlags(CLI::App& app, DaemonOptions& options, std::string& lifetime) {
  app.add_option("--lifetime", lifetime, "service: serve until told to stop; job: end with the first job")
      ->check(CLI::IsMember({"service", "job"}))
      ->capture_default_str();
  app.add_option("--bind_address", options.listen.bind_address, "listen here instead of where TF_CONFIG's name leads");
  app.add_flag("--insecure", options.listen.insecure, "allow plain text beyond loopback");
  AddTime(app, "--start_timeout", options.start_timeout, "for names to resolve and tasks to come");
  AddTime(app, "--heartbeat", options.heartbeat, "between two signs of life");
  AddTime(app, "--peer_lost", options.peer_lost, "silence after which a task is lost");
  AddTime(app, "--collective_timeout", options.collective_timeout, "for a peer that is alive but absent");
  AddTime(app, "--lease", options.lease, "for a client that is gone to come back");
  AddTime(app, "--drain", options.drain, "for work under way, at the end");
  app.add_option("--log_level", options.log_level)
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error"}))
      ->capture_default_str();
  app.add_option("--log_dir", options.log_dir, "also write the log to a file in this folder");
}

}  // namespace

std::variant<DaemonOptions, int> ParseDaemonFlags(DaemonKind kind, int argc, const char* const* argv) {
  const bool worker = kind == DaemonKind::kWorker;
  CLI::App app(worker ? "Cohort's daemon for the tasks chief, worker and evaluator of TF_CONFIG"
                      : "Cohort's daemon for the ps tasks of TF_CONFIG: a parameter server",
               worker ? "worker" : "ps");
  DaemonOptions options;
  std::string lifetime = "service";
  AddCommonFlags(app, options, lifetime);
  if (worker) {
    app.add_option("--threads", options.threads, "that compute")
        ->check(CLI::Range(0, 1024))
        ->default_str("as many as usable CPUs");
    app.add_option("--chaos", options.chaos, "trouble on purpose, for tests: kill|stop|delay[=TIME]:TASK@step=N");
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  options.end_with_job = lifetime == "job";
  return options;
}

}  // namespace cohort
