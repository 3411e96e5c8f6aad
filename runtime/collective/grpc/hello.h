#ifndef COHORT_RUNTIME_COLLECTIVE_GRPC_HELLO_H_
#define COHORT_RUNTIME_COLLECTIVE_GRPC_HELLO_H_

#include <grpcpp/support/byte_buffer.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/collective/exchange_options.h"
#include "runtime/collective/group.h"
#include "runtime/rpc/call_context.h"

namespace grpc {
class ServerContextBase;
}  // namespace grpc

namespace cohort {

// What the first message of a stream says (proto/collective.proto).
struct Hello {
  CallContext call;
  GroupId id;
  int from = 0;  // rank that will send
  int to = 0;    // rank that is meant
  std::vector<std::string> members;
  ExchangeOptions options;
};

// The hello of `spec`'s rank to rank `to`.
grpc::ByteBuffer EncodeHello(const GroupSpec& spec, int to, const ExchangeOptions& options);

// InvalidArgument: not a hello.  FailedPrecondition: of another version of the protocol.
absl::StatusOr<Hello> DecodeHello(const grpc::ByteBuffer& message, const grpc::ServerContextBase& context);

// Whether the hello fits the group that its `to` rank has joined.
//   Aborted: the caller lives another life than the group says.  FailedPrecondition: names the field and both values.
absl::Status CheckHello(const Hello& hello, const GroupSpec& spec, const ExchangeOptions& options);

}  // namespace cohort

#endif  // COHORT_RUNTIME_COLLECTIVE_GRPC_HELLO_H_
