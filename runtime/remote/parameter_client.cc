#include "runtime/remote/parameter_client.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/ps.pb.h"
#include "runtime/base/mutex.h"
#include "runtime/base/status_macros.h"
#include "runtime/remote/calls.h"
#include "runtime/remote/common_coding.h"
#include "runtime/remote/frame.h"
#include "runtime/remote/tensor_coding.h"
#include "runtime/rpc/channel.h"

namespace cohort {
namespace {

constexpr char kPull[] = "/cohort.wire.PsService/Pull";
constexpr char kPush[] = "/cohort.wire.PsService/Push";
constexpr absl::Duration kGrace = absl::Seconds(5);

// The messages to all servers of one Pull or Push. Kept alive by the calls, so that whoever waits may give up.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  struct Message {
    size_t server = 0;
    grpc::ByteBuffer request;
    grpc::ByteBuffer response;
    std::optional<grpc::ClientContext> context{std::in_place};  // until the answer; see Calls
    grpc::Status status;
  };

  Message& Add(size_t server) {
    messages_.push_back(std::make_unique<Message>());
    messages_.back()->server = server;
    return *messages_.back();
  }

  void Send(Message& message, grpc::GenericStub& stub, const char* method, absl::Time deadline) {
    {
      MutexLock lock(&mu_);
      ++pending_;
    }
    if (deadline < absl::InfiniteFuture()) message.context->set_deadline(absl::ToChronoTime(deadline));
    stub.UnaryCall(&*message.context, method, grpc::StubOptions(), &message.request, &message.response,
                   [self = shared_from_this(), &message](grpc::Status status) {
                     MutexLock lock(&self->mu_);
                     message.status = std::move(status);
                     message.context.reset();
                     --self->pending_;
                   });
  }

  // False: gRPC has not answered by `deadline`.
  bool Wait(absl::Time deadline) {
    MutexLock lock(&mu_);
    const auto done = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return pending_ == 0; };
    return mu_.AwaitWithDeadline(done, deadline);
  }

  std::vector<std::unique_ptr<Message>>& messages() { return messages_; }

 private:
  Mutex mu_;
  int pending_ ABSL_GUARDED_BY(mu_) = 0;
  std::vector<std::unique_ptr<Message>> messages_;
};

class RemoteParameterClient final : public ParameterClient {
 public:
  RemoteParameterClient(const SessionSpec& spec, const LinkOptions& options)
      : session_(spec.session), epoch_(spec.epoch) {
    for (const TaskAddress& task : spec.parameter_servers) {
      servers_.push_back(std::make_unique<Server>(task, options, MakeChannel(task.address, ChannelKind::kData)));
    }
    for (size_t k = 0; k < spec.program.variables.size() && !servers_.empty(); ++k) {
      server_of_[spec.program.variables[k].name] = k % servers_.size();
    }
  }

  absl::Status Pull(absl::Span<const PullTarget> targets, absl::Time deadline) override {
    COHORT_ASSIGN_OR_RETURN(const auto by_server, Split(targets));
    auto frames = std::vector<grpc::ByteBuffer>(servers_.size());
    for (size_t s = 0; s < servers_.size(); ++s) {
      if (by_server[s].empty()) continue;
      wire::PullRequest request;
      *request.mutable_caller() = servers_[s]->calls.MakeCaller(session_, epoch_);
      for (const PullTarget* target : by_server[s]) request.add_variables(target->variable);
      const grpc::Slice slice(request.SerializeAsString());
      frames[s] = grpc::ByteBuffer(&slice, 1);
    }
    return CallAll(kPull, "Pull", by_server, frames, deadline,
                   [&](size_t s, grpc::ByteBuffer& response) { return Deliver(by_server[s], response); });
  }

  absl::Status Push(const Update& update, absl::Span<const Gradient> gradients, absl::Time deadline) override {
    COHORT_ASSIGN_OR_RETURN(const auto by_server, Split(gradients));
    auto frames = std::vector<grpc::ByteBuffer>(servers_.size());
    for (size_t s = 0; s < servers_.size(); ++s) {
      if (by_server[s].empty()) continue;
      wire::PushHeader header;
      *header.mutable_caller() = servers_[s]->calls.MakeCaller(session_, epoch_);
      header.set_worker_step(update.worker_step);
      header.set_learning_rate(update.learning_rate);
      header.set_examples(update.examples);
      std::vector<grpc::Slice> slices;
      for (const Gradient* gradient : by_server[s]) {
        header.add_variables(gradient->variable);
        *header.add_gradients() = ToProto(gradient->spec);
        COHORT_ASSIGN_OR_RETURN(const size_t bytes, CheckedBytes(gradient->spec));
        // A copy: after a deadline the transport may still hold a slice while the step's memory is used again.
        slices.emplace_back(gradient->data, bytes);
        bytes_sent_ += static_cast<int64_t>(bytes);
      }
      COHORT_RETURN_IF_ERROR(MakeFrame(header, slices, frames[s]));
    }
    return CallAll(kPush, "Push", by_server, frames, deadline,
                   [](size_t, grpc::ByteBuffer&) { return absl::OkStatus(); });
  }

