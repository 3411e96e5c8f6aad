#include "ps/ps_service.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/ps.grpc.pb.h"
#include "runtime/base/status_macros.h"
#include "runtime/remote/answer.h"
#include "runtime/remote/common_coding.h"
#include "runtime/remote/frame.h"
#include "runtime/remote/ps_coding.h"
#include "runtime/remote/tensor_coding.h"
#include "runtime/rpc/status.h"

namespace cohort {
namespace {

// Pull and Push are handled as bytes, so that tensors are not copied through messages.
using Sessions = wire::PsService::WithCallbackMethod_OpenPsSession<wire::PsService::WithCallbackMethod_SummarizePs<
    wire::PsService::WithCallbackMethod_ClosePsSession<wire::PsService::WithRawCallbackMethod_Pull<
        wire::PsService::WithRawCallbackMethod_Push<wire::PsService::Service>>>>>;

class PsService final : public Sessions {
 public:
  PsService(PsLink& sessions, ParameterServer& variables, CallChecker check, Executor& executor)
      : sessions_(sessions), variables_(variables), check_(std::move(check)), executor_(executor) {}

  grpc::ServerUnaryReactor* OpenPsSession(grpc::CallbackServerContext* context,
                                          const wire::OpenPsSessionRequest* request,
                                          wire::OpenPsSessionResponse*) override {
    return Handle(context, request->caller(),
                  [this, request](const CallContext& call, grpc::ServerUnaryReactor* reactor) -> absl::Status {
                    COHORT_ASSIGN_OR_RETURN(const PsSessionSpec spec, FromProto(*request));
                    sessions_.OpenSession(spec, call.deadline, Acknowledge(reactor));
                    return absl::OkStatus();
                  });
  }

  grpc::ServerUnaryReactor* SummarizePs(grpc::CallbackServerContext* context, const wire::SummarizePsRequest* request,
                                        wire::SummarizePsResponse* response) override {
    return Handle(context, request->caller(),
                  [this, response](const CallContext& call, grpc::ServerUnaryReactor* reactor) {
                    const auto fill = [response](const PsSummary& summary) { *response = ToProto(summary); };
                    sessions_.Summarize(call.session, call.deadline, AnswerWith<PsSummary>(reactor, fill));
                    return absl::OkStatus();
                  });
  }

  grpc::ServerUnaryReactor* ClosePsSession(grpc::CallbackServerContext* context,
                                           const wire::ClosePsSessionRequest* request,
                                           wire::ClosePsSessionResponse*) override {
    return Handle(
        context, request->caller(), [this, request](const CallContext& call, grpc::ServerUnaryReactor* reactor) {
          sessions_.CloseSession(call.session, FromProto(request->reason()), call.deadline, Acknowledge(reactor));
          return absl::OkStatus();
        });
  }

  grpc::ServerUnaryReactor* Pull(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                 grpc::ByteBuffer* response) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    executor_.Post([=, this] { reactor->Finish(ToGrpcStatus(Pull(*context, *request, *response))); });
    return reactor;
  }

  grpc::ServerUnaryReactor* Push(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                 grpc::ByteBuffer* response) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    executor_.Post([=, this] {
      const absl::Status status = Push(*context, *request);
      const grpc::Slice empty;  // a PushResponse has no bytes; a buffer without a slice is not a message
      *response = grpc::ByteBuffer(&empty, 1);
      reactor->Finish(ToGrpcStatus(status));
    });
    return reactor;
  }

 private:
  // Checks the call, then starts it on the executor: a ps computes in the calling thread. What start returns, if not
  // ok, is the answer.
  template <typename Start>
  grpc::ServerUnaryReactor* Handle(grpc::CallbackServerContext* context, const wire::Caller& caller, Start start) {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    CallContext call = ReadCallContext(caller, *context);
    if (const absl::Status status = check_(call); !status.ok()) {
      reactor->Finish(ToGrpcStatus(status));
      return reactor;
    }
    executor_.Post([call = std::move(call), reactor, start = std::move(start)] {
      const absl::Status status = start(call, reactor);
      if (!status.ok()) reactor->Finish(ToGrpcStatus(status));
    });
    return reactor;
  }

  absl::Status Pull(const grpc::CallbackServerContext& context, const grpc::ByteBuffer& bytes,
                    grpc::ByteBuffer& response) {
    wire::PullRequest request;
    grpc::ByteBuffer copy(bytes);  // shares the slices
    grpc::ProtoBufferReader reader(&copy);
    if (!request.ParseFromZeroCopyStream(&reader)) return absl::InvalidArgumentError("malformed pull");
    const CallContext call = ReadCallContext(request.caller(), context);
    COHORT_RETURN_IF_ERROR(check_(call));
    const std::vector<std::string> names(request.variables().begin(), request.variables().end());
    COHORT_ASSIGN_OR_RETURN(const std::vector<Tensor> values, variables_.Pull(call.session, names));
    wire::PullHeader header;
    std::vector<grpc::Slice> slices;
    for (const Tensor& value : values) {
      *header.add_values() = ToProto(value.spec());
      slices.push_back(SliceOf(value));
    }
    return MakeFrame(header, slices, response);
  }

  absl::Status Push(const grpc::CallbackServerContext& context, const grpc::ByteBuffer& bytes) {
    grpc::ByteBuffer copy(bytes);  // shares the slices
    FrameReader reader(copy);
    wire::PushHeader header;
    COHORT_RETURN_IF_ERROR(reader.ReadHeader(header));
    const CallContext call = ReadCallContext(header.caller(), context);
    COHORT_RETURN_IF_ERROR(check_(call));
    if (header.variables_size() != header.gradients_size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("push: ", header.gradients_size(), " gradients for ", header.variables_size(), " variables"));
    }
    std::vector<ParameterServer::Gradient> gradients;
    for (int i = 0; i < header.variables_size(); ++i) {
      COHORT_ASSIGN_OR_RETURN(const TensorSpec spec, FromProto(header.gradients(i)));
      COHORT_ASSIGN_OR_RETURN(const size_t size, CheckedBytes(spec),
                              _ << "gradient of '" << header.variables(i) << "'");
      COHORT_RETURN_IF_ERROR(reader.ExpectPayload(size)) << "gradient of '" << header.variables(i) << "'";
      Tensor value(spec.dtype, spec.shape);
      COHORT_RETURN_IF_ERROR(reader.ReadPayload(value.mutable_data(), size));
      gradients.push_back({header.variables(i), std::move(value)});
    }
    COHORT_RETURN_IF_ERROR(reader.Finish());
    ParameterClient::Update update;
    update.worker_step = header.worker_step();
    update.learning_rate = header.learning_rate();
    update.examples = header.examples();
    return variables_.Push(call.session, call.caller, update, gradients);
  }

  PsLink& sessions_;
  ParameterServer& variables_;
  const CallChecker check_;
  Executor& executor_;
};

}  // namespace

ServicePtr MakePsService(PsLink& sessions, ParameterServer& variables, CallChecker check, Executor& executor) {
  return ServicePtr(new PsService(sessions, variables, std::move(check), executor));
}

}  // namespace cohort
