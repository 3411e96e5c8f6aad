#ifndef COHORT_RUNTIME_REMOTE_GRAPH_CODING_H_
#define COHORT_RUNTIME_REMOTE_GRAPH_CODING_H_

#include <google/protobuf/repeated_ptr_field.h>

#include "absl/status/statusor.h"
#include "proto/graph.pb.h"
#include "runtime/graph/program.h"

namespace cohort {

// Each name once.
void AttributesToProto(const Attributes& attributes, google::protobuf::RepeatedPtrField<wire::Attribute>* proto);
absl::StatusOr<Attributes> AttributesFromProto(const google::protobuf::RepeatedPtrField<wire::Attribute>& proto);

// A graph is built anew, node by node, so dtypes and shapes are inferred and checked; errors name the node. `library`:
// the functions that it may call.
wire::Function ToProto(const Function& function);
absl::StatusOr<Function> FromProto(const wire::Function& proto, const FunctionLibrary* library = nullptr);

// At most 64 data sets above each other.
wire::DatasetDef ToProto(const DatasetDef& dataset);
absl::StatusOr<DatasetDef> FromProto(const wire::DatasetDef& proto);

wire::VariableDef ToProto(const VariableDef& variable);
absl::StatusOr<VariableDef> FromProto(const wire::VariableDef& proto);

// What each part is by itself; how the parts fit together is for Program::Validate.
wire::Program ToProto(const Program& program);
absl::StatusOr<Program> FromProto(const wire::Program& proto);

}  // namespace cohort

#endif  // COHORT_RUNTIME_REMOTE_GRAPH_CODING_H_
