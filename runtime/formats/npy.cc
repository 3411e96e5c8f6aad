#include "runtime/formats/npy.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status_macros.h"

namespace cohort {
namespace {

constexpr absl::string_view kMagic("\x93NUMPY", 6);
constexpr int64_t kMaxRank = 32;  // NumPy's own

absl::Status Invalid(const std::string& name, absl::string_view how) {
  return absl::InvalidArgumentError(absl::StrCat("'", name, "' ", how));
}

// What the header says.
struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> dims;
};

// Reads the Python dict of a header: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
class HeaderParser {
 public:
  explicit HeaderParser(absl::string_view text) : text_(text) {}

  bool Parse(Header& header) {
    bool descr = false, order = false, shape = false;
    if (!Take('{')) return false;
    while (!Take('}')) {
      std::string key;
      if (!String(key) || !Take(':')) return false;
      if (key == "descr" && !descr) {
        descr = String(header.descr);
        if (!descr) return false;
      } else if (key == "fortran_order" && !order) {
        order = Bool(header.fortran_order);
        if (!order) return false;
      } else if (key == "shape" && !shape) {
        shape = Tuple(header.dims);
        if (!shape) return false;
      } else {
        return false;
      }
      if (!Take(',')) {
        if (!Take('}')) return false;
        break;
      }
    }
    Space();
    return text_.empty() && descr && order && shape;
  }

 private:
  void Space() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\n' || text_[0] == '\t')) text_.remove_prefix(1);
  }
  bool Take(char c) {
    Space();
    if (text_.empty() || text_[0] != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool String(std::string& out) {
    Space();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) return false;
    const size_t end = text_.find(text_[0], 1);
    if (end == absl::string_view::npos) return false;
    out = std::string(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return out.find('\\') == std::string::npos;
  }
  bool Word(absl::string_view word) {
    Space();
    if (text_.substr(0, word.size()) != word) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  bool Bool(bool& out) {
    out = Word("True");
    return out || Word("False");
  }
  bool Tuple(std::vector<int64_t>& out) {
    if (!Take('(')) return false;
    while (!Take(')')) {
      Space();
      const size_t digits = std::min(text_.find_first_not_of("0123456789"), text_.size());
      int64_t dim = 0;
      if (digits == 0 || !absl::SimpleAtoi(text_.substr(0, digits), &dim)) return false;
      text_.remove_prefix(digits);
      if (!text_.empty() && text_[0] == 'L') text_.remove_prefix(1);  // Python 2 on Windows
      out.push_back(dim);
      if (!Take(',')) return Take(')');
    }
    return true;
  }

  absl::string_view text_;
};

// Kind, size and byte order of "<f4".
absl::Status ParseDescr(const std::string& name, const std::string& descr, NpyArray& array, bool& swap) {
  const size_t start = !descr.empty() && absl::string_view("<>|=").find(descr[0]) != absl::string_view::npos ? 1 : 0;
  swap = start == 1 && descr[0] == '>';
  array.kind = descr.size() > start ? descr[start] : '?';
  if (array.kind == 'O') {
    return Invalid(name, "holds pickled Python objects ('" + descr + "'), which are refused: they could run any code");
  }
  int64_t count = 0;
  const bool known = descr.size() > start + 1 && absl::SimpleAtoi(descr.substr(start + 1), &count) && count >= 0;
  const auto is = [&](char kind, std::initializer_list<int64_t> sizes) {
    return array.kind == kind && std::find(sizes.begin(), sizes.end(), count) != sizes.end();
  };
  const bool number = is('b', {1}) || is('i', {1, 2, 4, 8}) || is('u', {1, 2, 4, 8}) || is('f', {2, 4, 8});
  const bool other = array.kind == 'S' || array.kind == 'U' || array.kind == 'V';
  if (!known || !(number || other) || count > (int64_t{1} << 30)) {
    return Invalid(name, absl::StrCat("has elements of type '", descr, "', which is not supported"));
  }
  array.item_bytes = array.kind == 'U' ? 4 * count : count;
  return absl::OkStatus();
}

// `array.data` from column-major to row-major.
void MakeRowMajor(NpyArray& array) {
  const size_t rank = array.dims.size();
  if (rank < 2 || array.data.empty()) return;
  const size_t item = array.item_bytes;
  std::string out(array.data.size(), '\0');
  std::vector<int64_t> index(rank, 0);
  std::vector<int64_t> stride(rank, 1);  // in the old order
  for (size_t i = 1; i < rank; ++i) stride[i] = stride[i - 1] * array.dims[i - 1];
  int64_t from = 0;
  for (size_t to = 0; to < out.size(); to += item) {
    std::memcpy(&out[to], &array.data[from * item], item);
    for (size_t d = rank; d-- > 0;) {
      from += stride[d];
      if (++index[d] < array.dims[d]) break;
      from -= stride[d] * array.dims[d];
      index[d] = 0;
    }
  }
  array.data = std::move(out);
}

// Finds the header's text; `data_offset` is where the elements begin.
absl::StatusOr<absl::string_view> HeaderText(absl::string_view bytes, const std::string& name, size_t& data_offset) {
  if (bytes.substr(0, kMagic.size()) != kMagic) return Invalid(name, "is not an .npy file: it does not begin so");
  if (bytes.size() < 8) return absl::DataLossError(absl::StrCat("'", name, "' is cut off within its header"));
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3 || bytes[7] != 0) {
    return Invalid(name, absl::StrFormat("has .npy version %d.%d; 1.0, 2.0 and 3.0 are known", version, bytes[7]));
  }
  const size_t length_bytes = version == 1 ? 2 : 4;
  uint32_t length = 0;
  if (bytes.size() < 8 + length_bytes) {
    return absl::DataLossError(absl::StrCat("'", name, "' is cut off within its header"));
  }
  std::memcpy(&length, bytes.data() + 8, length_bytes);
  data_offset = 8 + length_bytes + length;
  if (data_offset > bytes.size()) {
    return absl::DataLossError(absl::StrFormat("'%s' is cut off: its header at offset %d has %d bytes, %d are there",
                                               name, 8 + length_bytes, length, bytes.size() - 8 - length_bytes));
  }
  return bytes.substr(8 + length_bytes, length);
}

}  // namespace

int64_t NpyArray::num_elements() const {
  int64_t elements = 1;
  for (const int64_t dim : dims) elements *= dim;
  return elements;
}

absl::StatusOr<std::string> NpyArray::Text(int64_t i) const {
  absl::string_view item(data.data() + i * item_bytes, item_bytes);
  if (kind != 'U') {
    while (!item.empty() && item.back() == '\0') item.remove_suffix(1);
    return std::string(item);
  }
  std::string text;
  for (; !item.empty(); item.remove_prefix(4)) {
    uint32_t c = 0;
    std::memcpy(&c, item.data(), 4);
    if (c == 0 && item.find_first_not_of('\0') == absl::string_view::npos) break;
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
      return absl::InvalidArgumentError(absl::StrFormat("element %d holds %#x, which is no character", i, c));
    }
    if (c < 0x80) {
      text.push_back(static_cast<char>(c));
    } else if (c < 0x800) {
      text.push_back(static_cast<char>(0xc0 | c >> 6));
    } else if (c < 0x10000) {
      text.push_back(static_cast<char>(0xe0 | c >> 12));
    } else {
      text.push_back(static_cast<char>(0xf0 | c >> 18));
      text.push_back(static_cast<char>(0x80 | (c >> 12 & 0x3f)));
    }
    if (c >= 0x800) text.push_back(static_cast<char>(0x80 | (c >> 6 & 0x3f)));
    if (c >= 0x80) text.push_back(static_cast<char>(0x80 | (c & 0x3f)));
  }
  return text;
}

