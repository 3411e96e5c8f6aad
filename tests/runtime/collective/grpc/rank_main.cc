// One rank of a group, as a process that a test can kill: rank_main RANK SIZE FOLDER
//
// The ranks find each other through files in FOLDER. Each sums a million ones over all ranks, again and again, and
// prints "step S" after each, until that fails; then it prints "error: " and the status, "blame: " and the task, and
// exits 0.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "runtime/base/first_cause.h"
#include "runtime/base/status_macros.h"
#include "runtime/collective/grpc/collective_service.h"
#include "runtime/rpc/server.h"

namespace cohort {
namespace {

std::string AddressFile(const std::string& folder, int rank) { return absl::StrCat(folder, "/address.", rank); }

void Publish(const std::string& file, const std::string& address) {
  std::ofstream(file + ".part") << address;
  std::rename((file + ".part").c_str(), file.c_str());
}

absl::StatusOr<std::string> Find(const std::string& file, absl::Time deadline) {
  std::string address;
  while (!(std::ifstream(file) >> address)) {
    if (absl::Now() > deadline) return absl::DeadlineExceededError(absl::StrCat("no ", file));
    absl::SleepFor(absl::Milliseconds(2));
  }
  return address;
}

absl::Status Loop(Communicator& comm) {
  std::vector<float> values(1000000);
  for (int64_t step = 1;; ++step) {
    values.assign(values.size(), 1.0f);
    const CollectiveContext context = {"ones", step, absl::Now() + absl::Seconds(20)};
    COHORT_RETURN_IF_ERROR(
        comm.AllReduce({values.data(), static_cast<int64_t>(values.size()), DType::kF32}, ReduceOp::kSum, context));
    for (const float value : values) {
      if (value != static_cast<float>(comm.world_size())) return absl::DataLossError(absl::StrCat("sum ", value));
    }
    std::printf("step %d\n", static_cast<int>(step));
    std::fflush(stdout);
  }
}

absl::Status Run(int rank, int size, const std::string& folder) {
  GroupSpec spec;
  spec.id = {1, 1, 0};
  spec.rank = rank;
  for (int r = 0; r < size; ++r) spec.members.push_back({{"worker", r}, "", static_cast<uint64_t>(1000 + r)});
  const auto service = CollectiveService::Create(spec.members[rank]);
  RpcServerOptions options;
  options.listen_address = "127.0.0.1:0";
  options.services = {service->service()};
  COHORT_ASSIGN_OR_RETURN(const auto server, RpcServer::Start(options));
  Publish(AddressFile(folder, rank), server->address());
  const absl::Time deadline = absl::Now() + absl::Seconds(20);
  for (int r = 0; r < size; ++r) {
    COHORT_ASSIGN_OR_RETURN(spec.members[r].address, Find(AddressFile(folder, r), deadline));
  }
  COHORT_ASSIGN_OR_RETURN(const auto comm, service->Join(spec, deadline));
  return Loop(*comm);
}

}  // namespace
}  // namespace cohort

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const absl::Status status = cohort::Run(std::atoi(argv[1]), std::atoi(argv[2]), argv[3]);
  const auto cause = cohort::GetFirstCause(status);
  std::printf("error: %s\nblame: %s\n", status.ToString().c_str(),
              cause.has_value() ? cause->task.ToString().c_str() : "nobody");
}