  int64_t bytes_sent() const override { return bytes_sent_; }

 private:
  struct Server {
    Server(const TaskAddress& task, const LinkOptions& options, std::shared_ptr<grpc::Channel> channel)
        : calls(task, options, channel), stub(channel) {}
    Calls calls;
    grpc::GenericStub stub;
  };

  template <typename T>
  absl::StatusOr<std::vector<std::vector<const T*>>> Split(absl::Span<const T> items) const {
    std::vector<std::vector<const T*>> by_server(servers_.size());
    for (const T& item : items) {
      const auto server = server_of_.find(item.variable);
      if (server == server_of_.end()) {
        return absl::NotFoundError(absl::StrCat("variable '", item.variable, "' is not on any parameter server"));
      }
      by_server[server->second].push_back(&item);
    }
    return by_server;
  }

  // Sends frame s to each server that has items; `deliver` takes each answer. The first error in the order of servers
  // counts.
  template <typename Items, typename Deliver>
  absl::Status CallAll(const char* method, const char* name, const Items& by_server,
                       const std::vector<grpc::ByteBuffer>& frames, absl::Time deadline, Deliver deliver) {
    std::vector<bool> open(servers_.size());
    for (size_t s = 0; s < servers_.size(); ++s) open[s] = !by_server[s].empty();
    absl::Status first_error;
    for (int attempt = 0; attempt < 2; ++attempt) {
      first_error = absl::OkStatus();
      bool again = false;
      auto exchange = std::make_shared<Exchange>();
      for (size_t s = 0; s < servers_.size(); ++s) {
        if (!open[s]) continue;
        Exchange::Message& message = exchange->Add(s);
        message.request = frames[s];
      }
      for (auto& message : exchange->messages()) {
        exchange->Send(*message, servers_[message->server]->stub, method, deadline);
      }
      if (!exchange->Wait(deadline + kGrace)) return absl::InternalError(absl::StrCat(name, ": gRPC did not answer"));
      for (auto& message : exchange->messages()) {
        const Calls& calls = servers_[message->server]->calls;
        absl::Status status = calls.Explain(message->status, name);
        if (status.ok()) status = deliver(message->server, message->response);
        if (status.ok()) {
          open[message->server] = false;
          continue;
        }
        if (calls.MayRepeat(status, absl::Now(), absl::Now(), deadline)) again = true;
        if (first_error.ok()) first_error = Annotated(status, calls.callee(), name);
      }
      if (first_error.ok() || !again) return first_error;
    }
    return first_error;
  }

  // What a server answered does not name it; what the transport said does.
  static absl::Status Annotated(const absl::Status& status, const TaskAddress& server, const char* name) {
    if (absl::StrContains(status.message(), server.task.ToString())) return status;
    return Annotate(status, absl::StrCat(name, " of ", server.task.ToString()));
  }

  static absl::Status Deliver(const std::vector<const PullTarget*>& targets, grpc::ByteBuffer& response) {
    FrameReader reader(response);
    wire::PullHeader header;
    COHORT_RETURN_IF_ERROR(reader.ReadHeader(header));
    if (header.values_size() != static_cast<int>(targets.size())) {
      return absl::InternalError(absl::StrCat(header.values_size(), " values for ", targets.size(), " variables"));
    }
    for (size_t i = 0; i < targets.size(); ++i) {
      const PullTarget& target = *targets[i];
      COHORT_ASSIGN_OR_RETURN(const TensorSpec spec, FromProto(header.values(static_cast<int>(i))));
      if (spec != target.spec) {
        return absl::InvalidArgumentError(absl::StrCat("variable '", target.variable, "' is ", spec.ToString(),
                                                       " there, ", target.spec.ToString(), " here"));
      }
      COHORT_ASSIGN_OR_RETURN(const size_t bytes, CheckedBytes(spec));
      COHORT_RETURN_IF_ERROR(reader.ReadPayload(target.destination, bytes)) << "variable '" << target.variable << "'";
    }
    return reader.Finish();
  }

  const uint64_t session_;
  const int64_t epoch_;
  int64_t bytes_sent_ = 0;
  std::vector<std::unique_ptr<Server>> servers_;
  absl::flat_hash_map<std::string, size_t> server_of_;
};

}  // namespace

std::unique_ptr<ParameterClient> ConnectParameters(const SessionSpec& spec, LinkOptions options) {
  return std::make_unique<RemoteParameterClient>(spec, options);
}

}  // namespace cohort
