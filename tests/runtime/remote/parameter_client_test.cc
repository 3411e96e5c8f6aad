#include "runtime/remote/parameter_client.h"

#include <gmock/gmock.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include "proto/ps.grpc.pb.h"
#include "ps/ps_service.h"
#include "runtime/base/first_cause.h"
#include "runtime/remote/ps_link.h"
#include "runtime/rpc/call_context.h"
#include "runtime/rpc/channel.h"
#include "runtime/rpc/server.h"
#include "runtime/rpc/service_ptr.h"
#include "tests/testing/answer.h"
#include "tests/testing/fake_parameter_server.h"
#include "tests/testing/status_matchers.h"

namespace cohort {
namespace {

using ::cohort::testing::Answer;
using ::cohort::testing::FakeParameterServer;
using ::cohort::testing::IsOk;
using ::cohort::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::Time Soon() { return absl::Now() + absl::Seconds(10); }

// A fake ps behind a server.
struct ServedPs {
  explicit ServedPs(int index)
      : self{{"ps", index}, "", 100u + index},
        ps(self),
        executor("ps", 2),
        service(MakePsService(
            ps, ps, [this](const CallContext& call) { return CheckCallee(call, self.task, self.incarnation); },
            executor)) {
    auto started = RpcServer::Start({"127.0.0.1:0", {service.get()}, nullptr, {}});
    EXPECT_THAT(started.status(), IsOk());
    server = *std::move(started);
    self.address = server->address();
  }

  TaskAddress self;
  FakeParameterServer ps;
  ThreadPool executor;
  ServicePtr service;
  std::unique_ptr<RpcServer> server;
};

// Variables a0 (on ps 0), b1 (on ps 1), c0, of one float each, but c0 of `large` ints.
class ParameterClientTest : public ::testing::Test {
 protected:
  static constexpr int64_t kLarge = 1 << 20;

  SessionSpec Spec() const {
    SessionSpec spec;
    spec.session = 0xfedcba9876543210;
    spec.epoch = 4;
    for (const char* name : {"a0", "b1", "c0"}) spec.program.variables.emplace_back().name = name;
    spec.parameter_servers = {ps0_.self, ps1_.self};
    return spec;
  }

  std::unique_ptr<ParameterClient> Connect() const {
    LinkOptions options;
    options.self = {"worker", 3};
    options.incarnation = 9;
    return ConnectParameters(Spec(), options);
  }

  absl::Status Pull(ParameterClient& client) {
    const ParameterClient::PullTarget targets[] = {{"a0", a_.spec(), a_.mutable_data()},
                                                   {"b1", b_.spec(), b_.mutable_data()},
                                                   {"c0", c_.spec(), c_.mutable_data()}};
    return client.Pull(targets, Soon());
  }

  absl::Status Push(ParameterClient& client, absl::Time deadline) {
    const ParameterClient::Gradient gradients[] = {
        {"a0", a_.spec(), a_.data()}, {"b1", b_.spec(), b_.data()}, {"c0", c_.spec(), c_.data()}};
    ParameterClient::Update update;
    update.worker_step = 5;
    update.learning_rate = 0.1;
    update.examples = 64;
    return client.Push(update, gradients, deadline);
  }

  Tensor LargeTensor() {
    Tensor t(DType::kI32, {kLarge});
    int32_t next = 1;
    for (int32_t& value : t.mutable_values<int32_t>()) value = next++;
    return t;
  }

