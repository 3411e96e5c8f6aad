// How long memory stays lent to a peer that does not read.
#include "runtime/collective/grpc/grpc_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "absl/time/clock.h"
#include "runtime/base/thread.h"
#include "runtime/collective/grpc/collective_service.h"
#include "runtime/rpc/channel.h"
#include "runtime/rpc/server.h"
#include "tests/runtime/collective/world.h"
#include "tests/testing/status_matchers.h"

namespace cohort::testing {
namespace {

// Rank 0 sends 32 MB to a task whose rank 1 never joins: it reads no more than the first message.
class LentMemoryTest : public ::testing::Test {
 protected:
  LentMemoryTest() : service_(CollectiveService::Create(Worker(1), {})) {
    RpcServerOptions options;
    options.listen_address = "127.0.0.1:0";
    options.services = {service_->service()};
    server_ = *RpcServer::Start(options);
    GroupSpec spec{{1, 1, 0}, {Worker(0), Worker(1)}, 0};
    spec.members[1].address = server_->address();
    group_ = std::make_shared<GrpcGroup>(spec, absl::ZeroDuration());
    transport_ = std::make_unique<GrpcTransport>(group_, [] {});
    transport_->Dial([](const std::string& address) { return MakeChannel(address, ChannelKind::kData); }, {});
    FrameHeader header;
    header.seq = 1;
    COHORT_EXPECT_OK(transport_->Send(1, header, "v", payload_));
  }

  // How long the wait for the memory goes on after `event`; it has 20 s.
  absl::Duration FlushEndsAfter(const std::function<void()>& event) {
    absl::Status flushed;
    Thread flush("flush", [&] { flushed = transport_->Flush(absl::Now() + absl::Seconds(20)); });
    absl::SleepFor(absl::Milliseconds(100));  // into its wait; what comes before it would be noticed in any case
    const absl::Time start = absl::Now();
    event();
    flush.Join();
    COHORT_EXPECT_OK(flushed);
    return absl::Now() - start;
  }

  const std::string payload_ = std::string(32 << 20, 'x');
  std::unique_ptr<CollectiveService> service_;
  std::unique_ptr<RpcServer> server_;
  std::shared_ptr<GrpcGroup> group_;
  std::unique_ptr<GrpcTransport> transport_;
};

TEST_F(LentMemoryTest, IsNotAwaitedFromAPeerThatIsNotReading) {
  EXPECT_THAT(transport_->Flush(absl::Now() + absl::Milliseconds(50)), StatusIs(absl::StatusCode::kDeadlineExceeded));
  transport_->Abort(absl::CancelledError("over")).IgnoreError();
}

TEST_F(LentMemoryTest, ComesBackWhenThePeerDies) {
  EXPECT_LT(FlushEndsAfter([this] { server_->Stop(absl::Now()); }), absl::Seconds(5));
  EXPECT_THAT(transport_->Send(1, {}, "v", "x"), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(LentMemoryTest, ComesBackWhenTheGroupIsAborted) {
  EXPECT_LT(FlushEndsAfter([this] { transport_->Abort(absl::UnavailableError("a third died")).IgnoreError(); }),
            absl::Seconds(5));
}

}  // namespace
}  // namespace cohort::testing
