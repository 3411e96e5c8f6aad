// Any bytes are an array, an archive of arrays, or an error.

#include <cstdint>

#include "runtime/base/check.h"
#include "runtime/formats/npy.h"

namespace cohort {
namespace {

void CheckArray(const NpyArray& array) {
  COHORT_CHECK(static_cast<int64_t>(array.data.size()) == array.num_elements() * array.item_bytes, "all elements");
  if (array.kind != 'S' && array.kind != 'U') return;
  for (int64_t i = 0; i < array.num_elements() && i < 100; ++i) (void)array.Text(i);
}

}  // namespace
}  // namespace cohort

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto array = cohort::ParseNpy(bytes, "input");
  if (array.ok()) cohort::CheckArray(*array);
  const auto members = cohort::ParseNpz(bytes, "input");
  if (!members.ok()) return 0;
  for (const cohort::NpzMember& member : *members) cohort::CheckArray(member.array);
  return 0;
}
