#ifndef COHORT_RUNTIME_FORMATS_NPY_H_
#define COHORT_RUNTIME_FORMATS_NPY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/base/file_system.h"

namespace cohort {

// NumPy's array files: "\x93NUMPY", version (two bytes), length of the header (uint16 LE in version 1, uint32 LE in 2
// and 3), the header (a Python dict with descr, fortran_order, shape), the elements. Source:
// numpy/lib/format.py. An .npz is a ZIP archive of them, each member stored or deflated.

struct NpyArray {
  // As NumPy names them: 'b' bool, 'i', 'u', 'f', 'S' bytes, 'U' text (4 bytes a character, UTF-32 in the host's
  // order), 'V' bytes without a meaning.
  char kind = 'f';
  int64_t item_bytes = 4;
  std::vector<int64_t> dims;  // a scalar has none
  std::string data;           // in the host's byte order, row-major

  int64_t num_elements() const;
  // The text of element i, of kinds 'S' and 'U', without the zeros at its end, in UTF-8. InvalidArgument: no character.
  absl::StatusOr<std::string> Text(int64_t i) const;
};

struct NpzMember {
  std::string name;  // without ".npy"
  NpyArray array;
};

// Pickled objects are refused: InvalidArgument, as for every other type that is not above, and what is no .npy file.
// DataLoss: the file holds less or more than its header says. Both name file (and member) and offset. Nothing larger
// than the file is allocated, nor, of a deflated member, than it can hold.
absl::StatusOr<NpyArray> ReadNpy(const FileSystem& files, const std::string& path);
// `name` is what messages call it.
absl::StatusOr<NpyArray> ParseNpy(absl::string_view bytes, const std::string& name);

// The members in the order of the archive; with `keys`, only these, in their order (NotFound names the one that is
// missing and those that are there). DataLoss also for a wrong CRC-32 of a member.
absl::StatusOr<std::vector<NpzMember>> ReadNpz(const FileSystem& files, const std::string& path,
                                               const std::vector<std::string>& keys = {});
absl::StatusOr<std::vector<NpzMember>> ParseNpz(absl::string_view bytes, const std::string& name,
                                                const std::vector<std::string>& keys = {});

}  // namespace cohort

#endif  // COHORT_RUNTIME_FORMATS_NPY_H_
