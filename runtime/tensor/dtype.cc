#include "runtime/tensor/dtype.h"

#include <array>
#include <ostream>

#include "absl/strings/str_cat.h"

namespace cohort {
namespace {

enum class Family { kNone, kBool, kFloating, kInteger };

struct Row {
  DType dtype;
  absl::string_view name;
  size_t size;
  Family family;
};

constexpr std::array kRows = {
    Row{DType::kF32, "float32", 4, Family::kFloating},   Row{DType::kF64, "float64", 8, Family::kFloating},
    Row{DType::kI32, "int32", 4, Family::kInteger},      Row{DType::kU8, "uint8", 1, Family::kInteger},
    Row{DType::kI16, "int16", 2, Family::kInteger},      Row{DType::kI8, "int8", 1, Family::kInteger},
    Row{DType::kString, "string", 0, Family::kNone},     Row{DType::kI64, "int64", 8, Family::kInteger},
    Row{DType::kBool, "bool", 1, Family::kBool},         Row{DType::kBF16, "bfloat16", 2, Family::kFloating},
    Row{DType::kU16, "uint16", 2, Family::kInteger},     Row{DType::kF16, "float16", 2, Family::kFloating},
    Row{DType::kResource, "resource", 0, Family::kNone}, Row{DType::kU32, "uint32", 4, Family::kInteger},
    Row{DType::kU64, "uint64", 8, Family::kInteger},
};

constexpr Row kInvalidRow{DType::kInvalid, "invalid", 0, Family::kNone};

const Row& RowOf(DType dtype) {
  for (const Row& row : kRows) {
    if (row.dtype == dtype) return row;
  }
  return kInvalidRow;
}

}  // namespace

absl::string_view DTypeName(DType dtype) { return RowOf(dtype).name; }

absl::StatusOr<DType> ParseDType(absl::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.dtype;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", name, "' is no dtype; dtypes are named as in numpy, e.g. float32"));
}

size_t DTypeSize(DType dtype) { return RowOf(dtype).size; }
bool IsFloating(DType dtype) { return RowOf(dtype).family == Family::kFloating; }
bool IsInteger(DType dtype) { return RowOf(dtype).family == Family::kInteger; }

std::ostream& operator<<(std::ostream& os, DType dtype) { return os << DTypeName(dtype); }

}  // namespace cohort
