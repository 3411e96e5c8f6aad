#ifndef COHORT_RUNTIME_DISTRIBUTE_DENOMINATORS_H_
#define COHORT_RUNTIME_DISTRIBUTE_DENOMINATORS_H_

#include <cstdint>

namespace cohort {

// Means divide once, by the true number of examples summed over all replicas: never a mean of means, so a short or
// empty part of a batch weighs what it holds.

// The mean of examples whose sum is `sum`; 0 if there are none.
inline double MeanOf(double sum, int64_t examples) { return examples > 0 ? sum / static_cast<double>(examples) : 0.0; }

// The mean of integers: summed in int64, divided once in float64. 0 if there are none.
inline double IntegerMeanOf(int64_t sum, int64_t count) { return MeanOf(static_cast<double>(sum), count); }

// Whether a step changes anything: one without an example on any replica has no gradient, so no variable, slot or
// counter moves.
inline bool HasUpdate(int64_t examples) { return examples > 0; }

}  // namespace cohort

#endif  // COHORT_RUNTIME_DISTRIBUTE_DENOMINATORS_H_
