#define COHORT_GEMM_ISA avx2
#define COHORT_GEMM_LANES 8
#define COHORT_GEMM_ROWS 6
#include "runtime/kernels/cpu/gemm_loops.h"
