#define COHORT_GEMM_ISA avx512
#define COHORT_GEMM_LANES 16
#define COHORT_GEMM_ROWS 8
#include "runtime/kernels/cpu/gemm_loops.h"
