#ifndef COHORT_RUNTIME_RPC_CHANNEL_H_
#define COHORT_RUNTIME_RPC_CHANNEL_H_

#include <memory>
#include <string>

namespace grpc {
class Channel;
}  // namespace grpc

namespace cohort {

// What travels on a channel. Control channels to one address share a connection; each heartbeat and data channel has
// its own, so that a heartbeat never waits behind a tensor.
enum class ChannelKind { kControl, kHeartbeat, kData };

// A channel to `address` (host:port). Returns at once and connects when it is first used: 5 s for an attempt, 0.1 to 2
// s between attempts, the name looked up again after a failure. Goes through no proxy. Safe from any thread.
std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address, ChannelKind kind);

}  // namespace cohort

#endif  // COHORT_RUNTIME_RPC_CHANNEL_H_
