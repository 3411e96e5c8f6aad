#include "runtime/distribute/packing.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace cohort {

std::vector<std::vector<size_t>> PackTensors(absl::Span<const std::optional<int64_t>> bytes, int64_t bytes_per_pack) {
  const bool one_pack = bytes_per_pack <= 0 || std::any_of(bytes.begin(), bytes.end(), [](auto b) { return !b; });
  std::vector<std::vector<size_t>> packs;
  bool full = true;  // a first pack is needed
  int64_t held = 0;
  for (size_t i = bytes.size(); i-- > 0;) {
    if (full) {
      packs.emplace_back();
      held = 0;
    }
    packs.back().push_back(i);
    held += bytes[i].value_or(0);
    full = !one_pack && held > bytes_per_pack;
  }
  return packs;
}

absl::StatusOr<std::vector<int64_t>> SplitIntoPacks(int64_t elements, int num_packs) {
  if (num_packs < 0 || elements < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot cut ", elements, " elements into num_packs = ", num_packs, "; 0 is no packing"));
  }
  std::vector<int64_t> parts(num_packs, num_packs == 0 ? 0 : elements / num_packs);
  if (!parts.empty()) parts.back() = elements - parts.front() * (num_packs - 1);
  return parts;
}

}  // namespace cohort
