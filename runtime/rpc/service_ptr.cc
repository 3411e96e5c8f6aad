#include "runtime/rpc/service_ptr.h"

#include <grpcpp/impl/codegen/service_type.h>

namespace cohort {

void ServiceDeleter::operator()(grpc::Service* service) const { delete service; }

}  // namespace cohort
