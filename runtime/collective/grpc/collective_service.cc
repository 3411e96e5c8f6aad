#include "runtime/collective/grpc/collective_service.h"

#include <grpcpp/impl/codegen/server_callback_handlers.h>
#include <grpcpp/impl/rpc_method.h>
#include <grpcpp/impl/rpc_service_method.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/support/server_callback.h>

#include <algorithm>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/mutex.h"
#include "runtime/base/status_macros.h"
#include "runtime/collective/direct_exchange.h"
#include "runtime/collective/grpc/grpc_group.h"
#include "runtime/collective/grpc/grpc_transport.h"
#include "runtime/collective/grpc/hello.h"
#include "runtime/collective/grpc/incoming_stream.h"
#include "runtime/rpc/channel.h"

namespace cohort {
namespace {

// The groups of this process and the streams that wait for one. Held by the streams too, which gRPC ends when it likes.
class GroupTable final : public IncomingStream::Door {
 public:
  GroupTable(GroupMember self, const ExchangeOptions& options) : self_(std::move(self)), options_(options) {}

  // Takes the group in and hands it the streams that waited for it. Ends older epochs.
  absl::Status Add(const std::shared_ptr<GrpcGroup>& group);
  void Remove(const std::shared_ptr<GrpcGroup>& group);
  void AbortGroup(const GroupId& id, const absl::Status& reason);

  void OnHello(const std::shared_ptr<IncomingStream>& stream, const grpc::ByteBuffer& message,
               grpc::CallbackServerContext& context) override;
  void OnWaitingGone(const IncomingStream* stream) override;

 private:
  using Key = std::pair<GroupId, int>;  // and the rank of this process
  struct Waiting {
    Hello hello;
    std::shared_ptr<IncomingStream> stream;
  };

  // Aborted if this process has joined a newer epoch.
  absl::Status CheckEpoch(const GroupId& id) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::vector<Waiting> TakeWaiting(const GroupId& id, int rank, bool older) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Attach(const std::shared_ptr<GrpcGroup>& group, const Waiting& waiting) const;

