#ifndef COHORT_RUNTIME_RPC_SERVER_H_
#define COHORT_RUNTIME_RPC_SERVER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/base/mutex.h"

namespace grpc {
class CallbackGenericService;
class Server;
class ServerBuilder;
class Service;
}  // namespace grpc

namespace cohort {

struct RpcServerOptions {
  std::string listen_address;                       // numeric host and port: "127.0.0.1:2222", "[::]:2222"; port 0: any
  std::vector<grpc::Service*> services;             // outlive the server
  grpc::CallbackGenericService* generic = nullptr;  // what no service above answers; outlives the server
  // For services that bring completion queues of their own: called once, before the server starts. Such a queue is shut
  // down after Stop, and polled until then.
  std::function<void(grpc::ServerBuilder&)> extend;
};

// A process's one gRPC server on its one TCP port, with gRPC's health service (grpc.health.v1). Safe from any thread.
class RpcServer {
 public:
  // Listens and serves when it returns.
  //   AlreadyExists: the port is taken (not shared, not another one instead).  InvalidArgument: not a numeric address,
  //   or none of this machine.  PermissionDenied: a port for root.
  static absl::StatusOr<std::unique_ptr<RpcServer>> Start(const RpcServerOptions& options);
  ~RpcServer();  // Stop, without waiting for calls

  int port() const { return port_; }
  const std::string& address() const { return address_; }  // listen_address with the port it got

  // The health service answers NOT_SERVING from now on; calls go on.
  void SetNotServing();

  // Takes no new calls, lets those under way end until `deadline`, then cancels them (their reactors must finish on
  // OnCancel). Once; later calls return at once.
  void Stop(absl::Time deadline);

 private:
  RpcServer(std::unique_ptr<grpc::Server> server, std::string address, int port);

  const std::unique_ptr<grpc::Server> server_;
  const std::string address_;
  const int port_;
  Mutex mu_;
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace cohort

#endif  // COHORT_RUNTIME_RPC_SERVER_H_