absl::StatusOr<NpyArray> ParseNpy(absl::string_view bytes, const std::string& name) {
  size_t offset = 0;
  COHORT_ASSIGN_OR_RETURN(const absl::string_view text, HeaderText(bytes, name, offset));
  Header header;
  if (!HeaderParser(text).Parse(header) || header.dims.size() > kMaxRank) {
    return Invalid(name, absl::StrCat("has a header that is not understood: ", text.substr(0, 200)));
  }
  NpyArray array;
  bool swap = false;
  COHORT_RETURN_IF_ERROR(ParseDescr(name, header.descr, array, swap));
  array.dims = std::move(header.dims);
  int64_t needed = array.item_bytes;
  bool overflow = false;
  for (const int64_t dim : array.dims) overflow |= __builtin_mul_overflow(needed, dim, &needed);
  if (std::find(array.dims.begin(), array.dims.end(), 0) != array.dims.end()) needed = 0, overflow = false;
  const auto have = static_cast<int64_t>(bytes.size() - offset);
  if (overflow || needed != have) {
    return absl::DataLossError(
        absl::StrFormat("'%s' is damaged: shape (%s) of '%s' needs %s data bytes, it has %d "
                        "from offset %d",
                        name, absl::StrJoin(array.dims, ","), header.descr,
                        overflow ? "more than 2^63" : absl::StrCat(needed), have, offset));
  }
  array.data.assign(bytes.data() + offset, have);
  const size_t width = array.kind == 'U' ? 4 : array.item_bytes;
  if (swap && width > 1 && array.kind != 'S' && array.kind != 'V') {
    for (size_t i = 0; i + width <= array.data.size(); i += width) {
      std::reverse(array.data.begin() + i, array.data.begin() + i + width);
    }
  }
  if (header.fortran_order) MakeRowMajor(array);
  return array;
}

absl::StatusOr<NpyArray> ReadNpy(const FileSystem& files, const std::string& path) {
  COHORT_ASSIGN_OR_RETURN(const std::string bytes, files.ReadFile(path));
  return ParseNpy(bytes, path);
}

}  // namespace cohort
