#include "runtime/base/cpu_isa.h"

namespace cohort {

std::string CpuIsa() {
  std::string features;
  const auto add = [&features](bool has, const char* name) {
    if (!has) return;
    if (!features.empty()) features += ' ';
    features += name;
  };
  add(__builtin_cpu_supports("avx2"), "avx2");
  add(__builtin_cpu_supports("fma"), "fma");
  add(__builtin_cpu_supports("avx512f"), "avx512f");
  add(__builtin_cpu_supports("avx512bf16"), "avx512bf16");
  return features;
}

}  // namespace cohort
