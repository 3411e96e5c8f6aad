#include "client/cli/cli_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/models/training_program.h"
#include "runtime/base/exit_code.h"

namespace cohort {
namespace {

void AddClusterFlags(CLI::App& verb, ClusterFlags& flags, bool needs_cluster) {
  verb.add_option("--cluster", flags.cluster, "HOST:PORT of any task")
      ->envname("COHORT_CLUSTER")
      ->default_str(needs_cluster ? "" : "a cluster of one worker in this process");
  verb.add_option_function<std::string>(
          "--connect_timeout",
          [&flags](const std::string& text) {
            absl::Duration& timeout = flags.connect_timeout;
            const bool parsed = absl::ParseDuration(text, &timeout);
            if (parsed && timeout > absl::ZeroDuration() && timeout < absl::InfiniteDuration()) return;
            throw CLI::ValidationError("--connect_timeout", "'" + text + "' is no time such as 10s");
          },
          "how long to try to reach the cluster")
      ->default_str("10s");
  verb.add_flag("--json", flags.json, "print results as JSON");
}

void AddFollowFlags(CLI::App& verb, FollowFlags& flags) {
  verb.add_option("--losses", flags.losses_file, "write one JSON line for each step to this file");
  verb.add_flag("--detach", flags.detach, "submit the job and return; it outlives this client");
  verb.add_option("--wait", flags.wait, "0: fail instead of waiting behind another job")->capture_default_str();
  verb.add_option("--threads", flags.threads, "threads that compute, of a cluster in this process")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  verb.add_option("--name", flags.name, "name of the job")->default_str("the model's");
}

void AddTrain(CLI::App& app, TrainCommand& train) {
  CLI::App& verb = *app.add_subcommand("train", "train a built-in model");
  TrainOptions& options = train.options;
  verb.add_option("--model", options.model, absl::StrJoin(KnownModels(), ", "))->capture_default_str();
  verb.add_option("--dataset", options.dataset, absl::StrJoin(KnownDatasets(), ", "))->capture_default_str();
  verb.add_option_function<std::string>(
          "--strategy",
          [&options](const std::string& name) {
            const absl::StatusOr<StrategyKind> kind = ParseStrategy(name);
            if (!kind.ok()) throw CLI::ValidationError("--strategy", std::string(kind.status().message()));
            options.strategy = *kind;
          },
          "default, one_device, mirrored, multi_worker_mirrored, central_storage, parameter_server")
      ->default_str("default");
  verb.add_option("--batch_size", options.batch_size, "examples of a step, of all workers together")
      ->capture_default_str();
  verb.add_option("--epochs", options.epochs, "rounds over the data")->default_str("1");
  verb.add_option("--steps", options.steps, "steps, instead of epochs");
  verb.add_option("--optimizer", options.optimizer, absl::StrJoin(KnownOptimizers(), ", "))->capture_default_str();
  verb.add_option("--learning_rate", options.learning_rate)->default_str("the optimizer's own");
  verb.add_option("--final_learning_rate", options.final_learning_rate, "the rate falls to this, step by step")
      ->default_str("the same");
  verb.add_option("--hidden", options.hidden, "sizes of mlp's hidden layers")->delimiter(',')->default_str("128");
  verb.add_option("--seed", options.seed, "of initial values and order")->capture_default_str();
  verb.add_option("--initializer", options.initializer, "default, golden")->capture_default_str();
  verb.add_option("--shuffle", options.shuffle, "default: another order in every epoch; none: file order")
      ->capture_default_str();
  verb.add_option("--examples", options.examples, "train on the first N only")->default_str("all");
  verb.add_option("--evaluate", options.evaluate, "0: no test accuracy")->capture_default_str();
  verb.add_option("--report_every", options.report_every, "steps between two reports")->default_str("half a second");
  verb.add_option("--export", train.export_file, "write the program to this file instead of running it");
  verb.add_option("--on_peer_loss", "fail: the job ends when a task is lost")
      ->check(CLI::IsMember({"fail"}))
      ->default_str("fail");
  AddClusterFlags(verb, train.cluster, /*needs_cluster=*/false);
  AddFollowFlags(verb, train.follow);
}

void AddRun(CLI::App& app, const char* name, const char* about, RunCommand& run) {
  CLI::App& verb = *app.add_subcommand(name, about);
  verb.add_option("FILE", run.file, "a program, as train --export writes it")->required();
  AddClusterFlags(verb, run.cluster, /*needs_cluster=*/false);
  AddFollowFlags(verb, run.follow);
}

void AddLocal(CLI::App& app, LocalCommand& local) {
  CLI::App& verb = *app.add_subcommand("local", "start a cluster of daemons on this host");
  verb.add_option("--workers", local.workers)->check(CLI::Range(0, 512))->capture_default_str();
  verb.add_option("--ps", local.parameter_servers, "parameter servers")
      ->check(CLI::Range(0, 512))
      ->capture_default_str();
  verb.add_flag("--chief", local.chief, "with a task /job:chief/task:0");
  verb.add_option("--daemon_flags", local.daemon_flags, "passed to every daemon: --daemon_flags=--log_level=debug")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb.footer(
      "cohort local [OPTIONS] [-- COMMAND...]\n  COMMAND is run with COHORT_CLUSTER set; the cluster ends with it. "
      "None: stay in the foreground");
}

void AddLaunch(CLI::App& app, LaunchCommand& launch) {
  CLI::App& verb = *app.add_subcommand("launch", "be a task of TF_CONFIG (or Slurm), and on the leader's submit a job");
  verb.add_option("--daemon_flags", launch.daemon_flags, "passed to the daemon")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb.footer(
      "cohort launch [OPTIONS] -- COMMAND...\n  COMMAND is train ... or run FILE, the same on every task, and so is "
      "FILE");
}

void AddSmallVerbs(CLI::App& app, StatusCommand& status, JobsCommand& jobs, LogsCommand& logs, CancelCommand& cancel,
                   ShutdownCommand& shutdown, CheckCommand& check) {
  AddClusterFlags(*app.add_subcommand("status", "the cluster's tasks and jobs"), status.cluster, true);
  AddClusterFlags(*app.add_subcommand("jobs", "the cluster's jobs"), jobs.cluster, true);
  CLI::App& log_verb = *app.add_subcommand("logs", "the leader's log, or one job's part of it");
  AddClusterFlags(log_verb, logs.cluster, true);
  log_verb.add_option("JOB", logs.job, "number of the job")->default_str("all");
  log_verb.add_flag("--follow,-f", logs.follow, "wait for more, until the job ends");
  CLI::App& cancel_verb = *app.add_subcommand("cancel", "end a job after a step that all workers finish");
  AddClusterFlags(cancel_verb, cancel.cluster, true);
  cancel_verb.add_option("JOB", cancel.job, "number of the job")->required();
  AddClusterFlags(*app.add_subcommand("shutdown", "end every daemon of the cluster"), shutdown.cluster, true);
  CLI::App& check_verb = *app.add_subcommand("check", "who this process would be by TF_CONFIG; opens no port");
  check_verb.add_flag("--json", check.json, "print results as JSON");
  check_verb.add_flag("--insecure", check.insecure, "as the daemon's flag");
  check_verb.add_option("--bind_address", check.bind_address, "as the daemon's flag");
}

}  // namespace

std::variant<CliCommand, int> ParseCommandLine(int argc, const char* const* argv) {
  CLI::App app("Cohort: distributed training with TF_CONFIG. Each verb has its own --help.", "cohort");
  app.require_subcommand(1);
  TrainCommand train;
  RunCommand run, submit;
  submit.follow.detach = true;
  LocalCommand local;
  LaunchCommand launch;
  StatusCommand status;
  JobsCommand jobs;
  LogsCommand logs;
  CancelCommand cancel;
  ShutdownCommand shutdown;
  CheckCommand check;
  AddLocal(app, local);
  AddLaunch(app, launch);
  AddTrain(app, train);
  AddRun(app, "run", "run a saved program and follow it", run);
  AddRun(app, "submit", "run a saved program detached", submit);
  AddSmallVerbs(app, status, jobs, logs, cancel, shutdown, check);
  // What stands behind -- is another program's command line: none of ours to parse.
  const char* const* const end =
      std::find_if(argv, argv + argc, [](const char* word) { return std::string(word) == "--"; });
  local.command = launch.command = {std::min(end + 1, argv + argc), argv + argc};
  try {
    app.parse(static_cast<int>(end - argv), argv);
    if (end != argv + argc && !app.got_subcommand("local") && !app.got_subcommand("launch")) {
      throw CLI::ExtrasError({"--"});
    }
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  const std::map<std::string, CliCommand> commands = {{"train", train},       {"run", run},       {"submit", submit},
                                                      {"local", local},       {"launch", launch}, {"status", status},
                                                      {"jobs", jobs},         {"logs", logs},     {"cancel", cancel},
                                                      {"shutdown", shutdown}, {"check", check}};
  return commands.at(app.get_subcommands().front()->get_name());
}

}  // namespace cohort
