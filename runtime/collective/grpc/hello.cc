#include "runtime/collective/grpc/hello.h"

#include <grpcpp/support/slice.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/collective.pb.h"

namespace cohort {
namespace {

constexpr int kProtocol = 1;

absl::Status Disagree(const Hello& hello, const GroupSpec& spec, absl::string_view field, absl::string_view theirs,
                      absl::string_view ours) {
  return absl::FailedPreconditionError(absl::StrCat("ranks of the group of ", spec.id.ToString(), " disagree about ",
                                                    field, ": ", hello.call.caller.ToString(), " (rank ", hello.from,
                                                    ") says ", theirs, ", ", spec.members[spec.rank].task.ToString(),
                                                    " (rank ", spec.rank, ") says ", ours));
}

}  // namespace

grpc::ByteBuffer EncodeHello(const GroupSpec& spec, int to, const ExchangeOptions& options) {
  const GroupMember& self = spec.members[spec.rank];
  wire::CollectiveHello hello;
  hello.mutable_caller()->mutable_task()->set_job(self.task.job);
  hello.mutable_caller()->mutable_task()->set_index(self.task.index);
  hello.mutable_caller()->set_incarnation(self.incarnation);
  hello.mutable_caller()->set_callee_incarnation(spec.members[to].incarnation);
  hello.mutable_caller()->set_epoch(spec.id.epoch);
  hello.mutable_caller()->set_session(spec.id.session);
  hello.set_group(spec.id.group);
  hello.set_from_rank(spec.rank);
  hello.set_to_rank(to);
  for (const GroupMember& member : spec.members) hello.add_members(member.task.ToString());
  hello.set_piece_bytes(options.piece_bytes);
  hello.set_small_bytes(options.small_bytes);
  hello.set_protocol(kProtocol);
  const grpc::Slice slice(hello.SerializeAsString());
  return {&slice, 1};
}

absl::StatusOr<Hello> DecodeHello(const grpc::ByteBuffer& message, const grpc::ServerContextBase& context) {
  grpc::Slice slice;
  wire::CollectiveHello proto;
  if (!message.DumpToSingleSlice(&slice).ok() || !proto.ParseFromArray(slice.begin(), static_cast<int>(slice.size()))) {
    return absl::InvalidArgumentError("the stream does not begin with a hello");
  }
  Hello hello;
  hello.call = ReadCallContext(proto.caller(), context);
  hello.id = {proto.caller().session(), proto.caller().epoch(), proto.group()};
  hello.from = proto.from_rank();
  hello.to = proto.to_rank();
  hello.members = {proto.members().begin(), proto.members().end()};
  hello.options = {proto.piece_bytes(), proto.small_bytes()};
  if (proto.protocol() != kProtocol) {
    return absl::FailedPreconditionError(absl::StrCat(hello.call.caller.ToString(), " speaks version ",
                                                      proto.protocol(), " of the collectives' protocol, this task ",
                                                      kProtocol, ": run the same release everywhere"));
  }
  return hello;
}

absl::Status CheckHello(const Hello& hello, const GroupSpec& spec, const ExchangeOptions& options) {
  const size_t size = spec.members.size();
  if (hello.members.size() != size) {
    return Disagree(hello, spec, "the number of ranks", absl::StrCat(hello.members.size()), absl::StrCat(size));
  }
  for (size_t r = 0; r < size; ++r) {
    const std::string ours = spec.members[r].task.ToString();
    if (hello.members[r] != ours) return Disagree(hello, spec, absl::StrCat("rank ", r), hello.members[r], ours);
  }
  if (hello.options != options) {
    const auto text = [](const ExchangeOptions& o) { return absl::StrCat(o.piece_bytes, " and ", o.small_bytes); };
    return Disagree(hello, spec, "piece_bytes and small_bytes", text(hello.options), text(options));
  }
  if (hello.from < 0 || hello.from >= static_cast<int>(size) || hello.from == spec.rank ||
      spec.members[hello.from].task != hello.call.caller) {
    return absl::InvalidArgumentError(absl::StrCat(hello.call.caller.ToString(), " is not rank ", hello.from,
                                                   " of the group of ", spec.id.ToString()));
  }
  const uint64_t known = spec.members[hello.from].incarnation;
  if (known != 0 && known != hello.call.caller_incarnation) {
    return absl::AbortedError(absl::StrFormat(
        "%s calls as incarnation %016x, but the group of %s has its incarnation %016x; read the roster again",
        hello.call.caller.ToString(), hello.call.caller_incarnation, spec.id.ToString(), known));
  }
  return absl::OkStatus();
}

}  // namespace cohort