  ServedPs ps0_{0};
  ServedPs ps1_{1};
  Tensor a_ = Tensor::Of<float>({1}, {0});
  Tensor b_ = Tensor::Of<float>({1}, {0});
  Tensor c_ = Tensor::Zeros(DType::kI32, {kLarge});
};

TEST_F(ParameterClientTest, PullFillsEveryDestinationFromItsServer) {
  ps0_.ps.SetValue("a0", Tensor::Of<float>({1}, {1}));
  ps1_.ps.SetValue("b1", Tensor::Of<float>({1}, {2}));
  ps0_.ps.SetValue("c0", LargeTensor());
  const auto client = Connect();
  COHORT_ASSERT_OK(Pull(*client));
  EXPECT_THAT(a_.values<float>(), ElementsAre(1));
  EXPECT_THAT(b_.values<float>(), ElementsAre(2));
  EXPECT_TRUE(c_.BitwiseEquals(LargeTensor()));
}

TEST_F(ParameterClientTest, PushReachesEachServerInOneMessage) {
  a_ = Tensor::Of<float>({1}, {3});
  b_ = Tensor::Of<float>({1}, {4});
  c_ = LargeTensor();
  const auto client = Connect();
  COHORT_ASSERT_OK(Push(*client, Soon()));
  ASSERT_EQ(ps0_.ps.pushes().size(), 1u);
  const FakeParameterServer::Pushed pushed = ps0_.ps.pushes()[0];
  EXPECT_EQ(pushed.session, 0xfedcba9876543210);
  EXPECT_EQ(pushed.worker, (TaskId{"worker", 3}));
  EXPECT_EQ(pushed.update.worker_step, 5);
  EXPECT_EQ(pushed.update.learning_rate, 0.1);
  EXPECT_EQ(pushed.update.examples, 64);
  EXPECT_THAT(pushed.variables, ElementsAre("a0", "c0"));
  ASSERT_EQ(ps1_.ps.pushes().size(), 1u);
  EXPECT_THAT(ps1_.ps.pushes()[0].variables, ElementsAre("b1"));
  EXPECT_EQ(client->bytes_sent(), 4 + 4 + 4 * kLarge);

  const Tensor sent = c_;
  c_ = Tensor::Zeros(DType::kI32, {kLarge});
  COHORT_ASSERT_OK(Pull(*client));  // the fake made them values
  EXPECT_TRUE(c_.BitwiseEquals(sent));
}

TEST_F(ParameterClientTest, EmptyTensorsPass) {
  const auto client = Connect();
  const Tensor none = Tensor::Zeros(DType::kF32, {0, 3});
  const ParameterClient::Gradient gradients[] = {{"a0", none.spec(), none.data()}};
  COHORT_ASSERT_OK(client->Push({}, gradients, Soon()));
  const ParameterClient::PullTarget targets[] = {{"a0", none.spec(), nullptr}};
  COHORT_ASSERT_OK(client->Pull(targets, Soon()));
}

TEST_F(ParameterClientTest, WhatAServerAnswersNamesIt) {
  const auto client = Connect();
  ps0_.ps.SetValue("a0", Tensor::Of<float>({1}, {1}));
  ps0_.ps.SetValue("c0", LargeTensor());
  EXPECT_THAT(Pull(*client), StatusIs(absl::StatusCode::kFailedPrecondition,
                                      AllOf(HasSubstr("/job:ps/task:1"), HasSubstr("'b1' has no value"))));
}

TEST_F(ParameterClientTest, OtherSpecIsRefusedNamingBoth) {
  const auto client = Connect();
  ps0_.ps.SetValue("a0", Tensor::Of<float>({2}, {1, 2}));
  const ParameterClient::PullTarget targets[] = {{"a0", a_.spec(), a_.mutable_data()}};
  EXPECT_THAT(client->Pull(targets, Soon()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("'a0'"), HasSubstr("float32 [2]"), HasSubstr("float32 [1]"))));
}

TEST_F(ParameterClientTest, UnknownVariableIsNotFound) {
  const ParameterClient::PullTarget targets[] = {{"x", a_.spec(), a_.mutable_data()}};
  EXPECT_THAT(Connect()->Pull(targets, Soon()), StatusIs(absl::StatusCode::kNotFound, HasSubstr("'x'")));
}

TEST_F(ParameterClientTest, DeadServerIsUnavailableAndNamed) {
  const auto client = Connect();
  ps1_.server.reset();
  const absl::Time start = absl::Now();
  const absl::Status status = Push(*client, Soon());
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable, HasSubstr("/job:ps/task:1")));
  EXPECT_EQ(GetFirstCause(status)->task, (TaskId{"ps", 1}));
  EXPECT_LT(absl::Now() - start, absl::Seconds(5));
}

TEST_F(ParameterClientTest, RestartedServerIsAborted) {
  const auto client = Connect();
  ps1_.self.incarnation = 7;
  EXPECT_THAT(Push(*client, Soon()), StatusIs(absl::StatusCode::kAborted, HasSubstr("/job:ps/task:1")));
}

