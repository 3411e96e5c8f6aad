#ifndef COHORT_RUNTIME_BASE_CPU_ISA_H_
#define COHORT_RUNTIME_BASE_CPU_ISA_H_

#include <string>

namespace cohort {

// The CPU features that math kernels choose by, and that therefore change bits: "avx2 fma avx512f".
std::string CpuIsa();

}  // namespace cohort

#endif  // COHORT_RUNTIME_BASE_CPU_ISA_H_