  const GroupMember self_;
  const ExchangeOptions options_;
  Mutex mu_;
  std::map<Key, std::shared_ptr<GrpcGroup>> groups_ ABSL_GUARDED_BY(mu_);
  std::vector<Waiting> waiting_ ABSL_GUARDED_BY(mu_);
  // Why the latest groups failed, for peers that knock late.
  std::deque<std::pair<Key, absl::Status>> failed_ ABSL_GUARDED_BY(mu_);
};

constexpr size_t kMaxFailed = 64;

bool OlderEpoch(const GroupId& a, const GroupId& b) {
  return a.session == b.session && a.group == b.group && a.epoch < b.epoch;
}

absl::Status Ended(const GroupId& old, int64_t epoch) {
  return absl::AbortedError(
      absl::StrCat("the group of ", old.ToString(), " is over: epoch ", epoch, " has begun; read the roster again"));
}

absl::Status GroupTable::CheckEpoch(const GroupId& id) const {
  for (const auto& [key, group] : groups_) {
    if (OlderEpoch(id, key.first)) return Ended(id, key.first.epoch);
  }
  return absl::OkStatus();
}

std::vector<GroupTable::Waiting> GroupTable::TakeWaiting(const GroupId& id, int rank, bool older) {
  std::vector<Waiting> taken;
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    const bool match = older ? OlderEpoch(it->hello.id, id) : it->hello.id == id && (rank < 0 || it->hello.to == rank);
    if (!match) {
      ++it;
      continue;
    }
    taken.push_back(std::move(*it));
    it = waiting_.erase(it);
  }
  return taken;
}

absl::Status GroupTable::Add(const std::shared_ptr<GrpcGroup>& group) {
  const GroupSpec& spec = group->spec();
  std::vector<std::shared_ptr<GrpcGroup>> old_groups;
  std::vector<Waiting> stale;
  std::vector<Waiting> fitting;
  {
    MutexLock lock(&mu_);
    COHORT_RETURN_IF_ERROR(CheckEpoch(spec.id));
    if (!groups_.emplace(Key(spec.id, spec.rank), group).second) {
      return absl::AlreadyExistsError(
          absl::StrCat("rank ", spec.rank, " of the group of ", spec.id.ToString(), " has joined already"));
    }
    for (auto it = failed_.begin(); it != failed_.end();) {
      it = it->first == Key(spec.id, spec.rank) ? failed_.erase(it) : it + 1;  // a new attempt
    }
    for (const auto& [key, other] : groups_) {
      if (OlderEpoch(key.first, spec.id)) old_groups.push_back(other);
    }
    stale = TakeWaiting(spec.id, -1, /*older=*/true);
    fitting = TakeWaiting(spec.id, spec.rank, /*older=*/false);
  }
  for (const auto& old : old_groups) old->Fail(Ended(old->spec().id, spec.id.epoch)).IgnoreError();
  for (const Waiting& waiting : stale) waiting.stream->End(Ended(waiting.hello.id, spec.id.epoch));
  for (const Waiting& waiting : fitting) Attach(group, waiting);
  return absl::OkStatus();
}

void GroupTable::Remove(const std::shared_ptr<GrpcGroup>& group) {
  const Key key(group->spec().id, group->spec().rank);
  absl::Status failure = group->failure();
  MutexLock lock(&mu_);
  const auto it = groups_.find(key);
  if (it == groups_.end() || it->second != group) return;
  groups_.erase(it);
  if (failure.ok()) return;
  if (failed_.size() == kMaxFailed) failed_.pop_front();
  failed_.emplace_back(key, std::move(failure));
}

void GroupTable::AbortGroup(const GroupId& id, const absl::Status& reason) {
  std::vector<std::shared_ptr<GrpcGroup>> groups;
  std::vector<Waiting> waiting;
  {
    MutexLock lock(&mu_);
    for (const auto& [key, group] : groups_) {
      if (key.first == id) groups.push_back(group);
    }
    waiting = TakeWaiting(id, -1, /*older=*/false);
  }
  for (const auto& group : groups) group->Fail(reason).IgnoreError();
  for (const Waiting& one : waiting) one.stream->End(reason);
}

void GroupTable::OnHello(const std::shared_ptr<IncomingStream>& stream, const grpc::ByteBuffer& message,
                         grpc::CallbackServerContext& context) {
  absl::StatusOr<Hello> hello = DecodeHello(message, context);
  if (!hello.ok()) return stream->End(hello.status());
  absl::Status fine = CheckCallee(hello->call, self_.task, self_.incarnation);
  if (!fine.ok()) return stream->End(fine);
  std::shared_ptr<GrpcGroup> group;
  Waiting waiting = {*std::move(hello), stream};
  {
    MutexLock lock(&mu_);
    fine = CheckEpoch(waiting.hello.id);
    const auto it = groups_.find(Key(waiting.hello.id, waiting.hello.to));
    if (it != groups_.end()) group = it->second;
    for (const auto& [key, reason] : failed_) {
      if (fine.ok() && key == Key(waiting.hello.id, waiting.hello.to)) fine = reason;
    }
    if (fine.ok() && group == nullptr) {
      waiting_.push_back(std::move(waiting));  // its caller's patience is the deadline
      return;
    }
  }
  if (!fine.ok()) return stream->End(fine);
  Attach(group, waiting);
}

void GroupTable::Attach(const std::shared_ptr<GrpcGroup>& group, const Waiting& waiting) const {
  absl::Status fits = CheckHello(waiting.hello, group->spec(), options_);
  // What the ranks disagree about will not get better: both learn it now. A stale caller is refused, and that is all.
  if (absl::IsFailedPrecondition(fits)) group->Fail(fits).IgnoreError();
  if (fits.ok()) fits = group->Attach(waiting.hello.from, waiting.stream);
  if (!fits.ok()) return waiting.stream->End(fits);
  waiting.stream->Welcome(group, waiting.hello.from);
}

void GroupTable::OnWaitingGone(const IncomingStream* stream) {
  std::shared_ptr<IncomingStream> last;  // freed without the lock
  MutexLock lock(&mu_);
  for (auto it = waiting_.begin(); it != waiting_.end(); ++it) {
    if (it->stream.get() != stream) continue;
    last = std::move(it->stream);
    waiting_.erase(it);
    return;
  }
}

// One method with raw messages, as generated code would register it.
class DataPlane final : public grpc::Service {
 public:
  explicit DataPlane(std::shared_ptr<GroupTable> table) {
    AddMethod(
        new grpc::internal::RpcServiceMethod(kExchangeMethod, grpc::internal::RpcMethod::BIDI_STREAMING, nullptr));
    MarkMethodRawCallback(0, new grpc::internal::CallbackBidiHandler<grpc::ByteBuffer, grpc::ByteBuffer>(
                                 [table = std::move(table)](grpc::CallbackServerContext* context) {
                                   return IncomingStream::Open(table, context);
                                 }));
  }
};

// The ranks of the group that share the CPUs of this one.
int RanksOnThisHost(const GroupSpec& spec) {
  const auto host = [](const GroupMember& member) {
    return absl::string_view(member.address).substr(0, member.address.rfind(':'));
  };
  return static_cast<int>(std::count_if(spec.members.begin(), spec.members.end(), [&](const GroupMember& member) {
    return host(member) == host(spec.members[spec.rank]);
  }));
}

class CollectiveServiceImpl final : public CollectiveService {
 public:
  CollectiveServiceImpl(const GroupMember& self, CollectiveServiceOptions options)
      : options_(std::move(options)),
        table_(std::make_shared<GroupTable>(self, options_.exchange)),
        data_plane_(table_) {}

  absl::StatusOr<std::unique_ptr<Communicator>> Join(const GroupSpec& spec, absl::Time deadline) override {
    COHORT_RETURN_IF_ERROR(Validate(spec));
    auto group = std::make_shared<GrpcGroup>(spec, SpinTime(options_.spin, 2 * RanksOnThisHost(spec)));
    COHORT_RETURN_IF_ERROR(table_->Add(group));
    auto transport = std::make_unique<GrpcTransport>(group, [table = table_, group] { table->Remove(group); });
    transport->Dial(options_.make_channel, options_.exchange);
    const absl::Status connected = group->AwaitConnected(deadline);
    if (!connected.ok()) return group->Fail(connected);
    return MakeDirectExchange(std::move(transport), options_.exchange);
  }

  void AbortGroup(const GroupId& id, absl::Status reason) override { table_->AbortGroup(id, reason); }
  grpc::Service* service() override { return &data_plane_; }

 private:
  const CollectiveServiceOptions options_;
  const std::shared_ptr<GroupTable> table_;
  DataPlane data_plane_;
};

}  // namespace

std::unique_ptr<CollectiveService> CollectiveService::Create(const GroupMember& self,
                                                             CollectiveServiceOptions options) {
  if (options.make_channel == nullptr) {
    options.make_channel = [](const std::string& address) { return MakeChannel(address, ChannelKind::kData); };
  }
  return std::make_unique<CollectiveServiceImpl>(self, std::move(options));
}

}  // namespace cohort
