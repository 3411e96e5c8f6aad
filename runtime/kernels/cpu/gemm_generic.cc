#define COHORT_GEMM_ISA generic
#define COHORT_GEMM_LANES 4
#define COHORT_GEMM_ROWS 4
#include "runtime/kernels/cpu/gemm_loops.h"
