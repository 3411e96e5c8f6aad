#ifndef COHORT_RUNTIME_BASE_CRC32C_H_
#define COHORT_RUNTIME_BASE_CRC32C_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace cohort {

// CRC-32C (Castagnoli), not masked: of "123456789" 0xe3069283. Source: RFC 3720, B.4.

// The checksum of A followed by B, from `crc`, that of A (0 for none), and B's bytes. Runs at memory speed.
uint32_t ExtendCrc32c(uint32_t crc, const void* data, size_t size);

inline uint32_t Crc32c(absl::string_view bytes) { return ExtendCrc32c(0, bytes.data(), bytes.size()); }

// How TensorFlow's files store a checksum, so that the checksum of bytes that hold checksums stays a good one.
inline uint32_t MaskCrc32c(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }
inline uint32_t UnmaskCrc32c(uint32_t masked) {
  const uint32_t rotated = masked - 0xa282ead8u;
  return (rotated >> 17) | (rotated << 15);
}

}  // namespace cohort

#endif  // COHORT_RUNTIME_BASE_CRC32C_H_
