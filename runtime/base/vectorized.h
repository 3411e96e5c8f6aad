#ifndef COHORT_RUNTIME_BASE_VECTORIZED_H_
#define COHORT_RUNTIME_BASE_VECTORIZED_H_

// Before a function whose loops the compiler vectorises: it is compiled for AVX-512, for AVX2 and for any x86-64, and
// the machine's best is taken when the program starts. What it calls must be inlined into it. Elementwise arithmetic
// gives the same bits in all of them, since nothing is contracted; sums must fix their order themselves.
// Sanitizers get one version: their instrumentation does not work in the code that chooses.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define COHORT_VECTORIZED __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define COHORT_VECTORIZED
#endif

#endif  // COHORT_RUNTIME_BASE_VECTORIZED_H_
