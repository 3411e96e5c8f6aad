#ifndef COHORT_RUNTIME_REMOTE_PROGRAM_BYTES_H_
#define COHORT_RUNTIME_REMOTE_PROGRAM_BYTES_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/graph/program.h"

namespace cohort {

// A program as bytes, for files and job tables: a serialized cohort.wire.Program (proto/graph.proto). Equal programs
// give equal bytes.
std::string SerializeProgram(const Program& program);

// The program in `bytes`, valid by Program::Validate. InvalidArgument: not a program, one of a later format, or what is
// wrong with it.
absl::StatusOr<Program> ParseProgram(absl::string_view bytes);

}  // namespace cohort

#endif  // COHORT_RUNTIME_REMOTE_PROGRAM_BYTES_H_
