#include "runtime/rpc/credentials.h"

#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>

namespace cohort {

Credentials MakeCredentials() { return {grpc::InsecureChannelCredentials(), grpc::InsecureServerCredentials()}; }

}  // namespace cohort
