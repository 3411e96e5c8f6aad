#include "runtime/base/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>

namespace cohort {

uint32_t ExtendCrc32c(uint32_t crc, const void* data, size_t size) {
  constexpr size_t kMaxPiece = size_t{1} << 30;  // the library counts in int
  auto* bytes = static_cast<unsigned char*>(const_cast<void*>(data));
  // The library takes and gives the bare shift register; the checksum is inverted at both ends.
  crc = ~crc;
  while (size > 0) {
    const size_t piece = std::min(size, kMaxPiece);
    crc = crc32_iscsi(bytes, static_cast<int>(piece), crc);
    bytes += piece;
    size -= piece;
  }
  return ~crc;
}

}  // namespace cohort
