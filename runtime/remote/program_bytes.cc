#include "runtime/remote/program_bytes.h"

#include <limits>

#include "runtime/base/status_macros.h"
#include "runtime/remote/graph_coding.h"

namespace cohort {

std::string SerializeProgram(const Program& program) { return ToProto(program).SerializeAsString(); }

absl::StatusOr<Program> ParseProgram(absl::string_view bytes) {
  wire::Program proto;
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()) ||
      !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::InvalidArgumentError("these bytes are not a program");
  }
  COHORT_ASSIGN_OR_RETURN(Program program, FromProto(proto));
  COHORT_RETURN_IF_ERROR(program.Validate());
  return program;
}

}  // namespace cohort
