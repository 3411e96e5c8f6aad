#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status_macros.h"
#include "runtime/formats/npy.h"

namespace cohort {
namespace {

// Source: PKWARE's APPNOTE.TXT, 4.3: the directory at the end of the file tells where each member is.
constexpr uint32_t kEndSignature = 0x06054b50;
constexpr uint32_t kEnd64Signature = 0x06064b50;
constexpr uint32_t kLocator64Signature = 0x07064b50;
constexpr uint32_t kEntrySignature = 0x02014b50;
constexpr uint32_t kLocalSignature = 0x04034b50;
constexpr uint64_t kEndBytes = 22;
constexpr uint64_t kEntryBytes = 46;
constexpr uint64_t kLocalBytes = 30;
constexpr uint64_t kMaxInflation = 1032;

// An entry of the directory.
struct Entry {
  std::string name;
  int flags = 0;
  int method = 0;
  uint32_t crc = 0;
  uint64_t packed = 0;
  uint64_t size = 0;
  uint64_t offset = 0;
};

// Reads numbers at places of the archive; every place is checked.
class Archive {
 public:
  Archive(absl::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  absl::StatusOr<std::vector<Entry>> Directory() const;
  absl::StatusOr<std::string> Content(const Entry& entry) const;

 private:
  bool Has(uint64_t offset, uint64_t size) const { return offset <= bytes_.size() && size <= bytes_.size() - offset; }
  template <typename T>
  T At(uint64_t offset) const {
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }
  absl::Status Damaged(uint64_t offset, absl::string_view how) const {
    return absl::DataLossError(absl::StrCat("'", name_, "' is damaged at offset ", offset, ": ", how));
  }
  absl::StatusOr<uint64_t> FindEnd() const;
  absl::Status ReadExtra(absl::string_view extra, Entry& entry) const;
  absl::StatusOr<std::string> Inflate(const Entry& entry, absl::string_view packed) const;

  const absl::string_view bytes_;
  const std::string& name_;
};

absl::StatusOr<uint64_t> Archive::FindEnd() const {
  if (bytes_.size() >= 4 && At<uint32_t>(0) != kLocalSignature && At<uint32_t>(0) != kEndSignature) {
    return absl::InvalidArgumentError(absl::StrCat("'", name_, "' is not an .npz file: it is no ZIP archive"));
  }
  // A comment of at most 65535 bytes may follow.
  for (uint64_t back = kEndBytes; back <= std::min<uint64_t>(bytes_.size(), kEndBytes + 65535); ++back) {
    const uint64_t at = bytes_.size() - back;
    if (At<uint32_t>(at) == kEndSignature && At<uint16_t>(at + 20) == back - kEndBytes) return at;
  }
  return Damaged(bytes_.size(), "the archive's directory is missing at its end");
}

// Sizes of 4 GiB and more stand in an extra field, those that are needed only.
absl::Status Archive::ReadExtra(absl::string_view extra, Entry& entry) const {
  while (extra.size() >= 4) {
    uint16_t id, size;
    std::memcpy(&id, extra.data(), 2);
    std::memcpy(&size, extra.data() + 2, 2);
    extra.remove_prefix(4);
    if (size > extra.size()) break;
    absl::string_view field = extra.substr(0, size);
    extra.remove_prefix(size);
    if (id != 1) continue;
    for (uint64_t* value : {&entry.size, &entry.packed, &entry.offset}) {
      if (*value != 0xffffffff) continue;
      if (field.size() < 8) return Damaged(0, absl::StrCat("the ZIP64 sizes of '", entry.name, "' are missing"));
      std::memcpy(value, field.data(), 8);
      field.remove_prefix(8);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Entry>> Archive::Directory() const {
  COHORT_ASSIGN_OR_RETURN(const uint64_t end, FindEnd());
  uint64_t count = At<uint16_t>(end + 10);
  uint64_t at = At<uint32_t>(end + 16);
  if (end >= 20 && At<uint32_t>(end - 20) == kLocator64Signature) {
    const auto end64 = At<uint64_t>(end - 12);
    if (!Has(end64, 56) || At<uint32_t>(end64) != kEnd64Signature) return Damaged(end - 12, "no ZIP64 directory there");
    count = At<uint64_t>(end64 + 32);
    at = At<uint64_t>(end64 + 48);
  }
  std::vector<Entry> entries;
  for (uint64_t i = 0; i < count; ++i) {
    if (!Has(at, kEntryBytes) || At<uint32_t>(at) != kEntrySignature) {
      return Damaged(at, absl::StrCat("member ", i, " of ", count, " is not in the directory"));
    }
    Entry& entry = entries.emplace_back();
    entry.flags = At<uint16_t>(at + 8);
    entry.method = At<uint16_t>(at + 10);
    entry.crc = At<uint32_t>(at + 16);
    entry.packed = At<uint32_t>(at + 20);
    entry.size = At<uint32_t>(at + 24);
    entry.offset = At<uint32_t>(at + 42);
    const uint64_t name = At<uint16_t>(at + 28), extra = At<uint16_t>(at + 30), comment = At<uint16_t>(at + 32);
    if (!Has(at, kEntryBytes + name + extra + comment)) return Damaged(at, "the directory is cut off");
    entry.name = std::string(bytes_.substr(at + kEntryBytes, name));
    COHORT_RETURN_IF_ERROR(ReadExtra(bytes_.substr(at + kEntryBytes + name, extra), entry));
    at += kEntryBytes + name + extra + comment;
  }
  return entries;
}

absl::StatusOr<std::string> Archive::Content(const Entry& entry) const {
  if ((entry.flags & 1) != 0 || (entry.method != 0 && entry.method != 8)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("'%s': member '%s' is %s; stored and deflated ones are read", name_, entry.name,
                        (entry.flags & 1) != 0 ? "encrypted" : absl::StrCat("compressed by method ", entry.method)));
  }
  if (!Has(entry.offset, kLocalBytes) || At<uint32_t>(entry.offset) != kLocalSignature) {
    return Damaged(entry.offset, absl::StrCat("member '", entry.name, "' is not there"));
  }
  const uint64_t begin = entry.offset + kLocalBytes + At<uint16_t>(entry.offset + 26) + At<uint16_t>(entry.offset + 28);
  if (!Has(begin, entry.packed)) {
    return Damaged(begin, absl::StrCat("member '", entry.name, "' has ", entry.packed, " bytes, not all are there"));
  }
  const absl::string_view packed = bytes_.substr(begin, entry.packed);
  std::string content;
  if (entry.method == 0) {
    if (entry.size != entry.packed) return Damaged(begin, absl::StrCat("member '", entry.name, "' has two sizes"));
    content = std::string(packed);
  } else {
    COHORT_ASSIGN_OR_RETURN(content, Inflate(entry, packed));
  }
  const auto crc = static_cast<uint32_t>(
      crc32_z(crc32_z(0, nullptr, 0), reinterpret_cast<const Bytef*>(content.data()), content.size()));
  if (crc == entry.crc) return content;
  return Damaged(begin, absl::StrFormat("member '%s' has a wrong checksum: stored %08x, computed %08x", entry.name,
                                        entry.crc, crc));
}

absl::StatusOr<std::string> Archive::Inflate(const Entry& entry, absl::string_view packed) const {
  const absl::Status broken =
      Damaged(entry.offset, absl::StrCat("the compressed data of '", entry.name, "' is broken"));
  if (entry.size / kMaxInflation > packed.size()) return broken;
  if (entry.size > UINT32_MAX || packed.size() > UINT32_MAX) {  // zlib counts in uint32
    return absl::UnimplementedError(absl::StrCat("'", name_, "': '", entry.name, "' is deflated and above 4 GiB"));
  }
  std::string content(entry.size, '\0');
  z_stream stream = {};
  if (inflateInit2(&stream, -15) != Z_OK) return absl::ResourceExhaustedError("zlib: no memory");
  char nothing = 0;  // zlib asks for an address even if there is no room
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(content.empty() ? &nothing : content.data());
  stream.avail_out = static_cast<uInt>(content.size());
  const int code = inflate(&stream, Z_FINISH);
  const bool whole = code == Z_STREAM_END && stream.avail_out == 0 && stream.avail_in == 0;
  inflateEnd(&stream);
  if (!whole) return broken;
  return content;
}

std::string KeyOf(const Entry& entry) {
  return absl::EndsWith(entry.name, ".npy") ? entry.name.substr(0, entry.name.size() - 4) : entry.name;
}

}  // namespace

absl::StatusOr<std::vector<NpzMember>> ParseNpz(absl::string_view bytes, const std::string& name,
                                                const std::vector<std::string>& keys) {
  const Archive archive(bytes, name);
  COHORT_ASSIGN_OR_RETURN(const std::vector<Entry> entries, archive.Directory());
  std::vector<const Entry*> chosen;
  for (const std::string& key : keys) {
    const auto it = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return KeyOf(e) == key; });
    if (it == entries.end()) {
      const auto append = [](std::string* out, const Entry& e) { absl::StrAppend(out, KeyOf(e)); };
      return absl::NotFoundError(
          absl::StrCat("'", name, "' has no array '", key, "'; it has: ", absl::StrJoin(entries, ", ", append)));
    }
    chosen.push_back(&*it);
  }
  if (keys.empty()) {
    for (const Entry& entry : entries) chosen.push_back(&entry);
  }
  std::vector<NpzMember> members;
  for (const Entry* entry : chosen) {
    COHORT_ASSIGN_OR_RETURN(const std::string content, archive.Content(*entry));
    COHORT_ASSIGN_OR_RETURN(NpyArray array, ParseNpy(content, absl::StrCat(name, ":", entry->name)));
    members.push_back({KeyOf(*entry), std::move(array)});
  }
  return members;
}

absl::StatusOr<std::vector<NpzMember>> ReadNpz(const FileSystem& files, const std::string& path,
                                               const std::vector<std::string>& keys) {
  COHORT_ASSIGN_OR_RETURN(const std::string bytes, files.ReadFile(path));
  return ParseNpz(bytes, path, keys);
}

}  // namespace cohort
