#ifndef COHORT_RUNTIME_RPC_SERVICE_PTR_H_
#define COHORT_RUNTIME_RPC_SERVICE_PTR_H_

#include <memory>

namespace grpc {
class Service;
}  // namespace grpc

namespace cohort {

// Owns a gRPC service in code that does not know gRPC.
struct ServiceDeleter {
  void operator()(grpc::Service* service) const;
};
using ServicePtr = std::unique_ptr<grpc::Service, ServiceDeleter>;

}  // namespace cohort

#endif  // COHORT_RUNTIME_RPC_SERVICE_PTR_H_
