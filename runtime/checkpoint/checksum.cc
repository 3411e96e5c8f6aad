#include "runtime/checkpoint/checksum.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_format.h"
#include "runtime/base/crc32c.h"

namespace cohort {
namespace {

static_assert(std::endian::native == std::endian::little, "values are taken from memory as they are");

// The header's bytes stand before the value's; strings have no fixed-size value and are written with their lengths.
uint32_t Extend(uint32_t crc, const std::string& name, const Tensor& value) {
  std::string header = name;
  header.push_back('\0');
  header.push_back(static_cast<char>(value.dtype()));
  header.push_back(static_cast<char>(value.shape().rank()));
  for (const int64_t dim : value.shape().dims()) header.append(reinterpret_cast<const char*>(&dim), sizeof(dim));
  crc = ExtendCrc32c(crc, header.data(), header.size());
  if (value.dtype() != DType::kString) {
    return ExtendCrc32c(crc, value.data(), value.num_bytes());
  }
  for (const std::string& text : value.strings()) {
    const uint64_t size = text.size();
    crc = ExtendCrc32c(crc, &size, sizeof(size));
    crc = ExtendCrc32c(crc, text.data(), text.size());
  }
  return crc;
}

std::string Checksum(const StateValues& values) {
  std::vector<std::pair<std::string, const Tensor*>> ascending;
  for (const auto& [key, value] : values) ascending.emplace_back(key.ToString(), &value);
  std::sort(ascending.begin(), ascending.end());
  uint32_t crc = 0;
  for (const auto& [name, value] : ascending) crc = Extend(crc, name, *value);
  return absl::StrFormat("%08x", crc);
}

}  // namespace

std::string WeightsCrc32c(StateValues values) {
  std::erase_if(values, [](const auto& entry) { return !entry.first.slot.empty(); });
  return Checksum(values);
}

std::string StateCrc32c(StateValues values, int64_t global_step) {
  values.emplace_back(VariableKey{"global_step", ""}, Tensor::Scalar<int64_t>(global_step));
  return Checksum(values);
}

}  // namespace cohort
