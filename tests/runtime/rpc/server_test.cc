#include "runtime/rpc/server.h"

#include <gmock/gmock.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>
#include <sys/socket.h>

#include <cstdlib>
#include <future>

#include "proto/cluster.grpc.pb.h"
#include "runtime/rpc/channel.h"
#include "runtime/rpc/status.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::IsOk;
using ::cohort::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Answers a text of the asked length, or an error.
class FakeService final : public wire::ClusterService::CallbackService {
 public:
  grpc::ServerUnaryReactor* WhoLeads(grpc::CallbackServerContext* context, const wire::WhoLeadsRequest* request,
                                     wire::WhoLeadsResponse* response) override {
    auto* reactor = context->DefaultReactor();
    if (request->caller().epoch() < 0) {
      reactor->Finish(ToGrpcStatus(absl::NotFoundError(std::string(-request->caller().epoch(), 'e'))));
      return reactor;
    }
    if (request->caller().session() == 1) {  // answers when it is cancelled
      class Waits final : public grpc::ServerUnaryReactor {
        void OnCancel() override { Finish(grpc::Status::CANCELLED); }
        void OnDone() override { delete this; }
      };
      return new Waits;
    }
    response->mutable_leader()->set_address(std::string(request->caller().epoch(), 'a'));
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

struct Answer {
  absl::Status status;
  size_t bytes = 0;
};

Answer Ask(const std::string& address, int64_t epoch, uint64_t session = 0,
           absl::Duration timeout = absl::Seconds(10)) {
  auto stub = wire::ClusterService::NewStub(MakeChannel(address, ChannelKind::kData));
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(absl::Now() + timeout));
  wire::WhoLeadsRequest request;
  request.mutable_caller()->set_epoch(epoch);
  request.mutable_caller()->set_session(session);
  wire::WhoLeadsResponse response;
  const grpc::Status status = stub->WhoLeads(&context, request, &response);
  Callee callee;
  callee.task = {"worker", 0};
  callee.address = address;
  return {FromGrpcStatus(status, callee, "WhoLeads"), response.leader().address().size()};
}

TEST(RpcServerTest, ServesOnThePortItGot) {
  FakeService service;
  COHORT_ASSERT_OK_AND_ASSIGN(auto server, RpcServer::Start({"127.0.0.1:0", {&service}, nullptr, {}}));
  EXPECT_GT(server->port(), 0);
  EXPECT_EQ(server->address(), "127.0.0.1:" + std::to_string(server->port()));
  EXPECT_EQ(Ask(server->address(), 3).bytes, 3u);
}

TEST(RpcServerTest, SecondServerOnThePortIsAlreadyExists) {
  FakeService service;
  COHORT_ASSERT_OK_AND_ASSIGN(auto first, RpcServer::Start({"127.0.0.1:0", {&service}, nullptr, {}}));
  const absl::Time start = absl::Now();
  for (const std::string host : {"127.0.0.1", "0.0.0.0", "localhost"}) {
    const auto second = RpcServer::Start({host + ":" + std::to_string(first->port()), {&service}, nullptr, {}});
    EXPECT_THAT(second.status(),
                StatusIs(absl::StatusCode::kAlreadyExists,
                         HasSubstr("address in use: port " + std::to_string(first->port()) + " is held")))
        << host;
  }
  EXPECT_LT(absl::Now() - start, absl::Seconds(5));
}

TEST(RpcServerTest, PortIsFreeAfterStop) {
  FakeService service;
  COHORT_ASSERT_OK_AND_ASSIGN(auto first, RpcServer::Start({"127.0.0.1:0", {&service}, nullptr, {}}));
  const std::string address = first->address();
  first.reset();
  EXPECT_THAT(RpcServer::Start({address, {&service}, nullptr, {}}).status(), IsOk());
}

TEST(RpcServerTest, BadAddressesAreInvalid) {
  FakeService service;
  for (const char* address :
       {"", "2222", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:65536", "127.0.0.1:-1", "some.host:2222", "192.0.2.1:0"}) {
    EXPECT_THAT(RpcServer::Start({address, {&service}, nullptr, {}}).status(),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << address;
  }
}

TEST(RpcServerTest, LargeMessagesPass) {
  FakeService service;
  COHORT_ASSERT_OK_AND_ASSIGN(auto server, RpcServer::Start({"127.0.0.1:0", {&service}, nullptr, {}}));
  EXPECT_EQ(Ask(server->address(), 30 << 20).bytes, size_t{30} << 20);
}

TEST(RpcServerTest, LongStatusMessageKeepsItsCode) {
  FakeService service;
  COHORT_ASSERT_OK_AND_ASSIGN(auto server, RpcServer::Start({"127.0.0.1:0", {&service}, nullptr, {}}));
  EXPECT_EQ(Ask(server->address(), -60000).status, absl::NotFoundError(std::string(60000, 'e')));
}

TEST(RpcServerTest, HealthServiceServes) {
  FakeService service;
  COHORT_ASSERT_OK_AND_ASSIGN(auto server, RpcServer::Start({"127.0.0.1:0", {&service}, nullptr, {}}));
  const auto check = [&] {
    grpc::GenericStub stub(MakeChannel(server->address(), ChannelKind::kControl));
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(10)));
    grpc::Slice empty;
    grpc::ByteBuffer request(&empty, 1), response;
    std::promise<grpc::Status> done;
    stub.UnaryCall(&context, "/grpc.health.v1.Health/Check", {}, &request, &response,
                   [&](grpc::Status status) { done.set_value(status); });
    EXPECT_TRUE(done.get_future().get().ok());
    grpc::Slice slice;
    EXPECT_TRUE(response.DumpToSingleSlice(&slice).ok());
    return std::string(reinterpret_cast<const char*>(slice.begin()), slice.size());
  };
  EXPECT_EQ(check(), std::string("\x08\x01"));  // status: SERVING
  server->SetNotServing();
  EXPECT_EQ(check(), std::string("\x08\x02"));
}

TEST(RpcServerTest, StopCancelsWhatDoesNotEnd) {
  FakeService service;
  COHORT_ASSERT_OK_AND_ASSIGN(auto server, RpcServer::Start({"127.0.0.1:0", {&service}, nullptr, {}}));
  auto answer = std::async(std::launch::async, [&] { return Ask(server->address(), 0, 1); });
  while (Ask(server->address(), 1).bytes != 1) {
  }
  server->Stop(absl::Now() + absl::Milliseconds(50));
  EXPECT_FALSE(answer.get().status.ok());
}

TEST(RpcServerTest, NobodyListensIsUnavailableAtOnce) {
  FakeService service;
  std::string address;
  {
    COHORT_ASSERT_OK_AND_ASSIGN(auto server, RpcServer::Start({"127.0.0.1:0", {&service}, nullptr, {}}));
    address = server->address();
  }
  const absl::Time start = absl::Now();
  EXPECT_THAT(Ask(address, 1).status,
              StatusIs(absl::StatusCode::kUnavailable, AllOf(HasSubstr("/job:worker/task:0 at " + address))));
  EXPECT_LT(absl::Now() - start, absl::Seconds(5));
}

TEST(ChannelTest, GoesThroughNoProxy) {
  setenv("http_proxy", "http://127.0.0.1:1", 1);
  setenv("grpc_proxy", "http://127.0.0.1:1", 1);
  FakeService service;
  COHORT_ASSERT_OK_AND_ASSIGN(auto server, RpcServer::Start({"127.0.0.1:0", {&service}, nullptr, {}}));
  EXPECT_EQ(Ask("localhost:" + std::to_string(server->port()), 3).bytes, 3u);
}

}  // namespace
}  // namespace cohort
