#ifndef COHORT_RUNTIME_FORMATS_IDX_H_
#define COHORT_RUNTIME_FORMATS_IDX_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace cohort {

// The IDX format of the MNIST family: bytes 00 00 type rank, then `rank` big-endian uint32 dimensions, then the
// elements, big-endian, row-major.
enum class IdxType : uint8_t { kU8 = 0x08, kI8 = 0x09, kI16 = 0x0b, kI32 = 0x0c, kF32 = 0x0d, kF64 = 0x0e };

int64_t IdxTypeSize(IdxType type);  // bytes of one element

struct IdxArray {
  IdxType type = IdxType::kU8;
  std::vector<int64_t> dims;
  std::vector<uint8_t> data;  // in the host's byte order, row-major

  // Elements of one entry of the first dimension (28 * 28 for images).
  int64_t row_elements() const;
};

// Reads a file, compressed by gzip or not (the first bytes tell). `max_rows` >= 0: only so many entries of the first
// dimension, of a file with fewer all; what follows is not looked at.
//
// NotFound: no such file. InvalidArgument: no IDX file, naming what was found. DataLoss: the file holds less or more
// than its header says, or its compression is broken; names file, offset, wanted and found. Nothing larger than what
// the file can hold is allocated.
absl::StatusOr<IdxArray> ReadIdx(const std::string& path, int64_t max_rows = -1);

}  // namespace cohort

#endif  // COHORT_RUNTIME_FORMATS_IDX_H_
