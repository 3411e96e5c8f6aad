#ifndef COHORT_RUNTIME_RPC_CREDENTIALS_H_
#define COHORT_RUNTIME_RPC_CREDENTIALS_H_

#include <memory>

namespace grpc {
class ChannelCredentials;
class ServerCredentials;
}  // namespace grpc

namespace cohort {

struct Credentials {
  std::shared_ptr<grpc::ChannelCredentials> channel;
  std::shared_ptr<grpc::ServerCredentials> server;
};

// The credentials of every channel and every server of this process: no others are made anywhere. Plain text today,
// which is why a daemon beyond loopback asks for --insecure.
Credentials MakeCredentials();

}  // namespace cohort

#endif  // COHORT_RUNTIME_RPC_CREDENTIALS_H_
