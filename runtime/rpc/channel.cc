#include "runtime/rpc/channel.h"

#include <grpcpp/channel.h>
#include <grpcpp/create_channel.h>

#include "runtime/rpc/arguments.h"
#include "runtime/rpc/credentials.h"

namespace cohort {

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address, ChannelKind kind) {
  grpc::ChannelArguments arguments;
  ForEachCommonArgument([&](const char* name, int value) { arguments.SetInt(name, value); });
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);  // no TXT queries
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);                     // who calls knows what may be repeated
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5000);        // in gRPC's code: the time for one attempt
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2000);
  arguments.SetInt(GRPC_ARG_DNS_MIN_TIME_BETWEEN_RESOLUTIONS_MS, 1000);
  if (kind != ChannelKind::kControl) arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, MakeCredentials().channel, arguments);
}

}  // namespace cohort
