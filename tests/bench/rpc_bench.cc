// From a client to two worker daemons and back: one empty step, beside a bare unary gRPC call to a server of this
// program. Rounds in turn (A B C D A B C D ...), the median of each round, then the median over rounds.
//   rpc_bench [--json] [--rounds=9] [--calls=1000]
// With --json one line per row: {"name":…,"us":…,"best_us":…,"p99_us":…,"ratio":…}; ratio: to the bare call, the median
// of the rounds' ratios.

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "client/cli/child_process.h"
#include "client/cli/local_cluster.h"
#include "client/session.h"
#include "proto/cluster.grpc.pb.h"
#include "runtime/base/malloc_tuning.h"
#include "runtime/base/port_lease.h"
#include "runtime/base/status_macros.h"
#include "runtime/graph/builder.h"
#include "runtime/graph/ops.h"

namespace cohort {
namespace {

struct Options {
  bool json = false;
  int rounds = 9;
  int calls = 1000;
  int echo_port = 0;  // > 0: be the server of the bare calls
};

class EchoService final : public wire::ClusterService::Service {
  grpc::Status WhoLeads(grpc::ServerContext*, const wire::WhoLeadsRequest*, wire::WhoLeadsResponse*) override {
    return grpc::Status::OK;
  }
};

void ServeEcho(int port) {
  EchoService service;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(absl::StrCat("127.0.0.1:", port), grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server != nullptr) server->Wait();  // ends with the process that started it
}

struct Row {
  std::string name;
  std::function<absl::Status()> call;
  std::vector<double> medians = {};  // by round, microseconds
  std::vector<double> all = {};
};

double At(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, static_cast<size_t>(part * static_cast<double>(values.size())))];
}

absl::Status RunRound(Row& row, int calls) {
  std::vector<double> times;
  for (int i = 0; i < calls; ++i) {
    const auto start = std::chrono::steady_clock::now();
    COHORT_RETURN_IF_ERROR(row.call()) << row.name;
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  row.medians.push_back(At(times, 0.5));
  row.all.insert(row.all.end(), times.begin(), times.end());
  return absl::OkStatus();
}

void Print(const Row& row, const Row& bare, bool json) {
  std::vector<double> ratios;
  for (size_t i = 0; i < row.medians.size(); ++i) ratios.push_back(row.medians[i] / bare.medians[i]);
  const double us = At(row.medians, 0.5), best = At(row.medians, 0), p99 = At(row.all, 0.99), ratio = At(ratios, 0.5);
  std::printf(json ? "{\"name\":\"%s\",\"us\":%.1f,\"best_us\":%.1f,\"p99_us\":%.1f,\"ratio\":%.3f}\n"
                   : "%-44s %8.1f us [best %.1f] p99 %.1f   %.2fx\n",
              row.name.c_str(), us, best, p99, ratio);
}

absl::StatusOr<Program> BenchProgram() {
  Program program;
  program.name = "rpc_bench";
  program.strategy = StrategyKind::kMultiWorkerMirrored;
  FunctionBuilder empty("empty");
  COHORT_ASSIGN_OR_RETURN(program.functions["empty"], empty.Finish());
  FunctionBuilder sum("sum");
  sum.AddResult("sum", AllReduce(ScalarConstant(sum, DType::kF32, 1)));
  COHORT_ASSIGN_OR_RETURN(program.functions["sum"], sum.Finish());
  return program;
}

absl::Status Bench(const Options& options) {
  COHORT_ASSIGN_OR_RETURN(const PortLease port, LeasePort());
  ChildOptions echo;
  echo.command = {"/proc/self/exe", absl::StrCat("--echo_server=", port.port())};
  COHORT_ASSIGN_OR_RETURN(const std::unique_ptr<ChildProcess> server, ChildProcess::Start(echo));
  const auto bare_stub = wire::ClusterService::NewStub(
      grpc::CreateChannel(absl::StrCat("127.0.0.1:", port.port()), grpc::InsecureChannelCredentials()));
  LocalClusterOptions daemons;
  daemons.workers = 2;
  daemons.daemon_flags = {"--log_level=error"};
  COHORT_ASSIGN_OR_RETURN(const auto local, LocalCluster::Start(daemons, absl::Now() + absl::Seconds(30)));
  COHORT_ASSIGN_OR_RETURN(const auto cluster, Cluster::Connect({.address = local->leader_address()}));
  COHORT_ASSIGN_OR_RETURN(const Program program, BenchProgram());
  COHORT_ASSIGN_OR_RETURN(const auto session, Session::Open(*cluster, program));

  const auto bare = [&]() -> absl::Status {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
    wire::WhoLeadsResponse response;
    const grpc::Status status = bare_stub->WhoLeads(&context, {}, &response);
    return status.ok() ? absl::OkStatus() : absl::UnavailableError(status.error_message());
  };
  const auto control = [&] { return cluster->control().Jobs(absl::Now() + absl::Seconds(10)).status(); };
  const auto empty = [&] { return session->Run("empty").status(); };
  const auto sum = [&] { return session->Run("sum", {}, {"sum"}).status(); };
  std::vector<Row> rows = {{"bare unary call", bare},
                           {"control call to the leader", control},
                           {"empty step on 2 workers", empty},
                           {"step with a scalar all-reduce on 2 workers", sum}};
  for (Row& row : rows) {  // warm up
    COHORT_RETURN_IF_ERROR(RunRound(row, 100));
    row.medians.clear();
    row.all.clear();
  }
  for (int round = 0; round < options.rounds; ++round) {
    for (Row& row : rows) COHORT_RETURN_IF_ERROR(RunRound(row, options.calls));
  }
  for (const Row& row : rows) Print(row, rows[0], options.json);
  return absl::OkStatus();
}

}  // namespace
}  // namespace cohort

int main(int argc, char** argv) {
  cohort::Options options;
  for (int i = 1; i < argc; ++i) {
    absl::string_view arg = argv[i];
    const bool known = arg == "--json" ||
                       (absl::ConsumePrefix(&arg, "--rounds=") && absl::SimpleAtoi(arg, &options.rounds)) ||
                       (absl::ConsumePrefix(&arg, "--calls=") && absl::SimpleAtoi(arg, &options.calls)) ||
                       (absl::ConsumePrefix(&arg, "--echo_server=") && absl::SimpleAtoi(arg, &options.echo_port));
    if (!known || options.rounds < 1 || options.calls < 1) {
      std::fprintf(stderr, "rpc_bench [--json] [--rounds=9] [--calls=1000]; not '%s'\n", argv[i]);
      return 2;
    }
    options.json |= arg == "--json";
  }
  cohort::TuneMalloc();
  if (options.echo_port > 0) {
    cohort::ServeEcho(options.echo_port);
    return 1;
  }
  const absl::Status status = cohort::Bench(options);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
