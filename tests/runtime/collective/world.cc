#include "tests/runtime/collective/world.h"

#include "runtime/base/check.h"
#include "runtime/base/thread.h"
#include "runtime/collective/grpc/collective_service.h"
#include "runtime/collective/in_process/in_process_collectives.h"

namespace cohort::testing {

// A process, as far as a group is concerned.
struct World::Task {
  std::unique_ptr<CollectiveService> service;
  std::unique_ptr<RpcServer> server;  // gone before the service
};

GroupMember Worker(int index) { return {{"worker", index}, "", static_cast<uint64_t>(1000 + index)}; }

World::World(Backend backend, int size, const ExchangeOptions& options) : comms_(size) {
  GroupSpec spec;
  spec.id = {1, 1, 0};
  for (int r = 0; r < size; ++r) spec.members.push_back(Worker(r));
  if (backend == Backend::kInProcess) shared_ = std::make_unique<InProcessCollectives>(options);
  for (int r = 0; r < size && backend == Backend::kGrpc; ++r) {
    auto task = std::make_unique<Task>();
    CollectiveServiceOptions service_options;
    service_options.exchange = options;
    task->service = CollectiveService::Create(spec.members[r], service_options);
    RpcServerOptions server_options;
    server_options.listen_address = "127.0.0.1:0";
    server_options.services = {task->service->service()};
    auto server = RpcServer::Start(server_options);
    COHORT_CHECK(server.ok(), server.status().ToString().c_str());
    task->server = *std::move(server);
    spec.members[r].address = task->server->address();
    tasks_.push_back(std::move(task));
  }
  std::vector<Thread> threads;
  for (int r = 0; r < size; ++r) {
    threads.emplace_back("join", [this, spec, r]() mutable {
      spec.rank = r;
      Collectives& collectives = shared_ != nullptr ? *shared_ : *tasks_[r]->service;
      auto comm = collectives.Join(spec, absl::Now() + absl::Seconds(20));
      COHORT_CHECK(comm.ok(), comm.status().ToString().c_str());
      comms_[r] = *std::move(comm);
    });
  }
  for (Thread& thread : threads) thread.Join();
}

// All at once, as processes that end together would.
World::~World() {
  std::vector<Thread> threads;
  for (std::unique_ptr<Communicator>& comm : comms_) threads.emplace_back("leave", [&comm] { comm.reset(); });
  for (Thread& thread : threads) thread.Join();
}

void World::Run(const std::function<void(Communicator&)>& body) {
  std::vector<int> ranks;
  for (int r = 0; r < size(); ++r) ranks.push_back(r);
  RunOn(ranks, body);
}

void World::RunOn(const std::vector<int>& ranks, const std::function<void(Communicator&)>& body) {
  std::vector<Thread> threads;
  for (const int r : ranks) threads.emplace_back("rank", [&, r] { body(*comms_[r]); });
  for (Thread& thread : threads) thread.Join();
}

}  // namespace cohort::testing
