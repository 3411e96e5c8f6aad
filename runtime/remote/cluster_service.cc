#include "runtime/remote/cluster_service.h"

#include <utility>

#include "proto/cluster.grpc.pb.h"
#include "runtime/remote/common_coding.h"

namespace cohort {
namespace {

class ClusterService final : public wire::ClusterService::CallbackService {
 public:
  ClusterService(TaskAddress self, std::function<TaskAddress()> leader)
      : self_(std::move(self)), leader_(std::move(leader)) {}

  grpc::ServerUnaryReactor* WhoLeads(grpc::CallbackServerContext* context, const wire::WhoLeadsRequest*,
                                     wire::WhoLeadsResponse* response) override {
    *response->mutable_leader() = ToProto(leader_());
    *response->mutable_self() = ToProto(self_);
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

 private:
  const TaskAddress self_;
  const std::function<TaskAddress()> leader_;
};

}  // namespace

ServicePtr MakeClusterService(TaskAddress self, std::function<TaskAddress()> leader) {
  return ServicePtr(new ClusterService(std::move(self), std::move(leader)));
}

}  // namespace cohort