TEST_F(ParameterClientTest, LinkReachesThePs) {
  LinkOptions options;
  options.retry_for = absl::Milliseconds(100);
  const auto link = ConnectParameterServer(ps0_.self, options);
  EXPECT_EQ(link->task().task, (TaskId{"ps", 0}));
  PsSessionSpec spec;
  spec.session = 8;
  spec.epoch = 2;
  spec.seed = 3;
  PsVariable& variable = spec.variables.emplace_back();
  variable.definition.name = "w";
  variable.definition.spec = {DType::kF32, {2}};
  variable.optimizer = {{"optimizer", std::string("sgd")}};
  Answer<bool> opened;
  link->OpenSession(spec, Soon(), opened.Slot());
  COHORT_ASSERT_OK(opened.Wait());
  EXPECT_EQ(ps0_.ps.opened().session, 8u);
  EXPECT_EQ(ps0_.ps.opened().epoch, 2);
  EXPECT_EQ(ps0_.ps.opened().seed, 3u);
  EXPECT_EQ(ps0_.ps.opened().variables.at(0).definition.name, "w");

  ps0_.ps.SetValue("w", Tensor::Of<float>({2}, {1, 2}));
  Answer<PsSummary> summary;
  link->Summarize(8, Soon(), summary.Slot());
  COHORT_ASSERT_OK_AND_ASSIGN(const PsSummary got, summary.Wait());
  EXPECT_EQ(got.updates, 8);
  EXPECT_TRUE(got.values.at(0).second.BitwiseEquals(Tensor::Of<float>({2}, {1, 2})));

  Answer<bool> closed;
  link->CloseSession(8, absl::CancelledError("stop"), Soon(), closed.Slot());
  COHORT_ASSERT_OK(closed.Wait());
  EXPECT_EQ(ps0_.ps.closed(), absl::CancelledError("stop"));

  ps0_.server.reset();
  Answer<PsSummary> none;
  link->Summarize(8, Soon(), none.Slot());
  EXPECT_THAT(none.Wait().status(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("/job:ps/task:0")));
}

// The frames are messages: what another Protobuf client sends is understood.
TEST_F(ParameterClientTest, OrdinaryMessagesAreUnderstood) {
  const auto stub = wire::PsService::NewStub(MakeChannel(ps0_.self.address, ChannelKind::kControl));
  wire::PushRequest push;
  push.mutable_header()->mutable_caller()->mutable_task()->set_job("worker");
  push.mutable_header()->add_variables("a0");
  wire::TensorSpec& spec = *push.mutable_header()->add_gradients();
  spec.set_dtype(1);
  spec.mutable_shape()->add_dims(2);
  const float gradient[] = {1, 2};
  push.set_payload(gradient, sizeof(gradient));
  wire::PushResponse pushed;
  {
    grpc::ClientContext context;
    EXPECT_TRUE(stub->Push(&context, push, &pushed).ok());
  }
  wire::PullRequest pull;
  pull.add_variables("a0");
  wire::PullResponse pulled;
  {
    grpc::ClientContext context;
    EXPECT_TRUE(stub->Pull(&context, pull, &pulled).ok());
  }
  EXPECT_EQ(pulled.header().values(0).SerializeAsString(), spec.SerializeAsString());
  EXPECT_EQ(pulled.payload(), push.payload());
}

TEST_F(ParameterClientTest, MalformedFramesAreRefused) {
  const auto stub = wire::PsService::NewStub(MakeChannel(ps0_.self.address, ChannelKind::kControl));
  const auto push = [&](const wire::PushRequest& request) {
    grpc::ClientContext context;
    wire::PushResponse response;
    return stub->Push(&context, request, &response).error_code();
  };
  wire::PushRequest request;
  EXPECT_EQ(push(request), grpc::StatusCode::INVALID_ARGUMENT);  // neither header nor payload
  request.mutable_header()->add_variables("a0");
  request.set_payload("1234");
  EXPECT_EQ(push(request), grpc::StatusCode::INVALID_ARGUMENT);  // no spec
  wire::TensorSpec& spec = *request.mutable_header()->add_gradients();
  spec.set_dtype(1);
  spec.mutable_shape()->add_dims(2);
  EXPECT_EQ(push(request), grpc::StatusCode::INVALID_ARGUMENT);  // 4 bytes for 8
  request.set_payload("123456789012");
  EXPECT_EQ(push(request), grpc::StatusCode::INVALID_ARGUMENT);  // 12 bytes for 8
  spec.mutable_shape()->set_dims(0, int64_t{1} << 38);
  EXPECT_EQ(push(request), grpc::StatusCode::INVALID_ARGUMENT);  // a terabyte that is not there
  EXPECT_THAT(ps0_.ps.pushes(), ElementsAre());
}

}  // namespace
}  // namespace cohort
