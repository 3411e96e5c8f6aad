#include "runtime/remote/ps_coding.h"

#include <utility>

#include "runtime/base/status_macros.h"
#include "runtime/remote/graph_coding.h"
#include "runtime/remote/tensor_coding.h"

namespace cohort {

wire::OpenPsSessionRequest ToProto(const PsSessionSpec& spec) {
  wire::OpenPsSessionRequest proto;
  proto.set_seed(spec.seed);
  for (const PsVariable& variable : spec.variables) {
    wire::PsVariable& v = *proto.add_variables();
    *v.mutable_definition() = ToProto(variable.definition);
    AttributesToProto(variable.optimizer, v.mutable_optimizer());
  }
  return proto;
}

absl::StatusOr<PsSessionSpec> FromProto(const wire::OpenPsSessionRequest& proto) {
  PsSessionSpec spec;
  spec.session = proto.caller().session();
  spec.epoch = proto.caller().epoch();
  spec.seed = proto.seed();
  for (const wire::PsVariable& v : proto.variables()) {
    PsVariable variable;
    COHORT_ASSIGN_OR_RETURN(variable.definition, FromProto(v.definition()));
    COHORT_ASSIGN_OR_RETURN(variable.optimizer, AttributesFromProto(v.optimizer()),
                            _ << "optimizer of '" << v.definition().name() << "'");
    spec.variables.push_back(std::move(variable));
  }
  return spec;
}

wire::SummarizePsResponse ToProto(const PsSummary& summary) {
  wire::SummarizePsResponse proto;
  proto.set_updates(summary.updates);
  for (const auto& [name, value] : summary.values) {
    wire::NamedTensor& named = *proto.add_values();
    named.set_name(name);
    *named.mutable_value() = ToProto(value);
  }
  return proto;
}

absl::StatusOr<PsSummary> FromProto(const wire::SummarizePsResponse& proto) {
  PsSummary summary;
  summary.updates = proto.updates();
  for (const wire::NamedTensor& named : proto.values()) {
    COHORT_ASSIGN_OR_RETURN(Tensor value, FromProto(named.value()), _ << "'" << named.name() << "'");
    summary.values.emplace_back(named.name(), std::move(value));
  }
  return summary;
}

}  // namespace cohort
