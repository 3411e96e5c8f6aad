#ifndef COHORT_RUNTIME_COLLECTIVE_GRPC_COLLECTIVE_SERVICE_H_
#define COHORT_RUNTIME_COLLECTIVE_GRPC_COLLECTIVE_SERVICE_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/collective/collectives.h"
#include "runtime/collective/exchange_options.h"
#include "runtime/collective/group.h"

namespace grpc {
class Channel;
class Service;
}  // namespace grpc

namespace cohort {

struct CollectiveServiceOptions {
  // Makes the connection that carries one direction between two ranks; it must not be shared.
  // Default: MakeChannel(address, ChannelKind::kData).
  std::function<std::shared_ptr<grpc::Channel>(const std::string& address)> make_channel;
  ExchangeOptions exchange;
  // How long a wait for a frame polls before it sleeps; none if the CPUs are fewer than two for each rank of the group
  // on this host (a rank and the thread that carries its frames).
  absl::Duration spin = absl::Microseconds(50);
};

// Groups over gRPC: the data plane of one process, on that process's one RPC server. runtime/docs/collective_wire.md
// describes the streams.
//
// Order of life: Create, register service() with the server, Join ... destroy the communicators, stop the server,
// destroy this.
class CollectiveService : public Collectives {
 public:
  // `self`: this task, its address and its incarnation (not 0), as the others' rosters have them.
  static std::unique_ptr<CollectiveService> Create(const GroupMember& self, CollectiveServiceOptions options = {});

  // To be registered with the server. Streams that come for a group before this process joined it wait for that.
  virtual grpc::Service* service() = 0;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_COLLECTIVE_GRPC_COLLECTIVE_SERVICE_H_
